"""How tensors are printed. The texts were recorded from PyTorch 2.13 (with its name replaced)."""

import math

import pytest

import zero

RECORDED = [
    ("zero.tensor(1.5)", "tensor(1.5000)"),
    ("zero.tensor(3)", "tensor(3)"),
    ("zero.tensor(True)", "tensor(True)"),
    ("zero.tensor(2.0)", "tensor(2.)"),
    ("zero.tensor(-0.0)", "tensor(-0.)"),
    ("zero.tensor(1.5, dtype=zero.float64)", "tensor(1.5000, dtype=zero.float64)"),
    ("zero.tensor(1e10)", "tensor(1.0000e+10)"),
    ("zero.tensor(1e-7)", "tensor(1.0000e-07)"),
    ("zero.tensor(math.nan)", "tensor(nan)"),
    ("zero.tensor(-math.inf)", "tensor(-inf)"),
    ("zero.tensor(123456789.0)", "tensor(1.2346e+08)"),
    ("zero.tensor([1.0, 2.0])", "tensor([1., 2.])"),
    ("zero.tensor([1.0, 2.5])", "tensor([1.0000, 2.5000])"),
    ("zero.tensor([0.1, 100.0])", "tensor([  0.1000, 100.0000])"),
    ("zero.tensor([0.1, 100.5])", "tensor([1.0000e-01, 1.0050e+02])"),
    ("zero.tensor([1.0, 1000.0])", "tensor([   1., 1000.])"),
    ("zero.tensor([1.0, 1001.0])", "tensor([1.0000e+00, 1.0010e+03])"),
    ("zero.tensor([0.5, 501.0])", "tensor([5.0000e-01, 5.0100e+02])"),
    ("zero.tensor([1e8, 1e7])", "tensor([100000000.,  10000000.])"),
    ("zero.tensor([1e9, 1e8])", "tensor([1.0000e+09, 1.0000e+08])"),
    ("zero.tensor([0.0001, 0.01])", "tensor([1.0000e-04, 1.0000e-02])"),
    ("zero.tensor([0.00009, 0.01])", "tensor([9.0000e-05, 1.0000e-02])"),
    ("zero.tensor([0.0, 0.00001])", "tensor([0.0000e+00, 1.0000e-05])"),
    ("zero.tensor([-1.0, 10.0, -100.0])", "tensor([  -1.,   10., -100.])"),
    ("zero.tensor([-1.5, 10.25, -100.125])", "tensor([  -1.5000,   10.2500, -100.1250])"),
    ("zero.tensor([0.0, 0.0])", "tensor([0., 0.])"),
    ("zero.tensor([math.inf, 1.0])", "tensor([inf, 1.])"),
    ("zero.tensor([math.inf, 1.5, math.nan])", "tensor([   inf, 1.5000,    nan])"),
    ("zero.tensor([-math.inf, math.inf])", "tensor([-inf, inf])"),
    ("zero.tensor([math.nan, 1e-9])", "tensor([       nan, 1.0000e-09])"),
    ("zero.tensor([math.nan, 0.0])", "tensor([nan, 0.])"),
    ("zero.tensor([1.0, 1e12, math.nan])", "tensor([1.0000e+00, 1.0000e+12,        nan])"),
    (
        "zero.tensor([1e300, 1e-300], dtype=zero.float64)",
        "tensor([1.0000e+300, 1.0000e-300], dtype=zero.float64)",
    ),
    ("zero.tensor([2.5, 1e38])", "tensor([2.5000e+00, 1.0000e+38])"),
    (
        "zero.tensor([1 / 3, 2 / 3], dtype=zero.float16)",
        "tensor([0.3333, 0.6665], dtype=zero.float16)",
    ),
    (
        "zero.tensor([1 / 3, 200.0], dtype=zero.bfloat16)",
        "tensor([  0.3340, 200.0000], dtype=zero.bfloat16)",
    ),
    (
        "zero.tensor([65504.0, 1.0], dtype=zero.float16)",
        "tensor([6.5504e+04, 1.0000e+00], dtype=zero.float16)",
    ),
    ("zero.tensor([1 / 3], dtype=zero.float64)", "tensor([0.3333], dtype=zero.float64)"),
    ("zero.tensor([1, -20, 300])", "tensor([  1, -20, 300])"),
    ("zero.tensor([1, 2], dtype=zero.int32)", "tensor([1, 2], dtype=zero.int32)"),
    ("zero.tensor([1, 255], dtype=zero.uint8)", "tensor([  1, 255], dtype=zero.uint8)"),
    ("zero.tensor([-128, 127], dtype=zero.int8)", "tensor([-128,  127], dtype=zero.int8)"),
    ("zero.tensor([-32768], dtype=zero.int16)", "tensor([-32768], dtype=zero.int16)"),
    ("zero.tensor([2**63 - 1, -(2**63)])", "tensor([ 9223372036854775807, -9223372036854775808])"),
    ("zero.tensor([True, False])", "tensor([ True, False])"),
    (
        "zero.tensor([[True], [False]])",
        "tensor([[ True],\n        [False]])",
    ),
    ("zero.tensor([])", "tensor([])"),
    ("zero.tensor([], dtype=zero.int64)", "tensor([], dtype=zero.int64)"),
    ("zero.tensor([], dtype=zero.bool)", "tensor([], dtype=zero.bool)"),
    ("zero.zeros(2, 0)", "tensor([], size=(2, 0))"),
    ("zero.zeros(0, 3, dtype=zero.int32)", "tensor([], size=(0, 3), dtype=zero.int32)"),
    ("zero.zeros(2, 3, 0, 4)", "tensor([], size=(2, 3, 0, 4))"),
    ("zero.zeros(0, requires_grad=True)", "tensor([], requires_grad=True)"),
    (
        "zero.tensor([[1.0, -2.0], [3.25, 4.0]])",
        "tensor([[ 1.0000, -2.0000],\n        [ 3.2500,  4.0000]])",
    ),
    (
        "zero.tensor([[1, 20], [300, 4]])",
        "tensor([[  1,  20],\n        [300,   4]])",
    ),
    (
        "zero.tensor([[1.0, math.nan], [math.inf, 4.0]])",
        "tensor([[1., nan],\n        [inf, 4.]])",
    ),
    (
        "zero.arange(8.0).reshape(2, 2, 2)",
        "tensor([[[0., 1.],\n         [2., 3.]],\n\n        [[4., 5.],\n         [6., 7.]]])",
    ),
    (
        "zero.arange(16).reshape(2, 2, 2, 2)",
        "tensor([[[[ 0,  1],\n"
        "          [ 2,  3]],\n"
        "\n"
        "         [[ 4,  5],\n"
        "          [ 6,  7]]],\n"
        "\n"
        "\n"
        "        [[[ 8,  9],\n"
        "          [10, 11]],\n"
        "\n"
        "         [[12, 13],\n"
        "          [14, 15]]]])",
    ),
    (
        "zero.arange(24).reshape(2, 3, 4)",
        "tensor([[[ 0,  1,  2,  3],\n"
        "         [ 4,  5,  6,  7],\n"
        "         [ 8,  9, 10, 11]],\n"
        "\n"
        "        [[12, 13, 14, 15],\n"
        "         [16, 17, 18, 19],\n"
        "         [20, 21, 22, 23]]])",
    ),
    ("zero.arange(6).reshape(1, 1, 6)", "tensor([[[0, 1, 2, 3, 4, 5]]])"),
    (
        "zero.arange(6).reshape(6, 1)",
        "tensor([[0],\n        [1],\n        [2],\n        [3],\n        [4],\n        [5]])",
    ),
    (
        "zero.arange(30)",
        "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
        "        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])",
    ),
    (
        "zero.arange(30.0)",
        "tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.,\n"
        "        14., 15., 16., 17., 18., 19., 20., 21., 22., 23., 24., 25., 26., 27.,\n"
        "        28., 29.])",
    ),
    (
        "zero.arange(30.0) / 7",
        "tensor([0.0000, 0.1429, 0.2857, 0.4286, 0.5714, 0.7143, 0.8571, 1.0000, 1.1429,\n"
        "        1.2857, 1.4286, 1.5714, 1.7143, 1.8571, 2.0000, 2.1429, 2.2857, 2.4286,\n"
        "        2.5714, 2.7143, 2.8571, 3.0000, 3.1429, 3.2857, 3.4286, 3.5714, 3.7143,\n"
        "        3.8571, 4.0000, 4.1429])",
    ),
    (
        "zero.arange(40.0).reshape(2, 20)",
        "tensor([[ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.,\n"
        "         14., 15., 16., 17., 18., 19.],\n"
        "        [20., 21., 22., 23., 24., 25., 26., 27., 28., 29., 30., 31., 32., 33.,\n"
        "         34., 35., 36., 37., 38., 39.]])",
    ),
    (
        "zero.arange(40.0).reshape(2, 20) * 1000.5",
        "tensor([[    0.0000,  1000.5000,  2001.0000,  3001.5000,  4002.0000,  5002.5000,\n"
        "          6003.0000,  7003.5000,  8004.0000,  9004.5000, 10005.0000, 11005.5000,\n"
        "         12006.0000, 13006.5000, 14007.0000, 15007.5000, 16008.0000, 17008.5000,\n"
        "         18009.0000, 19009.5000],\n"
        "        [20010.0000, 21010.5000, 22011.0000, 23011.5000, 24012.0000, 25012.5000,\n"
        "         26013.0000, 27013.5000, 28014.0000, 29014.5000, 30015.0000, 31015.5000,\n"
        "         32016.0000, 33016.5000, 34017.0000, 35017.5000, 36018.0000, 37018.5000,\n"
        "         38019.0000, 39019.5000]])",
    ),
    (
        "zero.arange(1000).reshape(2, 500)[:, :3]",
        "tensor([[  0,   1,   2],\n        [500, 501, 502]])",
    ),
    ("zero.arange(1001)", "tensor([   0,    1,    2,  ...,  998,  999, 1000])"),
    ("zero.arange(1001.0)", "tensor([   0.,    1.,    2.,  ...,  998.,  999., 1000.])"),
    (
        "zero.arange(2000.0).reshape(20, 100)",
        "tensor([[0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 9.7000e+01, 9.8000e+01,\n"
        "         9.9000e+01],\n"
        "        [1.0000e+02, 1.0100e+02, 1.0200e+02,  ..., 1.9700e+02, 1.9800e+02,\n"
        "         1.9900e+02],\n"
        "        [2.0000e+02, 2.0100e+02, 2.0200e+02,  ..., 2.9700e+02, 2.9800e+02,\n"
        "         2.9900e+02],\n"
        "        ...,\n"
        "        [1.7000e+03, 1.7010e+03, 1.7020e+03,  ..., 1.7970e+03, 1.7980e+03,\n"
        "         1.7990e+03],\n"
        "        [1.8000e+03, 1.8010e+03, 1.8020e+03,  ..., 1.8970e+03, 1.8980e+03,\n"
        "         1.8990e+03],\n"
        "        [1.9000e+03, 1.9010e+03, 1.9020e+03,  ..., 1.9970e+03, 1.9980e+03,\n"
        "         1.9990e+03]])",
    ),
    (
        "zero.arange(2000.0).reshape(2, 1000)",
        "tensor([[0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 9.9700e+02, 9.9800e+02,\n"
        "         9.9900e+02],\n"
        "        [1.0000e+03, 1.0010e+03, 1.0020e+03,  ..., 1.9970e+03, 1.9980e+03,\n"
        "         1.9990e+03]])",
    ),
    (
        "zero.arange(1200).reshape(10, 10, 12)",
        "tensor([[[   0,    1,    2,  ...,    9,   10,   11],\n"
        "         [  12,   13,   14,  ...,   21,   22,   23],\n"
        "         [  24,   25,   26,  ...,   33,   34,   35],\n"
        "         ...,\n"
        "         [  84,   85,   86,  ...,   93,   94,   95],\n"
        "         [  96,   97,   98,  ...,  105,  106,  107],\n"
        "         [ 108,  109,  110,  ...,  117,  118,  119]],\n"
        "\n"
        "        [[ 120,  121,  122,  ...,  129,  130,  131],\n"
        "         [ 132,  133,  134,  ...,  141,  142,  143],\n"
        "         [ 144,  145,  146,  ...,  153,  154,  155],\n"
        "         ...,\n"
        "         [ 204,  205,  206,  ...,  213,  214,  215],\n"
        "         [ 216,  217,  218,  ...,  225,  226,  227],\n"
        "         [ 228,  229,  230,  ...,  237,  238,  239]],\n"
        "\n"
        "        [[ 240,  241,  242,  ...,  249,  250,  251],\n"
        "         [ 252,  253,  254,  ...,  261,  262,  263],\n"
        "         [ 264,  265,  266,  ...,  273,  274,  275],\n"
        "         ...,\n"
        "         [ 324,  325,  326,  ...,  333,  334,  335],\n"
        "         [ 336,  337,  338,  ...,  345,  346,  347],\n"
        "         [ 348,  349,  350,  ...,  357,  358,  359]],\n"
        "\n"
        "        ...,\n"
        "\n"
        "        [[ 840,  841,  842,  ...,  849,  850,  851],\n"
        "         [ 852,  853,  854,  ...,  861,  862,  863],\n"
        "         [ 864,  865,  866,  ...,  873,  874,  875],\n"
        "         ...,\n"
        "         [ 924,  925,  926,  ...,  933,  934,  935],\n"
        "         [ 936,  937,  938,  ...,  945,  946,  947],\n"
        "         [ 948,  949,  950,  ...,  957,  958,  959]],\n"
        "\n"
        "        [[ 960,  961,  962,  ...,  969,  970,  971],\n"
        "         [ 972,  973,  974,  ...,  981,  982,  983],\n"
        "         [ 984,  985,  986,  ...,  993,  994,  995],\n"
        "         ...,\n"
        "         [1044, 1045, 1046,  ..., 1053, 1054, 1055],\n"
        "         [1056, 1057, 1058,  ..., 1065, 1066, 1067],\n"
        "         [1068, 1069, 1070,  ..., 1077, 1078, 1079]],\n"
        "\n"
        "        [[1080, 1081, 1082,  ..., 1089, 1090, 1091],\n"
        "         [1092, 1093, 1094,  ..., 1101, 1102, 1103],\n"
        "         [1104, 1105, 1106,  ..., 1113, 1114, 1115],\n"
        "         ...,\n"
        "         [1164, 1165, 1166,  ..., 1173, 1174, 1175],\n"
        "         [1176, 1177, 1178,  ..., 1185, 1186, 1187],\n"
        "         [1188, 1189, 1190,  ..., 1197, 1198, 1199]]])",
    ),
    (
        "zero.arange(1200).reshape(3, 4, 100)",
        "tensor([[[   0,    1,    2,  ...,   97,   98,   99],\n"
        "         [ 100,  101,  102,  ...,  197,  198,  199],\n"
        "         [ 200,  201,  202,  ...,  297,  298,  299],\n"
        "         [ 300,  301,  302,  ...,  397,  398,  399]],\n"
        "\n"
        "        [[ 400,  401,  402,  ...,  497,  498,  499],\n"
        "         [ 500,  501,  502,  ...,  597,  598,  599],\n"
        "         [ 600,  601,  602,  ...,  697,  698,  699],\n"
        "         [ 700,  701,  702,  ...,  797,  798,  799]],\n"
        "\n"
        "        [[ 800,  801,  802,  ...,  897,  898,  899],\n"
        "         [ 900,  901,  902,  ...,  997,  998,  999],\n"
        "         [1000, 1001, 1002,  ..., 1097, 1098, 1099],\n"
        "         [1100, 1101, 1102,  ..., 1197, 1198, 1199]]])",
    ),
    (
        "zero.arange(1200.0).reshape(1200, 1) / 3",
        "tensor([[0.0000e+00],\n"
        "        [3.3333e-01],\n"
        "        [6.6667e-01],\n"
        "        ...,\n"
        "        [3.9900e+02],\n"
        "        [3.9933e+02],\n"
        "        [3.9967e+02]])",
    ),
    ("zero.zeros(0, 2000)", "tensor([], size=(0, 2000))"),
    (
        "zero.arange(4.0).reshape(2, 2).T",
        "tensor([[0., 2.],\n        [1., 3.]])",
    ),
    ("zero.arange(10)[::3]", "tensor([0, 3, 6, 9])"),
    (
        "zero.zeros(3).expand(2, 3)",
        "tensor([[0., 0., 0.],\n        [0., 0., 0.]])",
    ),
    ("zero.ones(2, requires_grad=True)", "tensor([1., 1.], requires_grad=True)"),
    ("zero.ones(2, requires_grad=True) * 2", "tensor([2., 2.], grad_fn=<MulBackward0>)"),
    ("zero.ones(2, requires_grad=True) + 1.5", "tensor([2.5000, 2.5000], grad_fn=<AddBackward0>)"),
    ("zero.ones(2, 2, requires_grad=True).sum()", "tensor(4., grad_fn=<SumBackward0>)"),
    ("zero.ones(2, requires_grad=True).exp()", "tensor([2.7183, 2.7183], grad_fn=<ExpBackward0>)"),
    ("zero.ones(2, requires_grad=True).detach()", "tensor([1., 1.])"),
    (
        "zero.ones(2, dtype=zero.float64, requires_grad=True) * 2",
        "tensor([2., 2.], dtype=zero.float64, grad_fn=<MulBackward0>)",
    ),
    (
        "zero.arange(15.0).requires_grad_() / 7",
        "tensor([0.0000, 0.1429, 0.2857, 0.4286, 0.5714, 0.7143, 0.8571, 1.0000, 1.1429,\n"
        "        1.2857, 1.4286, 1.5714, 1.7143, 1.8571, 2.0000],\n"
        "       grad_fn=<DivBackward0>)",
    ),
    (
        "zero.arange(11.0).requires_grad_() / 7",
        "tensor([0.0000, 0.1429, 0.2857, 0.4286, 0.5714, 0.7143, 0.8571, 1.0000, 1.1429,\n"
        "        1.2857, 1.4286], grad_fn=<DivBackward0>)",
    ),
    (
        "zero.arange(1001.0).requires_grad_().double()",
        "tensor([   0.,    1.,    2.,  ...,  998.,  999., 1000.], dtype=zero.float64,\n"
        "       grad_fn=<ToCopyBackward0>)",
    ),
    (
        "zero.nn.Parameter(zero.ones(2))",
        "Parameter containing:\ntensor([1., 1.], requires_grad=True)",
    ),
    (
        "zero.nn.Parameter(zero.ones(2, dtype=zero.float64), requires_grad=False)",
        "Parameter containing:\ntensor([1., 1.], dtype=zero.float64)",
    ),
    (
        "zero.nn.Parameter(zero.tensor([[1.5, -2.0]]))",
        "Parameter containing:\ntensor([[ 1.5000, -2.0000]], requires_grad=True)",
    ),
    ('zero.zeros(2, 3, device="meta")', "tensor(..., device='meta', size=(2, 3))"),
    (
        'zero.zeros(2, dtype=zero.int64, device="meta")',
        "tensor(..., device='meta', size=(2,), dtype=zero.int64)",
    ),
    (
        'zero.zeros(2, device="meta", requires_grad=True)',
        "tensor(..., device='meta', size=(2,), requires_grad=True)",
    ),
]

