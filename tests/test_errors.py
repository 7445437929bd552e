"""Bad input: the right class, a message that names the operation, and nothing changed."""

import builtins
import re

import numpy as np
import pytest

import zero
from zero import errors


@pytest.mark.parametrize(
    "cls, base",
    [
        (errors.ShapeError, ValueError),
        (errors.ValueError, ValueError),
        (errors.DTypeError, TypeError),
        (errors.IndexError, IndexError),
        (errors.OutOfMemoryError, MemoryError),
    ],
)
def test_every_class_is_a_runtime_error_too(cls, base):
    assert issubclass(cls, base) and issubclass(cls, RuntimeError)
    assert cls is not base and base is getattr(builtins, base.__name__)


a23, b45 = zero.ones(2, 3), zero.ones(4, 5)
leaf = zero.ones(2, requires_grad=True)

# What users do wrong most often, and the whole message.
GOLDEN = {
    "matmul: inner dimensions differ; got a (2, 3) and b (4, 5), expected a.shape[-1] == "
    "b.shape[-2]": (
        errors.ShapeError,
        lambda: a23 @ b45,
    ),
    "add: shapes do not broadcast; got (2, 3) and (4, 5), expected equal sizes or 1 in each "
    "trailing dimension": (
        errors.ShapeError,
        lambda: a23 + b45,
    ),
    "linear: the input's last dimension differs from the weight's; got x (2, 3) and weight "
    "(4, 5), expected x.shape[-1] == 5": (
        errors.ShapeError,
        lambda: zero.nn.functional.linear(a23, b45),
    ),
    "backward: grad can be implicitly created only for scalar outputs; got float32 (2,), "
    "expected one element, or a gradient "
    "of the same shape": (RuntimeError, lambda: (leaf * 2).backward()),
    "add: a leaf that requires grad is being used in an in-place operation; got float32 "
    "(2,), expected zero.no_grad() or a clone()": (
        RuntimeError,
        lambda: leaf.add_(1),
    ),
    "exp: input is not a Tensor; got NoneType, expected a Tensor": (
        TypeError,
        lambda: zero.exp(None),
    ),
    "mm: inner dimensions differ; got a (2, 3) and b (4, 5), expected a.shape[-1] == b.shape[-2]": (
        errors.ShapeError,
        lambda: zero.mm(a23, b45),
    ),
    "sub: not defined for bool; got int64 and bool, expected numbers; ~ inverts a mask, ^ "
    "compares two": (
        errors.DTypeError,
        lambda: 1 - zero.tensor([True]),
    ),
    "numpy: the tensor requires grad, which other libraries would not see; use "
    "tensor.detach().numpy()": (
        RuntimeError,
        lambda: leaf.numpy(),
    ),
    "tensor: ragged list; got length 1 at [1], expected 2 as at [0]": (
        errors.ShapeError,
        lambda: zero.tensor([[1, 2], [3]]),
    ),
    "tensor: not a number; got 'a' of type str at [1], expected a bool, int, float, or "
    "nested sequences of them": (
        TypeError,
        lambda: zero.tensor([1.0, "a"]),
    ),
    "ones: no such device; got 'cuda', expected 'cpu' or 'meta': zero computes on CPUs only": (
        RuntimeError,
        lambda: zero.ones(2, device="cuda"),
    ),
    "bool: the truth value of none or several elements is ambiguous; got a tensor of shape "
    "(2, 3), expected one element; "
    "use any() or all()": (ValueError, lambda: bool(a23 > 0)),
    "index: the step of a slice is not positive; got -1, expected a step of at least 1": (
        ValueError,
        lambda: a23[::-1],
    ),
    "softmax: unexpected": None,
    "cross_entropy: target out of range; got 3 at position (1,), expected 0 <= target < 3, "
    "the number of classes, or ignore_index "
    "-100": (errors.IndexError, lambda: zero.cross_entropy(a23, zero.tensor([0, 3]))),
    "len: a 0-d tensor has no length; got shape (), expected at least 1 dimension": (
        TypeError,
        lambda: len(zero.tensor(1.0)),
    ),
}
del GOLDEN["softmax: unexpected"]


