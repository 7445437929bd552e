"""Losses and their modules, beyond what op_db asks of every operator."""

import itertools
import math
import warnings

import numpy as np
import pytest

import zero
from zero import nn
from zero.autograd import gradcheck, gradgradcheck
from zero.errors import DTypeError, IndexError, ShapeError, ValueError

F = nn.functional
INF = math.inf


def close(found, expected, rtol=1e-12, atol=1e-12):
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=rtol, atol=atol)


def draw(*shape, grad=True, low=-2.0, high=2.0, seed=0):
    values = np.random.default_rng(seed).uniform(low, high, shape)
    return zero.tensor(values, requires_grad=grad)


# ---- pairs of numbers ----------------------------------------------------------------------------
def test_targets_have_gradients():
    x, t = draw(3, 4, low=0.1, high=0.9), draw(3, 4, low=0.1, high=0.9, seed=1)
    losses = (
        F.l1_loss,
        F.mse_loss,
        lambda x, t: F.smooth_l1_loss(x, t, beta=0.3),
        lambda x, t: F.huber_loss(x, t, delta=0.3),
        F.binary_cross_entropy,
        F.binary_cross_entropy_with_logits,
        zero.kl_div,
        lambda x, t: zero.kl_div(x, t, log_target=True),
        F.poisson_nll_loss,
        F.soft_margin_loss,
    )
    for loss in losses:
        assert gradcheck(loss, (x, t)) and gradgradcheck(loss, (x, t))
        alone = zero.autograd.grad(loss(x.detach(), t), t)[0]
        both = zero.autograd.grad(loss(x, t), (x, t))
        assert zero.equal(alone, both[1])


def test_fused_gradients_are_the_composed_ones():
    x, t = draw(5, 7, low=0.1, high=0.9), draw(5, 7, low=0.1, high=0.9, grad=False, seed=1)
    for name in ("l1_loss", "huber_loss", "binary_cross_entropy", "kl_div"):
        for reduction in ("mean", "sum", "none"):
            y = getattr(F, name)(x, t, reduction="batchmean" if name == "kl_div" else reduction)
            g = draw(*y.shape, grad=False, seed=2)
            plain = zero.autograd.grad(y, x, g, retain_graph=True)[0]
            zero.testing.assert_close(plain, zero.autograd.grad(y, x, g, create_graph=True)[0])