WITH_OPTIONS = [
    ({"precision": 2}, "zero.tensor([3.14159, 2.0])", "tensor([3.14, 2.00])"),
    ({"precision": 2}, "zero.tensor([0.001, 1.0])", "tensor([0.00, 1.00])"),
    ({"precision": 2}, "zero.tensor([1e-7])", "tensor([1.00e-07])"),
    (
        {"precision": 8},
        "zero.tensor([3.14159, 2.0], dtype=zero.float64)",
        "tensor([3.14159000, 2.00000000], dtype=zero.float64)",
    ),
    ({"precision": 0}, "zero.tensor([3.5, 2.25])", "tensor([4, 2])"),
    ({"sci_mode": True}, "zero.tensor([1.0, 2.0])", "tensor([1.0000e+00, 2.0000e+00])"),
    ({"sci_mode": True}, "zero.tensor([0.0, math.nan])", "tensor([0., nan])"),
    ({"sci_mode": True}, "zero.tensor([1, 2])", "tensor([1, 2])"),
    (
        {"sci_mode": True},
        "zero.tensor([[1.5, 0.0], [math.inf, -2.5]])",
        "tensor([[ 1.5000e+00,  0.0000e+00],\n        [        inf, -2.5000e+00]])",
    ),
    ({"sci_mode": False}, "zero.tensor([1e-6, 1e6])", "tensor([      0.0000, 1000000.0000])"),
    ({"sci_mode": False}, "zero.tensor([1e12])", "tensor([999999995904.])"),
    ({"threshold": 5}, "zero.arange(6)", "tensor([0, 1, 2, 3, 4, 5])"),
    ({"threshold": 5}, "zero.arange(7)", "tensor([0, 1, 2,  ..., 4, 5, 6])"),
    (
        {"threshold": 5},
        "zero.arange(16.0).reshape(8, 2)",
        "tensor([[ 0.,  1.],\n"
        "        [ 2.,  3.],\n"
        "        [ 4.,  5.],\n"
        "        ...,\n"
        "        [10., 11.],\n"
        "        [12., 13.],\n"
        "        [14., 15.]])",
    ),
    (
        {"threshold": 5},
        "zero.arange(64).reshape(8, 8)",
        "tensor([[ 0,  1,  2,  ...,  5,  6,  7],\n"
        "        [ 8,  9, 10,  ..., 13, 14, 15],\n"
        "        [16, 17, 18,  ..., 21, 22, 23],\n"
        "        ...,\n"
        "        [40, 41, 42,  ..., 45, 46, 47],\n"
        "        [48, 49, 50,  ..., 53, 54, 55],\n"
        "        [56, 57, 58,  ..., 61, 62, 63]])",
    ),
    ({"threshold": 5, "edgeitems": 1}, "zero.arange(7)", "tensor([0,  ..., 6])"),
    (
        {"threshold": 5, "edgeitems": 1},
        "zero.arange(27.0).reshape(3, 3, 3)",
        "tensor([[[ 0.,  ...,  2.],\n"
        "         ...,\n"
        "         [ 6.,  ...,  8.]],\n"
        "\n"
        "        ...,\n"
        "\n"
        "        [[18.,  ..., 20.],\n"
        "         ...,\n"
        "         [24.,  ..., 26.]]])",
    ),
    (
        {"threshold": 5, "edgeitems": 1},
        "zero.arange(6).reshape(2, 3)",
        "tensor([[0,  ..., 2],\n        [3,  ..., 5]])",
    ),
    ({"threshold": 5, "edgeitems": 0}, "zero.arange(7)", "tensor([...], size=(7,))"),
    (
        {"threshold": 5, "edgeitems": 0},
        "zero.arange(12).reshape(3, 4)",
        "tensor([...], size=(3, 4))",
    ),
    ({"threshold": 5, "edgeitems": 0}, "zero.arange(3)", "tensor([0, 1, 2], size=(3,))"),
    (
        {"linewidth": 20},
        "zero.arange(12)",
        "tensor([ 0,  1,  2,\n         3,  4,  5,\n         6,  7,  8,\n         9, 10, 11])",
    ),
    (
        {"linewidth": 20},
        "zero.arange(6.0) / 7",
        "tensor([0.0000,\n"
        "        0.1429,\n"
        "        0.2857,\n"
        "        0.4286,\n"
        "        0.5714,\n"
        "        0.7143])",
    ),
    (
        {"linewidth": 20},
        "zero.ones(2, requires_grad=True) * 2",
        "tensor([2., 2.],\n       grad_fn=<MulBackward0>)",
    ),
    ({"profile": "short"}, "zero.tensor([3.14159])", "tensor([3.14])"),
    ({"profile": "short"}, "zero.arange(1001)", "tensor([   0,    1,  ...,  999, 1000])"),
    ({"profile": "full"}, "zero.arange(1001)[-3:]", "tensor([ 998,  999, 1000])"),
    ({"profile": "default", "precision": 1}, "zero.tensor([3.14159])", "tensor([3.1])"),
]


