"""zero.utils.tensorboard: what it writes, TensorBoard reads."""

import io
import sys
import wave

import numpy as np
import pytest

import zero

pytest.importorskip("tensorboard")
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.util.tensor_util import make_ndarray

from zero.utils.tensorboard import SummaryWriter


def read(folder):
    everything = {"scalars": 0, "histograms": 0, "images": 0, "audio": 0, "tensors": 0}
    return EventAccumulator(str(folder), size_guidance=everything).Reload()


@pytest.fixture
def writer(tmp_path):
    with SummaryWriter(tmp_path / "run") as made:
        yield made


def contents(writer):
    writer.close()
    return read(writer.get_logdir())


def picture(event):
    image = pytest.importorskip("PIL.Image")
    return np.asarray(image.open(io.BytesIO(event.encoded_image_string)))


def test_scalars(writer):
    for step, value in enumerate([1, 2.5, zero.tensor([3.0]), np.float64(4)]):
        writer.add_scalar("loss", value, step, walltime=100.0 + step)
    writer.add_scalar("half", zero.tensor(0.5, dtype=zero.bfloat16, requires_grad=True))
    writer.add_scalar("new", 0.1, 7, new_style=True)
    writer.add_scalar("double", 0.1, 7, new_style=True, double_precision=True)
    with pytest.raises(ValueError, match="not one element"):
        writer.add_scalar("loss", zero.ones(2), 9)
    with pytest.raises(TypeError, match="not numbers; got str"):
        writer.add_scalar("loss", "1", 9)
    events = contents(writer)
    found = events.Scalars("loss")
    assert [(e.wall_time, e.step, e.value) for e in found] == [
        (100.0, 0, 1.0),
        (101.0, 1, 2.5),
        (102.0, 2, 3.0),
        (103.0, 3, 4.0),
    ]
    assert events.Scalars("half")[0].value == 0.5
    assert make_ndarray(events.Tensors("new")[0].tensor_proto) == np.float32(0.1)
    assert make_ndarray(events.Tensors("double")[0].tensor_proto) == 0.1


def test_several_curves_are_runs(writer, tmp_path):
    for step in range(3):
        writer.add_scalars("loss/parts", {"a": step, "b": 2 * step}, step)
    writer.close()
    for name, factor in (("a", 1), ("b", 2)):
        events = read(tmp_path / "run" / f"loss_parts_{name}")
        assert [e.value for e in events.Scalars("loss/parts")] == [0, factor, 2 * factor]


def test_histograms(writer):
    x = zero.tensor([[0.0, -1.0, 2.0], [2.0, 1e-3, 5.0]])
    writer.add_histogram("x", x, 3)
    writer.add_histogram("few", x, bins=4)
    writer.add_histogram("joined", x, bins=[-2, 0, 1, 2, 3, 6], max_bins=2)
    writer.add_histogram("ints", zero.arange(4), bins="auto")
    writer.add_histogram_raw("raw", 0, 3, 4, 6, 14, [1, 2, 4], zero.tensor([1, 1, 2]))
    with pytest.raises(ValueError, match="no elements"):
        writer.add_histogram("x", zero.ones(0))
    with pytest.raises(ValueError, match="got 2 and 1"):
        writer.add_histogram_raw("raw", 0, 1, 1, 1, 1, [1, 2], [1])
    events = contents(writer)
    value = events.Histograms("x")[0].histogram_value
    assert (value.min, value.max, value.num) == (-1.0, 5.0, 6)
    assert value.sum == pytest.approx(8.001) and value.sum_squares == pytest.approx(34.000001)
    assert sum(value.bucket) == 6 and value.bucket[0] == 0
    for limit_before, limit, n in zip(
        value.bucket_limit, value.bucket_limit[1:], value.bucket[1:], strict=False
    ):
        inside = sum(limit_before <= v < limit for v in x.flatten().tolist())
        assert n == inside
    few = events.Histograms("few")[0].histogram_value
    assert few.bucket_limit == [-1, 0.5, 2, 3.5, 5] and few.bucket == [0, 3, 0, 2, 1]
    joined = events.Histograms("joined")[0].histogram_value
    assert joined.bucket_limit == [-2, 1, 3, 6] and joined.bucket == [0, 3, 2, 1]
    assert events.Histograms("ints")[0].histogram_value.sum == 6
    raw = events.Histograms("raw")[0].histogram_value
    assert raw.bucket == [1, 1, 2] and raw.bucket_limit == [1, 2, 4]