@pytest.mark.parametrize("text", GOLDEN)
def test_golden_messages(text):
    kind, call = GOLDEN[text]
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == text


class NoRepr:
    def __repr__(self):
        raise ValueError


# Words that the message must have, beside its form.
MISTAKES = {
    "broadcast in place": (
        errors.ShapeError,
        lambda: zero.ones(3).add_(zero.ones(2, 3)),
        "(3), expected (2, 3)|(3,)",
    ),
    "float into int": (
        errors.DTypeError,
        lambda: zero.ones(2, dtype=zero.int64).add_(0.5),
        "int64",
    ),
    "true division in place": (
        errors.DTypeError,
        lambda: zero.ones(2, dtype=zero.int64).div_(2),
        "int64",
    ),
    "int into bool": (errors.DTypeError, lambda: zero.ones(2, dtype=zero.bool).add_(2), "bool"),
    "float alpha": (
        errors.DTypeError,
        lambda: zero.add(zero.arange(2), zero.arange(2), alpha=0.5),
        "alpha",
    ),
    "bool alpha": (
        errors.DTypeError,
        lambda: zero.add(zero.arange(2), zero.arange(2), alpha=True),
        "alpha",
    ),
    "a bool subtracted": (errors.DTypeError, lambda: zero.arange(2) - True, "bool"),
    "a mask subtracted from floats": (errors.DTypeError, lambda: a23 - (a23 > 0), "bool"),
    "data of another type": (TypeError, lambda: setattr(a23, "data", 3), "int"),
    "requires_grad of a result": (
        RuntimeError,
        lambda: setattr(leaf * 2, "requires_grad", True),
        "leaves",
    ),
    "requires_grad as string": (TypeError, lambda: zero.ones(2, requires_grad="no"), "str"),
    "keepdim beside a tensor": (TypeError, lambda: a23.max(a23, True), "keepdim"),
    "a tensor of floats as size": (TypeError, lambda: zero.ones(a23), "zero.Tensor|tensor("),
    "strides that overflow": (errors.ShapeError, lambda: zero.ones(0, 2**40, 2**40), "64 bits"),
    "assigning a leaf to itself": (
        RuntimeError,
        lambda: leaf.__setitem__(Ellipsis, leaf),
        "leaf",
    ),
    "division by integer zero": (RuntimeError, lambda: zero.arange(2) // 0, "ZeroDivision"),
    "division by a tensor with zero": (
        RuntimeError,
        lambda: zero.arange(2) % zero.arange(2),
        "ZeroDivision",
    ),
    "negative integer power": (RuntimeError, lambda: zero.arange(2) ** -1, "negative"),
    "two devices": (
        RuntimeError,
        lambda: zero.ones(2) + zero.ones(2, device="meta"),
        "cpu and meta",
    ),
    "item of many": (RuntimeError, lambda: a23.item(), "(2, 3)"),
    "item of none": (RuntimeError, lambda: zero.ones(0).item(), "(0)|(0,)"),
    "item of meta": (RuntimeError, lambda: zero.ones((), device="meta").item(), "meta"),
    "list of meta": (RuntimeError, lambda: zero.ones(2, device="meta").tolist(), "meta"),
    "array of meta": (TypeError, lambda: zero.ones(2, device="meta").numpy(), "meta"),
    "float of many": (ValueError, lambda: float(a23), "(2, 3)"),
    "int of many": (ValueError, lambda: int(a23), "(2, 3)"),
    "index of float": (TypeError, lambda: [1, 2][zero.tensor(1.0)], "float32"),
    "iterate 0-d": (TypeError, lambda: list(zero.tensor(1.0)), "0-d"),
    "index out of range": (IndexError, lambda: a23[2], "2"),
    "negative index out of range": (IndexError, lambda: a23[0, -4], "-4"),
    "too many indices": (IndexError, lambda: a23[0, 0, 0], "too many"),
    "index a 0-d tensor": (IndexError, lambda: zero.tensor(1.0)[0], ""),
    "two ellipses": (IndexError, lambda: a23[..., ...], "ellipsis"),
    "index with a string": (IndexError, lambda: a23["a"], "str"),
    "index with a float": (IndexError, lambda: a23[1.0], "float"),
    "an array as size": (TypeError, lambda: zero.ones(np.ones(2)), "ndarray"),
    "a 0-d array of floats as dim": (TypeError, lambda: a23.sum(np.array(1.0)), "ndarray"),
    "an array as dim": (TypeError, lambda: a23.sum(np.arange(2)), "ndarray"),
    "a size whose repr fails": (TypeError, lambda: zero.ones(NoRepr()), "NoRepr"),
    "numbers as targets": (TypeError, lambda: zero.nn.functional.mse_loss(a23, 3), "int"),
    "softmax of a list": (TypeError, lambda: zero.nn.functional.softmax([1.0]), "list"),
    "a number as parameters": (TypeError, lambda: zero.optim.SGD(3, lr=1), "int"),
    "a list as flag": (TypeError, lambda: zero.asarray([1.0], requires_grad=[]), "list"),
    "huge index": (ValueError, lambda: a23[2**70], "64 bits"),
    "index with floats": (errors.IndexError, lambda: a23[zero.tensor([0.0, 1.0])], "ints or bools"),
    "index past the end": (errors.IndexError, lambda: a23[[0, 2]], "got 2"),
    "assign a wrong shape": (
        errors.ShapeError,
        lambda: a23.__setitem__(0, zero.ones(2)),
        "(2)|(2,)",
    ),
    "assign a string": (TypeError, lambda: a23.__setitem__(0, "a"), "str"),
    "stack of different": (errors.ShapeError, lambda: zero.stack([a23, b45]), "(4, 5)"),
    "cat with a number": (TypeError, lambda: zero.cat([a23, 3]), "int"),
    "a float as size": (TypeError, lambda: zero.ones(2.0), "float"),
    "a string as size": (TypeError, lambda: zero.ones("2"), "str"),
    "None as size": (TypeError, lambda: zero.zeros(None), "NoneType"),
    "negative size": (ValueError, lambda: zero.zeros(2, -3), "-3"),
    "negative size of arange": (ValueError, lambda: zero.arange(0, 5, -1), "-1"),
    "zero step": (ValueError, lambda: zero.arange(0, 5, 0), "0"),
    "nan in arange": (ValueError, lambda: zero.arange(0, float("nan")), "nan"),
    "huge arange": (RuntimeError, lambda: zero.arange(0, 1e30, 1e-9), ""),
    "a number as dtype": (TypeError, lambda: zero.ones(2, dtype=5), "int"),
    "a string as dtype": (TypeError, lambda: zero.ones(2, dtype="float32"), "str"),
    "numpy's dtype": (TypeError, lambda: zero.ones(2).to(np.float32), "type"),
    "a number as device": (RuntimeError, lambda: zero.ones(2, device=0), "CPUs only"),
    "mps": (RuntimeError, lambda: zero.ones(2).to("mps"), "'mps'"),
    "cuda()": (RuntimeError, lambda: zero.ones(2).cuda(), "CPUs only"),
    "number for a tensor": (TypeError, lambda: zero.exp(1.0), ""),
    "None for a tensor": (TypeError, lambda: zero.exp(None), ""),
    "list for a tensor": (TypeError, lambda: zero.matmul([1.0], a23), ""),
    "string operand": (TypeError, lambda: a23 + "1", "str"),
    "None operand": (TypeError, lambda: None * a23, "NoneType"),
    "list operand": (TypeError, lambda: zero.add(a23, [1, 2, 3]), "list"),
    "complex operand": (TypeError, lambda: a23 * 1j, "complex"),
    "modulus of pow": (TypeError, lambda: pow(a23, 2, 3), ""),
    "int operand beyond int64": (RuntimeError, lambda: a23 + 2**70, "64 bits"),
    "dim as float": (TypeError, lambda: a23.sum(1.0), "float"),
    "dim as string": (TypeError, lambda: a23.softmax("1"), "str"),
    "keepdim as int": (TypeError, lambda: a23.sum(1, 1), "keepdim"),
    "dim too large": (IndexError, lambda: a23.sum(2), "2"),
    "dim given twice": (RuntimeError, lambda: a23.sum((0, -2)), "0"),
    "max of nothing": (IndexError, lambda: zero.ones(0).max(), ""),
    "argmax of nothing": (IndexError, lambda: zero.ones(2, 0).argmax(1), ""),
    "mean of ints": (errors.DTypeError, lambda: zero.arange(3).mean(), "int64"),
    "matmul of ints and floats": (
        errors.DTypeError,
        lambda: zero.ones(2, 2, dtype=zero.int64) @ zero.ones(2, 2),
        "int64",
    ),
    "view of a transpose": (errors.ShapeError, lambda: a23.T.view(6), "reshape"),
    "view with another count": (errors.ShapeError, lambda: a23.view(4, 2), "6 elements"),
    "two unknown sizes": (RuntimeError, lambda: a23.reshape(-1, -1), "-1"),
    "unknown size of nothing": (RuntimeError, lambda: zero.ones(0, 3).view(-1, 0), ""),
    "expand other than 1": (errors.ShapeError, lambda: a23.expand(2, 6), "(2, 3)"),
    "permute twice the same": (RuntimeError, lambda: a23.permute(0, 0), "0"),
    "unknown keyword": (TypeError, lambda: zero.zeros(2, dtyp=zero.int8), "dtyp"),
    "seed too large": (ValueError, lambda: zero.manual_seed(2**64), "64 bits"),
    "seed of another type": (TypeError, lambda: zero.manual_seed("1"), "str"),
    "randint without range": (ValueError, lambda: zero.randint(3, 3, (2,)), "3"),
    "randn of ints": (errors.DTypeError, lambda: zero.randn(2, dtype=zero.int64), "int64"),
    "randint out of dtype": (
        ValueError,
        lambda: zero.randint(0, 300, (2,), dtype=zero.uint8),
        "uint8",
    ),
    "negative randperm": (ValueError, lambda: zero.randperm(-1), "-1"),
    "foreign generator": (TypeError, lambda: zero.rand(2, generator=3), "int"),
    "state of a generator": (ValueError, lambda: zero.set_rng_state(zero.zeros(3)), "uint8"),
    "no threads": (ValueError, lambda: zero.set_num_threads(0), "0"),
    "threads as float": (TypeError, lambda: zero.set_num_threads(1.5), "float"),
    "default dtype of ints": (TypeError, lambda: zero.set_default_dtype(zero.int64), "int64"),
    "dtype as class": (TypeError, lambda: zero.dtype(), "dtype"),
    "dtype as string": (TypeError, lambda: zero.ones(2, dtype="float32"), "expected zero.float32"),
    "dtype of another name": (TypeError, lambda: zero.ones(2, dtype="torch.int8"), "zero.int8"),
    "dtype of numpy": (TypeError, lambda: zero.ones(2, dtype=np.int16), "expected zero.int16"),
    "dtype() of numpy": (TypeError, lambda: zero.ones(2, dtype=np.dtype("u1")), "zero.uint8"),
    "dtype that isn't": (TypeError, lambda: zero.ones(2, dtype="float99"), "one such as"),
    "dtype as device": (RuntimeError, lambda: a23.to("float64"), "the dtype zero.float64"),
    "no device": (RuntimeError, lambda: a23.to("gpu"), "expected 'cpu' or 'meta'"),
    "assigned number": (RuntimeError, lambda: assign(leaf, 0, 1.0), "index: a view of a leaf"),
    "assigned tensor": (RuntimeError, lambda: assign(leaf, 0, a23[0, 0]), "index: a view of a"),
    "assigned list": (RuntimeError, lambda: assign(leaf, slice(1), [1.0]), "index: a view of a"),
    "assigned by mask": (RuntimeError, lambda: assign(leaf, leaf > 0, 1.0), "index: a leaf that"),
    "assigned shape": (
        errors.ShapeError,
        lambda: assign(a23, 0, b45[0]),
        "index: the values do not broadcast; got (5,), expected a shape that broadcasts to (3,)",
    ),
    "deepcopy of a result": (RuntimeError, lambda: __import__("copy").deepcopy(leaf * 2), "leaves"),
}


def assign(x, index, value):
    x[index] = value


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name):
    kind, call, words = MISTAKES[name]
    with pytest.raises(kind) as caught:
        call()
    text = str(caught.value)
    assert any(w in text for w in words.split("|")), text
    assert type(caught.value).__module__ in ("zero.errors", "builtins")


