"""Tables in CSV and Parquet files, read by pyarrow."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import zero
from zero import Tensor
from zero.errors import DTypeError, Error, ValueError
from zero.utils.data._utils.fetch import gather, rows
from zero.utils.data.dataset import Dataset

__all__ = ["CSV", "Parquet", "Table"]


class Table(Dataset[dict[str, Any]]):
    """Columns of equal lengths: sample i is a dict of the values in row i,
    numbers as tensors without dimensions.

    Args:
        columns: tensors, or lists of strings, by name.

    Raises:
        ValueError: they have different lengths, or there are none.

    Example:
        >>> import zero
        >>> from zero.utils.data import DataLoader
        >>> from zero.utils.data.datasets import Table
        >>> table = Table({"x": zero.tensor([1.0, 2.0, 3.0]), "name": ["a", "b", "c"]})
        >>> list(DataLoader(table, batch_size=2))[0]
        {'x': tensor([1., 2.]), 'name': ['a', 'b']}
        >>> table.matrix("x")
        tensor([[1.],
                [2.],
                [3.]])
    """

    def __init__(self, columns: dict[str, Any]) -> None:
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) != 1:
            raise ValueError(
                f"{type(self).__name__}: columns differ in length; got {lengths}, expected one "
                "length, and at least one column"
            )
        self.columns = columns
        self._length = next(iter(lengths.values()))

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> dict[str, Any]:
        index = range(self._length)[index]
        return {name: column[index] for name, column in self.columns.items()}

    def __getbatch__(self, indices: Any) -> Any:
        places = rows(indices)
        if places is None:
            return NotImplemented
        indices = indices.tolist() if isinstance(indices, Tensor) else indices
        batch: dict[str, Any] = {}
        for name, column in self.columns.items():
            if isinstance(column, Tensor):
                batch[name] = gather(column, places)
            else:
                batch[name] = [column[i] for i in indices]
        return batch

    def matrix(self, *names: str, dtype: zero.dtype = zero.float32) -> Tensor:
        """Columns side by side, [rows, columns].

        Args:
            *names: which; none for all that are numbers.
            dtype: of the result.

        Raises:
            ValueError: there is no such column, or it has strings.
        """
        chosen = names or [n for n, column in self.columns.items() if isinstance(column, Tensor)]
        for name in chosen:
            if not isinstance(self.columns.get(name), Tensor):
                raise ValueError(
                    f"{type(self).__name__}: no column of numbers; got {name!r}, expected one of "
                    f"{[n for n, column in self.columns.items() if isinstance(column, Tensor)]}"
                )
        return zero.stack([self.columns[name].to(dtype) for name in chosen], 1)


def _pyarrow(owner: str) -> Any:
    try:
        return import_module("pyarrow")
    except ImportError as error:
        raise Error(f"{owner}: it needs pyarrow: pip install zerograd[data]") from error


def _columns(owner: str, table: Any) -> dict[str, Any]:
    return {name: _column(owner, name, table.column(name)) for name in table.column_names}


def _column(owner: str, name: str, column: Any) -> Any:
    pa = _pyarrow(owner)
    kind = column.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
        column = column.cast(kind)
    floats = pa.types.is_floating(kind) or pa.types.is_null(kind)
    if column.null_count and not floats:
        raise ValueError(
            f"{owner}: column {name!r} has empty cells, for which {kind} has no value; got "
            f"{column.null_count} of {len(column)}, expected none (in columns of floats they are "
            "NaN)"
        )
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column.to_pylist()
    if pa.types.is_null(kind):
        column = column.cast(pa.float64())
    elif pa.types.is_unsigned_integer(kind) and kind != pa.uint8():
        try:
            column = column.cast(pa.int64())
        except pa.ArrowInvalid as error:
            raise ValueError(
                f"{owner}: column {name!r} does not fit into int64: {error}"
            ) from error
    elif not (floats or pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        raise DTypeError(
            f"{owner}: column {name!r} has no dtype here; got {kind}, expected numbers, bools or "
            "strings (columns= chooses others)"
        )
    return zero.tensor(column.to_numpy())


class CSV(Table):
    """A table in a CSV file whose first line has the names of the columns.

    Columns get the types of what is in them: int64, float64, bool, or strings.

    Args:
        path: the file, which may be packed (``.gz``).
        columns: which ones to read; None for all.
        delimiter: what stands between two cells.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is no such table, a column is not there, or it has empty cells that no value
            stands for.
        RuntimeError: pyarrow is missing.
    """

    def __init__(
        self, path: str | Path, columns: Sequence[str] | None = None, delimiter: str = ","
    ) -> None:
        pyarrow = _pyarrow("CSV")
        csv = import_module("pyarrow.csv")
        try:
            table = csv.read_csv(
                path,
                parse_options=csv.ParseOptions(delimiter=delimiter),
                convert_options=csv.ConvertOptions(include_columns=list(columns or ())),
            )
        except (pyarrow.ArrowInvalid, pyarrow.ArrowKeyError) as error:
            raise ValueError(f"CSV: {path}: {error}") from error
        super().__init__(_columns("CSV", table))


class Parquet(Table):
    """A table in a Parquet file, or in a folder of them.

    Args:
        path: the file or folder.
        columns: which ones to read; None for all.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is no such table, a column is not there, or it has empty cells that no value
            stands for.
        RuntimeError: pyarrow is missing.
    """

    def __init__(self, path: str | Path, columns: Sequence[str] | None = None) -> None:
        pyarrow = _pyarrow("Parquet")
        parquet = import_module("pyarrow.parquet")
        try:
            table = parquet.read_table(path, columns=None if columns is None else list(columns))
        except (pyarrow.ArrowInvalid, pyarrow.ArrowKeyError) as error:
            raise ValueError(f"Parquet: {path}: {error}") from error
        super().__init__(_columns("Parquet", table))
