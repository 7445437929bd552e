"""The Python object: identity, attributes, copies, pickles, dunders, subclasses, garbage."""

import copy
import gc
import pickle
import weakref

import pytest

import zero


# ---- identity and life ---------------------------------------------------------------------------
def test_identity():
    x = zero.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    assert x.grad is x.grad
    x.grad.note = "kept while somebody holds it"
    g = x.grad
    g.note = "mine"
    assert x.grad.note == "mine"
    y = x * 2
    assert y.grad_fn.next_functions[0][0].variable is x
    view = x.detach()[0:1]
    assert x.requires_grad_() is x and view.contiguous() is view and view.to(zero.float32) is view
    z = x + 1
    assert z.__iadd__(1) is z


def test_parameter_stays_a_parameter():
    p = zero.Parameter(zero.ones(2))
    y = (p * 2).sum()
    del p
    gc.collect()
    leaf = y.grad_fn.next_functions[0][0].next_functions[0][0].variable
    assert type(leaf) is zero.Parameter and leaf.requires_grad and leaf.is_leaf


def test_cycles_are_collected():
    refs = []
    for _ in range(100):
        x = zero.ones(2)
        x.me = x
        x.others = [zero.ones(1, requires_grad=True) * 2, x]
        refs.append(weakref.ref(x))
    del x
    gc.collect()
    assert not any(r() for r in refs)


def test_weak_references_and_resurrection():
    seen = []
    x = zero.ones(2, requires_grad=True)
    y = x * 2

    def died(_):
        seen.append(y.grad_fn.next_functions[0][0].variable)

    ref = weakref.ref(x, died)
    del x
    assert ref() is None and seen[0].tolist() == [1, 1]  # a new object of the same tensor
    assert y.grad_fn.next_functions[0][0].variable is seen[0]


def test_attributes():
    x = zero.ones(2)
    assert x.__dict__ == {}
    x.name = "input"
    assert x.name == "input" and vars(x) == {"name": "input"}
    with pytest.raises(AttributeError):
        x.missing  # noqa: B018
    with pytest.raises(AttributeError):
        x.shape = (2,)


# ---- subclasses ----------------------------------------------------------------------------------
class Named(zero.Tensor):
    def __init__(self, data, name):
        super().__init__(data)
        self.name = name


class Lazy(zero.Parameter):
    def __init__(self):
        pass


def test_subclasses():
    x = Named([1, 2], name="n")
    assert isinstance(x, zero.Tensor) and x.tolist() == [1.0, 2.0] and x.name == "n"
    assert type(x + x) is zero.Tensor
    other = pickle.loads(pickle.dumps(x))
    assert type(other) is Named and other.name == "n" and other.tolist() == [1.0, 2.0]
    assert type(copy.deepcopy(x)) is Named
    empty = Lazy()
    assert empty.shape == (0,) and isinstance(empty, zero.Parameter)
    assert zero.Tensor.__new__(zero.Tensor).tolist() == []


def test_constructor():
    assert zero.Tensor().shape == (0,)
    assert zero.Tensor(2, 3).shape == zero.Tensor(zero.Size([2, 3])).shape == (2, 3)
    assert zero.Tensor([[1, 2]]).tolist() == [[1.0, 2.0]]
    assert zero.Tensor(zero.ones(2, dtype=zero.int64)).dtype is zero.float32
    for bad in ((1.5,), ("a",), ([1], [2])):
        with pytest.raises(TypeError):
            zero.Tensor(*bad)
    with pytest.raises(ValueError):
        zero.Tensor(2**62, 2**62)


def test_parameter():
    x = zero.ones(2, requires_grad=True)
    p = zero.Parameter(x * 3)
    assert p.is_leaf and p.requires_grad and p.grad_fn is None and p.tolist() == [3, 3]
    base = zero.zeros(2)
    assert zero.Parameter(base).data_ptr() == base.data_ptr()
    assert zero.Parameter([1.0]).shape == (1,)
    assert not zero.Parameter([1], requires_grad=False).requires_grad
    with pytest.raises(RuntimeError):
        zero.Parameter([1])
    assert not isinstance(x, zero.Parameter) and not isinstance(p * 1, zero.Parameter)
    pointer, view = p.data_ptr(), p.detach()[0:1]
    p.update(zero.tensor([1.0, 2.0]))
    assert p.tolist() == [2, 1] and p.data_ptr() == pointer and view.tolist() == [2]
    with pytest.raises(zero.errors.ShapeError):
        p.update(zero.ones(3))