def test_values_survive_the_mistakes():
    assert (
        a23.tolist() == [[1.0] * 3] * 2
        and b45.tolist() == [[1.0] * 5] * 4
        and leaf.tolist() == [1.0, 1.0]
    )
    assert a23._version == 0 and leaf._version == 0 and leaf.grad is None


# ---- sizes -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "make",
    [
        zero.zeros,
        zero.ones,
        zero.empty,
        zero.rand,
        lambda *s: zero.full(s, 1.0),
        lambda *s: zero.ones(2).new_zeros(*s),
    ],
)
@pytest.mark.parametrize("size", [(2**62,), (2**40, 2**40), (2**63 - 1, 2), (2**32, 2**31)])
def test_sizes_that_overflow(make, size):
    with pytest.raises((ValueError, MemoryError), match=r".+: .+"):
        make(*size)


@pytest.mark.parametrize("size", [2**63, 2**100, -(2**100)])
def test_sizes_beyond_int64(size):
    with pytest.raises(ValueError, match="64 bits"):
        zero.zeros(size)


def test_overflow_through_views_and_results():
    x = zero.ones(1)
    big = x.expand(2**40)
    assert big.shape == (2**40,)
    for call in (
        lambda: big.expand(2**40, 2**40),
        lambda: big.clone(),
        lambda: big + 1,
        lambda: zero.cat([big] * 2),
        lambda: big[:, None] + big,
        lambda: big[:, None] @ big[None],
        lambda: zero.eye(2**40),
    ):
        with pytest.raises((RuntimeError, MemoryError), match=r".+: .+"):
            call()
    assert (zero.ones(2, device="meta").expand(2**61, 2)).numel() == 2**62