def test_broadcasting_reaches_both_gradients():
    x, t = draw(4, 1), draw(3, seed=1)
    with pytest.warns(UserWarning, match=r"\(4, 1\) and target \(3,\)"):
        y = F.l1_loss(x, t)
    y.backward()
    signs = np.sign(x.detach().numpy() - t.detach().numpy()) / 12
    close(x.grad, signs.sum(1, keepdims=True))
    close(t.grad, -signs.sum(0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        F.kl_div(x, t, reduction="sum")  # says nothing, as in PyTorch


def test_weights():
    x, t, w = draw(2, 3), draw(2, 3, seed=1), draw(2, 3, grad=False, low=0.5, seed=2)
    d = (x - t).detach().numpy()
    weight = w.numpy()
    close(F.l1_loss(x, t, weight=w), (abs(d) * weight).sum() / weight.sum())
    close(F.mse_loss(x, t, weight=w), (d * d * weight).sum() / weight.sum())
    huber = np.where(abs(d) <= 1, d * d / 2, abs(d) - 0.5) * weight
    close(F.huber_loss(x, t, weight=w), huber.mean())  # over the elements
    close(F.huber_loss(x, t, weight=w, reduction="sum"), huber.sum())
    for loss in (F.l1_loss, F.mse_loss, F.huber_loss):
        assert loss(x, t, weight=w, reduction="none").shape == (2, 3)
        with pytest.raises(ShapeError, match="the weights don't fit"):
            loss(x, t, weight=w[0])

    p = x.detach().sigmoid()
    for loss in (F.binary_cross_entropy, F.binary_cross_entropy_with_logits):
        close(loss(p, p, w[0], reduction="none"), loss(p, p, reduction="none").numpy() * weight[0])
        with pytest.raises(ShapeError, match="weight is larger than what it scales"):
            loss(p[0], p[0], w)
    with pytest.raises(ShapeError, match="pos_weight is larger than what it scales"):
        F.binary_cross_entropy_with_logits(p[0], p[0], pos_weight=w)


def test_bce_of_what_is_no_probability():
    for bad in (1.5, -0.25, math.nan):
        x = zero.full((40_000,), 0.5)
        x[37] = bad
        good = zero.full((40_000,), 0.25)
        for reduction in ("mean", "none"):
            with pytest.raises(ValueError, match=f"an input is no probability; got {bad}"):
                F.binary_cross_entropy(x, good, reduction=reduction)
            with pytest.raises(ValueError, match=f"a target is no probability; got {bad}"):
                F.binary_cross_entropy(good, x, reduction=reduction)
    p, t = zero.tensor([0.0, 1.0, 1.0, 0.0]), zero.tensor([1.0, 0.0, 1.0, 0.0])
    assert F.binary_cross_entropy(p, t, reduction="none").tolist() == [100.0, 100.0, 0.0, 0.0]


def test_large_errors_do_not_overflow_the_mean():
    x = zero.full((1000,), 2e38)
    assert F.l1_loss(x, zero.zeros(1000)).item() == pytest.approx(2e38)
    assert F.l1_loss(x, zero.zeros(1000), reduction="sum").item() == INF


def test_bce_with_logits_keeps_its_digits():
    x = zero.tensor([-100.0, -20.0, 20.0, 100.0], dtype=zero.float64)
    tail = np.log1p(np.exp(-20.0))
    for pos in (None, zero.tensor(1.0)):
        yes = F.binary_cross_entropy_with_logits(
            x, zero.ones_like(x), reduction="none", pos_weight=pos
        )
        close(yes, [100, 20 + tail, tail, np.exp(-100.0)], rtol=1e-14, atol=0)
    no = F.binary_cross_entropy_with_logits(x, x * 0, reduction="none")
    close(no, [np.exp(-100.0), tail, 20 + tail, 100], rtol=1e-14, atol=0)
    loss = nn.BCEWithLogitsLoss(pos_weight=zero.tensor([1.0, 3.0]))
    assert list(loss.state_dict()) == ["pos_weight"]
    z = zero.tensor([[0.0, 0.0]], requires_grad=True)
    y = loss(z, zero.ones(1, 2))
    y.backward()
    assert y.item() == pytest.approx(2 * math.log(2)) and z.grad.tolist() == [[-0.25, -0.75]]


def test_no_bit_depends_on_the_end_of_a_range():
    x, t, g = zero.rand(67) * 0.98 + 0.01, zero.rand(67), zero.randn(67)
    for dtype in (zero.float32, zero.float64):
        for loss in (
            F.l1_loss,
            F.huber_loss,
            F.binary_cross_entropy,
            zero.kl_div,
            F.soft_margin_loss,
            F.poisson_nll_loss,
        ):
            kind = {"reduction": 0 if loss is zero.kl_div else "none"}
            v, u, h = x.to(dtype).requires_grad_(), t.to(dtype), g.to(dtype)
            y = loss(v, u, **kind)
            (slope,) = zero.autograd.grad(y, v, h)
            for n in (1, 2, 5, 15, 31, 66):
                part = v[:n].detach().requires_grad_()
                z = loss(part, u[:n], **kind)
                assert zero.equal(z, y[:n])
                assert zero.equal(zero.autograd.grad(z, part, h[:n])[0], slope[:n])


def test_kl_div_of_hard_targets():
    t = zero.tensor([0.0, 1.0, -1.0], requires_grad=True)
    zero.kl_div(zero.zeros(3), t, 2).backward()
    assert t.grad[:2].tolist() == [0.0, 1.0] and math.isnan(t.grad[2].item())


def test_kl_div_warns_of_the_mean():
    p = zero.tensor([[0.5, 0.5]])
    with pytest.warns(UserWarning, match="batchmean"):
        F.kl_div(p.log(), p)
    assert F.kl_div(p.log(), zero.tensor([[0.0, 1.0]]), reduction="none").tolist() == [
        [0.0, pytest.approx(math.log(2))]
    ]
    y = zero.kl_div(zero.zeros(2), zero.tensor([-1.0, 0.0]), 0)
    assert math.isnan(y[0].item()) and y[1].item() == 0
    assert nn.KLDivLoss(reduction="batchmean")(p.log(), p).item() == 0


def test_poisson_and_gaussian():
    x, t = draw(4, low=0.5), zero.tensor([0.0, 1.0, 2.0, 5.0], dtype=zero.float64)
    n, k = x.detach().numpy(), t.numpy()
    close(F.poisson_nll_loss(x, t, reduction="none"), np.exp(n) - k * n)
    close(F.poisson_nll_loss(x, t, False), (n - k * np.log(n + 1e-8)).mean())
    with np.errstate(divide="ignore", invalid="ignore"):
        stirling = np.where(k > 1, k * np.log(k) - k + 0.5 * np.log(2 * np.pi * k), 0)
    close(nn.PoissonNLLLoss(full=True, reduction="sum")(x, t), (np.exp(n) - k * n + stirling).sum())
    assert gradcheck(lambda x: F.poisson_nll_loss(x, t, full=True), (x,))

    mean, var = draw(3, 2), draw(3, 2, low=0.5, seed=1)
    target = draw(3, 2, seed=2)
    m, v, s = (z.detach().numpy() for z in (mean, var, target))
    each = 0.5 * (np.log(v) + (m - s) ** 2 / v)
    close(F.gaussian_nll_loss(mean, target, var), each.mean())
    close(
        nn.GaussianNLLLoss(full=True)(mean, target, var), each.mean() + 0.5 * math.log(2 * math.pi)
    )
    assert F.gaussian_nll_loss(mean, target, var[:, :1], reduction="none").shape == (3, 2)
    assert F.gaussian_nll_loss(mean, target, var[:, 0], reduction="none").shape == (3, 2)
    assert gradcheck(F.gaussian_nll_loss, (mean, target, var))
    tiny = zero.zeros(3, 2, dtype=zero.float64, requires_grad=True)
    F.gaussian_nll_loss(mean, mean, tiny, reduction="sum").backward()
    close(tiny.grad, np.full((3, 2), 0.5e6))  # of the least variance
    assert F.gaussian_nll_loss(zero.ones(1), zero.ones(1), zero.tensor([INF])).item() == INF
    close(F.gaussian_nll_loss(mean, target, 2.0), (0.5 * (np.log(2) + (m - s) ** 2 / 2)).mean())
    with pytest.raises(ValueError, match="negative"):
        F.gaussian_nll_loss(mean, target, -var)
    with pytest.raises(ShapeError, match="variances"):
        F.gaussian_nll_loss(mean, target, zero.ones(2))


# ---- margins -------------------------------------------------------------------------------------
def test_margins():
    a, b, t = draw(5), draw(5, seed=1), zero.tensor([1.0, -1.0, 1.0, 1.0, -1.0]).double()
    x, y, s = a.detach().numpy(), b.detach().numpy(), t.numpy()
    close(F.margin_ranking_loss(a, b, t, 0.5), np.maximum(-s * (x - y) + 0.5, 0).mean())
    hinge = np.where(s == 1, x, np.maximum(0.7 - x, 0))
    close(nn.HingeEmbeddingLoss(0.7, reduction="none")(a, t), hinge)
    close(nn.SoftMarginLoss(reduction="sum")(a, t), np.log1p(np.exp(-s * x)).sum())
    assert F.soft_margin_loss(zero.tensor([-500.0]), zero.ones(1)).item() == 500
    for loss in (lambda a: F.hinge_embedding_loss(a, t, 0.7), lambda a: F.soft_margin_loss(a, t)):
        assert gradcheck(loss, (a,)) and gradgradcheck(loss, (a,))
    at = zero.tensor([1.0, 0.5], requires_grad=True)  # the margin itself counts, as in PyTorch
    F.hinge_embedding_loss(at, -zero.ones(2), reduction="sum").backward()
    assert at.grad.tolist() == [-1.0, -1.0]
    u, v = draw(5, 3), draw(5, 3, seed=1)
    p, q = u.detach().numpy(), v.detach().numpy()
    cos = (p * q).sum(1) / np.sqrt((p * p).sum(1) * (q * q).sum(1))
    wanted = np.where(s == 1, 1 - cos, np.maximum(cos - 0.2, 0))
    close(nn.CosineEmbeddingLoss(0.2, reduction="none")(u, v, t), wanted)
    assert F.cosine_embedding_loss(u[0], v[0], t[0]).shape == ()
    assert gradcheck(lambda u, v: F.cosine_embedding_loss(u, v, t, 0.2), (u, v))
    with pytest.raises(ShapeError, match=r"\(N, D\)"):
        F.cosine_embedding_loss(u, v, t.unsqueeze(1))
    with pytest.raises(ShapeError, match="dimensions"):
        F.margin_ranking_loss(a, u, t)


def test_triplets():
    a, p, n = draw(4, 3), draw(4, 3, seed=1), draw(4, 3, seed=2)
    x, y, z = (v.detach().numpy() for v in (a, p, n))

    def norm(d):
        return np.linalg.norm(d + 1e-6, axis=1)

    close(nn.TripletMarginLoss()(a, p, n), np.maximum(norm(x - y) - norm(x - z) + 1, 0).mean())
    swapped = np.minimum(norm(x - z), norm(y - z))
    close(
        F.triplet_margin_loss(a, p, n, 2.0, swap=True, reduction="none"),
        np.maximum(norm(x - y) - swapped + 2, 0),
    )
    by_hand = F.triplet_margin_with_distance_loss(a, p, n, margin=2.0, swap=True, reduction="none")
    close(by_hand, np.maximum(norm(x - y) - swapped + 2, 0))
    layer = nn.TripletMarginWithDistanceLoss(distance_function=nn.PairwiseDistance(1.0))
    assert layer(a, p, n).shape == () and "PairwiseDistance()" in repr(layer)
    assert gradcheck(F.triplet_margin_loss, (a, p, n))
    for make in (nn.TripletMarginLoss, nn.TripletMarginWithDistanceLoss):
        with pytest.raises(ValueError, match="margin"):
            make(margin=0)
    with pytest.raises(ShapeError, match="dimensions"):
        F.triplet_margin_loss(a, p, n[0])


def multi_margin(x, t, p, margin, w):
    terms = np.maximum(margin - x[t] + x, 0) ** p * w[t]
    return (terms.sum() - terms[t]) / len(x)


@pytest.mark.parametrize("p", [1, 2])
def test_multi_margin(p):
    x, t = draw(5, 4), zero.tensor([0, 3, 1, 1, 2])
    w = np.array([1.0, 0.5, 2.0, 3.0])
    wanted = [
        multi_margin(row, k, p, 0.7, w)
        for row, k in zip(x.detach().numpy(), t.tolist(), strict=True)
    ]
    layer = nn.MultiMarginLoss(p, 0.7, zero.tensor(w), reduction="none")
    close(layer(x, t), wanted)
    close(F.multi_margin_loss(x, t, p, 0.7, zero.tensor(w)), np.mean(wanted))
    close(F.multi_margin_loss(x[1], t[1], p, 0.7, zero.tensor(w), reduction="none"), wanted[1])
    assert gradcheck(lambda x: F.multi_margin_loss(x, t, p), (x,))
    with pytest.raises(ValueError, match="p=3"):
        nn.MultiMarginLoss(3)
    with pytest.raises(IndexError, match="out of range"):
        F.multi_margin_loss(x, t + 1)
    with pytest.raises(ShapeError, match=r"expected \(5,\)"):
        F.multi_margin_loss(x, t[:3])


def test_multi_label_margin():
    x = draw(3, 4)
    t = zero.tensor([[3, 0, -1, 1], [-1, 2, 2, 2], [1, 1, 2, 0]])
    wanted = []
    for row, labels in zip(x.detach().numpy(), t.tolist(), strict=True):
        own = list(itertools.takewhile(lambda k: k >= 0, labels))
        terms = [max(0, 1 - row[k] + row[j]) for k in own for j in range(4) if j not in own]
        wanted.append(sum(terms) / 4)
    close(F.multilabel_margin_loss(x, t, reduction="none"), wanted)
    close(nn.MultiLabelMarginLoss()(x, t), np.mean(wanted))
    close(F.multilabel_margin_loss(x[0], t[0], reduction="none"), wanted[0])
    assert gradcheck(lambda x: F.multilabel_margin_loss(x, t), (x,))
    with pytest.raises(IndexError, match="out of range"):
        F.multilabel_margin_loss(x, t + 2)
    with pytest.raises(ShapeError):
        F.multilabel_margin_loss(x, t[:, :2])

    soft, w = (t > 0).double(), zero.tensor([1.0, 2.0, 0.5, 1.0])
    n, s = x.detach().numpy(), soft.numpy()
    each = np.log1p(np.exp(n)) - s * n
    close(F.multilabel_soft_margin_loss(x, soft, reduction="none"), each.mean(1))
    close(nn.MultiLabelSoftMarginLoss(w)(x, soft), (each * w.numpy()).mean())


def test_distances():
    a, b = draw(4, 3), draw(4, 3, seed=1)
    x, y = a.detach().numpy(), b.detach().numpy()
    close(F.pairwise_distance(a, b, 3, 0), (abs(x - y) ** 3).sum(1) ** (1 / 3))
    assert nn.PairwiseDistance(keepdim=True)(a, b).shape == (4, 1)
    assert F.pairwise_distance(a[0], b[0]).shape == ()
    full = np.linalg.norm(x[:, None] - x[None], axis=2)
    close(zero.pdist(a), full[np.triu_indices(4, 1)])
    assert zero.pdist(a[:1]).shape == (0,) and gradcheck(F.pdist, (a,))
    cos = (x * y).sum(1) / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1)
    close(nn.CosineSimilarity()(a, b), cos)
    with pytest.raises(ShapeError, match="matrix"):
        F.pdist(a[0])
    with pytest.raises(DTypeError):
        F.pdist(zero.ones(2, 2, dtype=zero.int64))


# ---- sequences -----------------------------------------------------------------------------------
def spelled(path, blank):
    return [k for k, _ in itertools.groupby(path) if k != blank]


def ctc(p, target, blank):
    """-ln of the summed probability of all paths, one by one."""
    total = 0.0
    for path in itertools.product(range(p.shape[1]), repeat=p.shape[0]):
        if spelled(path, blank) == target:
            total += np.prod(p[np.arange(len(path)), list(path)])
    return -np.log(total) if total else INF


@pytest.mark.parametrize("blank", [0, 2])
def test_ctc_counts_all_paths(blank):
    scores = draw(5, 3, 3)
    log_probs = F.log_softmax(scores, 2)
    p = log_probs.detach().exp().numpy()
    labels = [k for k in range(3) if k != blank]
    targets = [[labels[0], labels[0]], [labels[1]], [labels[0], labels[1], labels[0]]]
    lengths, steps = [2, 1, 3], [5, 3, 4]
    wanted = [ctc(p[:n, i], t, blank) for i, (n, t) in enumerate(zip(steps, targets, strict=True))]
    padded = zero.tensor([t + [labels[0]] * (3 - len(t)) for t in targets])
    flat = zero.tensor([k for t in targets for k in t], dtype=zero.int32)
    for form in (padded, flat):
        for lengths_as in (tuple, zero.tensor):
            found = F.ctc_loss(
                log_probs, form, lengths_as(steps), lengths_as(lengths), blank, "none"
            )
            close(found, wanted)
    layer = nn.CTCLoss(blank=blank)
    close(layer(log_probs, padded, steps, lengths), (np.array(wanted) / lengths).mean())
    close(F.ctc_loss(log_probs, flat, steps, lengths, blank, "sum"), sum(wanted))
    one = F.ctc_loss(log_probs[:, 2], zero.tensor(targets[2]), 4, 3, blank, "none")
    close(one, wanted[2])
    assert one.shape == ()

    def of_scores(scores):
        return F.ctc_loss(F.log_softmax(scores, 2), padded, steps, lengths, blank, "none")

    assert gradcheck(of_scores, (scores,))
    of_scores(scores).sum().backward()
    assert (scores.grad[3:, 1] == 0).all() and (scores.grad[4:, 2] == 0).all()


def test_ctc_without_a_path():
    log_probs = F.log_softmax(draw(2, 2, 3), 2).detach().requires_grad_()
    targets, lengths = zero.tensor([[1, 1], [1, 2]]), (2, 2)
    y = F.ctc_loss(log_probs, targets, (2, 2), lengths, reduction="none")
    assert y[0].item() == INF and math.isfinite(y[1].item())  # 1 1 needs a blank between
    y.sum().backward()
    assert log_probs.grad[:, 0].isnan().all() and log_probs.grad[:, 1].isfinite().all()
    log_probs.grad = None
    y = F.ctc_loss(log_probs, targets, (2, 2), lengths, reduction="none", zero_infinity=True)
    y.sum().backward()
    assert y[0].item() == 0 and (log_probs.grad[:, 0] == 0).all()
    assert log_probs.grad[:, 1].abs().sum() > 0
    empty = F.ctc_loss(log_probs, zero.zeros(2, 0).long(), (2, 0), (0, 0), reduction="none")
    close(empty, [-log_probs[:, 0, 0].sum().item(), 0])


def test_ctc_errors():
    log_probs, targets = zero.zeros(4, 2, 3), zero.tensor([[1, 2], [1, 1]])
    call = F.ctc_loss
    with pytest.raises(ValueError, match="input length"):
        call(log_probs, targets, (5, 4), (2, 2))
    with pytest.raises(ShapeError, match="each sample"):
        call(log_probs, targets, (4,), (2, 2))
    with pytest.raises(ShapeError, match="don't fit"):
        call(log_probs, targets, (4, 4), (3, 2))
    with pytest.raises(ShapeError, match="sum"):
        call(log_probs, targets.flatten(), (4, 4), (2, 1))
    huge = (2**62,) * 4  # whose sum is 0 in 64 bits
    with pytest.raises(ValueError, match="length is out of range; got 4611686018427387904"):
        call(zero.zeros(4, 4, 3), zero.zeros(0).long(), (4,) * 4, huge)
    with pytest.raises(IndexError, match="got 3 at position 1 of sample 0"):
        call(log_probs, targets + 1, (4, 4), (2, 2))
    with pytest.raises(ValueError, match="blank"):
        call(log_probs, targets, (4, 4), (2, 2), blank=3)
    with pytest.raises(DTypeError, match="targets"):
        call(log_probs, targets.float(), (4, 4), (2, 2))
    with pytest.raises(DTypeError, match="input_lengths"):
        call(log_probs, targets, zero.ones(2), (2, 2))
    x = log_probs.requires_grad_()
    (g,) = zero.autograd.grad(call(x, targets, (4, 4), (2, 2)), x, create_graph=True)
    with pytest.raises(RuntimeError, match="ctc_loss's gradient is not implemented"):
        g.sum().backward()


def test_ctc_dtypes_threads_and_meta():
    x = zero.randn(40, 9, 12).log_softmax(2)
    targets = zero.randint(1, 12, (9, 15))
    args = targets, zero.full((9,), 40), zero.full((9,), 15)
    exact = F.ctc_loss(x.double(), *args, reduction="none")
    found = F.ctc_loss(x, *args, reduction="none")
    assert found.dtype is zero.float32
    zero.testing.assert_close(found.double(), exact, rtol=1e-6, atol=0)
    assert F.ctc_loss(x.bfloat16(), *args).dtype is zero.bfloat16
    assert F.ctc_loss(x.to("meta"), targets.to("meta"), (40,) * 9, (15,) * 9).shape == ()
    before = zero.get_num_threads()
    results = []
    try:
        for threads in (1, 3):
            zero.set_num_threads(threads)
            v = x.clone().requires_grad_()
            F.ctc_loss(v, *args).backward()
            results.append(v.grad)
    finally:
        zero.set_num_threads(before)
    assert zero.equal(*results)


# ---- classes -------------------------------------------------------------------------------------
def test_linear_cross_entropy():
    x, t = draw(5, 3), zero.tensor([0, 1, 1, 3, 2])
    w, b = draw(4, 3, seed=1), draw(4, seed=2)
    wanted = F.cross_entropy(F.linear(x, w, b), t)
    close(F.linear_cross_entropy(x, w, t, linear_bias=b), wanted.item())
    assert gradcheck(lambda x, w, b: F.linear_cross_entropy(x, w, t, linear_bias=b), (x, w, b))
    wide = draw(4, 2, 3, seed=3)
    places = zero.tensor([[0, 1], [1, 1], [2, 3], [3, 0], [-100, 0]])
    assert F.linear_cross_entropy(x, wide, places, reduction="none").shape == (5, 2)
    layer = nn.LinearCrossEntropyLoss(3, 4, out_features=(2,), bias=True, ignore_index=1)
    assert list(layer.state_dict()) == ["linear.weight", "linear.bias"]
    assert layer.linear.weight.shape == (8, 3) and layer(x.float(), places.clamp_min(0)).shape == ()
    with pytest.raises(ShapeError, match="features"):
        F.linear_cross_entropy(x, w[:, :2], t)
    with pytest.raises(ValueError, match="ignore_index"):
        F.linear_cross_entropy(x, w, zero.ones(5, 4).double() / 4, ignore_index=0)
    same = F.linear_cross_entropy(x, w, t, linear_bias=b, options=object())
    close(same, wanted.item())


def test_adaptive_log_softmax():
    zero.manual_seed(1)
    layer = nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 12], div_value=2.0)
    assert list(layer.state_dict()) == [
        "head.weight",
        "tail.0.0.weight",
        "tail.0.1.weight",
        "tail.1.0.weight",
        "tail.1.1.weight",
    ]
    shapes = [tuple(p.shape) for p in layer.parameters()]
    assert shapes == [(7, 8), (4, 8), (7, 4), (2, 8), (8, 2)]
    x, t = zero.randn(30, 8), zero.arange(30) % 20
    output, loss = layer(x, t)
    full = layer.log_prob(x)
    zero.testing.assert_close(full.exp().sum(1), zero.ones(30))
    zero.testing.assert_close(output, full.gather(1, t.unsqueeze(1)).squeeze(1))
    zero.testing.assert_close(loss, -output.mean())
    assert zero.equal(layer.predict(x), full.argmax(1))
    loss.backward()
    assert all(p.grad.abs().sum() > 0 for p in layer.parameters())
    one = layer(x[7], t[7])
    assert one.output.shape == () and one.output.item() == pytest.approx(output[7].item())
    for cutoffs in ([], [0, 5], [5, 5], [12, 5], [20], [2.5]):
        with pytest.raises(ValueError, match="cutoffs"):
            nn.AdaptiveLogSoftmaxWithLoss(8, 20, cutoffs)
    with pytest.raises(IndexError, match="got 20"):
        layer(x, t + 1)
    with pytest.raises(ShapeError):
        layer(x, t[:3])