def test_images(writer):
    pytest.importorskip("PIL")
    x = zero.linspace(0, 1, 3 * 4 * 5).view(3, 4, 5)
    bytes_ = (x * 255).to(zero.uint8)
    writer.add_image("chw", x)
    writer.add_image("uint8", bytes_)
    writer.add_image("hwc", x.permute(1, 2, 0), dataformats="HWC")
    writer.add_image("hw", x[0], dataformats="HW")
    writer.add_image("wh", x[0].t(), dataformats="WH")
    writer.add_image("loud", x * 3 - 1)
    writer.add_images("batch", zero.stack([x] * 9))
    writer.add_image_with_boxes("boxes", zero.zeros(3, 20, 20), zero.tensor([[2, 3, 10, 12]]))
    for bad, order in ((x, "CHWN"), (x, "HW"), (x, "XYZ"), (x, "HWC")):
        with pytest.raises(ValueError, match="add_image: "):
            writer.add_image("bad", bad, dataformats=order)
    events = contents(writer)
    expected = bytes_.permute(1, 2, 0).numpy()
    for name in ("chw", "uint8", "hwc"):
        event = events.Images(name)[0]
        assert (event.height, event.width) == (4, 5)
        assert np.array_equal(picture(event), expected)
    for name in ("hw", "wh"):
        assert np.array_equal(picture(events.Images(name)[0])[..., 1], expected[..., 0])
    loud = ((x * 3 - 1) * 255).clamp(0, 255).to(zero.uint8).permute(1, 2, 0).numpy()
    assert np.array_equal(picture(events.Images("loud")[0]), loud)
    batch = picture(events.Images("batch")[0])
    assert batch.shape == (8, 40, 3)
    assert np.array_equal(batch[:4, 35:], expected) and not batch[4:, 5:].any()
    boxes = picture(events.Images("boxes")[0])
    assert boxes[3, 5].tolist() == [255, 0, 0] and boxes[7, 7].tolist() == [0, 0, 0]


def test_figures(writer):
    matplotlib = pytest.importorskip("matplotlib")
    pytest.importorskip("PIL")
    from matplotlib.figure import Figure

    assert matplotlib
    figure = Figure(figsize=(2, 1), dpi=50)
    figure.subplots().plot([1, 2])
    writer.add_figure("one", figure)
    writer.add_figure("two", [figure, figure])
    events = contents(writer)
    assert picture(events.Images("one")[0]).shape == (50, 100, 3)
    assert picture(events.Images("two")[0]).shape == (50, 200, 3)


def test_videos_and_sounds(writer):
    image = pytest.importorskip("PIL.Image")
    frames = zero.zeros(2, 3, 3, 4, 4)
    frames[:, 1] = 1
    writer.add_video("film", frames, fps=10)
    writer.add_audio("sound", zero.tensor([[0.0, 0.5, -1.0, 2.0]]), sample_rate=8000)
    with pytest.raises(ValueError, match="not N, T, C, H, W"):
        writer.add_video("film", frames[0])
    events = contents(writer)
    film = image.open(io.BytesIO(events.Images("film")[0].encoded_image_string))
    assert film.n_frames == 3 and film.size == (8, 4) and film.info["duration"] == 100
    event = events.Audio("sound")[0]
    with wave.open(io.BytesIO(event.encoded_audio_string)) as sound:
        assert sound.getframerate() == 8000
        samples = np.frombuffer(sound.readframes(4), "<i2")
    assert samples.tolist() == [0, 16383, -32767, 32767]


