"""How tensors are printed: the text of repr(), as PyTorch writes it."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, inf, isfinite

from zero._zero import Parameter, Tensor, bool as zero_bool, get_default_dtype, int64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Options: TypeAlias = dict[str, Any]

__all__ = ["get_printoptions", "printoptions", "set_printoptions"]

PROFILES: dict[str, Options] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": inf, "edgeitems": 3, "linewidth": 80},
}
options: Options = {**PROFILES["default"], "sci_mode": None}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Sets how tensors are printed. What is None stays as it is, except ``sci_mode``.

    Args:
        precision: digits behind the point. At start 4.
        threshold: a tensor with more elements is abbreviated. At start 1000.
        edgeitems: elements shown at both ends of an abbreviated dimension. At start 3.
        linewidth: columns of a line; abbreviated matrices may be wider. At start 80.
        profile: "default", "short" or "full"; the other arguments take precedence over it.
        sci_mode: True or False turns scientific notation on or off; None lets the values decide.

    Raises:
        ValueError: the profile is unknown.

    Example:
        >>> import zero
        >>> zero.set_printoptions(precision=2)
        >>> zero.tensor([3.14159])
        tensor([3.14])
        >>> zero.set_printoptions(profile="default")
        >>> zero.tensor([3.14159])
        tensor([3.1416])
    """
    if profile is not None:
        if profile not in PROFILES:
            raise ValueError(
                f"set_printoptions: unknown profile; got {profile!r}, "
                f"expected one of {', '.join(map(repr, PROFILES))}"
            )
        options.update(PROFILES[profile])
    given = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    options.update({name: value for name, value in given.items() if value is not None})
    options["sci_mode"] = sci_mode


def get_printoptions() -> Options:
    """The options in force, in the form that :func:`set_printoptions` takes.

    Example:
        >>> import zero
        >>> zero.get_printoptions()["precision"]
        4
    """
    return dict(options)


class printoptions:
    """Context manager: other print options for a while.

    Args: those of :func:`set_printoptions`.

    Example:
        >>> import zero
        >>> with zero.printoptions(precision=1):
        ...     print(zero.tensor([0.25, 0.5]))
        tensor([0.2, 0.5])
    """

    def __init__(self, **kwargs: Any) -> None:
        self.kwargs = kwargs

    def __enter__(self) -> None:
        self.before = get_printoptions()
        try:
            set_printoptions(**self.kwargs)
        except BaseException:
            options.update(self.before)
            raise

    def __exit__(self, *exception: object) -> None:
        options.update(self.before)


def shown(x: Tensor, abbreviate: bool) -> Any:
    """The elements to print as nested lists of numbers; None stands for those left out."""
    if not abbreviate or x.dim() == 0:
        return x.tolist()
    size, edge = x.size(0), options["edgeitems"]
    if x.dim() == 1:
        if size <= 2 * edge:
            return x.tolist()
        return x[:edge].tolist() + [None] + x[size - edge :].tolist()
    if size <= 2 * edge:
        return [shown(x[i], True) for i in range(size)]
    first = [shown(x[i], True) for i in range(edge)]
    last = [shown(x[i], True) for i in range(size - edge, size)]
    return first + [None] + last


def leaves(values: Any) -> Iterator[float]:
    if isinstance(values, list):
        for value in values:
            yield from leaves(value)
    elif values is not None:
        yield values


class Formatter:
    """Writes the numbers of one tensor: all to one width, in a notation that suits them all."""

    def __init__(self, values: Any, floating: bool) -> None:
        self.scientific = False
        self.whole = floating  # all numbers are integers: "1." instead of "1.0000"
        self.floating = floating
        self.width = 1
        if not floating:
            self.width = max((len(str(v)) for v in leaves(values)), default=1)
            return
        # Zeros, infinities and nan decide neither notation nor width.
        numbers = [v for v in leaves(values) if v != 0 and isfinite(v)]
        if not numbers:
            return
        small, large = min(map(abs, numbers)), max(map(abs, numbers))
        self.whole = all(v == ceil(v) for v in numbers)
        self.scientific = options["sci_mode"]
        if self.scientific is None:
            self.scientific = large / small > 1000 or large > 1e8 or small < 1e-4
        self.width = max(len(self.text(v)) for v in numbers)

    def text(self, value: float) -> str:
        if not self.floating:
            return str(value)
        if self.scientific:
            return f"{value:.{options['precision']}e}"
        if self.whole:
            return f"{value:.0f}." if isfinite(value) else f"{value:.0f}"
        return f"{value:.{options['precision']}f}"

    def __call__(self, value: float) -> str:
        return self.text(value).rjust(self.width)


