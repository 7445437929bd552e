"""Hooks of modules, the paths in their errors, and attributes found without running Python."""

import copy
import gc
import pickle
import sys
import weakref

import pytest
from children import of_the_allocator

import zero
from zero import nn
from zero.nn import Parameter


class Add(nn.Module):
    def forward(self, x, amount=1):
        return x + amount


def plus_ten(module, args, output):
    return output + 10


# ---- forward -----------------------------------------------------------------------------------


def test_order_and_values():
    module, seen = Add(), []

    def note(name):
        def hook(module, args, output=None):
            seen.append((name, args[0].item(), None if output is None else output.item()))

        return hook

    module.register_forward_pre_hook(note("pre"))
    module.register_forward_pre_hook(lambda module, args: args[0] * 2)
    module.register_forward_pre_hook(lambda module, args: (args[0], 5))
    module.register_forward_pre_hook(note("first pre"), prepend=True)
    module.register_forward_hook(note("post"))
    module.register_forward_hook(lambda module, args, output: -output)
    module.register_forward_hook(note("last"))
    module.register_forward_hook(note("first"), prepend=True)
    assert module(zero.tensor(3)).item() == -11
    assert seen == [
        ("first pre", 3, None),
        ("pre", 3, None),
        ("first", 6, 11),
        ("post", 6, 11),
        ("last", 6, -11),
    ]


def test_hooks_with_kwargs():
    module, seen = Add(), []
    module.register_forward_pre_hook(
        lambda module, args, kwargs: (args, {"amount": kwargs["amount"] + 1}), with_kwargs=True
    )
    module.register_forward_hook(
        lambda module, args, kwargs, output: seen.append((args, kwargs)), with_kwargs=True
    )
    assert module(1, amount=5) == 7
    assert seen == [((1,), {"amount": 6})]
    with module.register_forward_pre_hook(lambda m, a, k: a, with_kwargs=True):
        with pytest.raises(RuntimeError, match=r"\(args, kwargs\); got tuple"):
            module(1, amount=5)
    assert module(1, amount=5) == 7


def test_handles_remove():
    module = Add()
    first = module.register_forward_hook(plus_ten)
    with module.register_forward_hook(plus_ten):
        assert module(0) == 21
    assert module(0) == 11
    first.remove()
    first.remove()
    assert module(0) == 1 and len(module._forward_hooks) == 0
    module.register_forward_hook(plus_ten)
    module._forward_hooks.clear()
    assert module(0) == 1
    assert len(Add()._forward_pre_hooks) == 0


def test_a_hook_may_remove_itself_and_add_others():
    module = Add()

    def once(module, args, output):
        handle.remove()
        module.register_forward_hook(plus_ten)

    handle = module.register_forward_hook(once)
    assert module(0) == 1
    assert module(0) == 11


def test_always_called_hooks():
    class Fails(nn.Module):
        def forward(self, x):
            raise ValueError("no")

    module, seen = Fails(), []
    module.register_forward_hook(lambda *_: seen.append("usual"))
    module.register_forward_hook(lambda *a: seen.append(a[-1]), always_call=True)
    with pytest.raises(ValueError, match="no"):
        module(1)
    assert seen == [None]

    def fails_too(module, args, output):
        raise KeyError("hook")

    module.register_forward_hook(fails_too, always_call=True)
    with pytest.warns(UserWarning, match="KeyError") as caught:
        with pytest.raises(ValueError, match="no"):
            module(1)
    assert len(caught) == 1 and seen == [None, None]


def test_an_always_called_hook_runs_once():
    module, seen = Add(), []
    module.register_forward_hook(lambda *_: seen.append(1), always_call=True)

    def fails(module, args, output):
        raise ValueError("late")

    with module.register_forward_hook(fails):
        with pytest.raises(ValueError, match="late"):
            module(1)
    assert seen == [1]
    module(1)
    assert seen == [1, 1]


def test_hooks_of_all_modules():
    seen = []
    before = nn.module.register_module_forward_pre_hook(lambda m, a: seen.append(type(m).__name__))
    after = nn.module.register_module_forward_hook(
        lambda m, a, o: o + 10 if isinstance(m, Add) else None
    )
    try:
        assert nn.Sequential(Add())(0) == 11
        assert seen == ["Sequential", "Add"]
    finally:
        before.remove()
        after.remove()
    assert Add()(0) == 1 and seen == ["Sequential", "Add"]
    assert not Add()._hooked  # calls are quick again


def test_what_is_no_hook_is_refused():
    module = Add()
    for name in dir(module):
        if name.startswith("register_") and name.endswith("_hook"):
            error = NotImplementedError if name == "register_backward_hook" else TypeError
            with pytest.raises(error, match=name):
                getattr(module, name)(3)
    assert module(0) == 1


def test_hooks_are_copied_with_the_module():
    module = nn.Sequential(Add())
    handle = module[0].register_forward_hook(plus_ten)
    others = [copy.deepcopy(module), pickle.loads(pickle.dumps(module))]
    handle.remove()
    assert module(0) == 1
    for other in others:
        assert other(0) == 11
        other[0].register_forward_hook(plus_ten)
        assert other(0) == 21
    assert len(module[0]._forward_hooks) == 0


def resident_kilobytes():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@of_the_allocator
def test_many_modules_with_hooks_are_collected():
    def make(n):
        for _ in range(n):
            layer = nn.Linear(2, 2)
            layer.register_forward_hook(lambda *_, layer=layer: None)
            layer.register_forward_pre_hook(lambda *_, layer=layer: None)
            layer(zero.ones(1, 2))
        return weakref.ref(layer)

    make(2000)  # what is allocated once
    gc.collect()
    before = resident_kilobytes()
    last = make(10_000)
    gc.collect()
    assert last() is None
    assert resident_kilobytes() - before < 2048