def test_texts_tensors_and_layouts(writer):
    writer.add_text("note", "**bold** ü", 2)
    for dtype in (zero.float32, zero.float64, zero.int64, zero.uint8, zero.bool):
        writer.add_tensor(str(dtype), zero.tensor([[0, 1]], dtype=dtype))
    writer.add_custom_scalars_multilinechart(["a", "b"], title="both")
    with pytest.raises(ValueError, match="with 2 tags"):
        writer.add_custom_scalars_marginchart(["a", "b"])
    events = contents(writer)
    assert events.Tensors("note/text_summary")[0].tensor_proto.string_val[0].decode() == (
        "**bold** ü"
    )
    for dtype in (zero.float32, zero.float64, zero.int64, zero.uint8, zero.bool):
        found = make_ndarray(events.Tensors(str(dtype))[0].tensor_proto)
        assert found.tolist() == [[0, 1]] and str(found.dtype) in str(dtype)
    from tensorboard.plugins.custom_scalar import layout_pb2

    text = events.Tensors("custom_scalars__config__")[0].tensor_proto.string_val[0]
    chart = layout_pb2.Layout.FromString(text).category[0].chart[0]
    assert chart.title == "both" and list(chart.multiline.tag) == ["a", "b"]


def test_precision_over_recall(writer):
    labels = zero.tensor([0, 1, 1, 0, 1])
    guesses = zero.tensor([0.0, 0.3, 0.6, 0.6, 1.0])
    writer.add_pr_curve("pr", labels, guesses, num_thresholds=11)
    writer.add_pr_curve_raw("raw", [2, 1], [1, 0], [0, 1], [0, 1], [2 / 3, 1], [1, 0.5])
    with pytest.raises(ValueError, match="differ in number; got 5 and 2"):
        writer.add_pr_curve("pr", labels, guesses[:2])
    events = contents(writer)
    found = make_ndarray(events.Tensors("pr")[0].tensor_proto)
    assert found.shape == (6, 11)
    for i in range(11):
        said = [g >= i / 10 - 1e-6 for g in guesses.tolist()]
        true = sum(s and bool(t) for s, t in zip(said, labels.tolist(), strict=True))
        assert found[0, i] == true and found[1, i] == sum(said) - true
        assert found[5, i] == pytest.approx(true / 3)
    raw = make_ndarray(events.Tensors("raw")[0].tensor_proto)
    assert raw[0].tolist() == [2, 1]


def test_hparams(writer, tmp_path):
    writer.add_hparams(
        {"lr": 0.1, "name": "adam", "nesterov": True, "depth": zero.tensor(3), "none": None},
        {"hparam/loss": 0.5},
        {"name": ["adam", "sgd"]},
        run_name="first",
        global_step=4,
    )
    with pytest.raises(TypeError, match="metric_dict is not a dict"):
        writer.add_hparams({}, [])
    with pytest.raises(TypeError, match="lr is no number, text or bool; got list"):
        writer.add_hparams({"lr": [1]}, {})
    with pytest.raises(TypeError, match="choices for lr have other types"):
        writer.add_hparams({"lr": 1.0}, {}, {"lr": ["a"]})
    writer.close()
    events = read(tmp_path / "run" / "first")
    assert events.Scalars("hparam/loss")[0].value == 0.5
    from tensorboard.plugins.hparams import metadata
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    content = events.SummaryMetadata(metadata.SESSION_START_INFO_TAG).plugin_data.content
    start = HParamsPluginData.FromString(content).session_start_info.hparams
    assert start["lr"].number_value == 0.1 and start["depth"].number_value == 3
    assert start["name"].string_value == "adam" and start["nesterov"].bool_value is True
    assert "none" not in start
    content = events.SummaryMetadata(metadata.EXPERIMENT_TAG).plugin_data.content
    infos = HParamsPluginData.FromString(content).experiment.hparam_infos
    assert [v.string_value for v in infos[1].domain_discrete.values] == ["adam", "sgd"]