def test_names_of_zero_itself():
    x, t = draw(3, grad=False), draw(3, grad=False, low=0.1, high=0.9, seed=1)
    for reduction, word in ((0, "none"), (1, "mean"), (2, "sum"), ("sum", "sum")):
        same = zero.binary_cross_entropy_with_logits(x, t, None, None, reduction)
        assert zero.equal(same, F.binary_cross_entropy_with_logits(x, t, reduction=word))
        same = zero.poisson_nll_loss(x, t, True, False, 1e-8, reduction)
        assert zero.equal(same, F.poisson_nll_loss(x, t, reduction=word))
    assert zero.hinge_embedding_loss(x, zero.ones(3)).shape == ()
    assert zero.margin_ranking_loss(x, t, zero.ones(3), 0.0, 0).shape == (3,)
    assert zero.cosine_embedding_loss(x, t, zero.tensor(1)).shape == ()
    assert zero.triplet_margin_loss(x, t, t, reduction=2).shape == ()
    assert zero.ctc_loss(zero.zeros(2, 1, 2), zero.tensor([[1]]), (2,), (1,), 0, 0).shape == (1,)
    with pytest.raises(ValueError, match="reduction"):
        zero.kl_div(x, t, 3)


# ---- modules -------------------------------------------------------------------------------------
PLAIN = [
    nn.L1Loss, nn.MSELoss, nn.SmoothL1Loss, nn.HuberLoss, nn.BCELoss, nn.BCEWithLogitsLoss,
    nn.NLLLoss, nn.CrossEntropyLoss, nn.KLDivLoss, nn.PoissonNLLLoss, nn.GaussianNLLLoss,
    nn.CTCLoss, nn.MarginRankingLoss, nn.HingeEmbeddingLoss, nn.CosineEmbeddingLoss,
    nn.TripletMarginLoss, nn.MultiMarginLoss, nn.MultiLabelMarginLoss, nn.MultiLabelSoftMarginLoss,
    nn.SoftMarginLoss,
]  # fmt: skip