def vector_str(values: list[Any], indent: int, form: Formatter) -> str:
    per_line = max(1, (options["linewidth"] - indent) // (form.width + 2))
    if values == [None]:
        cells = ["..."]
    else:
        cells = [" ..." if v is None else form(v) for v in values]
    rows = [", ".join(cells[i : i + per_line]) for i in range(0, len(cells), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(rows) + "]"


def array_str(values: Any, dim: int, indent: int, form: Formatter) -> str:
    if dim == 0:
        return form(values)
    if dim == 1:
        return vector_str(values, indent, form)
    parts = ["..." if v is None else array_str(v, dim - 1, indent + 1, form) for v in values]
    return "[" + ("," + "\n" * (dim - 1) + " " * (indent + 1)).join(parts) + "]"


def history(x: Tensor) -> str:
    """Whether and how operations on the tensor are recorded; empty if they are not."""
    try:
        node = x.grad_fn
        name = node and node.name()
    except RuntimeError:  # a view made under no_grad, whose base was written to since
        name = "Invalid"
    if name:
        return f"grad_fn=<{name}>"
    return "requires_grad=True" if x.requires_grad else ""


def suffixes(x: Tensor) -> list[str]:
    """What follows the elements: whatever they don't tell."""
    out = []
    if x.device.type != "cpu":
        out.append(f"device='{x.device}'")
    plain = x.dtype == get_default_dtype()
    if x.device.type == "meta":
        out.append(f"size={tuple(x.shape)}")
    elif x.numel() == 0:
        if x.dim() != 1:
            out.append(f"size={tuple(x.shape)}")
    else:
        if options["edgeitems"] == 0:
            out.append(f"size={tuple(x.shape)}")
        plain = plain or x.dtype in (int64, zero_bool)
    if not plain:
        out.append(f"dtype={x.dtype}")
    recorded = history(x)
    if recorded:
        out.append(recorded)
    return out


def tensor_str(x: Tensor) -> str:
    """The text of repr(x)."""
    known = type(x) is Tensor or type(x) is Parameter
    prefix = "tensor(" if known else f"{type(x).__name__}("
    if x.device.type == "meta":
        text = "..."
    elif x.numel() == 0:
        text = "[]"
    else:
        values = shown(x.detach(), x.numel() > options["threshold"])
        text = array_str(values, x.dim(), len(prefix), Formatter(values, x.dtype.is_floating_point))
    text = prefix + text
    column = len(text) - text.rfind("\n") + 1
    for suffix in suffixes(x):
        if column + len(suffix) + 2 > options["linewidth"]:
            text += ",\n" + " " * len(prefix) + suffix
            column = len(prefix) + len(suffix)
        else:
            text += ", " + suffix
            column += len(suffix) + 2
    text += ")"
    if isinstance(x, Parameter):
        text = "Parameter containing:\n" + (text if known else f"Parameter({text})")
    return text


def tensor_html(x: Tensor) -> str | None:
    """A table of the elements for notebooks: what ``Tensor._repr_html_`` returns.

    Numbers are written, and large tensors abbreviated, as in repr(). Below stand shape, dtype and
    whether operations are recorded. All text is escaped.

    Args:
        x: a tensor of 1 or 2 dimensions with elements.

    Returns:
        HTML; None for other tensors, which notebooks then show as repr() does.

    Example:
        >>> import zero
        >>> html = zero.tensor([[1.5, 2.0]])._repr_html_()
        >>> "<td>1.5000</td><td>2.0000</td>" in html, "shape (1, 2), zero.float32" in html
        (True, True)
        >>> print(zero.ones(2, 2, 2)._repr_html_())
        None
    """
    if x.dim() not in (1, 2) or x.numel() == 0 or x.device.type == "meta":
        return None
    from html import escape

    values = shown(x.detach(), x.numel() > options["threshold"])
    form = Formatter(values, x.dtype.is_floating_point)
    rows = [values] if x.dim() == 1 else values
    table = ""
    for row in rows:
        # A row left out is one cell over the whole width.
        cells = ["⋮"] if row is None else ["…" if v is None else form.text(v) for v in row]
        span = f' colspan="{max((len(r) for r in rows if r), default=1)}"' if row is None else ""
        table += "<tr>" + "".join(f"<td{span}>{escape(cell)}</td>" for cell in cells) + "</tr>"
    kind = "" if type(x) is Tensor else f"{type(x).__name__}, "
    recorded = history(x)
    about = f"{kind}shape {tuple(x.shape)}, {x.dtype}" + (f", {recorded}" if recorded else "")
    return f"<table>{table}</table><small>{escape(about)}</small>"