def test_refused_memory_breaks_nothing():
    for _ in range(3):
        with pytest.raises(MemoryError, match=r"bytes|GiB|TiB|EiB|PiB"):
            zero.zeros(2**45)
        assert zero.ones(3).sum().item() == 3
    with pytest.raises(errors.OutOfMemoryError):
        zero.ones(2**45)


def test_meta_tensors_may_be_huge():
    assert zero.zeros(2**40, 2**20, device="meta").numel() == 2**60


# ---- nothing is written by a failed call -------------------------------------------------------
FAILING = [
    lambda x: x.add_(zero.ones(5)),
    lambda x: x.mul_(zero.ones(2, 2, 3)),
    lambda x: x.copy_(zero.ones(4)),
    lambda x: x.__setitem__(slice(0, 1), zero.ones(2, 3)),
    lambda x: x.__setitem__((0, 7), 1.0),
    lambda x: x.__setitem__(0, [1.0, "a", 2.0]),
    lambda x: x.__setitem__(0, [1.0, 2.0]),
    lambda x: x.fill_(zero.ones(2)),
    lambda x: x.fill_("1"),
    lambda x: x.clamp_(None, None),
    lambda x: x.clamp_(zero.ones(2, 2), 1),
    lambda x: x.div_(2, rounding_mode="up"),
    lambda x: x.pow_(zero.ones(2, 2)),
    lambda x: x.add_(1, alpha="2"),
    lambda x: x.bitwise_not_(),
    lambda x: x.sub_(zero.ones(2, 3, device="meta")),
    lambda x: x[:1].expand(2, 3).add_(1),
    lambda x: x.T.copy_(zero.ones(2, 3)),
]