@pytest.fixture(autouse=True)
def default_options():
    yield
    zero.set_printoptions(profile="default")


@pytest.mark.parametrize("expression, text", RECORDED, ids=[case[0] for case in RECORDED])
def test_recorded(expression, text):
    x = eval(expression, {"math": math, "zero": zero})
    assert repr(x) == text
    assert str(x) == text


@pytest.mark.parametrize(
    "options, expression, text",
    WITH_OPTIONS,
    ids=[f"{options} {expression}" for options, expression, _ in WITH_OPTIONS],
)
def test_recorded_with_options(options, expression, text):
    zero.set_printoptions(**options)
    assert repr(eval(expression, {"math": math, "zero": zero})) == text


def test_values_survive_printing():
    x = zero.tensor([0.1, 0.2, 0.3])
    numbers = [float(part) for part in repr(x)[len("tensor([") : -2].split(",")]
    assert numbers == pytest.approx(x.tolist(), abs=5e-5)


def test_options_are_kept_until_changed():
    zero.set_printoptions(precision=2, sci_mode=True)
    assert repr(zero.tensor([1.5])) == "tensor([1.50e+00])"
    zero.set_printoptions(edgeitems=2)  # sci_mode goes back, as in PyTorch; precision stays
    assert repr(zero.tensor([1.5])) == "tensor([1.50])"
    assert zero.get_printoptions() == {
        "precision": 2,
        "threshold": 1000,
        "edgeitems": 2,
        "linewidth": 80,
        "sci_mode": None,
    }


