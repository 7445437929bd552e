"""Operators composed of others, in plain Python. Their public names are those of `zero`.

A module is imported when one of its names is first asked for: these are the functions of zero that
it defines, and the methods of Tensor that it attaches.
"""

from zero import _attach
from zero._later import Method

FUNCTIONS = {
    "activations": "celu celu_ hardshrink rrelu rrelu_ selu selu_ threshold threshold_",
    "contract": "chain_matmul dist einsum tensordot vdot",
    "copies": "alias_copy as_strided_copy detach_copy diagonal_copy expand_copy narrow_copy "
    "permute_copy select_copy slice_copy split_copy split_with_sizes_copy "
    "squeeze_copy t_copy transpose_copy unbind_copy unfold_copy unsqueeze_copy "
    "view_copy",
    "diagonal": "diag diagflat",
    "eigenpairs": "lobpcg",
    "embed": "as_strided_scatter diagonal_scatter select_scatter slice_scatter",
    "exchange": "from_dlpack to_dlpack",
    "distances": "cosine_similarity pairwise_distance pdist",
    "grids": "argwhere block_diag cartesian_prod column_stack combinations "
    "cumulative_trapezoid gradient trapezoid trapz vander",
    "losses": "binary_cross_entropy_with_logits cosine_embedding_loss ctc_loss "
    "hinge_embedding_loss kl_div margin_ranking_loss poisson_nll_loss triplet_margin_loss",
    "lowrank": "pca_lowrank svd_lowrank",
    "matrices": "cholesky cholesky_inverse cholesky_solve det geqrf inverse logdet lu lu_solve "
    "lu_unpack matrix_exp matrix_power nuclear_norm orgqr ormqr pinverse qr slogdet svd "
    "triangular_solve",
    "numbers": "conj conj_physical conj_physical_ deg2rad deg2rad_ fill fill_ float_power "
    "imag is_conj is_neg is_nonzero is_signed isreal ldexp ldexp_ positive "
    "rad2deg rad2deg_ real resolve_conj resolve_neg rsub zero_",
    "order": "diff histogram histogramdd isin nanquantile nonzero_static quantile renorm",
    "norms": "instance_norm",
    "pooling": "adaptive_avg_pool1d adaptive_max_pool1d avg_pool1d constant_pad_nd max_pool1d "
    "max_pool1d_with_indices max_pool2d max_pool3d",
    "products": "bilinear ger inner outer",
    "reduce": "aminmax nanmean std_mean trace var_mean",
    "sampling": "affine_grid_generator grid_sampler grid_sampler_2d grid_sampler_3d",
    "shape": "atleast_1d atleast_2d atleast_3d broadcast_shapes broadcast_tensors dstack "
    "fliplr flipud hstack meshgrid moveaxis movedim rot90 row_stack tile "
    "unflatten vstack",
    "shuffle": "channel_shuffle native_channel_shuffle pixel_shuffle pixel_unshuffle",
    "statistics": "corrcoef cov",
    "tables": "embedding_renorm_",
    "views": "adjoint detach_ dsplit hsplit is_same_size split_with_sizes tensor_split "
    "unravel_index unsafe_chunk unsafe_split unsafe_split_with_sizes vsplit",
    "windows": "bartlett_window blackman_window hamming_window hann_window kaiser_window",
}
METHODS = {
    "activations": "hardshrink",
    "contract": "dist vdot",
    "copies": "narrow_copy",
    "diagonal": "diag diagflat fill_diagonal_",
    "embed": "as_strided_scatter diagonal_scatter select_scatter slice_scatter",
    "exchange": "__array_function__ __array_interface__ __array_wrap__ __dlpack__ "
    "__dlpack_device__",
    "grids": "argwhere",
    "matrices": "cholesky cholesky_inverse cholesky_solve det geqrf inverse logdet lu lu_solve "
    "matrix_exp matrix_power orgqr ormqr pinverse qr slogdet svd triangular_solve",
    "numbers": "__rdiv__ __reversed__ apply_ conj conj_physical conj_physical_ deg2rad deg2rad_ "
    "float_power float_power_ imag is_conj is_neg is_nonzero isreal ldexp ldexp_ map2_ map_ "
    "positive rad2deg rad2deg_ real resolve_conj resolve_neg",
    "order": "diff histogram nanquantile nonzero_static quantile renorm renorm_",
    "products": "ger inner outer",
    "reduce": "aminmax nanmean trace",
    "shape": "fliplr flipud moveaxis movedim repeat rot90 tile unflatten",
    "statistics": "corrcoef cov",
    "views": "adjoint dsplit H hsplit mH split_with_sizes sum_to_size tensor_split "
    "unsafe_chunk unsafe_split unsafe_split_with_sizes vsplit",
}

for module, names in METHODS.items():
    for name in names.split():
        _attach(name, Method(f"{__name__}.{module}", name))
