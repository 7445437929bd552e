"""Layers, losses and their base class."""

from zero import _later
from zero.nn.module import Module as Module
from zero.nn.parameter import Buffer as Buffer, Parameter as Parameter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zero.nn import (
        attention as attention,
        functional as functional,
        init as init,
        modules as modules,
        utils as utils,
    )
    from zero.nn.activation import *
    from zero.nn.adaptive import *
    from zero.nn.batchnorm import *
    from zero.nn.container import *
    from zero.nn.convolution import *
    from zero.nn.distance import *
    from zero.nn.dropout import *
    from zero.nn.embedding import *
    from zero.nn.flatten import *
    from zero.nn.fold import *
    from zero.nn.instancenorm import *
    from zero.nn.lazy import (
        UninitializedBuffer as UninitializedBuffer,
        UninitializedParameter as UninitializedParameter,
    )
    from zero.nn.lazy_layers import *
    from zero.nn.linear import *
    from zero.nn.loss import *
    from zero.nn.margin_loss import *
    from zero.nn.multihead_attention import *
    from zero.nn.normalization import *
    from zero.nn.padding import *
    from zero.nn.parameter_container import *
    from zero.nn.pooling import *
    from zero.nn.rectifier import *
    from zero.nn.rnn import *
    from zero.nn.transformer import *
    from zero.nn.transformer_layer import *
    from zero.nn.upsampling import *
else:
    __getattr__, __dir__, __all__ = _later.attributes(
        "zero.nn",
        ["Buffer", "Module", "Parameter"],
        modules="attention functional init modules utils",
        names={
            "activation": "GELU GLU LogSigmoid LogSoftmax Mish ReLU SiLU Sigmoid Softmax Softmax2d "
            "Softmin Softplus Softsign Tanh Tanhshrink",
            "adaptive": "AdaptiveLogSoftmaxWithLoss",
            "batchnorm": "BatchNorm1d BatchNorm2d BatchNorm3d LazyBatchNorm1d LazyBatchNorm2d "
            "LazyBatchNorm3d",
            "container": "ModuleDict ModuleList Sequential",
            "convolution": "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d",
            "distance": "CosineSimilarity PairwiseDistance",
            "dropout": "AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout",
            "embedding": "Embedding EmbeddingBag",
            "flatten": "Flatten Unflatten",
            "fold": "Fold Unfold",
            "instancenorm": "InstanceNorm1d InstanceNorm2d InstanceNorm3d LazyInstanceNorm1d "
            "LazyInstanceNorm2d LazyInstanceNorm3d",
            "lazy": "UninitializedBuffer UninitializedParameter",
            "lazy_layers": "LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d "
            "LazyConvTranspose2d LazyConvTranspose3d LazyLinear",
            "linear": "Bilinear Identity Linear",
            "loss": "BCELoss BCEWithLogitsLoss CTCLoss CrossEntropyLoss GaussianNLLLoss HuberLoss "
            "KLDivLoss L1Loss LinearCrossEntropyLoss MSELoss NLLLoss NLLLoss2d PoissonNLLLoss "
            "SmoothL1Loss",
            "margin_loss": "CosineEmbeddingLoss HingeEmbeddingLoss MarginRankingLoss "
            "MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss SoftMarginLoss "
            "TripletMarginLoss TripletMarginWithDistanceLoss",
            "multihead_attention": "MultiheadAttention",
            "normalization": "CrossMapLRN2d GroupNorm LayerNorm LocalResponseNorm RMSNorm",
            "padding": "CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d "
            "ConstantPad3d ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d "
            "ReplicationPad2d ReplicationPad3d ZeroPad1d ZeroPad2d ZeroPad3d",
            "parameter_container": "ParameterDict ParameterList",
            "pooling": "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d "
            "AdaptiveMaxPool2d AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d "
            "FractionalMaxPool2d FractionalMaxPool3d LPPool1d LPPool2d LPPool3d MaxPool1d "
            "MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d",
            "rectifier": "CELU ELU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU PReLU RReLU "
            "ReLU6 SELU Softshrink Threshold",
            "rnn": "GRU GRUCell LSTM LSTMCell RNN RNNBase RNNCell RNNCellBase",
            "transformer": "Transformer TransformerDecoder TransformerEncoder",
            "transformer_layer": "TransformerDecoderLayer TransformerEncoderLayer",
            "upsampling": "ChannelShuffle PixelShuffle PixelUnshuffle Upsample "
            "UpsamplingBilinear2d UpsamplingNearest2d",
        },
    )