# ---- copies --------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", "bool uint8 int16 int64 float16 bfloat16 float32 float64".split())
@pytest.mark.parametrize("shape", [(), (0,), (3, 4)])
def test_pickle(name, shape):
    x = zero.ones(*shape, dtype=getattr(zero, name))
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        y = pickle.loads(pickle.dumps(x, protocol))
        assert y.dtype is x.dtype and y.shape == x.shape and y.tolist() == x.tolist()


def test_pickle_keeps_what_matters():
    p = zero.Parameter(zero.arange(6.0).reshape(2, 3).T)
    p.tag = "t"
    q = pickle.loads(pickle.dumps(p))
    assert (
        type(q) is zero.Parameter and q.requires_grad and q.tag == "t" and q.tolist() == p.tolist()
    )
    m = pickle.loads(pickle.dumps(zero.ones(2, device="meta")))
    assert m.device.type == "meta" and m.shape == (2,)
    for x in (zero.float32, zero.device("meta"), zero.Size([1, 2])):
        assert pickle.loads(pickle.dumps(x)) == x
    assert pickle.loads(pickle.dumps(zero.float32)) is zero.float32


def test_deepcopy():
    p = zero.Parameter(zero.ones(2))
    (p * 2).sum().backward()
    p.tags = ["a"]
    q = copy.deepcopy({"a": p, "b": p})
    assert q["a"] is q["b"] and type(q["a"]) is zero.Parameter and q["a"].requires_grad
    assert q["a"].grad.tolist() == [2, 2] and q["a"].grad is not p.grad
    assert q["a"].tags == ["a"] and q["a"].tags is not p.tags
    q["a"].data.fill_(5)
    assert p.tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="leaves"):
        copy.deepcopy(p * 2)
    shallow = copy.copy(p)
    assert (
        shallow.data_ptr() == p.data_ptr() and shallow is not p and type(shallow) is zero.Parameter
    )


# ---- properties ----------------------------------------------------------------------------------
def test_geometry():
    x = zero.zeros(2, 3, dtype=zero.float64).T
    assert x.shape == (3, 2) and isinstance(x.shape, zero.Size) and x.size() == x.shape
    assert (x.ndim, x.dim(), x.ndimension(), x.numel(), x.nelement()) == (2, 2, 2, 6, 6)
    assert x.stride() == (1, 3) and x.stride(-1) == 3 and x.size(-1) == 2 and x.size(dim=0) == 3
    assert x.itemsize == x.element_size() == 8 and x.nbytes == 48
    assert not x.is_contiguous() and x.contiguous().is_contiguous()
    assert x[1].storage_offset() == 1 and x[1].data_ptr() == x.data_ptr() + 8
    assert x.mT.shape == (2, 3) and zero.ones(2, 3, 4).T.shape == (4, 3, 2)
    with pytest.raises(IndexError):
        x.size(2)
    with pytest.raises(IndexError):
        zero.tensor(1.0).size(0)
    with pytest.raises(ValueError):
        zero.ones(2).mT  # noqa: B018


def test_size():
    s = zero.Size([2, 3])
    assert repr(s) == "zero.Size([2, 3])" and s.numel() == 6 and s == (2, 3)
    assert isinstance(s[1:], zero.Size) and s[1:] == (3,) and s[0] == 2 and type(s[0]) is int
    assert isinstance(s + (4,), zero.Size) and hash(s) == hash((2, 3))
    a, b = s
    assert (a, b) == (2, 3)
    with pytest.raises(TypeError):
        zero.Size([1.5])


def test_dtypes_and_devices():
    assert zero.float is zero.float32 and zero.long is zero.int64 and zero.double is zero.float64
    assert repr(zero.bfloat16) == "zero.bfloat16" and zero.int16.itemsize == 2
    assert zero.half.is_floating_point and not zero.bool.is_floating_point
    assert type(zero.float32) is zero.dtype
    with pytest.raises(TypeError):
        zero.dtype()
    assert zero.device("cpu") == zero.device("cpu") != zero.device("meta")
    assert str(zero.device("meta")) == "meta" and zero.device(zero.device("cpu")).type == "cpu"
    assert zero.tensor(3.0).reshape(-1).shape == (1,) and zero.tensor(3.0).view(1, 1).shape == (
        1,
        1,
    )
    with pytest.raises(ValueError):
        zero.tensor(3.0).view(2)
    for bad in ("cuda", "mps:0", "cuda:1", "cpux", 3):
        with pytest.raises(RuntimeError, match="CPU"):
            zero.ones(2, device=bad)
    with pytest.raises(TypeError):
        zero.ones(2, device=1.5)