@pytest.mark.parametrize("make", PLAIN, ids=[make.__name__ for make in PLAIN])
def test_modules(make):
    layer = make(reduction="sum")
    assert layer.reduction == "sum" and repr(layer) == f"{make.__name__}()"
    assert not list(layer.parameters()) and not layer.state_dict()
    with pytest.raises(ValueError, match="'median'"):
        make(reduction="median")
    if make in (nn.HuberLoss, nn.GaussianNLLLoss, nn.CTCLoss):
        return
    for old, word in (({"size_average": False}, "sum"), ({"reduce": False}, "none"),
                      ({"size_average": True, "reduce": True}, "mean")):  # fmt: skip
        with pytest.warns(FutureWarning, match="old forms"):
            assert make(**old).reduction == word


def test_base_classes():
    base = nn.modules.loss
    assert all(issubclass(make, base._Loss) for make in PLAIN)
    assert issubclass(nn.NLLLoss, base._WeightedLoss) and not issubclass(
        nn.L1Loss, base._WeightedLoss
    )

    class Focal(base._WeightedLoss):
        def forward(self, input, target):
            return (self.weight * (1 - input).square()).sum() * (self.reduction == "sum")

    layer = Focal(zero.ones(2), reduction="sum")
    assert layer(zero.zeros(2), None).item() == 2 and list(layer.state_dict()) == ["weight"]
    with pytest.raises(ValueError, match="Focal: unknown reduction"):
        Focal(reduction="all")