@pytest.mark.parametrize("call", FAILING)
def test_failed_calls_write_nothing(call):
    x = zero.arange(6, dtype=zero.float32).view(2, 3)
    before, version = x.tolist(), x._version
    with pytest.raises((RuntimeError, TypeError, ValueError, IndexError)):
        call(x)
    assert x.tolist() == before and x._version == version


def test_failed_optimizer_step_writes_nothing():
    x, y = zero.ones(2, requires_grad=True), zero.ones(3, requires_grad=True)
    x.grad, y.grad = zero.ones(2), zero.ones(3)
    optimizer = zero.optim.SGD([x, y], momentum=0.9)
    optimizer.state[y]["momentum_buffer"] = zero.zeros(5)
    with pytest.raises(RuntimeError):
        optimizer.step()
    assert x.tolist() == [1.0, 1.0] and y.tolist() == [1.0] * 3


class Alien:
    """An object that is no argument of anything."""


def functions_of(home):
    return {f for f in vars(home).values() if type(f) is type(zero.exp)}


HOMES = [zero, zero.Tensor, zero.Generator, type((leaf * 2).grad_fn), type(zero.no_grad()).__base__]
# The function that they call is named, or the operator in Python that calls them.
ELSEWHERE = {
    *("asarray", "as_tensor", "set_rng_state", "_deliver", "_overwrite"),
    *("_fused_sdp_choice", "_autocast_state", "_set_autocast_state"),
}
ANYTHING = {zero.is_tensor, zero._autocast_float32}  # what they take


