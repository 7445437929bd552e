"""SummaryWriter: what a training loop shows in TensorBoard."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from zero.errors import ShapeError, ValueError
from zero.utils.tensorboard import summary as summaries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["FileWriter", "SummaryWriter"]


class FileWriter:
    """One file of events in a folder, written by a thread of its own.

    Args:
        log_dir: the folder.
        max_queue: how many events may wait before a call waits for them.
        flush_secs: seconds after which what was added is in the file.
        filename_suffix: ends the file's name.
    """

    def __init__(
        self, log_dir: Any, max_queue: int = 10, flush_secs: float = 120, filename_suffix: str = ""
    ) -> None:
        self.event_writer = EventFileWriter(str(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self) -> str:
        """The folder."""
        return str(self.event_writer.get_logdir())

    def add_event(
        self, event: Event, step: int | None = None, walltime: float | None = None
    ) -> None:
        """Adds an event of TensorBoard's."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(
        self, summary: Summary, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Adds a summary of TensorBoard's."""
        self.add_event(Event(summary=summary), global_step, walltime)

    def flush(self) -> None:
        """Waits until everything is in the file."""
        self.event_writer.flush()

    def close(self) -> None:
        """Ends the file."""
        self.event_writer.close()

    def reopen(self) -> None:
        """Begins another file in the folder, after ``close()``."""
        self.event_writer.reopen()