# ---- paths in errors ---------------------------------------------------------------------------


def test_an_error_names_the_path_once():
    net = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.Tanh(), nn.Linear(4, 1)))
    with pytest.raises(zero.errors.ShapeError) as caught:
        net(zero.ones(1, 2))
    text = str(caught.value)
    assert text.startswith("linear: ")
    assert text.endswith("\n  in module 1.1 (Linear) of Sequential")
    assert text.count("in module") == 1
    with pytest.raises(zero.errors.ShapeError, match=r"\n  in Linear$"):
        net[0](zero.ones(1, 5))


def test_the_path_goes_by_hooks_and_other_methods():
    class Outer(nn.Module):
        def __init__(self):
            self.blocks = nn.ModuleDict({"a": nn.Linear(2, 2)})

        def helper(self, x):
            return self.blocks["a"](x)

        def forward(self, x):
            return self.helper(x)

    net = Outer()
    net.register_forward_hook(lambda *_: None)
    with pytest.raises(RuntimeError, match=r"in module blocks\.a \(Linear\) of Outer$"):
        net(zero.ones(3))


def test_a_module_from_elsewhere_is_named_by_its_class():
    stray = nn.Linear(2, 2)

    class Outer(nn.Module):
        def forward(self, x):
            return stray(x)

    net = nn.Sequential(Outer())
    with pytest.raises(RuntimeError, match=r"in module 0\.\(Linear\) \(Linear\) of Sequential$"):
        net(zero.ones(3))


def test_caught_errors_stay_as_they_are():
    class Careful(nn.Module):
        def __init__(self):
            self.inner = nn.Linear(2, 2)

        def forward(self, x):
            try:
                return self.inner(x)
            except RuntimeError as error:
                return str(error)

    assert "in module" not in Careful()(zero.ones(3))


def test_errors_of_other_classes_keep_their_arguments():
    class Fails(nn.Module):
        def forward(self, error):
            raise error

    net = nn.Sequential(Fails())
    for error in (KeyError("key"), ValueError("text"), RuntimeError(1, 2), StopIteration()):
        arguments = error.args
        with pytest.raises(type(error)) as caught:
            net(error)
        assert caught.value is error and error.args == arguments
        if sys.version_info >= (3, 11):
            assert error.__notes__ == ["in module 0 (Fails) of Sequential"]
        with pytest.raises(type(error)):  # no second time
            net(error)
        assert len(getattr(error, "__notes__", [0])) == 1


def test_errors_with_paths_can_be_pickled():
    with pytest.raises(zero.errors.ShapeError) as caught:
        nn.Sequential(nn.Linear(2, 2))(zero.ones(3))
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


# ---- attributes --------------------------------------------------------------------------------


def test_own_getattr_still_counts():
    class Wrapper(nn.Module):
        def __init__(self, module):
            self.module = module

        def __getattr__(self, name):
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(self.module, name)

    class Further(Wrapper):
        pass

    for cls in (Wrapper, Further):
        wrapper = cls(nn.Linear(2, 3))
        assert wrapper.out_features == 3 and wrapper.weight is wrapper.module.weight
        with pytest.raises(AttributeError, match="lost"):
            wrapper.lost  # noqa: B018


def test_getattr_given_to_a_class_later():
    class Late(nn.Module):
        pass

    class Child(Late):
        pass

    module = Child()
    module.weight = Parameter(zero.ones(1))
    Late.__getattr__ = lambda self, name: f"no {name}"
    assert module.lost == "no lost"
    del Late.__getattr__
    assert module.weight.item() == 1
    with pytest.raises(AttributeError):
        module.lost  # noqa: B018


def test_own_setattr_and_mixins_still_count():
    class Logged(nn.Module):
        def __setattr__(self, name, value):
            self.__dict__.setdefault("log", []).append(name)
            super().__setattr__(name, value)

    module = Logged()
    module.a = 1
    module.w = Parameter(zero.ones(1))
    assert module.log == ["a", "w"] and "w" in module._parameters

    class Mixin:
        def __getattr__(self, name):
            if name == "answer":
                return 42
            return super().__getattr__(name)

    class Both(Mixin, nn.Module):
        pass

    both = Both()
    both.w = Parameter(zero.ones(1))
    assert both.answer == 42 and both.w.item() == 1


def test_class_attributes_and_properties_come_first():
    class Model(nn.Module):
        rate = 3

        @property
        def first(self):
            return "property"

        @first.setter
        def first(self, value):
            self.second = value

    model = Model()
    model._parameters["rate"] = Parameter(zero.ones(1))
    assert model.rate == 3 and model.first == "property"
    model.first = 5
    assert model.second == 5
    model.__dict__["w"] = 1
    model._parameters["w"] = Parameter(zero.ones(1))
    assert model.w == 1  # as everywhere in Python


def test_members_put_into_the_dicts_are_seen():
    module = nn.Module()
    module._parameters["w"] = Parameter(zero.ones(2))
    module._buffers["b"] = zero.zeros(2)
    module._modules["m"] = nn.Tanh()
    assert module.w is module._parameters["w"] and module.b.tolist() == [0, 0]
    assert isinstance(module.m, nn.Tanh)
    module._parameters = {}
    assert not hasattr(module, "w")
    shallow = copy.copy(module)
    assert shallow._modules is module._modules and shallow.m is module.m


def test_attributes_of_other_types_than_names():
    with pytest.raises(TypeError):
        getattr(nn.Module(), 3)
    with pytest.raises(TypeError):
        setattr(nn.Module(), 3, 4)
    with pytest.raises(AttributeError):
        del nn.Module().lost
