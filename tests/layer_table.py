"""Every layer of zero.nn with inputs, and the dtypes of its results under PyTorch's autocast.

An input is a shape of floats from 0.1 to 0.9, or (kind, number, shape): integers below a number, an
integer everywhere, or signs, 1 and -1.
"""

# Layer: (arguments, inputs, dtypes under bfloat16 autocast for inputs of float32 and of bfloat16).
# None: PyTorch raises an error.
F, H = "float32", "bfloat16"
A, B1, B2, B3 = (2, 6), (2, 4, 6), (2, 4, 6, 6), (2, 4, 6, 6, 6)
S = (5, 2, 8)

LAYERS = {
    "AdaptiveAvgPool1d": ("2", [B1], F, H),
    "AdaptiveAvgPool2d": ("2", [B2], F, H),
    "AdaptiveAvgPool3d": ("2", [B3], F, F),
    "AdaptiveLogSoftmaxWithLoss": ("6, 8, [3]", [A, ("below", 8, (2,))], F, H),
    "AdaptiveMaxPool1d": ("2", [B1], F, H),
    "AdaptiveMaxPool2d": ("2", [B2], F, H),
    "AdaptiveMaxPool3d": ("2", [B3], F, F),
    "AlphaDropout": ("0.5", [B1], F, H),
    "AvgPool1d": ("2", [B1], F, H),
    "AvgPool2d": ("2", [B2], F, H),
    "AvgPool3d": ("2", [B3], F, F),
    "BCELoss": ("", [A, A], F, F),
    "BCEWithLogitsLoss": ("", [A, A], F, F),
    "BatchNorm1d": ("4", [B1], F, H),
    "BatchNorm2d": ("4", [B2], F, H),
    "BatchNorm3d": ("4", [B3], F, H),
    "Bilinear": ("6, 6, 3", [A, A], F, None),
    "CELU": ("", [A], F, H),
    "CTCLoss": ("", [(5, 2, 4), ("full", 1, (2, 2)), ("full", 5, (2,)), ("full", 2, (2,))], F, F),
    "ChannelShuffle": ("2", [B2], F, H),
    "CircularPad1d": ("1", [B1], F, H),
    "CircularPad2d": ("1", [B2], F, H),
    "CircularPad3d": ("1", [B3], F, H),
    "ConstantPad1d": ("1, 0.5", [B1], F, H),
    "ConstantPad2d": ("1, 0.5", [B2], F, H),
    "ConstantPad3d": ("1, 0.5", [B3], F, H),
    "Conv1d": ("4, 3, 2", [B1], H, H),
    "Conv2d": ("4, 3, 2", [B2], H, H),
    "Conv3d": ("4, 3, 2", [B3], H, H),
    "ConvTranspose1d": ("4, 3, 2", [B1], H, H),
    "ConvTranspose2d": ("4, 3, 2", [B2], H, H),
    "ConvTranspose3d": ("4, 3, 2", [B3], H, H),
    "CosineEmbeddingLoss": ("", [A, A, ("signs", None, (2,))], F, F),
    "CosineSimilarity": ("", [A, A], F, H),
    "CrossEntropyLoss": ("", [A, ("below", 6, (2,))], F, F),
    "CrossMapLRN2d": ("3", [B2], F, H),
    "Dropout": ("0.5", [B1], F, H),
    "Dropout1d": ("0.5", [B1], F, H),
    "Dropout2d": ("0.5", [B2], F, H),
    "Dropout3d": ("0.5", [B3], F, H),
    "ELU": ("", [A], F, H),
    "Embedding": ("5, 3", [("below", 5, (2, 3))], F, F),
    "EmbeddingBag": ("5, 3", [("below", 5, (2, 3))], F, F),
    "FeatureAlphaDropout": ("0.5", [B1], F, H),
    "Flatten": ("", [B1], F, H),
    "Fold": ("(4, 4), 2", [(2, 4, 9)], F, H),
    "FractionalMaxPool2d": ("2, output_size=3", [B2], F, F),
    "FractionalMaxPool3d": ("2, output_size=3", [B3], F, F),
    "GELU": ("", [A], F, H),
    "GLU": ("", [A], F, H),
    "GRU": ("8, 4", [S], F, H),
    "GRUCell": ("8, 4", [(2, 8)], F, H),
    "GaussianNLLLoss": ("", [A, A, A], F, H),
    "GroupNorm": ("2, 4", [B1], F, H),
    "Hardshrink": ("", [A], F, H),
    "Hardsigmoid": ("", [A], F, H),
    "Hardswish": ("", [A], F, H),
    "Hardtanh": ("", [A], F, H),
    "HingeEmbeddingLoss": ("", [A, ("signs", None, (2, 6))], F, F),
    "HuberLoss": ("", [A, A], F, F),
    "Identity": ("", [A], F, H),
    "InstanceNorm1d": ("4", [B1], F, H),
    "InstanceNorm2d": ("4", [B2], F, H),
    "InstanceNorm3d": ("4", [B3], F, H),
    "KLDivLoss": ("reduction='batchmean'", [A, A], F, F),
    "L1Loss": ("", [A, A], F, F),
    "LPPool1d": ("2, 2", [B1], F, H),
    "LPPool2d": ("2, 2", [B2], F, H),
    "LPPool3d": ("2, 2", [B3], F, F),
    "LSTM": ("8, 4", [S], H, H),
    "LSTMCell": ("8, 4", [(2, 8)], F, H),
    "LayerNorm": ("6", [A], F, H),
    "LazyBatchNorm1d": ("", [B1], F, H),
    "LazyBatchNorm2d": ("", [B2], F, H),
    "LazyBatchNorm3d": ("", [B3], F, H),
    "LazyConv1d": ("3, 2", [B1], H, H),
    "LazyConv2d": ("3, 2", [B2], H, H),
    "LazyConv3d": ("3, 2", [B3], H, H),
    "LazyConvTranspose1d": ("3, 2", [B1], H, H),
    "LazyConvTranspose2d": ("3, 2", [B2], H, H),
    "LazyConvTranspose3d": ("3, 2", [B3], H, H),
    "LazyInstanceNorm1d": ("", [B1], F, H),
    "LazyInstanceNorm2d": ("", [B2], F, H),
    "LazyInstanceNorm3d": ("", [B3], F, H),
    "LazyLinear": ("3", [A], H, H),
    "LeakyReLU": ("", [A], F, H),
    "Linear": ("6, 3", [A], H, H),
    "LinearCrossEntropyLoss": ("6, 4", [A, ("below", 4, (2,))], F, F),
    "LocalResponseNorm": ("3", [B1], F, H),
    "LogSigmoid": ("", [A], F, H),
    "LogSoftmax": ("1", [A], F, H),
    "MSELoss": ("", [A, A], F, F),
    "MarginRankingLoss": ("", [A, A, ("signs", None, (2, 6))], F, F),
    "MaxPool1d": ("2", [B1], F, H),
    "MaxPool2d": ("2", [B2], F, H),
    "MaxPool3d": ("2", [B3], F, F),
    "MaxUnpool1d": ("2", [B1, ("below", 8, (2, 4, 6))], F, F),
    "MaxUnpool2d": ("2", [B2, ("below", 8, (2, 4, 6, 6))], F, F),
    "MaxUnpool3d": ("2", [B3, ("below", 8, (2, 4, 6, 6, 6))], F, F),
    "Mish": ("", [A], F, H),
    "MultiheadAttention": ("8, 2", [S, S, S], H, H),
    "MultiLabelMarginLoss": ("", [A, ("below", 6, (2, 6))], F, F),
    "MultiLabelSoftMarginLoss": ("", [A, A], F, H),
    "MultiMarginLoss": ("", [A, ("below", 6, (2,))], F, F),
    "NLLLoss": ("", [A, ("below", 6, (2,))], F, F),
    "NLLLoss2d": ("", [B2, ("below", 4, (2, 6, 6))], F, F),
    "PReLU": ("", [A], H, H),
    "PairwiseDistance": ("", [A, A], F, H),
    "PixelShuffle": ("2", [B2], F, H),
    "PixelUnshuffle": ("2", [B2], F, H),
    "PoissonNLLLoss": ("", [A, A], F, F),
    "RNN": ("8, 4", [S], H, H),
    "RNNCell": ("8, 4", [(2, 8)], H, H),
    "RMSNorm": ("6", [A], F, H),
    "RReLU": ("", [A], F, H),
    "ReLU": ("", [A], F, H),
    "ReLU6": ("", [A], F, H),
    "ReflectionPad1d": ("1", [B1], F, F),
    "ReflectionPad2d": ("1", [B2], F, F),
    "ReflectionPad3d": ("1", [B3], F, H),
    "ReplicationPad1d": ("1", [B1], F, F),
    "ReplicationPad2d": ("1", [B2], F, F),
    "ReplicationPad3d": ("1", [B3], F, F),
    "SELU": ("", [A], F, H),
    "SiLU": ("", [A], F, H),
    "Sigmoid": ("", [A], F, H),
    "SmoothL1Loss": ("", [A, A], F, F),
    "SoftMarginLoss": ("", [A, ("signs", None, (2, 6))], F, F),
    "Softmax": ("1", [A], F, H),
    "Softmax2d": ("", [B2], F, H),
    "Softmin": ("1", [A], F, H),
    "Softplus": ("", [A], F, H),
    "Softshrink": ("", [A], F, H),
    "Softsign": ("", [A], F, H),
    "Tanh": ("", [A], F, H),
    "Tanhshrink": ("", [A], F, H),
    "Threshold": ("0.3, 0.0", [A], F, H),
    "Transformer": ("8, 2, 1, 1, 16, dropout=0.0", [S, S], F, H),
    "TransformerDecoder": ("nn.TransformerDecoderLayer(8, 2, 16, 0.0), 1", [S, S], F, H),
    "TransformerDecoderLayer": ("8, 2, 16, 0.0", [S, S], F, H),
    "TransformerEncoder": ("nn.TransformerEncoderLayer(8, 2, 16, 0.0), 1", [S], F, H),
    "TransformerEncoderLayer": ("8, 2, 16, 0.0", [S], F, H),
    "TripletMarginLoss": ("", [A, A, A], F, F),
    "TripletMarginWithDistanceLoss": ("", [A, A, A], F, H),
    "Unflatten": ("1, (2, 3)", [A], F, H),
    "Unfold": ("2", [B2], F, H),
    "Upsample": ("scale_factor=2", [B2], F, H),
    "UpsamplingBilinear2d": ("scale_factor=2", [B2], F, H),
    "UpsamplingNearest2d": ("scale_factor=2", [B2], F, H),
    "ZeroPad1d": ("1", [B1], F, H),
    "ZeroPad2d": ("1", [B2], F, H),
    "ZeroPad3d": ("1", [B3], F, H),
}
# These have no result of their own, or are met as other layers.
NOT_IN_THE_TABLE = {
    *(
        "Module",
        "RNNBase",
        "RNNCellBase",
        "Parameter",
        "Buffer",
        "UninitializedBuffer",
        "UninitializedParameter",
    ),
    *("Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"),
}


def arguments(inputs, dtype):
    """Tensors for a layer of the table; floats are of a dtype."""
    import numpy as np

    import zero

    rng = np.random.default_rng(0)
    result = []
    for spec in inputs:
        if isinstance(spec[0], int):
            values = rng.uniform(0.1, 0.9, spec).astype(np.float32)
            result.append(zero.tensor(values).bfloat16().to(dtype))  # exact in every dtype
            continue
        kind, number, shape = spec
        count = np.arange(np.prod(shape, dtype=int)).reshape(shape)
        if kind == "signs":
            result.append(zero.tensor(1 - 2.0 * (count % 2)).to(dtype))
        else:
            result.append(zero.tensor(count % number if kind == "below" else count * 0 + number))
    return result