def test_module_options():
    x, t = draw(2, 3, low=0.1, high=0.9), draw(2, 3, low=0.1, high=0.9, seed=1, grad=False)
    close(nn.SmoothL1Loss(beta=0.5)(x, t), F.smooth_l1_loss(x, t, beta=0.5).item())
    close(nn.HuberLoss("sum", 0.5)(x, t), F.huber_loss(x, t, "sum", 0.5).item())
    w = zero.tensor([1.0, 2.0, 3.0])
    weighted = nn.BCELoss(w)
    assert list(weighted.state_dict()) == ["weight"]
    close(weighted(x, t), F.binary_cross_entropy(x, t, w).item())
    with pytest.raises(TypeError, match="delta"):
        nn.HuberLoss(delta=1j)
    with pytest.warns(FutureWarning, match="NLLLoss"):
        old = nn.NLLLoss2d()
    log_probs = zero.zeros(1, 2, 2, 2)
    assert old(log_probs, zero.zeros(1, 2, 2).long()).item() == 0


def test_meta_and_empty():
    for loss in (
        F.l1_loss,
        F.huber_loss,
        F.binary_cross_entropy_with_logits,
        F.binary_cross_entropy,
    ):
        x = zero.empty(2, 3, device="meta", requires_grad=True)
        y = loss(x, zero.empty(2, 3, device="meta"))
        (g,) = zero.autograd.grad(y, x, zero.empty((), device="meta"))
        assert y.shape == () and g.shape == (2, 3)
        e = zero.empty(0, 3, requires_grad=True)
        y = loss(e, zero.empty(0, 3))
        y.backward()
        assert math.isnan(y.item()) and e.grad.shape == (0, 3)
        assert loss(e, zero.empty(0, 3), reduction="sum").item() == 0


def test_half_precision_computes_in_float32():
    x, t = zero.rand(1000), zero.rand(1000)
    for dtype in (zero.float16, zero.bfloat16):
        a, b = x.to(dtype), t.to(dtype)
        for loss in (F.l1_loss, F.huber_loss, F.binary_cross_entropy, F.smooth_l1_loss):
            y = loss(a, b)
            assert y.dtype is dtype and zero.equal(y, loss(a.float(), b.float()).to(dtype))
