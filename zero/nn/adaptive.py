"""A softmax over very many classes, with fewer features for rarer ones."""

from __future__ import annotations

from collections import namedtuple

import zero
from zero import Tensor
from zero.errors import IndexError, ShapeError, ValueError
from zero.nn import _options, functional as F
from zero.nn.container import ModuleList, Sequential
from zero.nn.linear import Linear
from zero.nn.module import Module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["AdaptiveLogSoftmaxWithLoss"]

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """Cross entropy over very many classes that are sorted by their frequency, the most frequent
    first.

    The head scores the first ``cutoffs[0]`` classes and one cluster for each later interval of
    classes; a cluster's own scores come from ``in_features // div_value ** (i + 1)`` features.

    Args:
        in_features: the features of a sample, D.
        n_classes: C.
        cutoffs: where intervals of classes begin, ascending, from 1 to C - 1.
        div_value: by how much each cluster has fewer features than the one before.
        head_bias: whether the head has a bias.
        device: where the parameters are.
        dtype: of the parameters; the default dtype if None.

    Shape:
        input [N, D] or [D]; target [N] or []: classes; output: the target's logarithm of
        probability, of the target's shape; loss []: minus their mean

    Raises:
        ValueError: the cutoffs are not ascending, or out of range.
        ShapeError: the shapes do not fit.
        IndexError: a class is out of range.

    Example:
        >>> import zero
        >>> layer = zero.nn.AdaptiveLogSoftmaxWithLoss(8, 20, cutoffs=[5, 10])
        >>> output, loss = layer(zero.randn(3, 8), zero.tensor([0, 7, 19]))
        >>> output.shape, bool(loss == -output.mean())
        (zero.Size([3]), True)

    Source: Grave et al., Efficient softmax approximation for GPUs, 2016.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
    ) -> None:
        name = "AdaptiveLogSoftmaxWithLoss"
        self.in_features = _options.size(name, "in_features", in_features)
        self.n_classes = _options.size(name, "n_classes", n_classes)
        cutoffs = list(cutoffs)
        ascending = all(a < b for a, b in zip([0, *cutoffs], [*cutoffs, n_classes], strict=True))
        if not cutoffs or not ascending or any(int(c) != c for c in cutoffs):
            raise ValueError(
                f"{name}: cutoffs are no ascending classes; got {cutoffs}, expected ints from 1 to "
                f"{n_classes - 1}, each larger than the one before"
            )
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = _options.flag(name, "head_bias", head_bias)
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(
            in_features, self.head_size, bias=self.head_bias, device=device, dtype=dtype
        )
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            hidden = int(in_features // div_value ** (i + 1))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(
                Sequential(
                    Linear(in_features, hidden, bias=False, device=device, dtype=dtype),
                    Linear(hidden, size, bias=False, device=device, dtype=dtype),
                )
            )

    def reset_parameters(self) -> None:
        """Draws new values for all parameters."""
        self.head.reset_parameters()
        for layer in self.tail.modules():
            if isinstance(layer, Linear):
                layer.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        if (
            target_.ndim > 1
            or input_.ndim != target_.ndim + 1
            or input_.shape[:-1] != target_.shape
        ):
            raise ShapeError(
                f"AdaptiveLogSoftmaxWithLoss: got input {tuple(input_.shape)} and target "
                f"{tuple(target_.shape)}, expected (N, D) and (N,), or (D,) and ()"
            )
        input, target = input_.reshape(-1, input_.shape[-1]), target_.reshape(-1)
        outside = (target < 0) | (target >= self.n_classes)
        if outside.any():
            raise IndexError(
                "AdaptiveLogSoftmaxWithLoss: target out of range; got "
                f"{target[outside][0].item()}, expected 0 to {self.n_classes - 1}"
            )
        place = target.clone()  # in the head: the class, or its cluster
        parts = []
        for i in range(self.n_clusters):
            low, high = self.cutoffs[i], self.cutoffs[i + 1]
            rows = ((target >= low) & (target < high)).nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            place.index_fill_(0, rows, self.shortlist_size + i)
            scores = F.log_softmax(self.tail[i](input.index_select(0, rows)), dim=1)
            chosen = scores.gather(1, (target[rows] - low).unsqueeze(1)).squeeze(1)
            parts.append((rows, chosen.to(input.dtype)))  # of another one under autocast
        output = F.log_softmax(self.head(input), dim=1).gather(1, place.unsqueeze(1)).squeeze(1)
        output = output.to(input.dtype)
        for rows, chosen in parts:
            output = output.index_add(0, rows, chosen)
        loss = -output.mean()
        return _ASMoutput(output.reshape(target_.shape), loss)

    def log_prob(self, input: Tensor) -> Tensor:
        """The logarithms of the probabilities of all classes.

        Args:
            input: [N, D].

        Returns:
            [N, C]
        """
        head = F.log_softmax(self.head(input), dim=1)
        parts = [head[:, : self.shortlist_size]]
        for i, projection in enumerate(self.tail):
            cluster = head[:, self.shortlist_size + i].unsqueeze(1)
            parts.append(F.log_softmax(projection(input), dim=1) + cluster)
        return zero.cat(parts, 1)

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each sample, [N]; clusters are looked into where one wins.

        Args:
            input: [N, D].
        """
        best: Tensor = self.head(input).argmax(1)
        rows = (best >= self.shortlist_size).nonzero().squeeze(1)
        if rows.numel() == 0:
            return best
        return best.index_copy(0, rows, self.log_prob(input[rows]).argmax(1))