def test_data():
    p = zero.Parameter(zero.ones(2))
    (p * p).sum().backward()
    version = p._version
    p.data.mul_(3)
    assert p.tolist() == [3, 3] and p._version == version and not p.data.requires_grad
    p.data = zero.zeros(3, dtype=zero.float64)
    assert p.shape == (3,) and p.dtype is zero.float64 and p.requires_grad
    p.grad = None
    (p * 2).sum().backward()
    assert p.grad.dtype is zero.float64 and p.grad.tolist() == [2, 2, 2]
    with pytest.raises(TypeError):
        p.data = zero.ones(2, dtype=zero.int64)
    with pytest.raises(TypeError):
        p.data = None


def test_grad_property():
    x = zero.ones(2, requires_grad=True)
    assert x.grad is None
    x.grad = zero.tensor([1.0, 2.0])
    assert x.grad.tolist() == [1, 2]
    for bad, error in (
        (zero.ones(3), ValueError),
        (zero.ones(2, dtype=zero.float64), TypeError),
        ("a", TypeError),
        (x, RuntimeError),
    ):
        with pytest.raises(error):
            x.grad = bad
    del x.grad
    assert x.grad is None


# ---- conversions ---------------------------------------------------------------------------------
def test_python_numbers():
    assert float(zero.tensor([2.5])) == 2.5 and int(zero.tensor(-2.7)) == -2
    assert [10, 20][zero.tensor(1)] == 20 and list(range(zero.tensor(2))) == [0, 1]
    assert bool(zero.tensor(0.5)) and not zero.tensor([[0]])
    assert bool(zero.tensor(float("nan")))
    for call in (float, int, bool):
        for shape in ((0,), (2,)):
            with pytest.raises((ValueError, RuntimeError)):
                call(zero.ones(shape))
    with pytest.raises(ValueError):
        int(zero.tensor(float("nan")))
    with pytest.raises(TypeError):
        [1][zero.tensor(0.0)]
    with pytest.raises(RuntimeError):
        zero.ones(1, device="meta").item()


def test_format():
    assert f"{zero.tensor(1.5):.3f}" == "1.500" and f"{zero.tensor(7):04d}" == "0007"
    assert f"{zero.tensor(1.5)}" == "1.5" and f"{zero.ones(2)}" == "tensor([1., 1.])"
    with pytest.raises(TypeError):
        f"{zero.ones(2):.3f}"


def test_container():
    x = zero.arange(6).reshape(3, 2)
    assert len(x) == 3 and [row.tolist() for row in x] == [[0, 1], [2, 3], [4, 5]]
    _a, _b, c = x
    assert c.tolist() == [4, 5]
    assert 3 in x and 7 not in x and zero.tensor(5) in x
    with pytest.raises(TypeError):
        "a" in x  # noqa: B015
    for call in (len, iter, list):
        with pytest.raises(TypeError):
            call(zero.tensor(1))
    assert len({x, x}) == 1 and hash(x) == hash(x)


def test_to():
    x = zero.ones(2, requires_grad=True)
    assert x.to("cpu") is x and x.to(zero.float32) is x and x.to(device="cpu", dtype=None) is x
    assert x.to("cpu", zero.float64).dtype is zero.float64
    assert x.to(zero.ones(1, dtype=zero.int64)).dtype is zero.int64
    assert x.to(other=zero.ones(1, dtype=zero.float64)).dtype is zero.float64
    assert x.to(zero.float32, False, True) is not x and x.to("cpu", copy=True) is not x
    assert x.to("meta").device.type == "meta"
    y = x.double()
    y.sum().backward()
    assert x.grad.dtype is zero.float32 and x.grad.tolist() == [1, 1]
    for bad in (("cuda",), (5,), ("cpu", "cpu"), (zero.float32, False, True, 1)):
        with pytest.raises((TypeError, RuntimeError)):
            x.to(*bad)
    with pytest.raises(TypeError, match="twice"):
        x.to(zero.float32, dtype=zero.float64)
    names = {
        "float": "float32",
        "double": "float64",
        "half": "float16",
        "bfloat16": "bfloat16",
        "int": "int32",
        "long": "int64",
    }
    names.update(short="int16", bool="bool", char="int8", byte="uint8")
    for method, name in names.items():
        assert getattr(x, method)().dtype is getattr(zero, name)
        assert getattr(zero.Tensor, method).__name__ == method
    assert x.type_as(y).dtype is zero.float64 and x.cpu() is x


def test_writes_and_new():
    x = zero.zeros(2, 2)
    assert x.copy_(zero.tensor([1, 2])) is x and x.tolist() == [[1, 2], [1, 2]]
    assert x.fill_(3).tolist() == [[3, 3], [3, 3]] and x.fill_(zero.tensor(4)).sum().item() == 16
    assert x.zero_().sum().item() == 0
    d = zero.ones(1, dtype=zero.float64)
    assert d.new_zeros(2, 3).dtype is zero.float64 and d.new_zeros((2, 3)).shape == (2, 3)
    assert d.new_ones(2, dtype=zero.int64).dtype is zero.int64
    assert d.new_full((2,), 7).tolist() == [7, 7] and d.new_empty(3).shape == (3,)
    assert d.new_tensor([1, 2]).dtype is zero.float64
    assert d.new_zeros(1, requires_grad=True).requires_grad