class SummaryWriter:
    """Writes numbers, histograms, pictures and texts of a training loop for TensorBoard.

    ``tensorboard --logdir runs`` shows them. Values are tensors, numpy arrays or numbers; each call
    takes the step it belongs to, ``global_step``, and may take the time of day, ``walltime``, in
    seconds since 1970.

    Args:
        log_dir: the folder for the files; by default runs/, the time and the machine's name.
        comment: added to the default folder's name.
        purge_step: TensorBoard hides what an earlier, broken off, run in the folder wrote for this
            step and later ones.
        max_queue: how many events may wait before a call waits for them.
        flush_secs: seconds after which what was added is in the file.
        filename_suffix: ends the files' names.

    Example:
        >>> import tempfile, zero
        >>> from zero.utils.tensorboard import SummaryWriter
        >>> folder = tempfile.TemporaryDirectory()
        >>> with SummaryWriter(folder.name) as writer:
        ...     for step in range(3):
        ...         writer.add_scalar("loss", 1 / (step + 1), step)
        >>> from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
        >>> [e.value for e in EventAccumulator(folder.name).Reload().Scalars("loss")]
        [1.0, 0.5, 0.3333333432674408]
        >>> folder.cleanup()
    """

    def __init__(
        self,
        log_dir: Any = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str = "",
    ) -> None:
        if not log_dir:
            import socket
            from datetime import datetime

            now = datetime.now().strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{now}_{socket.gethostname()}{comment}")
        self.log_dir = log_dir
        self.purge_step = purge_step
        self.max_queue = max_queue
        self.flush_secs = flush_secs
        self.filename_suffix = filename_suffix
        self.file_writer: FileWriter | None = None
        self.all_writers: dict[str, FileWriter] | None = None
        self._projector: Any = None
        self._get_file_writer()

    def _open(self, folder: Any) -> FileWriter:
        return FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)

    def _get_file_writer(self) -> FileWriter:
        """The file of the folder itself; another one after ``close()``."""
        if self.file_writer is None:
            self.file_writer = self._open(self.log_dir)
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
            if self.purge_step is not None:
                step, self.purge_step = self.purge_step, None
                start = SessionLog(status=SessionLog.START)
                self.file_writer.add_event(Event(file_version="brain.Event:2"), step)
                self.file_writer.add_event(Event(session_log=start), step)
        return self.file_writer

    def _add(self, summary: Summary, step: int | None, walltime: float | None) -> None:
        self._get_file_writer().add_summary(summary, step, walltime)

    def get_logdir(self) -> Any:
        """The folder."""
        return self.log_dir

    # ---- numbers ---------------------------------------------------------------------------------
    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """Adds a number.

        Args:
            tag: name of the curve; "train/loss" stands in the group "train".
            scalar_value: the number, or a tensor with one element.
            new_style: whether it is stored as a tensor.
            double_precision: in float64 then.
        """
        found = summaries.scalar(tag, scalar_value, new_style, double_precision)
        self._add(found, global_step, walltime)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: Mapping[str, Any],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Adds numbers of several curves in one chart; each curve is a run in a folder of its own.

        Args:
            main_tag: name of the chart.
            tag_scalar_dict: the numbers, by name of the curve.
        """
        walltime = time.time() if walltime is None else walltime
        folder = self._get_file_writer().get_logdir()
        writers = self.all_writers
        assert writers is not None
        for tag, value in tag_scalar_dict.items():
            found = summaries.scalar(main_tag, value)
            path = f"{folder}/{main_tag.replace('/', '_')}_{tag}"
            if path not in writers:
                writers[path] = self._open(path)
            writers[path].add_summary(found, global_step, walltime)

    def add_tensor(
        self, tag: str, tensor: Any, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Adds all elements of a tensor."""
        self._add(summaries.tensor(tag, tensor), global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: int | None = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """Adds the distribution of a tensor's elements.

        Args:
            tag: name of the chart.
            values: a tensor of any shape.
            bins: "tensorflow", whose limits grow by a factor of 1.1; or what ``numpy.histogram``
                takes: a number, limits, or "auto" and its like.
            max_bins: neighbours are joined where there are more.

        Raises:
            ValueError: there are no elements.
        """
        self._add(summaries.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_histogram_raw(
        self,
        tag: str,
        min: float,
        max: float,
        num: int,
        sum: float,
        sum_squares: float,
        bucket_limits: Sequence[float],
        bucket_counts: Sequence[float],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Adds a distribution that is known by its bins.

        Args:
            tag: name of the chart.
            min: the smallest element.
            max: the largest.
            num: how many there are.
            sum: of the elements.
            sum_squares: of their squares.
            bucket_limits: the upper limit of each bin.
            bucket_counts: how many elements each has.
        """
        limits = summaries.array(bucket_limits, "add_histogram_raw").tolist()
        counts = summaries.array(bucket_counts, "add_histogram_raw").tolist()
        if len(limits) != len(counts):
            raise ValueError(
                "add_histogram_raw: len(bucket_limits) != len(bucket_counts); got "
                f"{len(limits)} and {len(counts)}"
            )
        histogram = HistogramProto(
            min=min,
            max=max,
            num=num,
            sum=sum,
            sum_squares=sum_squares,
            bucket_limit=limits,
            bucket=counts,
        )
        found = Summary(value=[Summary.Value(tag=tag, histo=histogram)])
        self._add(found, global_step, walltime)

    def add_pr_curve(
        self,
        tag: str,
        labels: Any,
        predictions: Any,
        global_step: int | None = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Adds precision over recall.

        Args:
            tag: name of the chart.
            labels: 0 or 1 for each element.
            predictions: the probability of 1, for each.
            num_thresholds: points of the curve, 127 at most.
            weights: of the elements.
        """
        thresholds = min(num_thresholds, 127)
        counts = summaries.pr_counts(labels, predictions, thresholds, weights)
        self._add(summaries.pr_curve(tag, counts, thresholds), global_step, walltime)

    def add_pr_curve_raw(
        self,
        tag: str,
        true_positive_counts: Any,
        false_positive_counts: Any,
        true_negative_counts: Any,
        false_negative_counts: Any,
        precision: Any,
        recall: Any,
        global_step: int | None = None,
        num_thresholds: int = 127,
        weights: None = None,
        walltime: float | None = None,
    ) -> None:
        """Adds a curve of precision over recall that is known by its points.

        Args:
            tag: name of the chart.
            true_positive_counts: at each threshold, likewise the next three.
            false_positive_counts: see above.
            true_negative_counts: see above.
            false_negative_counts: see above.
            precision: at each threshold.
            recall: at each threshold.
            num_thresholds: points of the curve, 127 at most.
            weights: must be None: counts are weighted already.
        """
        import numpy as np

        if weights is not None:
            raise ValueError("add_pr_curve_raw: weights can't be used; the counts have them")
        rows = (
            true_positive_counts,
            false_positive_counts,
            true_negative_counts,
            false_negative_counts,
            precision,
            recall,
        )
        counts = np.stack([summaries.array(row, "add_pr_curve_raw") for row in rows])
        self._add(summaries.pr_curve(tag, counts, min(num_thresholds, 127)), global_step, walltime)

    # ---- texts, pictures, sounds -----------------------------------------------------------------
    def add_text(
        self,
        tag: str,
        text_string: str,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Adds a text, in Markdown."""
        self._add(summaries.text(tag, text_string), global_step, walltime)

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """Adds a picture; needs the package pillow.

        Args:
            tag: its name.
            img_tensor: uint8, or floats from 0 to 1; with 1, 3 or 4 channels.
            dataformats: the order of its dimensions, such as "CHW", "HWC" or "HW".

        Raises:
            ShapeError: the shape doesn't fit dataformats, or has another number of channels.
        """
        found = summaries.image("add_image", tag, img_tensor, dataformats)
        self._add(found, global_step, walltime)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Adds pictures, up to 8 beside each other; otherwise as :meth:`add_image`."""
        found = summaries.image("add_images", tag, img_tensor, dataformats)
        self._add(found, global_step, walltime)

    def add_image_with_boxes(
        self,
        tag: str,
        img_tensor: Any,
        box_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        rescale: float = 1,
        dataformats: str = "CHW",
        labels: Sequence[str] | str | None = None,
    ) -> None:
        """Adds a picture with boxes drawn into it.

        Args:
            tag: its name.
            img_tensor: as for :meth:`add_image`.
            box_tensor: [N, 4]; left, top, right and bottom of each box in pixels.
            rescale: the size of the result relative to that of img_tensor.
            dataformats: the order of dimensions.
            labels: a text for each box.
        """
        texts = [labels] if isinstance(labels, str) else labels
        if texts is not None and len(texts) != len(box_tensor):
            raise ShapeError(
                f"add_image_with_boxes: not one label for each box; got {len(texts)} labels and "
                f"{len(box_tensor)} boxes"
            )
        found = summaries.image(
            "add_image_with_boxes", tag, img_tensor, dataformats, box_tensor, texts, rescale
        )
        self._add(found, global_step, walltime)

    def add_figure(
        self,
        tag: str,
        figure: Any,
        global_step: int | None = None,
        close: bool = True,
        walltime: float | None = None,
    ) -> None:
        """Adds a figure of matplotlib's, or a list of figures of one size, as a picture.

        Args:
            tag: its name.
            figure: the figure or figures.
            close: whether pyplot may forget it.
        """
        pixels = summaries.figure_image(figure, close)
        order = "HWC" if pixels.ndim == 3 else "NHWC"
        self._add(summaries.image("add_figure", tag, pixels, order), global_step, walltime)

    def add_video(
        self,
        tag: str,
        vid_tensor: Any,
        global_step: int | None = None,
        fps: float = 4,
        walltime: float | None = None,
    ) -> None:
        """Adds films, beside each other, as an animated picture.

        Args:
            tag: their name.
            vid_tensor: [N, T, C, H, W]; uint8, or floats from 0 to 1.
            fps: pictures a second.
        """
        self._add(summaries.video(tag, vid_tensor, fps), global_step, walltime)

    def add_audio(
        self,
        tag: str,
        snd_tensor: Any,
        global_step: int | None = None,
        sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:
        """Adds a sound.

        Args:
            tag: its name.
            snd_tensor: [1, L]; samples from -1 to 1.
            sample_rate: samples a second.
        """
        self._add(summaries.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    # ---- experiments, layouts, embeddings --------------------------------------------------------
    def add_hparams(
        self,
        hparam_dict: dict[str, Any],
        metric_dict: dict[str, Any],
        hparam_domain_discrete: dict[str, list[Any]] | None = None,
        run_name: str | None = None,
        global_step: int | None = None,
    ) -> None:
        """Adds the settings of an experiment and what came of it, as a run of its own.

        Args:
            hparam_dict: settings by name: numbers, texts or bools.
            metric_dict: results by name: numbers.
            hparam_domain_discrete: what a setting may be, by its name.
            run_name: of the folder below the writer's; by default the time.

        Raises:
            TypeError: no dicts, or values of other types.
        """
        for name, given in (("hparam_dict", hparam_dict), ("metric_dict", metric_dict)):
            if not isinstance(given, dict):
                raise TypeError(f"add_hparams: {name} is not a dict; got {type(given).__name__}")
        found = summaries.hparams(hparam_dict, metric_dict, hparam_domain_discrete or {})
        folder = os.path.join(self._get_file_writer().get_logdir(), run_name or str(time.time()))
        with SummaryWriter(folder) as writer:
            for summary in found:
                writer._add(summary, global_step, None)
            for tag, value in metric_dict.items():
                writer.add_scalar(tag, value, global_step)

    def add_custom_scalars(self, layout: Mapping[str, Mapping[str, Sequence[Any]]]) -> None:
        """Adds charts of curves that :meth:`add_scalar` writes.

        Args:
            layout: by category and title of a chart: ["Multiline", tags] for curves in one chart,
                or ["Margin", [value, lower, upper]] for one between limits.
        """
        self._add(summaries.custom_scalars(layout), None, None)

    def add_custom_scalars_multilinechart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Adds one chart with several curves."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Adds one chart of a curve between limits; tags are value, lower and upper limit."""
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_embedding(
        self,
        mat: Any,
        metadata: Sequence[Any] | None = None,
        label_img: Any = None,
        global_step: int | None = None,
        tag: str = "default",
        metadata_header: Sequence[str] | None = None,
    ) -> None:
        """Adds points of many dimensions for TensorBoard's projector.

        Args:
            mat: [N, D]; a point in each row.
            metadata: a text for each point; with metadata_header, a list of texts.
            label_img: [N, C, H, W]; a picture for each.
            tag: name of the points.
            metadata_header: names of the columns of metadata.

        Raises:
            ShapeError: mat is no matrix, or there are not as many texts or pictures.
        """
        from google.protobuf import text_format
        from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

        points = summaries.array(mat, "add_embedding")
        if points.ndim != 2:
            raise ShapeError(f"add_embedding: mat is not a matrix; got shape {points.shape}")
        for name, items in (("metadata", metadata), ("label_img", label_img)):
            if items is not None and len(items) != len(points):
                raise ShapeError(
                    f"add_embedding: {name} has not one for each point; got {len(items)}, expected "
                    f"{len(points)}"
                )
        step = 0 if global_step is None else int(global_step)
        safe = "".join(f"%{ord(c):02x}" if c in "%/\\" else c for c in tag)
        below = f"{step:05d}/{safe}"
        top = self._get_file_writer().get_logdir()
        folder = os.path.join(top, below)
        os.makedirs(folder, exist_ok=True)
        self._projector = self._projector or ProjectorConfig()
        info = self._projector.embeddings.add()
        info.tensor_name = f"{tag}:{step:05d}"
        info.tensor_path = f"{below}/tensors.tsv"
        _write_rows(os.path.join(folder, "tensors.tsv"), points.tolist())
        if metadata is not None:
            info.metadata_path = f"{below}/metadata.tsv"
            rows = [row if metadata_header else [row] for row in metadata]
            head = [list(metadata_header)] if metadata_header else []
            _write_rows(os.path.join(folder, "metadata.tsv"), head + rows)
        if label_img is not None:
            info.sprite.image_path = f"{below}/sprite.png"
            info.sprite.single_image_dim.extend([label_img.shape[3], label_img.shape[2]])
            with open(os.path.join(folder, "sprite.png"), "wb") as picture:
                picture.write(summaries.sprite(label_img))
        with open(os.path.join(top, "projector_config.pbtxt"), "w", encoding="utf-8") as file:
            file.write(text_format.MessageToString(self._projector))

    def add_graph(
        self,
        model: Any,
        input_to_model: Any = None,
        verbose: bool = False,
        use_strict_trace: bool = True,
    ) -> None:
        """PyTorch's: zero has no graph of a model apart from that of autograd.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(
            "add_graph: models are not traced; zero.utils.viz.graph draws the autograd graph of a "
            "result, and add_text(tag, str(zero.utils.summary(model, …))) shows the layers"
        )

    def add_onnx_graph(self, prototxt: Any) -> None:
        """PyTorch's.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("add_onnx_graph: graphs in ONNX are not read")

    def add_mesh(self, tag: str, vertices: Any, *args: Any, **kwargs: Any) -> None:
        """PyTorch's.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("add_mesh: meshes are not supported")

    # ---- the end ---------------------------------------------------------------------------------
    def flush(self) -> None:
        """Waits until everything is in the files."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self) -> None:
        """Ends the files. What is added later goes to others."""
        for writer in (self.all_writers or {}).values():
            writer.flush()
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _write_rows(path: str, rows: Sequence[Sequence[Any]]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        for row in rows:
            cells = (str(x).replace("\t", " ").replace("\n", " ") for x in row)
            file.write("\t".join(cells) + "\n")