@pytest.mark.parametrize("home", HOMES, ids=lambda home: home.__name__)
def test_errors_of_argument_types_name_the_operation(home):
    """Whatever argument has the wrong type: also where Cython checks it, or doesn't (self)."""
    for function in functions_of(home) - ANYTHING:
        name = function.__name__
        for before in range(1 if name.startswith("__") else 3):
            with pytest.raises((TypeError, RuntimeError)) as caught:
                function(*[zero.ones(2)] * before, Alien(), *[Alien()] * (2 - before))
            text = str(caught.value)
            if "positional argument" not in text and name not in ELSEWHERE:
                assert re.match(rf"{name.lstrip('_')}(\(\)|: )", text.lstrip("_")), text


def test_tracebacks_name_the_right_files():
    """Each line of the extension lies in a function of that name."""
    from pathlib import Path

    folder = Path(zero.__file__).parent
    if not (folder / "_bind").is_dir():
        pytest.skip("installed without the sources of the extension")
    calls = [call for kinds in (GOLDEN, MISTAKES) for _, call, *_ in kinds.values()]
    seen = set()
    for call in calls:
        with pytest.raises(Exception) as caught:
            call()
        traceback = caught.value.__traceback__
        while traceback is not None:
            code = traceback.tb_frame.f_code
            if code.co_filename.endswith((".pxi", ".pyx")):
                name = re.sub(r"\.__(get|set|del)__$", "", code.co_name).split(".")[-1]
                seen.add((code.co_filename, name, traceback.tb_lineno))
            traceback = traceback.tb_next
    assert len({file for file, _, _ in seen}) > 10
    for file, function, line in seen:
        lines = (folder.parent / file).read_text(encoding="utf-8").splitlines()[:line]
        heads = [text for text in lines if re.match(r" *(cdef|cpdef|def) [^=(]*\(", text)]
        assert re.search(rf"\b{function}\(", heads[-1]), (file, function, line, heads[-1])


def test_an_error_of_the_users_own_stays_what_it_is():
    class Mine(TypeError):
        pass

    class Number:
        def __index__(self):
            raise Mine("mine")

    with pytest.raises(Mine, match=r"^mine$"):
        zero.ones(Number())


def test_messages_have_one_form():
    """`op: what is wrong; got …, expected …`: in every message of the core."""
    from pathlib import Path

    core = Path(zero.__file__).parent.parent / "csrc" / "zero"
    if not core.is_dir():
        pytest.skip("installed without the C++ sources")
    for file in sorted(core.rglob("*.cpp")):
        for first in re.findall(r"Error, \"([^\"]*)\"", file.read_text(encoding="utf-8")):
            assert re.match(r"[a-z_ ]+: ", first), f"{file.name}: {first}"
