"""Names of PyTorch that aren't there yet, told from slips of the pen in the error for them."""

from __future__ import annotations

from zero._version import __version__

__all__ = ["MISSING", "no_attribute"]

# Names of PyTorch by module. One that is added to zero is taken off here (tests/test_missing.py).
MISSING = {
    "zero": (
        # modules
        "amp compiler distributed export fft func futures fx hub jit library masked mtia "
        "multiprocessing nested onnx overrides package profiler quantization quasirandom signal "
        "sparse types "
        # files, mixed precision, transforms of functions
        "GradScaler autocast from_file get_autocast_dtype is_autocast_enabled load save "
        "set_autocast_enabled vmap cond while_loop "
        # layers as functions
        "adaptive_avg_pool1d adaptive_max_pool1d affine_grid_generator alpha_dropout avg_pool1d "
        "binary_cross_entropy_with_logits celu channel_shuffle "
        "constant_pad_nd "
        "cosine_embedding_loss cosine_similarity ctc_loss "
        "grid_sampler gru gru_cell hardshrink hinge_embedding_loss "
        "kl_div lstm lstm_cell margin_ranking_loss max_pool1d max_pool2d "
        "max_pool3d pairwise_distance pdist pixel_shuffle pixel_unshuffle poisson_nll_loss prelu "
        "rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell rrelu selu threshold "
        "triplet_margin_loss "
        # linear algebra
        "cholesky cholesky_inverse cholesky_solve corrcoef cov det geqrf inverse lobpcg logdet lu "
        "lu_solve lu_unpack matrix_exp matrix_power nuclear_norm orgqr ormqr pca_lowrank pinverse "
        "qr slogdet svd svd_lowrank triangular_solve "
        # other dtypes and layouts
        "cdouble cfloat chalf complex complex128 complex32 complex64 dequantize float8_e4m3fn "
        "float8_e5m2 from_dlpack hash_tensor hsmm hspmm istft polar qint32 qint8 "
        "quantize_per_channel quantize_per_tensor quint8 smm sparse_bsr sparse_coo "
        "sparse_coo_tensor sparse_csc sparse_csr sparse_csr_tensor spmm sspaddmm stft to_dlpack "
        "uint16 uint32 uint64 view_as_complex view_as_real "
        # the rest
        "Event Storage Stream UntypedStorage range segment_reduce set_warn_always"
    ),
    "zero.nn": (
        "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveLogSoftmaxWithLoss "
        "AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d "
        "BCELoss BCEWithLogitsLoss CELU CTCLoss "
        "ChannelShuffle CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d "
        "ConstantPad3d "
        "CosineEmbeddingLoss CosineSimilarity DataParallel ELU "
        "FractionalMaxPool2d FractionalMaxPool3d GELU GLU GRU GRUCell "
        "GaussianNLLLoss Hardshrink Hardsigmoid Hardswish Hardtanh HingeEmbeddingLoss "
        "HuberLoss KLDivLoss L1Loss LPPool1d "
        "LPPool2d LPPool3d LSTM LSTMCell "
        "LeakyReLU LinearCrossEntropyLoss LogSigmoid MarginRankingLoss "
        "MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d Mish "
        "MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss MultiheadAttention "
        "NLLLoss2d PReLU PairwiseDistance PixelShuffle PixelUnshuffle PoissonNLLLoss RNN "
        "RNNBase RNNCell RReLU ReLU6 ReflectionPad1d ReflectionPad2d ReflectionPad3d "
        "ReplicationPad1d ReplicationPad2d ReplicationPad3d SELU SiLU SmoothL1Loss SoftMarginLoss "
        "Softmax2d Softmin Softplus Softshrink Softsign SyncBatchNorm Tanhshrink Threshold "
        "Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder "
        "TransformerEncoderLayer TripletMarginLoss TripletMarginWithDistanceLoss Unflatten "
        "Upsample UpsamplingBilinear2d UpsamplingNearest2d ZeroPad1d "
        "ZeroPad2d ZeroPad3d attention parallel quantized"
    ),
    "zero.nn.functional": (
        "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d "
        "adaptive_max_pool2d adaptive_max_pool3d affine_grid avg_pool1d avg_pool2d avg_pool3d "
        "celu channel_shuffle "
        "cosine_embedding_loss ctc_loss elu elu_ "
        "fractional_max_pool2d fractional_max_pool3d gaussian_nll_loss gelu glu "
        "grid_sample gumbel_softmax hardshrink hardsigmoid hardswish hardtanh "
        "hinge_embedding_loss interpolate leaky_relu leaky_relu_ "
        "linear_cross_entropy logsigmoid lp_pool1d lp_pool2d lp_pool3d "
        "margin_ranking_loss max_pool1d max_pool2d max_pool3d max_unpool1d max_unpool2d "
        "max_unpool3d mish multi_head_attention_forward multi_margin_loss multilabel_margin_loss "
        "multilabel_soft_margin_loss pad pairwise_distance pdist pixel_shuffle pixel_unshuffle "
        "poisson_nll_loss prelu relu6 rrelu scaled_dot_product_attention selu silu "
        "soft_margin_loss softmin softshrink softsign tanhshrink threshold triplet_margin_loss "
        "triplet_margin_with_distance_loss upsample upsample_bilinear upsample_nearest"
    ),
    "zero.nn.utils": ("rnn"),
    "zero.nn.utils.parametrizations": "orthogonal",
    "zero.optim": (
        "ASGD Adadelta Adafactor Adagrad Adamax LBFGS Muon NAdam RAdam RMSprop Rprop SparseAdam "
        "lr_scheduler swa_utils"
    ),
    "zero.utils": "checkpoint data dlpack tensorboard",
    "zero.autograd": "forward_ad profiler",
    "zero.linalg": (
        "LinAlgError cholesky cholesky_ex cond det eig eigh eigvals eigvalsh householder_product "
        "inv inv_ex ldl_factor ldl_solve lstsq lu lu_factor lu_solve matrix_exp matrix_norm "
        "matrix_power matrix_rank norm pinv qr slogdet solve solve_ex solve_triangular svd svdvals "
        "tensorinv tensorsolve"
    ),
    "zero.distributions": (
        "ContinuousBernoulli GeneralizedPareto Kumaraswamy LKJCholesky LowRankMultivariateNormal "
        "MultivariateNormal PositiveDefiniteTransform VonMises Wishart"
    ),
}


def no_attribute(module: str, name: str) -> AttributeError:
    """The error for a name that a module has not.

    Args:
        module: its name.
        name: what was asked for.

    Example:
        >>> from zero._missing import no_attribute
        >>> print(no_attribute("zero.nn", "Conv2"))
        module 'zero.nn' has no attribute 'Conv2'
    """
    text = f"module {module!r} has no attribute {name!r}"
    if name in MISSING.get(module, "").split():
        text += f": PyTorch has it, zero {__version__} does not have it yet"
    return AttributeError(text)