def test_context_manager_restores():
    before = zero.get_printoptions()
    with zero.printoptions(precision=1, threshold=2):
        assert repr(zero.tensor([0.25])) == "tensor([0.2])"
    assert zero.get_printoptions() == before
    with pytest.raises(ZeroDivisionError), zero.printoptions(precision=1):
        1 / 0  # noqa: B018
    assert zero.get_printoptions() == before


def test_unknown_profile_changes_nothing():
    before = zero.get_printoptions()
    with pytest.raises(ValueError, match="profile"):
        zero.set_printoptions(precision=1, profile="brief")
    assert zero.get_printoptions() == before


def test_subclass_names_itself():
    class Celsius(zero.nn.Parameter):
        pass

    assert repr(Celsius(zero.ones(2))) == (
        "Parameter containing:\nParameter(Celsius([1., 1.], requires_grad=True))"
    )


def test_printing_leaves_no_trace():
    x = zero.ones(3, requires_grad=True)
    y = x * 2
    version = y._version
    repr(y)
    assert y._version == version
    y.sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


def test_large_tensor_prints_without_being_listed():
    """A list of all elements would take gigabytes and minutes."""
    x = zero.zeros(1).expand(50_000, 50_000)
    assert repr(x).count("\n") == 6


def test_default_dtype_decides_the_suffix():
    before = zero.get_default_dtype()
    zero.set_default_dtype(zero.float64)
    try:
        assert repr(zero.tensor([1.5])) == "tensor([1.5000])"
        one = zero.tensor([1.5], dtype=zero.float32)
        assert repr(one) == "tensor([1.5000], dtype=zero.float32)"
    finally:
        zero.set_default_dtype(before)
