"""Special functions, with PyTorch's names.

Integers and bools give the default float dtype. Results are computed in float64; those of float32
are rounded once. Bessel and Airy functions and orthogonal polynomials have no gradient, as in
PyTorch.

    >>> import zero
    >>> zero.special.bessel_j0(zero.tensor([0.0, 1.0]))
    tensor([1.0000, 0.7652])
"""

from __future__ import annotations

import zero
from zero.special._bessel import (
    airy_ai,
    bessel_j0,
    bessel_j1,
    bessel_y0,
    bessel_y1,
    i0e,
    i1,
    i1e,
    modified_bessel_i0,
    modified_bessel_i1,
    modified_bessel_k0,
    modified_bessel_k1,
    scaled_modified_bessel_k0,
    scaled_modified_bessel_k1,
    spherical_bessel_j0,
)
from zero.special._functions import (
    entr,
    erfcx,
    log_ndtr,
    ndtr,
    ndtri,
    xlog1py,
    zeta,
)
from zero.special._polynomials import (
    chebyshev_polynomial_t,
    chebyshev_polynomial_u,
    chebyshev_polynomial_v,
    chebyshev_polynomial_w,
    hermite_polynomial_h,
    hermite_polynomial_he,
    laguerre_polynomial_l,
    legendre_polynomial_p,
    shifted_chebyshev_polynomial_t,
    shifted_chebyshev_polynomial_u,
    shifted_chebyshev_polynomial_v,
    shifted_chebyshev_polynomial_w,
)

__all__ = [
    "airy_ai",
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammainc",
    "gammaincc",
    "gammaln",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
    "log1p",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "modified_bessel_i0",
    "modified_bessel_i1",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "multigammaln",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "round",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
    "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
    "sinc",
    "softmax",
    "spherical_bessel_j0",
    "xlog1py",
    "xlogy",
    "zeta",
]

# Also in zero itself, some under another name.
digamma = zero.digamma
erf = zero.erf
erfc = zero.erfc
erfinv = zero.erfinv
exp2 = zero.exp2
expit = zero.sigmoid
expm1 = zero.expm1
gammainc = zero.igamma
gammaincc = zero.igammac
gammaln = zero.lgamma
i0 = zero.i0
log1p = zero.log1p
log_softmax = zero.log_softmax
logit = zero.logit
logsumexp = zero.logsumexp
multigammaln = zero.mvlgamma
polygamma = zero.polygamma
psi = zero.digamma
round = zero.round
sinc = zero.sinc
softmax = zero.softmax
xlogy = zero.xlogy