# ---- operators -----------------------------------------------------------------------------------
def test_operators_hand_over_what_they_do_not_know():
    class Other:
        def __radd__(self, x):
            return "radd"

        def __matmul__(self, x):
            return "matmul"

        def __eq__(self, x):
            return "eq"

    x = zero.ones(2)
    assert x + Other() == "radd" and Other() @ x == "matmul" and (x == Other()) == "eq"
    assert (x == "a") is False and (x != "a") is True and (x == None) is False  # noqa: E711
    for operation in (
        lambda: x + "a",
        lambda: "a" + x,
        lambda: x - None,
        lambda: x * [1],
        lambda: x / {},
        lambda: x // "a",
        lambda: x % "a",
        lambda: x ** [1],
        lambda: pow(x, 2, 3),
        lambda: x @ 2,
        lambda: 2 @ x,
        lambda: x & "a",
        lambda: x < "a",
        lambda: +zero.tensor(True),
    ):
        with pytest.raises(TypeError):
            operation()
    with pytest.raises(ValueError, match="64 bits"):
        x + 2**64
    y = x
    with pytest.raises(TypeError):
        y += "a"


def test_operators():
    a, b = zero.tensor([7.0, -7.0]), zero.tensor([2.0, 2.0])
    for result, expected in [
        (a + b, [9, -5]),
        (1 + a, [8, -6]),
        (a - b, [5, -9]),
        (1 - a, [-6, 8]),
        (a * b, [14, -14]),
        (a / b, [3.5, -3.5]),
        (14 / a, [2, -2]),
        (a // b, [3, -4]),
        (15 // a, [2, -3]),
        (a % b, [1, 1]),
        (-5 % b, [1, 1]),
        (a**2, [49, 49]),
        (2**b, [4, 4]),
        (a @ b, 0),
        (-a, [-7, 7]),
        (+a, [7, -7]),
        (abs(a), [7, 7]),
        (a == b, [False, False]),
        (a > b, [True, False]),
        (2 < b, [False, False]),
        (a <= 7, [True, True]),
        (a != 7, [False, True]),
        (a >= b, [True, False]),
        (~zero.tensor([True, False]), [False, True]),
        (zero.tensor([6, 5]) & 3, [2, 1]),
        (zero.tensor([6, 5]) | 1, [7, 5]),
        (1 ^ zero.tensor([6, 5]), [7, 4]),
    ]:
        assert result.tolist() == expected
    c = a.clone()
    pointer = c.data_ptr()
    c += 1
    c -= b
    c *= 2
    c /= 4
    c **= 2
    c //= 2
    c %= 5
    assert c.data_ptr() == pointer and c.tolist() == [4, 3]
    m = zero.tensor([6, 5])
    m &= 3
    m |= 4
    m ^= 1
    assert m.tolist() == [7, 4]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: -x,
        lambda x: x.exp(),
        lambda x: x > 1,
        lambda x: x + 1,
        lambda x: x * x,
        lambda x: zero.where(x > 1, x, 0.0),
        lambda x: x.clamp(0, 1),
        lambda x: x.clone(),
        zero.empty_like,
    ],
)
def test_a_map_keeps_the_order_of_dimensions(f):
    x = zero.arange(24.0).reshape(2, 3, 4)
    assert f(x.permute(2, 0, 1)).stride() == (1, 12, 4)
    assert f(x[:, :, ::2].permute(2, 0, 1)).stride() == (1, 6, 2)  # packed
    assert f(x[:1].expand(2, 3, 4)).stride() == (12, 4, 1)
    assert f(x.reshape(3, 1, 8).permute(2, 1, 0)).stride() == (1, 8, 8)


def test_a_map_of_two_layouts_keeps_the_first():
    x = zero.ones(3, 4)
    y = zero.ones(4, 3).t()
    assert (x + y).stride() == (4, 1)
    assert (y + x).stride() == (1, 3)
    assert (y * zero.ones(4)).stride() == (1, 3)


def test_a_gradient_is_laid_out_as_its_leaf():
    x = zero.ones(3, 4, requires_grad=True)
    (x.t() * zero.arange(12.0).reshape(4, 3)).sum().backward()
    assert x.grad.stride() == (4, 1)
    t = zero.ones(4, 3).t().detach().requires_grad_()
    (t * 2).sum().backward()
    assert t.grad.stride() == t.stride() == (1, 3)
