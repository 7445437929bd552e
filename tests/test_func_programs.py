"""Programs that combine transforms of functions: kernels of networks, meta-learning, equations."""

import copy

import numpy as np
import pytest

import zero


class Programs:
    """The programs, with zero or PyTorch for `m` and the same numbers."""

    def __init__(self, m):
        self.m, self.rng = m, np.random.default_rng(0)

    def numbers(self, *shape):
        return self.m.tensor(self.rng.normal(size=shape))

    def filled(self, net):
        net = net.double()
        with self.m.no_grad():
            for p in net.parameters():
                p.copy_(self.m.tensor(self.rng.normal(size=tuple(p.shape)) * 0.3))
        return net, {k: p.detach() for k, p in net.named_parameters()}

    def kernels(self):
        """The neural tangent kernel, by Jacobians and by products with vectors."""
        m, func = self.m, self.m.func
        nn = m.nn
        net, params = self.filled(
            nn.Sequential(
                nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.ReLU(), nn.Flatten(),
                nn.Linear(128, 5),
            )
        )  # fmt: skip
        x1, x2 = self.numbers(3, 3, 8, 8), self.numbers(2, 3, 8, 8)

        def call(params, x):
            return func.functional_call(net, params, (x.unsqueeze(0),)).squeeze(0)

        jacobians = func.vmap(func.jacrev(call), (None, 0))
        pairs = zip(jacobians(params, x1).values(), jacobians(params, x2).values(), strict=True)
        products = [m.einsum("Naf,Mbf->NMab", a.flatten(2), b.flatten(2)) for a, b in pairs]

        def of_pair(x1, x2):
            y, pull = func.vjp(lambda p: call(p, x1), params)

            def row(v):
                return func.jvp(lambda p: call(p, x2), (params,), pull(v))[1]

            return func.vmap(row)(m.eye(y.numel(), dtype=y.dtype))

        implicit = func.vmap(func.vmap(of_pair, (None, 0)), (0, None))(x1, x2)
        return sum(products), implicit

    def meta_learning(self):
        """Losses after a step of each task, and their gradient by autograd."""
        m, func = self.m, self.m.func
        net, _ = self.filled(m.nn.Sequential(m.nn.Linear(1, 8), m.nn.ReLU(), m.nn.Linear(8, 1)))
        params = dict(net.named_parameters())

        def loss(params, x, y):
            return m.nn.functional.mse_loss(func.functional_call(net, params, (x,)), y)

        def task(x1, y1, x2, y2):
            step = func.grad(loss)(params, x1, y1)
            return loss({k: p - 0.1 * step[k] for k, p in params.items()}, x2, y2)

        tasks = [self.numbers(4, 10, 1) for _ in range(4)]
        losses = func.vmap(task)(*tasks)
        losses.mean().backward()
        one_by_one = m.stack([task(*(x[i] for x in tasks)) for i in range(4)])
        gradient = m.cat([p.grad.flatten() for p in net.parameters()])
        own = m.autograd.grad(one_by_one.mean(), list(net.parameters()))
        return losses, one_by_one, gradient, m.cat([g.flatten() for g in own])

    def equation(self):
        """The residual of u_t = u_xx for a network u(x, t), and its gradient."""
        m, func = self.m, self.m.func
        net, params = self.filled(
            m.nn.Sequential(m.nn.Linear(2, 8), m.nn.Tanh(), m.nn.Linear(8, 1))
        )

        def u(x, t, params):
            return func.functional_call(net, params, (m.stack([x, t]),)).squeeze()

        u_t = func.vmap(func.grad(u, 1), (0, 0, None))
        u_xx = func.vmap(func.grad(func.grad(u)), (0, 0, None))
        x, t = self.numbers(7), self.numbers(7)
        loss = lambda p: ((u_t(x, t, p) - u_xx(x, t, p)) ** 2).mean()
        gradient = m.cat([g.flatten() for g in func.grad(loss)(params).values()])
        return u_t(x, t, params) - u_xx(x, t, params), gradient

    def ensemble(self):
        m, func = self.m, self.m.func
        nn = m.nn
        models = [
            self.filled(nn.Sequential(nn.Linear(4, 6), nn.GELU(), nn.Linear(6, 2)))[0]
            for _ in range(3)
        ]
        params, buffers = func.stack_module_state(models)
        base = copy.deepcopy(models[0]).to("meta")
        call = lambda p, b, x: func.functional_call(base, (p, b), (x,))
        x = self.numbers(3, 5, 4)
        found = func.vmap(call)(params, buffers, x)
        same = func.vmap(call, in_dims=(0, 0, None))(params, buffers, x[0])
        return (
            found, m.stack([f(y) for f, y in zip(models, x, strict=True)]),
            same, m.stack([f(x[0]) for f in models]),
        )  # fmt: skip

    def second_derivatives(self):
        m, func = self.m, self.m.func
        f = lambda x: (x.sin() * x.cumsum(0)).sum()
        x, v = self.numbers(4, 5), self.numbers(5)
        hessians = m.vmap(func.hessian(f))(x)
        along = lambda x: func.jvp(func.grad(f), (x,), (v,))[1]
        back = lambda x: func.vjp(func.grad(f), x)[1](v)[0]
        return hessians @ v, m.vmap(along)(x), hessians @ v, m.vmap(back)(x)


NAMES = ["kernels", "meta_learning", "equation", "ensemble", "second_derivatives"]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "equation"])
def test_two_ways_to_the_same(name):
    results = getattr(Programs(zero), name)()
    for a, b in zip(results[::2], results[1::2], strict=True):
        assert zero.allclose(a, b, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_as_with_pytorch(name):
    torch = pytest.importorskip("torch")
    found, expected = (getattr(Programs(m), name)() for m in (zero, torch))
    for y, e in zip(found, expected, strict=True):
        np.testing.assert_allclose(y.detach().numpy(), e.detach().numpy(), rtol=1e-10, atol=1e-10)
