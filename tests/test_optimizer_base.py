"""Hooks, groups and checkpoints of all optimizers, and optimizers that users write."""

import copy
import importlib
import io
import pickle

import pytest

import zero
from zero import optim
from zero.nn import Parameter
from zero.optim.optimizer import (
    Optimizer,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
    required,
)

NAMES = [
    *("ASGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "Lion"),
    *("Muon", "NAdam", "RAdam", "RMSprop", "Rprop", "SGD"),
]
# The names of options in PyTorch's order, and of the states after a step with default options.
LAYOUT = {
    "ASGD": (
        "lr lambd alpha t0 weight_decay foreach maximize differentiable capturable",
        "step eta mu ax",
    ),
    "Adadelta": (
        "lr rho eps weight_decay maximize capturable foreach differentiable",
        "step square_avg acc_delta",
    ),
    "Adafactor": (
        "lr beta2_decay eps d weight_decay foreach maximize",
        "step row_var col_var",
    ),
    "Adagrad": (
        "lr lr_decay eps weight_decay initial_accumulator_value foreach maximize "
        "differentiable fused",
        "step sum",
    ),
    "Adam": (
        "lr betas eps weight_decay amsgrad maximize foreach capturable differentiable "
        "fused decoupled_weight_decay",
        "step exp_avg exp_avg_sq",
    ),
    "AdamW": (
        "lr betas eps weight_decay amsgrad maximize foreach capturable differentiable "
        "fused decoupled_weight_decay",
        "step exp_avg exp_avg_sq",
    ),
    "Adamax": (
        "lr betas eps weight_decay foreach maximize differentiable capturable",
        "step exp_avg exp_inf",
    ),
    "LBFGS": (
        "lr max_iter max_eval tolerance_grad tolerance_change history_size line_search_fn",
        "func_evals n_iter al prev_flat_grad prev_loss d t old_dirs old_stps ro H_diag",
    ),
    "Lion": (
        "lr betas weight_decay maximize foreach capturable differentiable fused",
        "exp_avg",
    ),
    "Muon": (
        "lr weight_decay momentum nesterov ns_coefficients eps ns_steps adjust_lr_fn",
        "momentum_buffer",
    ),
    "NAdam": (
        "lr betas eps weight_decay momentum_decay decoupled_weight_decay maximize foreach "
        "capturable differentiable",
        "step mu_product exp_avg exp_avg_sq",
    ),
    "RAdam": (
        "lr betas eps weight_decay maximize foreach capturable decoupled_weight_decay "
        "differentiable",
        "step exp_avg exp_avg_sq",
    ),
    "RMSprop": (
        "lr momentum alpha eps centered weight_decay capturable foreach maximize differentiable",
        "step square_avg",
    ),
    "Rprop": (
        "lr etas step_sizes foreach maximize differentiable capturable",
        "step prev step_size",
    ),
    "SGD": (
        "lr momentum dampening weight_decay nesterov maximize foreach differentiable fused",
        "",
    ),
}


def start(name, dtype=zero.float32, **options):
    zero.manual_seed(0)
    params = [Parameter(zero.randn(3, 4, dtype=dtype)), Parameter(zero.randn(4, 2, dtype=dtype))]
    return getattr(optim, name)(params, **options), params


def train(optimizer, params, steps=3):
    for _ in range(steps):

        def closure():
            optimizer.zero_grad()
            loss = sum(((p - 0.5) ** 2).sum() + (p**4).sum() for p in params)
            loss.backward()
            return loss

        optimizer.step(closure)


@pytest.mark.parametrize("name", NAMES)
def test_layout_of_state_dicts(name):
    optimizer, params = start(name)
    train(optimizer, params)
    saved = optimizer.state_dict()
    options, states = (text.split() for text in LAYOUT[name])
    assert list(saved["param_groups"][0]) == [*options, "params"]
    assert set(saved["state"].get(0, {})) == set(states)
    if name not in ("LBFGS", "SGD"):
        assert list(saved["state"][0]) == states and list(saved["state"]) == [0, 1]
        for key, value in saved["state"][0].items():
            assert value.dtype == zero.float32
            if key in ("step", "mu_product", "eta", "mu"):
                assert value.dim() == 0
            elif "var" not in key:
                assert value.shape == params[0].shape


def test_counts_are_float64_where_that_is_the_default():
    zero.set_default_dtype(zero.float64)
    try:
        for name in ("Adam", "NAdam", "Adafactor"):
            optimizer, params = start(name)
            train(optimizer, params, 1)
            assert optimizer.state[params[0]]["step"].dtype == zero.float64
    finally:
        zero.set_default_dtype(zero.float32)


@pytest.mark.parametrize("name", NAMES)
def test_resuming_gives_the_same_bits(name):
    options = {"momentum": 0.9} if name in ("SGD", "RMSprop") else {}
    optimizer, params = start(name, **options)
    train(optimizer, params)
    saved = copy.deepcopy(optimizer.state_dict())
    values = [p.detach().clone() for p in params]
    train(optimizer, params)

    again = [Parameter(x) for x in values]
    other = getattr(optim, name)(again, lr=0.9)
    other.load_state_dict(saved)
    train(other, again)
    assert [p.tolist() for p in again] == [p.tolist() for p in params]
    assert str(other.state_dict()) == str(optimizer.state_dict())


@pytest.mark.parametrize("name", NAMES)
def test_states_get_the_dtype_of_their_parameters(name):
    options = {"momentum": 0.9} if name in ("SGD", "RMSprop") else {}
    optimizer, params = start(name, **options)
    train(optimizer, params)
    wide, wider = start(name, dtype=zero.float64, **options)
    wide.load_state_dict(optimizer.state_dict())
    for p in wider:
        for key, value in wide.state.get(p, {}).items():
            if isinstance(value, zero.Tensor):
                assert value.dtype == (zero.float32 if key == "step" else zero.float64)
    train(wide, wider)
    assert all(p.dtype == zero.float64 for p in wider)


@pytest.mark.parametrize("name", NAMES)
def test_pickle_and_deepcopy(name):
    optimizer, params = start(name)
    train(optimizer, params)
    optimizer.register_step_post_hook(lambda *a: None)  # what cannot be pickled is left out
    for other in (pickle.loads(pickle.dumps(optimizer)), copy.deepcopy(optimizer)):
        q = other.param_groups[0]["params"]
        train(other, q)
        assert type(other) is type(optimizer) and q[0] is not params[0]
    train(optimizer, params)
    assert [p.tolist() for p in q] == [p.tolist() for p in params]


@pytest.mark.parametrize("name", NAMES)
def test_checkpoints_move_to_pytorch_and_back(name):
    torch = pytest.importorskip("torch")
    if name == "Lion":
        pytest.skip("PyTorch has none")
    options = {"momentum": 0.9} if name in ("SGD", "RMSprop") else {}
    ours, params = start(name, dtype=zero.float64, **options)
    train(ours, params)

    def moved(x, to):
        if isinstance(x, (zero.Tensor, torch.Tensor)):
            return to(x.detach().numpy().copy())
        if isinstance(x, dict):
            return {k: moved(v, to) for k, v in x.items()}
        if isinstance(x, (list, tuple)):
            return type(x)(moved(v, to) for v in x)
        return x

    def to_torch(a):
        return (
            torch.from_numpy(a)
            if a.ndim
            else torch.tensor(a.item(), dtype=getattr(torch, str(a.dtype)))
        )

    def to_zero(a):
        return zero.tensor(a)

    theirs_params = [torch.nn.Parameter(to_torch(p.detach().numpy().copy())) for p in params]
    theirs = getattr(torch.optim, name)(theirs_params, lr=0.5)
    theirs.load_state_dict(moved(ours.state_dict(), to_torch))
    train(ours, params)
    train(theirs, theirs_params)
    # Muon's products are bfloat16.
    tolerance = 2e-3 if name == "Muon" else 1e-9
    back = [Parameter(to_zero(p.detach().numpy().copy())) for p in theirs_params]
    for p, q in zip(params, back, strict=True):
        zero.testing.assert_close(q, p, rtol=tolerance, atol=tolerance)
    again = getattr(optim, name)(back, lr=0.5)
    again.load_state_dict(moved(theirs.state_dict(), to_zero))
    train(again, back)
    train(theirs, theirs_params)
    for p, q in zip(back, theirs_params, strict=True):
        zero.testing.assert_close(
            p, to_zero(q.detach().numpy()), rtol=tolerance, atol=tolerance, check_device=False
        )


def test_a_state_of_adam_makes_no_adam_of_adamw():
    adam, params = start("Adam")
    train(adam, params, 1)
    adamw, _ = start("AdamW")
    adamw.load_state_dict(adam.state_dict())
    assert adamw.param_groups[0]["decoupled_weight_decay"] is True


# ---- groups --------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", [n for n in NAMES if n != "LBFGS"])
def test_groups_with_options_of_their_own(name):
    p, q, r = (Parameter(zero.ones(2, 2)) for _ in range(3))
    first = {"params": [p], "lr": 0.25}
    optimizer = getattr(optim, name)([first, {"params": q}], lr=0.5)
    assert optimizer.param_groups[0] is first  # as PyTorch's: later changes count
    optimizer.add_param_group({"params": [r], "lr": 0.0})
    assert [g["lr"] for g in optimizer.param_groups] == [0.25, 0.5, 0.0]
    for x in (p, q, r):
        x.grad = zero.eye(2) + 1
    optimizer.step()
    assert p.tolist() != q.tolist()
    if name != "Rprop":  # whose steps have a least size
        assert r.tolist() == [[1, 1], [1, 1]]
    first["lr"] = 0.0
    before = p.tolist()
    optimizer.step()
    if name not in ("Rprop", "ASGD"):  # whose states remember the first lr
        assert p.tolist() == before


def test_names_of_parameters():
    model = zero.nn.Linear(2, 1)
    optimizer = optim.Adam(model.named_parameters())
    saved = optimizer.state_dict()
    assert next(iter(saved["param_groups"][0])) == "param_names"
    assert saved["param_groups"][0]["param_names"] == ["weight", "bias"]
    with pytest.raises(ValueError, match="names"):
        optimizer.add_param_group({"params": [Parameter(zero.ones(1))]})
    with pytest.raises(ValueError, match="names"):
        optim.Adam(
            [{"params": [Parameter(zero.ones(1))]}, {"params": [("x", Parameter(zero.ones(1)))]}]
        )
    saved["param_groups"][0]["param_names"] = ["w", "b"]
    optimizer.load_state_dict(saved)
    assert optimizer.param_groups[0]["param_names"] == ["w", "b"]
    del saved["param_groups"][0]["param_names"]
    optimizer.load_state_dict(saved)
    assert optimizer.param_groups[0]["param_names"] == ["w", "b"]


def test_a_result_that_keeps_its_gradient_may_be_trained():
    x = zero.ones(2, requires_grad=True)
    y = x * 2
    with pytest.raises(ValueError, match="computed"):
        optim.SGD([y])
    y.retain_grad()
    optimizer = optim.SGD([y], lr=0.5)
    (y * 3).sum().backward()
    optimizer.step()
    assert y.tolist() == [0.5, 0.5]


# ---- hooks ---------------------------------------------------------------------------------------
def test_hooks_of_steps_in_their_order():
    optimizer, _ = start("SGD")
    other, _ = start("SGD")
    seen = []

    def hook(name):
        def call(self, args, kwargs):
            assert args[0] is self
            seen.append(name)

        return call

    handles = [
        register_optimizer_step_pre_hook(hook("all before")),
        optimizer.register_step_pre_hook(hook("before")),
        optimizer.register_step_post_hook(hook("after")),
        register_optimizer_step_post_hook(hook("all after")),
    ]
    optimizer.step()
    assert seen == ["all before", "before", "after", "all after"]
    seen.clear()
    other.step()
    assert seen == ["all before", "all after"]
    for handle in handles:
        handle.remove()
    seen.clear()
    optimizer.step()
    assert seen == []


def test_a_hook_may_change_the_arguments():
    optimizer, _ = start("SGD")
    calls = []

    def closure():
        calls.append(1)
        return zero.tensor(7.0)

    with optimizer.register_step_pre_hook(lambda o, args, kwargs: ((o, closure), {})):
        assert optimizer.step().item() == 7
    assert calls == [1] and optimizer.step() is None
    with optimizer.register_step_pre_hook(lambda o, args, kwargs: 3):
        with pytest.raises(RuntimeError, match="hook"):
            optimizer.step()


def test_hooks_run_once_for_classes_of_users():
    class Twice(optim.SGD):
        def step(self, closure=None):
            super().step()
            return super().step(closure)

    seen = []
    base, _ = start("SGD")
    base.register_step_pre_hook(lambda *a: seen.append("base"))
    p = Parameter(zero.ones(1))
    p.grad = zero.ones(1)
    optimizer = Twice([p], lr=0.25)
    optimizer.register_step_pre_hook(lambda *a: seen.append("twice"))
    optimizer.step()
    assert seen == ["twice"] and p.item() == 0.5
    with register_optimizer_step_pre_hook(lambda *a: seen.append("all")):

        class Later(optim.Adam):
            def step(self, closure=None):
                return super().step(closure)

        Later([Parameter(zero.ones(1))]).step()
    assert seen == ["twice", "all"]


def test_hooks_of_state_dicts():
    optimizer, params = start("Adam")
    train(optimizer, params, 1)
    seen = []
    optimizer.register_state_dict_pre_hook(lambda o: seen.append("pre"))
    optimizer.register_state_dict_post_hook(lambda o, s: {**s, "extra": 1})
    optimizer.register_state_dict_post_hook(lambda o, s: seen.append("first"), prepend=True)
    saved = optimizer.state_dict()
    assert saved["extra"] == 1 and seen == ["pre", "first"]

    def without(o, state):
        state["param_groups"] = [{**g, "lr": 0.75} for g in state["param_groups"]]

    optimizer.register_load_state_dict_pre_hook(without)
    optimizer.register_load_state_dict_post_hook(lambda o: seen.append(o.param_groups[0]["lr"]))
    optimizer.load_state_dict(saved)
    assert seen[-1] == 0.75 and saved["param_groups"][0]["lr"] == 0.001


# ---- optimizers of users -------------------------------------------------------------------------
def test_options_that_each_group_must_have():
    class Own(Optimizer):
        def __init__(self, params, lr=required):
            super().__init__(params, {"lr": lr})

    p = Parameter(zero.ones(1))
    assert "required" in repr(required)
    with pytest.raises(ValueError, match="'lr'"):
        Own([p])
    assert Own([{"params": [p], "lr": 3}]).param_groups[0]["lr"] == 3


def test_setstate_of_users_sees_what_is_loaded():
    class Own(Optimizer):
        def __init__(self, params):
            super().__init__(params, {"lr": 1.0})

        def __setstate__(self, state):
            super().__setstate__(state)
            for group in self.param_groups:
                group.setdefault("new", 5)

    optimizer = Own([Parameter(zero.ones(1))])
    optimizer.load_state_dict(optimizer.state_dict())
    assert optimizer.param_groups[0]["new"] == 5


def test_pytorchs_paths():
    for path, name in {
        "optimizer": "Optimizer",
        "adam": "Adam",
        "adamw": "AdamW",
        "sgd": "SGD",
        "nadam": "NAdam",
        "radam": "RAdam",
        "adamax": "Adamax",
        "adagrad": "Adagrad",
        "adadelta": "Adadelta",
        "rmsprop": "RMSprop",
        "rprop": "Rprop",
        "asgd": "ASGD",
        "lbfgs": "LBFGS",
        "sparse_adam": "SparseAdam",
        "_adafactor": "Adafactor",
        "_muon": "Muon",
    }.items():
        module = importlib.import_module(f"zero.optim.{path}")
        assert getattr(module, name) is getattr(optim, name)
    from zero.optim.optimizer import ParamsT, _use_grad_for_differentiable  # noqa: F401


def test_state_dict_is_plain():
    """What is pickled of it loads without this library's optimizers."""
    optimizer, params = start("Adam")
    train(optimizer, params, 1)
    text = io.BytesIO(pickle.dumps(optimizer.state_dict())).getvalue()
    assert b"zero.optim" not in text
