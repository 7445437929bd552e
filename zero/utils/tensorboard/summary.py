"""Values as TensorBoard's protocol buffers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto

import zero
from zero import Tensor
from zero.errors import DTypeError, ShapeError, ValueError

__all__ = [
    "array",
    "audio",
    "custom_scalars",
    "figure_image",
    "histogram",
    "hparams",
    "image",
    "pr_curve",
    "scalar",
    "tensor",
    "text",
    "video",
]


def array(x: Any, op: str) -> Any:
    """A tensor, array, number or list as an array; 16-bit floats become float32."""
    if isinstance(x, Tensor):
        if x.is_meta:
            raise ValueError(f"{op}: a meta tensor has no values; got {tuple(x.shape)} on meta")
        x = x.detach()
        return (x.float() if x.dtype in (zero.float16, zero.bfloat16) else x).numpy()
    found = np.asarray(x)
    if found.dtype.kind not in "biuf":
        raise DTypeError(
            f"{op}: not numbers; got {type(x).__name__}, expected a tensor or an array"
        )
    return found


def _tensor_summary(tag: str, tensor: TensorProto, plugin: str, content: bytes = b"") -> Summary:
    data = SummaryMetadata.PluginData(plugin_name=plugin, content=content)
    metadata = SummaryMetadata(plugin_data=data)
    return Summary(value=[Summary.Value(tag=tag, tensor=tensor, metadata=metadata)])


def _shape(*sizes: int) -> TensorShapeProto:
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=n) for n in sizes])


def scalar(tag: str, value: Any, new_style: bool = False, double: bool = False) -> Summary:
    elements = array(value, "add_scalar")
    if elements.size != 1:
        raise ShapeError(f"add_scalar: not one element; got shape {elements.shape}, expected one")
    number = float(elements.reshape(()))
    if not new_style:
        return Summary(value=[Summary.Value(tag=tag, simple_value=number)])
    if double:
        return _tensor_summary(tag, TensorProto(double_val=[number], dtype="DT_DOUBLE"), "scalars")
    return _tensor_summary(tag, TensorProto(float_val=[number], dtype="DT_FLOAT"), "scalars")


def tensor(tag: str, value: Tensor) -> Summary:
    kinds = {
        zero.float32: ("DT_FLOAT", "float_val"),
        zero.float64: ("DT_DOUBLE", "double_val"),
        zero.bool: ("DT_BOOL", "bool_val"),
        zero.uint8: ("DT_UINT8", "int_val"),
        zero.int8: ("DT_INT8", "int_val"),
        zero.int16: ("DT_INT16", "int_val"),
        zero.int32: ("DT_INT32", "int_val"),
        zero.int64: ("DT_INT64", "int64_val"),
    }
    if not isinstance(value, Tensor):
        raise TypeError(f"add_tensor: not a tensor; got {type(value).__name__}")
    value = value.detach()
    if value.dtype in (zero.float16, zero.bfloat16):
        value = value.float()
    dtype, field = kinds[value.dtype]
    proto = TensorProto(
        dtype=dtype,
        tensor_shape=_shape(*value.shape),
        **{field: array(value, "add_tensor").ravel().tolist()},
    )
    return _tensor_summary(tag, proto, "tensor")


def text(tag: str, value: str) -> Summary:
    from tensorboard.plugins.text.plugin_data_pb2 import TextPluginData

    proto = TensorProto(dtype="DT_STRING", string_val=[value.encode()], tensor_shape=_shape(1))
    content = TextPluginData(version=0).SerializeToString()
    return _tensor_summary(f"{tag}/text_summary", proto, "text", content)


# ---- histograms ----------------------------------------------------------------------------------
def _default_bins() -> Any:
    """Limits from -1e20 to 1e20, each 1.1 times as far from 0 as the one before."""
    positive = 1e-12 * 1.1 ** np.arange(772)
    positive = positive[positive < 1e20]
    return np.concatenate([-positive[::-1], [0.0], positive])


def histogram(tag: str, values: Any, bins: Any, max_bins: int | None) -> Summary:
    numbers = array(values, "add_histogram").astype(np.float64).ravel()
    if numbers.size == 0:
        raise ValueError("add_histogram: no elements; got an empty tensor, expected at least one")
    limits = _default_bins() if isinstance(bins, str) and bins == "tensorflow" else bins
    counts, limits = np.histogram(numbers, bins=limits)
    if max_bins is not None and len(counts) > max_bins:
        step = len(counts) // max_bins
        starts = np.arange(0, len(counts), step)
        counts, limits = np.add.reduceat(counts, starts), np.append(limits[starts], limits[-1])
    filled = np.flatnonzero(counts)
    first, last = (filled[0], filled[-1] + 1) if len(filled) else (0, len(counts))
    # A bucket has its right limit only: an empty one in front says where the first begins.
    proto = HistogramProto(
        min=numbers.min(),
        max=numbers.max(),
        num=numbers.size,
        sum=numbers.sum(),
        sum_squares=numbers @ numbers,
        bucket_limit=limits[first : last + 1].tolist(),
        bucket=[0.0, *counts[first:last].tolist()],
    )
    return Summary(value=[Summary.Value(tag=tag, histo=proto)])


def pr_curve(tag: str, counts: Any, thresholds: int) -> Summary:
    """Counts are rows of true and false positives, true and false negatives, precision, recall."""
    from tensorboard.plugins.pr_curve.plugin_data_pb2 import PrCurvePluginData

    content = PrCurvePluginData(version=0, num_thresholds=thresholds).SerializeToString()
    proto = TensorProto(
        dtype="DT_FLOAT", float_val=counts.ravel().tolist(), tensor_shape=_shape(*counts.shape)
    )
    return _tensor_summary(tag, proto, "pr_curves", content)


def pr_counts(labels: Any, predictions: Any, thresholds: int, weights: Any) -> Any:
    """What pr_curve takes, for predictions from 0 to 1 that count as true from a threshold on."""
    true = array(labels, "add_pr_curve").astype(np.float64).ravel()
    guessed = array(predictions, "add_pr_curve").astype(np.float64).ravel()
    if true.shape != guessed.shape:
        raise ShapeError(
            f"add_pr_curve: labels and predictions differ in number; got {true.size} and "
            f"{guessed.size}"
        )
    weight = 1.0 if weights is None else array(weights, "add_pr_curve").ravel()
    place = np.clip(np.floor(guessed * (thresholds - 1)).astype(np.int64), 0, thresholds - 1)

    def at_least(weighted: Any) -> Any:
        return np.bincount(place, weighted, thresholds)[::-1].cumsum()[::-1]

    tp, fp = at_least(true * weight), at_least((1.0 - true) * weight)
    fn = tp[0] - tp
    precision, recall = tp / np.maximum(1e-7, tp + fp), tp / np.maximum(1e-7, tp + fn)
    return np.stack([tp, fp, fp[0] - fp, fn, precision, recall])


# ---- pictures and sounds -------------------------------------------------------------------------
def _pillow(op: str) -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(
            f"{op}: the package pillow makes the picture, and it is not installed; "
            "pip install pillow"
        ) from error
    return Image


def _grid(images: Any, columns: int = 8) -> Any:
    """[N, H, W, C] -> one picture with up to 8 beside each other."""
    n, height, width, channels = images.shape
    columns = min(n, columns)
    rows = -(-n // columns)
    canvas = np.zeros((rows * columns, height, width, channels), images.dtype)
    canvas[:n] = images
    canvas = canvas.reshape(rows, columns, height, width, channels).swapaxes(1, 2)
    return canvas.reshape(rows * height, columns * width, channels)


def _bytes(x: Any) -> Any:
    """Numbers from 0 to 1, or uint8, as uint8."""
    return x if x.dtype == np.uint8 else (x.astype(np.float32) * 255).clip(0, 255).astype(np.uint8)


def _pixels(op: str, x: Any, dataformats: str) -> Any:
    """[H, W, C], with 3 or 4 channels."""
    given, order = array(x, op), dataformats.upper()
    if len(order) != given.ndim or sorted(order) not in map(sorted, ("NHWC", "HWC", "HW")):
        raise ShapeError(
            f"{op}: dataformats doesn't fit; got {dataformats!r} for shape {given.shape}, expected "
            "a letter for each dimension: N, C, H, W, or C, H, W, or H, W"
        )
    wanted = "".join(letter for letter in "NHWC" if letter in order)
    pixels = given.transpose([order.index(letter) for letter in wanted])
    if "C" not in order:
        pixels = pixels[..., None]
    if pixels.shape[-1] == 1:
        pixels = np.repeat(pixels, 3, axis=-1)
    if pixels.shape[-1] not in (3, 4):
        raise ShapeError(
            f"{op}: the number of channels is not 1, 3 or 4; got {pixels.shape[-1]} of shape "
            f"{given.shape} as {dataformats!r}"
        )
    return _bytes(_grid(pixels) if "N" in order else pixels)


def _encoded(pixels: Any, op: str, boxes: Any = None, labels: Any = None, scale: float = 1) -> Any:
    picture = _pillow(op).fromarray(np.ascontiguousarray(pixels))
    if boxes is not None:
        from PIL import ImageDraw

        draw = ImageDraw.Draw(picture)
        for i, box in enumerate(array(boxes, op).tolist()):
            draw.rectangle(box, outline="red", width=2)
            if labels is not None:
                draw.text((box[0] + 3, box[1] + 3), str(labels[i]), fill="red")
    if scale != 1:
        picture = picture.resize((int(picture.width * scale), int(picture.height * scale)))
    file = BytesIO()
    picture.save(file, format="PNG")
    return Summary.Image(
        height=picture.height,
        width=picture.width,
        colorspace=pixels.shape[-1],
        encoded_image_string=file.getvalue(),
    )


def image(
    op: str,
    tag: str,
    x: Any,
    dataformats: str,
    boxes: Any = None,
    labels: Sequence[str] | None = None,
    scale: float = 1,
) -> Summary:
    found = _encoded(_pixels(op, x, dataformats), op, boxes, labels, scale)
    return Summary(value=[Summary.Value(tag=tag, image=found)])


def sprite(images: Any) -> Any:
    """Small pictures [N, C, H, W] as one with as many beside each other as below."""
    pixels = array(images, "add_embedding").transpose(0, 2, 3, 1)
    side = int(np.ceil(len(pixels) ** 0.5))
    padded = np.zeros((side * side, *pixels.shape[1:]), pixels.dtype)
    padded[: len(pixels)] = pixels
    if padded.shape[-1] == 1:
        padded = np.repeat(padded, 3, axis=-1)
    return _encoded(_bytes(_grid(padded, side)), "add_embedding").encoded_image_string


def figure_image(figure: Any, close: bool) -> Any:
    """[H, W, 3] of a matplotlib figure; [N, H, W, 3] of a list."""
    if isinstance(figure, (list, tuple)):
        return np.stack([figure_image(one, close) for one in figure])
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.array(canvas.buffer_rgba())[..., :3]
    if close:
        import sys

        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is not None:  # else it knows no figures
            pyplot.close(figure)
    return pixels


def video(tag: str, x: Any, fps: float) -> Summary:
    frames = array(x, "add_video")  # [N, T, C, H, W]
    if frames.ndim != 5:
        raise ShapeError(f"add_video: not N, T, C, H, W; got shape {frames.shape}")
    columns = int(np.ceil(len(frames) ** 0.5))
    pictures = [
        _pixels("add_video", _grid(frame.transpose(0, 2, 3, 1), columns), "HWC")
        for frame in frames.swapaxes(0, 1)
    ]
    pillow = _pillow("add_video")
    first, *rest = [pillow.fromarray(np.ascontiguousarray(p)) for p in pictures]
    file = BytesIO()
    first.save(file, format="GIF", save_all=True, append_images=rest, duration=1000 / fps, loop=0)
    height, width, channels = pictures[0].shape
    found = Summary.Image(
        height=height, width=width, colorspace=channels, encoded_image_string=file.getvalue()
    )
    return Summary(value=[Summary.Value(tag=tag, image=found)])


def audio(tag: str, x: Any, sample_rate: int) -> Summary:
    import wave

    samples = array(x, "add_audio").squeeze()
    if samples.ndim != 1:
        raise ShapeError(f"add_audio: not one row of samples; got shape {np.shape(x)}")
    samples = (samples.clip(-1, 1) * 32767).astype("<i2")
    file = BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(sample_rate)
        sound.writeframes(samples.tobytes())
    found = Summary.Audio(
        sample_rate=sample_rate,
        num_channels=1,
        length_frames=len(samples),
        encoded_audio_string=file.getvalue(),
        content_type="audio/wav",
    )
    return Summary(value=[Summary.Value(tag=tag, audio=found)])


# ---- layouts -------------------------------------------------------------------------------------
def custom_scalars(layout: Mapping[str, Mapping[str, Sequence[Any]]]) -> Summary:
    from tensorboard.plugins.custom_scalar import layout_pb2

    categories = []
    for category, charts in layout.items():
        found = []
        for title, (kind, tags) in charts.items():
            if kind not in ("Margin", "Multiline") or (kind == "Margin" and len(tags) != 3):
                raise ValueError(
                    f"add_custom_scalars: no such chart; got {kind!r} with {len(tags)} tags, "
                    "expected 'Multiline', or 'Margin' with 3 tags: value, lower and upper limit"
                )
            if kind == "Margin":
                series = layout_pb2.MarginChartContent.Series(
                    value=tags[0], lower=tags[1], upper=tags[2]
                )
                margin = layout_pb2.MarginChartContent(series=[series])
                found.append(layout_pb2.Chart(title=title, margin=margin))
            else:
                lines = layout_pb2.MultilineChartContent(tag=list(tags))
                found.append(layout_pb2.Chart(title=title, multiline=lines))
        categories.append(layout_pb2.Category(title=category, chart=found))
    content = layout_pb2.Layout(category=categories).SerializeToString()
    proto = TensorProto(dtype="DT_STRING", string_val=[content], tensor_shape=_shape())
    return _tensor_summary("custom_scalars__config__", proto, "custom_scalars")


def hparams(
    values: Mapping[str, Any], metrics: Mapping[str, Any], domains: Mapping[str, Sequence[Any]]
) -> list[Summary]:
    """What an experiment varies and measures, the values of this run, and its end."""
    from google.protobuf.struct_pb2 import ListValue, Value
    from tensorboard.plugins.hparams import api_pb2, metadata, plugin_data_pb2

    def field_of(value: Any) -> str:
        kinds = {bool: "bool", str: "string", int: "number", float: "number"}
        return f"{kinds[type(value)]}_value"

    types = {
        "bool_value": "DATA_TYPE_BOOL",
        "string_value": "DATA_TYPE_STRING",
        "number_value": "DATA_TYPE_FLOAT64",
    }
    infos, start = [], plugin_data_pb2.SessionStartInfo()
    for name, value in values.items():
        if value is None:
            continue
        if isinstance(value, (Tensor, np.generic, np.ndarray)):
            value = array(value, "add_hparams").item()
        if type(value) not in (bool, str, int, float):
            raise TypeError(
                f"add_hparams: {name} is no number, text or bool; got {type(value).__name__}"
            )
        field = field_of(value)
        setattr(start.hparams[name], field, value)
        info = api_pb2.HParamInfo(name=name, type=api_pb2.DataType.Value(types[field]))
        if name in domains:
            if any(type(choice) is not type(value) for choice in domains[name]):
                raise TypeError(
                    f"add_hparams: the choices for {name} have other types than its value; got "
                    f"{list(domains[name])!r} for {value!r}"
                )
            choices = ListValue(values=[Value(**{field: choice}) for choice in domains[name]])
            info.domain_discrete.CopyFrom(choices)
        infos.append(info)
    for name in domains:
        if name not in values:
            raise TypeError(f"add_hparams: there are choices for {name}, which has no value")

    measured = [api_pb2.MetricInfo(name=api_pb2.MetricName(tag=name)) for name in metrics]
    experiment = api_pb2.Experiment(hparam_infos=infos, metric_infos=measured)
    end = plugin_data_pb2.SessionEndInfo(status=api_pb2.Status.Value("STATUS_SUCCESS"))
    summaries = []
    for tag, field, content in (
        (metadata.EXPERIMENT_TAG, "experiment", experiment),
        (metadata.SESSION_START_INFO_TAG, "session_start_info", start),
        (metadata.SESSION_END_INFO_TAG, "session_end_info", end),
    ):
        data = plugin_data_pb2.HParamsPluginData(
            version=metadata.PLUGIN_DATA_VERSION, **{field: content}
        )
        plugin = SummaryMetadata.PluginData(
            plugin_name=metadata.PLUGIN_NAME, content=data.SerializeToString()
        )
        about = SummaryMetadata(plugin_data=plugin)
        summaries.append(Summary(value=[Summary.Value(tag=tag, metadata=about)]))
    return summaries