def test_embeddings(writer, tmp_path):
    pytest.importorskip("PIL")
    points = zero.arange(6.0).view(3, 2)
    writer.add_embedding(points, ["a", "b\tc", 3], zero.rand(3, 3, 5, 4), 7, tag="x/y")
    writer.add_embedding(points, [["a", 1]] * 3, metadata_header=["letter", "digit"])
    with pytest.raises(ValueError, match="metadata has not one for each point; got 1"):
        writer.add_embedding(points, ["a"])
    with pytest.raises(ValueError, match="not a matrix"):
        writer.add_embedding(points[0])
    folder = tmp_path / "run"
    first = folder / "00007" / "x%2fy"
    assert (first / "tensors.tsv").read_text() == "0.0\t1.0\n2.0\t3.0\n4.0\t5.0\n"
    assert (first / "metadata.tsv").read_text() == "a\nb c\n3\n"
    second = folder / "00000" / "default" / "metadata.tsv"
    assert second.read_text().splitlines()[:2] == ["letter\tdigit", "a\t1"]
    config = (folder / "projector_config.pbtxt").read_text()
    assert "00007/x%2fy/sprite.png" in config and "single_image_dim: 4" in config
    assert config.count("tensor_path") == 2


def test_flush_close_and_purge(tmp_path):
    writer = SummaryWriter(tmp_path)
    writer.add_scalar("a", 1, 0)
    writer.flush()
    assert [e.value for e in read(tmp_path).Scalars("a")] == [1]
    writer.close()
    writer.close()
    writer.add_scalar("a", 2, 1)  # goes to another file
    writer.close()
    assert len(list(tmp_path.iterdir())) == 2
    with SummaryWriter(tmp_path, purge_step=1, filename_suffix=".third") as third:
        third.add_scalar("a", 3, 1)
    assert [e.value for e in read(tmp_path).Scalars("a")] == [1, 3]
    assert len(list(tmp_path.glob("*.third"))) == 1


def test_the_default_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with SummaryWriter(comment="_lr0.1") as writer:
        assert writer.get_logdir().startswith("runs")
    (made,) = (tmp_path / "runs").iterdir()
    assert made.name.endswith("_lr0.1")


def test_what_is_not_there_says_so(writer, monkeypatch):
    with pytest.raises(NotImplementedError, match=r"zero\.utils\.viz\.graph"):
        writer.add_graph(zero.nn.Linear(1, 1), zero.ones(1))
    with pytest.raises(NotImplementedError, match="meshes"):
        writer.add_mesh("m", zero.ones(1, 3, 3))
    with pytest.raises(NotImplementedError, match="ONNX"):
        writer.add_onnx_graph("x")
    for name in [n for n in sys.modules if n.startswith(("zero.utils.tensorboard", "tensorboard"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with pytest.raises(ImportError, match="pip install tensorboard"):
        __import__("zero.utils.tensorboard")


def test_pytorch_writes_the_same(tmp_path):
    torch = pytest.importorskip("torch")
    theirs = pytest.importorskip("torch.utils.tensorboard").SummaryWriter
    values = np.random.default_rng(0).normal(size=1000)
    found = []
    for library, cls, name in ((zero, SummaryWriter, "a"), (torch, theirs, "b")):
        with cls(tmp_path / name) as w:
            w.add_histogram("h", library.tensor(values), 1)
            w.add_histogram("m", library.tensor(values), 1, bins=50, max_bins=10)
            w.add_scalar("s", library.tensor(0.1), 1)
            w.add_pr_curve("pr", library.tensor(values > 0), library.tensor(values).sigmoid(), 1)
        events = read(tmp_path / name)
        found.append(
            (
                events.Histograms("h")[0].histogram_value,
                events.Histograms("m")[0].histogram_value,
                events.Scalars("s")[0].value,
                make_ndarray(events.Tensors("pr")[0].tensor_proto).tolist(),
            )
        )
    for ours, other in zip(found[0][:2], found[1][:2], strict=True):
        assert ours.bucket == other.bucket
        assert ours.bucket_limit == pytest.approx(other.bucket_limit)
    assert found[0][2:] == found[1][2:]
