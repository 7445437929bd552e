# ruff: noqa: E501
"""Expressions and their texts as PyTorch 2.13 prints them (with its name replaced).

Each case: options for set_printoptions, an expression, and what it prints as.
"""

CASES = [
    ({}, "zero.tensor(1.5)", "tensor(1.5000)"),
    ({}, "zero.tensor(3)", "tensor(3)"),
    ({}, "zero.tensor(True)", "tensor(True)"),
    ({}, "zero.tensor(2.0)", "tensor(2.)"),
    ({}, "zero.tensor(-0.0)", "tensor(-0.)"),
    ({}, "zero.tensor(1.5, dtype=zero.float64)", "tensor(1.5000, dtype=zero.float64)"),
    ({}, "zero.tensor(1e10)", "tensor(1.0000e+10)"),
    ({}, "zero.tensor(1e-7)", "tensor(1.0000e-07)"),
    ({}, "zero.tensor(math.nan)", "tensor(nan)"),
    ({}, "zero.tensor(-math.inf)", "tensor(-inf)"),
    ({}, "zero.tensor(123456789.0)", "tensor(1.2346e+08)"),
    ({}, "zero.tensor([1.0, 2.0])", "tensor([1., 2.])"),
    ({}, "zero.tensor([1.0, 2.5])", "tensor([1.0000, 2.5000])"),
    ({}, "zero.tensor([0.1, 100.0])", "tensor([  0.1000, 100.0000])"),
    ({}, "zero.tensor([0.1, 100.5])", "tensor([1.0000e-01, 1.0050e+02])"),
    ({}, "zero.tensor([1.0, 1000.0])", "tensor([   1., 1000.])"),
    ({}, "zero.tensor([1.0, 1001.0])", "tensor([1.0000e+00, 1.0010e+03])"),
    ({}, "zero.tensor([0.5, 501.0])", "tensor([5.0000e-01, 5.0100e+02])"),
    ({}, "zero.tensor([1e8, 1e7])", "tensor([100000000.,  10000000.])"),
    ({}, "zero.tensor([1e9, 1e8])", "tensor([1.0000e+09, 1.0000e+08])"),
    ({}, "zero.tensor([0.0001, 0.01])", "tensor([1.0000e-04, 1.0000e-02])"),
    ({}, "zero.tensor([0.00009, 0.01])", "tensor([9.0000e-05, 1.0000e-02])"),
    ({}, "zero.tensor([0.0, 0.00001])", "tensor([0.0000e+00, 1.0000e-05])"),
    ({}, "zero.tensor([-1.0, 10.0, -100.0])", "tensor([  -1.,   10., -100.])"),
    ({}, "zero.tensor([-1.5, 10.25, -100.125])", "tensor([  -1.5000,   10.2500, -100.1250])"),
    ({}, "zero.tensor([0.0, 0.0])", "tensor([0., 0.])"),
    ({}, "zero.tensor([math.inf, 1.0])", "tensor([inf, 1.])"),
    ({}, "zero.tensor([math.inf, 1.5, math.nan])", "tensor([   inf, 1.5000,    nan])"),
    ({}, "zero.tensor([-math.inf, math.inf])", "tensor([-inf, inf])"),
    ({}, "zero.tensor([math.nan, 1e-9])", "tensor([       nan, 1.0000e-09])"),
    ({}, "zero.tensor([math.nan, 0.0])", "tensor([nan, 0.])"),
    ({}, "zero.tensor([1.0, 1e12, math.nan])", "tensor([1.0000e+00, 1.0000e+12,        nan])"),
    (
        {},
        "zero.tensor([1e300, 1e-300], dtype=zero.float64)",
        "tensor([1.0000e+300, 1.0000e-300], dtype=zero.float64)",
    ),
    ({}, "zero.tensor([2.5, 1e38])", "tensor([2.5000e+00, 1.0000e+38])"),
    (
        {},
        "zero.tensor([1 / 3, 2 / 3], dtype=zero.float16)",
        "tensor([0.3333, 0.6665], dtype=zero.float16)",
    ),
    (
        {},
        "zero.tensor([1 / 3, 200.0], dtype=zero.bfloat16)",
        "tensor([  0.3340, 200.0000], dtype=zero.bfloat16)",
    ),
    (
        {},
        "zero.tensor([65504.0, 1.0], dtype=zero.float16)",
        "tensor([6.5504e+04, 1.0000e+00], dtype=zero.float16)",
    ),
    ({}, "zero.tensor([1 / 3], dtype=zero.float64)", "tensor([0.3333], dtype=zero.float64)"),
    ({}, "zero.tensor([1, -20, 300])", "tensor([  1, -20, 300])"),
    ({}, "zero.tensor([1, 2], dtype=zero.int32)", "tensor([1, 2], dtype=zero.int32)"),
    ({}, "zero.tensor([1, 255], dtype=zero.uint8)", "tensor([  1, 255], dtype=zero.uint8)"),
    ({}, "zero.tensor([-128, 127], dtype=zero.int8)", "tensor([-128,  127], dtype=zero.int8)"),
    ({}, "zero.tensor([-32768], dtype=zero.int16)", "tensor([-32768], dtype=zero.int16)"),
    (
        {},
        "zero.tensor([2**63 - 1, -(2**63)])",
        "tensor([ 9223372036854775807, -9223372036854775808])",
    ),
    ({}, "zero.tensor([True, False])", "tensor([ True, False])"),
    ({}, "zero.tensor([[True], [False]])", ("tensor([[ True],\n        [False]])")),
    ({}, "zero.tensor([])", "tensor([])"),
    ({}, "zero.tensor([], dtype=zero.int64)", "tensor([], dtype=zero.int64)"),
    ({}, "zero.tensor([], dtype=zero.bool)", "tensor([], dtype=zero.bool)"),
    ({}, "zero.zeros(2, 0)", "tensor([], size=(2, 0))"),
    ({}, "zero.zeros(0, 3, dtype=zero.int32)", "tensor([], size=(0, 3), dtype=zero.int32)"),
    ({}, "zero.zeros(2, 3, 0, 4)", "tensor([], size=(2, 3, 0, 4))"),
    ({}, "zero.zeros(0, requires_grad=True)", "tensor([], requires_grad=True)"),
    (
        {},
        "zero.tensor([[1.0, -2.0], [3.25, 4.0]])",
        ("tensor([[ 1.0000, -2.0000],\n        [ 3.2500,  4.0000]])"),
    ),
    ({}, "zero.tensor([[1, 20], [300, 4]])", ("tensor([[  1,  20],\n        [300,   4]])")),
    (
        {},
        "zero.tensor([[1.0, math.nan], [math.inf, 4.0]])",
        ("tensor([[1., nan],\n        [inf, 4.]])"),
    ),
    (
        {},
        "zero.arange(8.0).reshape(2, 2, 2)",
        ("tensor([[[0., 1.],\n         [2., 3.]],\n\n        [[4., 5.],\n         [6., 7.]]])"),
    ),
    (
        {},
        "zero.arange(16).reshape(2, 2, 2, 2)",
        (
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
            "          [14, 15]]]])"
        ),
    ),
    (
        {},
        "zero.arange(24).reshape(2, 3, 4)",
        (
            "tensor([[[ 0,  1,  2,  3],\n"
            "         [ 4,  5,  6,  7],\n"
            "         [ 8,  9, 10, 11]],\n"
            "\n"
            "        [[12, 13, 14, 15],\n"
            "         [16, 17, 18, 19],\n"
            "         [20, 21, 22, 23]]])"
        ),
    ),
    ({}, "zero.arange(6).reshape(1, 1, 6)", "tensor([[[0, 1, 2, 3, 4, 5]]])"),
    (
        {},
        "zero.arange(6).reshape(6, 1)",
        ("tensor([[0],\n        [1],\n        [2],\n        [3],\n        [4],\n        [5]])"),
    ),
    (
        {},
        "zero.arange(30)",
        (
            "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
            "        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])"
        ),
    ),
    (
        {},
        "zero.arange(30.0)",
        (
            "tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.,\n"
            "        14., 15., 16., 17., 18., 19., 20., 21., 22., 23., 24., 25., 26., 27.,\n"
            "        28., 29.])"
        ),
    ),
    (
        {},
        "zero.arange(30.0) / 7",
        (
            "tensor([0.0000, 0.1429, 0.2857, 0.4286, 0.5714, 0.7143, 0.8571, 1.0000, 1.1429,\n"
            "        1.2857, 1.4286, 1.5714, 1.7143, 1.8571, 2.0000, 2.1429, 2.2857, 2.4286,\n"
            "        2.5714, 2.7143, 2.8571, 3.0000, 3.1429, 3.2857, 3.4286, 3.5714, 3.7143,\n"
            "        3.8571, 4.0000, 4.1429])"
        ),
    ),
    (
        {},
        "zero.arange(40.0).reshape(2, 20)",
        (
            "tensor([[ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.,\n"
            "         14., 15., 16., 17., 18., 19.],\n"
            "        [20., 21., 22., 23., 24., 25., 26., 27., 28., 29., 30., 31., 32., 33.,\n"
            "         34., 35., 36., 37., 38., 39.]])"
        ),
    ),
    (
        {},
        "zero.arange(40.0).reshape(2, 20) * 1000.5",
        (
            "tensor([[    0.0000,  1000.5000,  2001.0000,  3001.5000,  4002.0000,  5002.5000,\n"
            "          6003.0000,  7003.5000,  8004.0000,  9004.5000, 10005.0000, 11005.5000,\n"
            "         12006.0000, 13006.5000, 14007.0000, 15007.5000, 16008.0000, 17008.5000,\n"
            "         18009.0000, 19009.5000],\n"
            "        [20010.0000, 21010.5000, 22011.0000, 23011.5000, 24012.0000, 25012.5000,\n"
            "         26013.0000, 27013.5000, 28014.0000, 29014.5000, 30015.0000, 31015.5000,\n"
            "         32016.0000, 33016.5000, 34017.0000, 35017.5000, 36018.0000, 37018.5000,\n"
            "         38019.0000, 39019.5000]])"
        ),
    ),
    (
        {},
        "zero.arange(1000).reshape(2, 500)[:, :3]",
        ("tensor([[  0,   1,   2],\n        [500, 501, 502]])"),
    ),
    ({}, "zero.arange(1001)", "tensor([   0,    1,    2,  ...,  998,  999, 1000])"),
    ({}, "zero.arange(1001.0)", "tensor([   0.,    1.,    2.,  ...,  998.,  999., 1000.])"),
    (
        {},
        "zero.arange(2000.0).reshape(20, 100)",
        (
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
            "         1.9990e+03]])"
        ),
    ),
    (
        {},
        "zero.arange(2000.0).reshape(2, 1000)",
        (
            "tensor([[0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 9.9700e+02, 9.9800e+02,\n"
            "         9.9900e+02],\n"
            "        [1.0000e+03, 1.0010e+03, 1.0020e+03,  ..., 1.9970e+03, 1.9980e+03,\n"
            "         1.9990e+03]])"
        ),
    ),
    (
        {},
        "zero.arange(1200).reshape(10, 10, 12)",
        (
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
            "         [1188, 1189, 1190,  ..., 1197, 1198, 1199]]])"
        ),
    ),
    (
        {},
        "zero.arange(1200).reshape(3, 4, 100)",
        (
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
            "         [1100, 1101, 1102,  ..., 1197, 1198, 1199]]])"
        ),
    ),
    (
        {},
        "zero.arange(1200.0).reshape(1200, 1) / 3",
        (
            "tensor([[0.0000e+00],\n"
            "        [3.3333e-01],\n"
            "        [6.6667e-01],\n"
            "        ...,\n"
            "        [3.9900e+02],\n"
            "        [3.9933e+02],\n"
            "        [3.9967e+02]])"
        ),
    ),
    ({}, "zero.zeros(0, 2000)", "tensor([], size=(0, 2000))"),
    ({}, "zero.arange(4.0).reshape(2, 2).T", ("tensor([[0., 2.],\n        [1., 3.]])")),
    ({}, "zero.arange(10)[::3]", "tensor([0, 3, 6, 9])"),
    ({}, "zero.zeros(3).expand(2, 3)", ("tensor([[0., 0., 0.],\n        [0., 0., 0.]])")),
    ({}, "zero.ones(2, requires_grad=True)", "tensor([1., 1.], requires_grad=True)"),
    ({}, "zero.ones(2, requires_grad=True) * 2", "tensor([2., 2.], grad_fn=<MulBackward0>)"),
    (
        {},
        "zero.ones(2, requires_grad=True) + 1.5",
        "tensor([2.5000, 2.5000], grad_fn=<AddBackward0>)",
    ),
    ({}, "zero.ones(2, 2, requires_grad=True).sum()", "tensor(4., grad_fn=<SumBackward0>)"),
    (
        {},
        "zero.ones(2, requires_grad=True).exp()",
        "tensor([2.7183, 2.7183], grad_fn=<ExpBackward0>)",
    ),
    ({}, "zero.ones(2, requires_grad=True).detach()", "tensor([1., 1.])"),
    (
        {},
        "zero.ones(2, dtype=zero.float64, requires_grad=True) * 2",
        "tensor([2., 2.], dtype=zero.float64, grad_fn=<MulBackward0>)",
    ),
    (
        {},
        "zero.arange(15.0).requires_grad_() / 7",
        (
            "tensor([0.0000, 0.1429, 0.2857, 0.4286, 0.5714, 0.7143, 0.8571, 1.0000, 1.1429,\n"
            "        1.2857, 1.4286, 1.5714, 1.7143, 1.8571, 2.0000],\n"
            "       grad_fn=<DivBackward0>)"
        ),
    ),
    (
        {},
        "zero.arange(11.0).requires_grad_() / 7",
        (
            "tensor([0.0000, 0.1429, 0.2857, 0.4286, 0.5714, 0.7143, 0.8571, 1.0000, 1.1429,\n"
            "        1.2857, 1.4286], grad_fn=<DivBackward0>)"
        ),
    ),
    (
        {},
        "zero.arange(1001.0).requires_grad_().double()",
        (
            "tensor([   0.,    1.,    2.,  ...,  998.,  999., 1000.], dtype=zero.float64,\n"
            "       grad_fn=<ToCopyBackward0>)"
        ),
    ),
    (
        {},
        "zero.nn.Parameter(zero.ones(2))",
        ("Parameter containing:\ntensor([1., 1.], requires_grad=True)"),
    ),
    (
        {},
        "zero.nn.Parameter(zero.ones(2, dtype=zero.float64), requires_grad=False)",
        ("Parameter containing:\ntensor([1., 1.], dtype=zero.float64)"),
    ),
    (
        {},
        "zero.nn.Parameter(zero.tensor([[1.5, -2.0]]))",
        ("Parameter containing:\ntensor([[ 1.5000, -2.0000]], requires_grad=True)"),
    ),
    ({}, 'zero.zeros(2, 3, device="meta")', "tensor(..., device='meta', size=(2, 3))"),
    (
        {},
        'zero.zeros(2, dtype=zero.int64, device="meta")',
        "tensor(..., device='meta', size=(2,), dtype=zero.int64)",
    ),
    (
        {},
        'zero.zeros(2, device="meta", requires_grad=True)',
        "tensor(..., device='meta', size=(2,), requires_grad=True)",
    ),
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
        ("tensor([[ 1.5000e+00,  0.0000e+00],\n        [        inf, -2.5000e+00]])"),
    ),
    ({"sci_mode": False}, "zero.tensor([1e-6, 1e6])", "tensor([      0.0000, 1000000.0000])"),
    ({"sci_mode": False}, "zero.tensor([1e12])", "tensor([999999995904.])"),
    ({"threshold": 5}, "zero.arange(6)", "tensor([0, 1, 2, 3, 4, 5])"),
    ({"threshold": 5}, "zero.arange(7)", "tensor([0, 1, 2,  ..., 4, 5, 6])"),
    (
        {"threshold": 5},
        "zero.arange(16.0).reshape(8, 2)",
        (
            "tensor([[ 0.,  1.],\n"
            "        [ 2.,  3.],\n"
            "        [ 4.,  5.],\n"
            "        ...,\n"
            "        [10., 11.],\n"
            "        [12., 13.],\n"
            "        [14., 15.]])"
        ),
    ),
    (
        {"threshold": 5},
        "zero.arange(64).reshape(8, 8)",
        (
            "tensor([[ 0,  1,  2,  ...,  5,  6,  7],\n"
            "        [ 8,  9, 10,  ..., 13, 14, 15],\n"
            "        [16, 17, 18,  ..., 21, 22, 23],\n"
            "        ...,\n"
            "        [40, 41, 42,  ..., 45, 46, 47],\n"
            "        [48, 49, 50,  ..., 53, 54, 55],\n"
            "        [56, 57, 58,  ..., 61, 62, 63]])"
        ),
    ),
    ({"threshold": 5, "edgeitems": 1}, "zero.arange(7)", "tensor([0,  ..., 6])"),
    (
        {"threshold": 5, "edgeitems": 1},
        "zero.arange(27.0).reshape(3, 3, 3)",
        (
            "tensor([[[ 0.,  ...,  2.],\n"
            "         ...,\n"
            "         [ 6.,  ...,  8.]],\n"
            "\n"
            "        ...,\n"
            "\n"
            "        [[18.,  ..., 20.],\n"
            "         ...,\n"
            "         [24.,  ..., 26.]]])"
        ),
    ),
    (
        {"threshold": 5, "edgeitems": 1},
        "zero.arange(6).reshape(2, 3)",
        ("tensor([[0,  ..., 2],\n        [3,  ..., 5]])"),
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
        ("tensor([ 0,  1,  2,\n         3,  4,  5,\n         6,  7,  8,\n         9, 10, 11])"),
    ),
    (
        {"linewidth": 20},
        "zero.arange(6.0) / 7",
        (
            "tensor([0.0000,\n"
            "        0.1429,\n"
            "        0.2857,\n"
            "        0.4286,\n"
            "        0.5714,\n"
            "        0.7143])"
        ),
    ),
    (
        {"linewidth": 20},
        "zero.ones(2, requires_grad=True) * 2",
        ("tensor([2., 2.],\n       grad_fn=<MulBackward0>)"),
    ),
    ({"profile": "short"}, "zero.tensor([3.14159])", "tensor([3.14])"),
    ({"profile": "short"}, "zero.arange(1001)", "tensor([   0,    1,  ...,  999, 1000])"),
    ({"profile": "full"}, "zero.arange(1001)[-3:]", "tensor([ 998,  999, 1000])"),
    ({"profile": "default", "precision": 1}, "zero.tensor([3.14159])", "tensor([3.1])"),
    ({}, "zero.tensor(1)", "tensor(1)"),
    ({}, "zero.tensor(0.1)", "tensor(0.1000)"),
    ({}, "zero.tensor(-1234.5678)", "tensor(-1234.5677)"),
    ({}, "zero.tensor(1e-4)", "tensor(1.0000e-04)"),
    ({}, "zero.tensor(9.9e-5)", "tensor(9.9000e-05)"),
    ({}, "zero.tensor(1e8)", "tensor(100000000.)"),
    ({}, "zero.tensor(100000001.0, dtype=zero.float64)", "tensor(1.0000e+08, dtype=zero.float64)"),
    ({}, "zero.tensor(math.inf)", "tensor(inf)"),
    ({}, "zero.tensor(0.0)", "tensor(0.)"),
    ({}, "zero.tensor(False)", "tensor(False)"),
    ({}, "zero.tensor(7, dtype=zero.uint8)", "tensor(7, dtype=zero.uint8)"),
    ({}, "zero.tensor(-7, dtype=zero.int16)", "tensor(-7, dtype=zero.int16)"),
    ({}, "zero.tensor(1.5, dtype=zero.float16)", "tensor(1.5000, dtype=zero.float16)"),
    ({}, "zero.tensor(3.14159, dtype=zero.bfloat16)", "tensor(3.1406, dtype=zero.bfloat16)"),
    ({}, "zero.tensor(2.5, requires_grad=True)", "tensor(2.5000, requires_grad=True)"),
    (
        {},
        "zero.tensor(2.5, dtype=zero.float64, requires_grad=True)",
        "tensor(2.5000, dtype=zero.float64, requires_grad=True)",
    ),
    ({}, "zero.tensor([1.0])", "tensor([1.])"),
    ({}, "zero.tensor([1e-45])", "tensor([1.4013e-45])"),
    ({}, "zero.tensor([3.4028234663852886e38])", "tensor([3.4028e+38])"),
    (
        {},
        "zero.tensor([5e-324, 1.7976931348623157e308], dtype=zero.float64)",
        "tensor([4.9407e-324, 1.7977e+308], dtype=zero.float64)",
    ),
    ({}, "zero.tensor([0.99999])", "tensor([1.0000])"),
    ({}, "zero.tensor([0.999999])", "tensor([1.0000])"),
    ({}, "zero.tensor([9999.5, 10.0])", "tensor([9999.5000,   10.0000])"),
    ({}, "zero.tensor([9.99995, 10.0])", "tensor([10.0000, 10.0000])"),
    ({}, "zero.tensor([-0.0, 0.0])", "tensor([-0., 0.])"),
    ({}, "zero.tensor([-0.00001, 0.0])", "tensor([-1.0000e-05,  0.0000e+00])"),
    ({}, "zero.tensor([1000.0, 1.0, 0.0])", "tensor([1000.,    1.,    0.])"),
    ({}, "zero.tensor([1000.5, 1.0005])", "tensor([1.0005e+03, 1.0005e+00])"),
    ({}, "zero.tensor([1e-3, 1.0])", "tensor([0.0010, 1.0000])"),
    ({}, "zero.tensor([9.9e-4, 1.0])", "tensor([9.9000e-04, 1.0000e+00])"),
    ({}, "zero.tensor([math.nan, math.nan])", "tensor([nan, nan])"),
    (
        {},
        "zero.tensor([math.nan, -math.inf, 1e-5])",
        "tensor([       nan,       -inf, 1.0000e-05])",
    ),
    ({}, "zero.tensor([math.inf, 123456.0])", "tensor([    inf, 123456.])"),
    ({}, "zero.tensor([math.inf, -5.0, 0.25])", "tensor([    inf, -5.0000,  0.2500])"),
    (
        {},
        "zero.tensor([[math.nan, 1.0], [-math.inf, 2.0]], dtype=zero.float16)",
        ("tensor([[nan, 1.],\n        [-inf, 2.]], dtype=zero.float16)"),
    ),
    ({}, "zero.tensor([1.0, 2.0], dtype=zero.bfloat16)", "tensor([1., 2.], dtype=zero.bfloat16)"),
    (
        {},
        "zero.tensor([1.0, 3e38], dtype=zero.bfloat16)",
        "tensor([1.0000e+00, 3.0041e+38], dtype=zero.bfloat16)",
    ),
    (
        {},
        "zero.tensor([0.1, 0.2], dtype=zero.bfloat16)",
        "tensor([0.1001, 0.2002], dtype=zero.bfloat16)",
    ),
    (
        {},
        "zero.tensor([6e-8, 1.0], dtype=zero.float16)",
        "tensor([5.9605e-08, 1.0000e+00], dtype=zero.float16)",
    ),
    ({}, "zero.tensor([0, 0, 0])", "tensor([0, 0, 0])"),
    ({}, "zero.tensor([-1])", "tensor([-1])"),
    ({}, "zero.tensor([10, -10])", "tensor([ 10, -10])"),
    ({}, "zero.tensor([0, 255], dtype=zero.uint8)", "tensor([  0, 255], dtype=zero.uint8)"),
    (
        {},
        "zero.tensor([[1, 2], [3, -400]], dtype=zero.int16)",
        ("tensor([[   1,    2],\n        [   3, -400]], dtype=zero.int16)"),
    ),
    (
        {},
        "zero.tensor([[True, False], [False, True]])",
        ("tensor([[ True, False],\n        [False,  True]])"),
    ),
    ({}, "zero.ones(3, dtype=zero.bool)", "tensor([True, True, True])"),
    (
        {},
        "zero.ones(20, dtype=zero.bool)",
        (
            "tensor([True, True, True, True, True, True, True, True, True, True, True, True,\n"
            "        True, True, True, True, True, True, True, True])"
        ),
    ),
    (
        {},
        "zero.zeros(1001, dtype=zero.bool)",
        "tensor([False, False, False,  ..., False, False, False])",
    ),
    ({}, "zero.zeros(2, 1, 3)", ("tensor([[[0., 0., 0.]],\n\n        [[0., 0., 0.]]])")),
    ({}, "zero.zeros(1, 1, 1, 1)", "tensor([[[[0.]]]])"),
    (
        {},
        "zero.zeros(2, 2, 1, 1)",
        ("tensor([[[[0.]],\n\n         [[0.]]],\n\n\n        [[[0.]],\n\n         [[0.]]]])"),
    ),
    (
        {},
        "zero.zeros(1, 2, 1, 2, 1)",
        ("tensor([[[[[0.],\n           [0.]]],\n\n\n         [[[0.],\n           [0.]]]]])"),
    ),
    ({}, "zero.zeros(0)", "tensor([])"),
    ({}, "zero.zeros(0, dtype=zero.float16)", "tensor([], dtype=zero.float16)"),
    ({}, "zero.zeros(0, 0)", "tensor([], size=(0, 0))"),
    ({}, "zero.zeros(3, 0, dtype=zero.bool)", "tensor([], size=(3, 0), dtype=zero.bool)"),
    ({}, "zero.zeros(1, 0, 2, dtype=zero.uint8)", "tensor([], size=(1, 0, 2), dtype=zero.uint8)"),
    ({}, "zero.zeros(2, 0, requires_grad=True)", "tensor([], size=(2, 0), requires_grad=True)"),
    (
        {},
        "zero.zeros(2, 0, dtype=zero.float64, requires_grad=True)",
        "tensor([], size=(2, 0), dtype=zero.float64, requires_grad=True)",
    ),
    ({}, 'zero.zeros((), device="meta")', "tensor(..., device='meta', size=())"),
    ({}, 'zero.zeros(0, device="meta")', "tensor(..., device='meta', size=(0,))"),
    (
        {},
        'zero.zeros(2, 3, dtype=zero.float16, device="meta")',
        "tensor(..., device='meta', size=(2, 3), dtype=zero.float16)",
    ),
    (
        {},
        'zero.zeros(2, 3, dtype=zero.bool, device="meta")',
        "tensor(..., device='meta', size=(2, 3), dtype=zero.bool)",
    ),
    (
        {},
        'zero.zeros(2, 3, device="meta", requires_grad=True) * 2',
        "tensor(..., device='meta', size=(2, 3), grad_fn=<MulBackward0>)",
    ),
    ({}, 'zero.zeros(100, 100, device="meta")', "tensor(..., device='meta', size=(100, 100))"),
    (
        {},
        "zero.arange(6).reshape(2, 3).t()",
        ("tensor([[0, 3],\n        [1, 4],\n        [2, 5]])"),
    ),
    ({}, "zero.arange(12.0).reshape(3, 4)[1:, ::2]", ("tensor([[ 4.,  6.],\n        [ 8., 10.]])")),
    ({}, "zero.arange(12.0).reshape(3, 4)[:, 1]", "tensor([1., 5., 9.])"),
    ({}, "zero.arange(12.0).reshape(3, 4)[1, 2]", "tensor(6.)"),
    (
        {},
        "zero.arange(12).reshape(3, 4).permute(1, 0)",
        (
            "tensor([[ 0,  4,  8],\n"
            "        [ 1,  5,  9],\n"
            "        [ 2,  6, 10],\n"
            "        [ 3,  7, 11]])"
        ),
    ),
    (
        {},
        "zero.arange(6).reshape(1, 6).expand(3, 6)",
        ("tensor([[0, 1, 2, 3, 4, 5],\n        [0, 1, 2, 3, 4, 5],\n        [0, 1, 2, 3, 4, 5]])"),
    ),
    (
        {},
        "zero.arange(24.0).reshape(2, 3, 4).transpose(0, 2)",
        (
            "tensor([[[ 0., 12.],\n"
            "         [ 4., 16.],\n"
            "         [ 8., 20.]],\n"
            "\n"
            "        [[ 1., 13.],\n"
            "         [ 5., 17.],\n"
            "         [ 9., 21.]],\n"
            "\n"
            "        [[ 2., 14.],\n"
            "         [ 6., 18.],\n"
            "         [10., 22.]],\n"
            "\n"
            "        [[ 3., 15.],\n"
            "         [ 7., 19.],\n"
            "         [11., 23.]]])"
        ),
    ),
    (
        {},
        "zero.arange(16.0).reshape(2, 2, 2, 2) / 16",
        (
            "tensor([[[[0.0000, 0.0625],\n"
            "          [0.1250, 0.1875]],\n"
            "\n"
            "         [[0.2500, 0.3125],\n"
            "          [0.3750, 0.4375]]],\n"
            "\n"
            "\n"
            "        [[[0.5000, 0.5625],\n"
            "          [0.6250, 0.6875]],\n"
            "\n"
            "         [[0.7500, 0.8125],\n"
            "          [0.8750, 0.9375]]]])"
        ),
    ),
    ({}, "zero.arange(10)[None]", "tensor([[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]])"),
    ({}, "zero.arange(4)[:, None]", ("tensor([[0],\n        [1],\n        [2],\n        [3]])")),
    ({}, "zero.arange(4.0).view(2, 2)", ("tensor([[0., 1.],\n        [2., 3.]])")),
    (
        {},
        "zero.arange(26) * 1000",
        (
            "tensor([    0,  1000,  2000,  3000,  4000,  5000,  6000,  7000,  8000,  9000,\n"
            "        10000, 11000, 12000, 13000, 14000, 15000, 16000, 17000, 18000, 19000,\n"
            "        20000, 21000, 22000, 23000, 24000, 25000])"
        ),
    ),
    (
        {},
        "zero.arange(20.0) * 100",
        (
            "tensor([   0.,  100.,  200.,  300.,  400.,  500.,  600.,  700.,  800.,  900.,\n"
            "        1000., 1100., 1200., 1300., 1400., 1500., 1600., 1700., 1800., 1900.])"
        ),
    ),
    (
        {},
        "zero.arange(20.0) * 0.001",
        (
            "tensor([0.0000, 0.0010, 0.0020, 0.0030, 0.0040, 0.0050, 0.0060, 0.0070, 0.0080,\n"
            "        0.0090, 0.0100, 0.0110, 0.0120, 0.0130, 0.0140, 0.0150, 0.0160, 0.0170,\n"
            "        0.0180, 0.0190])"
        ),
    ),
    (
        {},
        "zero.arange(24.0).reshape(2, 12) / 11",
        (
            "tensor([[0.0000, 0.0909, 0.1818, 0.2727, 0.3636, 0.4545, 0.5455, 0.6364, 0.7273,\n"
            "         0.8182, 0.9091, 1.0000],\n"
            "        [1.0909, 1.1818, 1.2727, 1.3636, 1.4545, 1.5455, 1.6364, 1.7273, 1.8182,\n"
            "         1.9091, 2.0000, 2.0909]])"
        ),
    ),
    (
        {},
        "zero.arange(60.0).reshape(3, 20) - 30",
        (
            "tensor([[-30., -29., -28., -27., -26., -25., -24., -23., -22., -21., -20., -19.,\n"
            "         -18., -17., -16., -15., -14., -13., -12., -11.],\n"
            "        [-10.,  -9.,  -8.,  -7.,  -6.,  -5.,  -4.,  -3.,  -2.,  -1.,   0.,   1.,\n"
            "           2.,   3.,   4.,   5.,   6.,   7.,   8.,   9.],\n"
            "        [ 10.,  11.,  12.,  13.,  14.,  15.,  16.,  17.,  18.,  19.,  20.,  21.,\n"
            "          22.,  23.,  24.,  25.,  26.,  27.,  28.,  29.]])"
        ),
    ),
    (
        {},
        "zero.arange(1100).reshape(1100, 1)",
        (
            "tensor([[   0],\n"
            "        [   1],\n"
            "        [   2],\n"
            "        ...,\n"
            "        [1097],\n"
            "        [1098],\n"
            "        [1099]])"
        ),
    ),
    (
        {},
        "zero.arange(1100).reshape(1, 1100)",
        "tensor([[   0,    1,    2,  ..., 1097, 1098, 1099]])",
    ),
    (
        {},
        "zero.arange(1100).reshape(11, 100)",
        (
            "tensor([[   0,    1,    2,  ...,   97,   98,   99],\n"
            "        [ 100,  101,  102,  ...,  197,  198,  199],\n"
            "        [ 200,  201,  202,  ...,  297,  298,  299],\n"
            "        ...,\n"
            "        [ 800,  801,  802,  ...,  897,  898,  899],\n"
            "        [ 900,  901,  902,  ...,  997,  998,  999],\n"
            "        [1000, 1001, 1002,  ..., 1097, 1098, 1099]])"
        ),
    ),
    (
        {},
        "zero.arange(1100).reshape(2, 550)",
        (
            "tensor([[   0,    1,    2,  ...,  547,  548,  549],\n"
            "        [ 550,  551,  552,  ..., 1097, 1098, 1099]])"
        ),
    ),
    (
        {},
        "zero.arange(1100.0).reshape(5, 220) / 1100",
        (
            "tensor([[0.0000e+00, 9.0909e-04, 1.8182e-03,  ..., 1.9727e-01, 1.9818e-01,\n"
            "         1.9909e-01],\n"
            "        [2.0000e-01, 2.0091e-01, 2.0182e-01,  ..., 3.9727e-01, 3.9818e-01,\n"
            "         3.9909e-01],\n"
            "        [4.0000e-01, 4.0091e-01, 4.0182e-01,  ..., 5.9727e-01, 5.9818e-01,\n"
            "         5.9909e-01],\n"
            "        [6.0000e-01, 6.0091e-01, 6.0182e-01,  ..., 7.9727e-01, 7.9818e-01,\n"
            "         7.9909e-01],\n"
            "        [8.0000e-01, 8.0091e-01, 8.0182e-01,  ..., 9.9727e-01, 9.9818e-01,\n"
            "         9.9909e-01]])"
        ),
    ),
    (
        {},
        "zero.arange(1200).reshape(2, 2, 300)",
        (
            "tensor([[[   0,    1,    2,  ...,  297,  298,  299],\n"
            "         [ 300,  301,  302,  ...,  597,  598,  599]],\n"
            "\n"
            "        [[ 600,  601,  602,  ...,  897,  898,  899],\n"
            "         [ 900,  901,  902,  ..., 1197, 1198, 1199]]])"
        ),
    ),
    (
        {},
        "zero.arange(1200).reshape(300, 2, 2)",
        (
            "tensor([[[   0,    1],\n"
            "         [   2,    3]],\n"
            "\n"
            "        [[   4,    5],\n"
            "         [   6,    7]],\n"
            "\n"
            "        [[   8,    9],\n"
            "         [  10,   11]],\n"
            "\n"
            "        ...,\n"
            "\n"
            "        [[1188, 1189],\n"
            "         [1190, 1191]],\n"
            "\n"
            "        [[1192, 1193],\n"
            "         [1194, 1195]],\n"
            "\n"
            "        [[1196, 1197],\n"
            "         [1198, 1199]]])"
        ),
    ),
    (
        {},
        "zero.arange(1296).reshape(2, 2, 18, 18)",
        (
            "tensor([[[[   0,    1,    2,  ...,   15,   16,   17],\n"
            "          [  18,   19,   20,  ...,   33,   34,   35],\n"
            "          [  36,   37,   38,  ...,   51,   52,   53],\n"
            "          ...,\n"
            "          [ 270,  271,  272,  ...,  285,  286,  287],\n"
            "          [ 288,  289,  290,  ...,  303,  304,  305],\n"
            "          [ 306,  307,  308,  ...,  321,  322,  323]],\n"
            "\n"
            "         [[ 324,  325,  326,  ...,  339,  340,  341],\n"
            "          [ 342,  343,  344,  ...,  357,  358,  359],\n"
            "          [ 360,  361,  362,  ...,  375,  376,  377],\n"
            "          ...,\n"
            "          [ 594,  595,  596,  ...,  609,  610,  611],\n"
            "          [ 612,  613,  614,  ...,  627,  628,  629],\n"
            "          [ 630,  631,  632,  ...,  645,  646,  647]]],\n"
            "\n"
            "\n"
            "        [[[ 648,  649,  650,  ...,  663,  664,  665],\n"
            "          [ 666,  667,  668,  ...,  681,  682,  683],\n"
            "          [ 684,  685,  686,  ...,  699,  700,  701],\n"
            "          ...,\n"
            "          [ 918,  919,  920,  ...,  933,  934,  935],\n"
            "          [ 936,  937,  938,  ...,  951,  952,  953],\n"
            "          [ 954,  955,  956,  ...,  969,  970,  971]],\n"
            "\n"
            "         [[ 972,  973,  974,  ...,  987,  988,  989],\n"
            "          [ 990,  991,  992,  ..., 1005, 1006, 1007],\n"
            "          [1008, 1009, 1010,  ..., 1023, 1024, 1025],\n"
            "          ...,\n"
            "          [1242, 1243, 1244,  ..., 1257, 1258, 1259],\n"
            "          [1260, 1261, 1262,  ..., 1275, 1276, 1277],\n"
            "          [1278, 1279, 1280,  ..., 1293, 1294, 1295]]]])"
        ),
    ),
    ({}, "zero.ones(5000)", "tensor([1., 1., 1.,  ..., 1., 1., 1.])"),
    (
        {},
        "zero.ones(40, 40)",
        (
            "tensor([[1., 1., 1.,  ..., 1., 1., 1.],\n"
            "        [1., 1., 1.,  ..., 1., 1., 1.],\n"
            "        [1., 1., 1.,  ..., 1., 1., 1.],\n"
            "        ...,\n"
            "        [1., 1., 1.,  ..., 1., 1., 1.],\n"
            "        [1., 1., 1.,  ..., 1., 1., 1.],\n"
            "        [1., 1., 1.,  ..., 1., 1., 1.]])"
        ),
    ),
    (
        {},
        "zero.ones(40, 40, dtype=zero.int32)",
        (
            "tensor([[1, 1, 1,  ..., 1, 1, 1],\n"
            "        [1, 1, 1,  ..., 1, 1, 1],\n"
            "        [1, 1, 1,  ..., 1, 1, 1],\n"
            "        ...,\n"
            "        [1, 1, 1,  ..., 1, 1, 1],\n"
            "        [1, 1, 1,  ..., 1, 1, 1],\n"
            "        [1, 1, 1,  ..., 1, 1, 1]], dtype=zero.int32)"
        ),
    ),
    (
        {},
        "zero.ones(1001, requires_grad=True) * 2",
        "tensor([2., 2., 2.,  ..., 2., 2., 2.], grad_fn=<MulBackward0>)",
    ),
    (
        {},
        "zero.ones(7, 200, requires_grad=True)",
        (
            "tensor([[1., 1., 1.,  ..., 1., 1., 1.],\n"
            "        [1., 1., 1.,  ..., 1., 1., 1.],\n"
            "        [1., 1., 1.,  ..., 1., 1., 1.],\n"
            "        ...,\n"
            "        [1., 1., 1.,  ..., 1., 1., 1.],\n"
            "        [1., 1., 1.,  ..., 1., 1., 1.],\n"
            "        [1., 1., 1.,  ..., 1., 1., 1.]], requires_grad=True)"
        ),
    ),
    (
        {},
        "zero.zeros(1200, dtype=zero.float64)",
        "tensor([0., 0., 0.,  ..., 0., 0., 0.], dtype=zero.float64)",
    ),
    ({}, "zero.tensor([1.0, 2.0], requires_grad=True)", "tensor([1., 2.], requires_grad=True)"),
    ({}, "zero.tensor([1.0, 2.0], requires_grad=True).sum()", "tensor(3., grad_fn=<SumBackward0>)"),
    (
        {},
        "zero.tensor([1.0, 2.0], requires_grad=True).mean()",
        "tensor(1.5000, grad_fn=<MeanBackward0>)",
    ),
    (
        {},
        "zero.tensor([1.0, 2.0], requires_grad=True) - 1",
        "tensor([0., 1.], grad_fn=<SubBackward0>)",
    ),
    (
        {},
        "zero.tensor([1.0, 2.0], requires_grad=True) / 3",
        "tensor([0.3333, 0.6667], grad_fn=<DivBackward0>)",
    ),
    (
        {},
        "zero.tensor([1.0, 2.0], requires_grad=True) ** 2",
        "tensor([1., 4.], grad_fn=<PowBackward0>)",
    ),
    (
        {},
        "-zero.tensor([1.0, 2.0], requires_grad=True)",
        "tensor([-1., -2.], grad_fn=<NegBackward0>)",
    ),
    (
        {},
        "zero.tensor([1.0, 2.0], requires_grad=True).clone()",
        "tensor([1., 2.], grad_fn=<CloneBackward0>)",
    ),
    ({}, "zero.tensor([1.0, 2.0], requires_grad=True)[0]", "tensor(1., grad_fn=<SelectBackward0>)"),
    (
        {},
        "zero.tensor([1.0, 2.0], requires_grad=True)[:1]",
        "tensor([1.], grad_fn=<SliceBackward0>)",
    ),
    (
        {},
        "zero.tensor([1.0, 2.0], requires_grad=True).view(2, 1)",
        ("tensor([[1.],\n        [2.]], grad_fn=<ViewBackward0>)"),
    ),
    (
        {},
        "zero.tensor([1.0, 2.0], requires_grad=True).reshape(1, 2)",
        "tensor([[1., 2.]], grad_fn=<ViewBackward0>)",
    ),
    (
        {},
        "zero.tensor([1.0, 2.0], requires_grad=True).unsqueeze(0)",
        "tensor([[1., 2.]], grad_fn=<UnsqueezeBackward0>)",
    ),
    (
        {},
        "zero.tensor([[1.0, 2.0]], requires_grad=True).squeeze(0)",
        "tensor([1., 2.], grad_fn=<SqueezeBackward1>)",
    ),
    (
        {},
        "zero.tensor([[1.0, 2.0]], requires_grad=True).transpose(0, 1)",
        ("tensor([[1.],\n        [2.]], grad_fn=<TransposeBackward0>)"),
    ),
    (
        {},
        "zero.tensor([[1.0, 2.0]], requires_grad=True).permute(1, 0)",
        ("tensor([[1.],\n        [2.]], grad_fn=<PermuteBackward0>)"),
    ),
    (
        {},
        "zero.tensor([1.0, 2.0], requires_grad=True).expand(2, 2)",
        ("tensor([[1., 2.],\n        [1., 2.]], grad_fn=<ExpandBackward0>)"),
    ),
    (
        {},
        "zero.tensor([1.0, 2.0], requires_grad=True).log()",
        "tensor([0.0000, 0.6931], grad_fn=<LogBackward0>)",
    ),
    (
        {},
        "zero.tensor([1.0, 2.0], requires_grad=True).tanh()",
        "tensor([0.7616, 0.9640], grad_fn=<TanhBackward0>)",
    ),
    (
        {},
        "zero.tensor([1.0, 2.0], requires_grad=True).sigmoid()",
        "tensor([0.7311, 0.8808], grad_fn=<SigmoidBackward0>)",
    ),
    (
        {},
        "zero.tensor([1.0, -2.0], requires_grad=True).relu()",
        "tensor([1., 0.], grad_fn=<ReluBackward0>)",
    ),
    (
        {},
        "zero.tensor([1.0, -2.0], requires_grad=True).abs()",
        "tensor([1., 2.], grad_fn=<AbsBackward0>)",
    ),
    (
        {},
        "zero.tensor([1.0, 2.0], requires_grad=True).sqrt()",
        "tensor([1.0000, 1.4142], grad_fn=<SqrtBackward0>)",
    ),
    (
        {},
        "zero.tensor([1.0, 2.0], requires_grad=True).softmax(0)",
        "tensor([0.2689, 0.7311], grad_fn=<SoftmaxBackward0>)",
    ),
    (
        {},
        "zero.tensor([[1.0, 2.0]], requires_grad=True) @ zero.ones(2, 1)",
        "tensor([[3.]], grad_fn=<MmBackward0>)",
    ),
    (
        {},
        "zero.stack([zero.tensor([1.0], requires_grad=True), zero.ones(1)])",
        ("tensor([[1.],\n        [1.]], grad_fn=<StackBackward0>)"),
    ),
    (
        {},
        "zero.cat([zero.tensor([1.0], requires_grad=True), zero.ones(1)])",
        "tensor([1., 1.], grad_fn=<CatBackward0>)",
    ),
    ({}, "zero.tensor([1.0, 2.0], requires_grad=True).max()", "tensor(2., grad_fn=<MaxBackward1>)"),
    (
        {},
        "zero.tensor([1.0, 2.0], requires_grad=True).var()",
        "tensor(0.5000, grad_fn=<VarBackward0>)",
    ),
    (
        {},
        "zero.where(zero.tensor([True, False]), zero.ones(2, requires_grad=True), zero.zeros(2))",
        "tensor([1., 0.], grad_fn=<WhereBackward0>)",
    ),
    (
        {},
        "zero.nn.Parameter(zero.tensor(1.5))",
        ("Parameter containing:\ntensor(1.5000, requires_grad=True)"),
    ),
    (
        {},
        "zero.nn.Parameter(zero.zeros(0))",
        ("Parameter containing:\ntensor([], requires_grad=True)"),
    ),
    (
        {},
        "zero.nn.Parameter(zero.ones(2, 3))",
        (
            "Parameter containing:\n"
            "tensor([[1., 1., 1.],\n"
            "        [1., 1., 1.]], requires_grad=True)"
        ),
    ),
    (
        {},
        "zero.nn.Parameter(zero.ones(2, dtype=zero.float16))",
        ("Parameter containing:\ntensor([1., 1.], dtype=zero.float16, requires_grad=True)"),
    ),
    (
        {},
        'zero.nn.Parameter(zero.ones(2, device="meta"))',
        ("Parameter containing:\ntensor(..., device='meta', size=(2,), requires_grad=True)"),
    ),
    (
        {},
        "zero.nn.Parameter(zero.ones(1100))",
        ("Parameter containing:\ntensor([1., 1., 1.,  ..., 1., 1., 1.], requires_grad=True)"),
    ),
    ({}, "zero.nn.Parameter(zero.ones(3)) * 2", "tensor([2., 2., 2.], grad_fn=<MulBackward0>)"),
    ({}, "zero.nn.Parameter(zero.ones(3)).detach()", "tensor([1., 1., 1.])"),
    ({}, "zero.nn.Parameter(zero.ones(3)).data", "tensor([1., 1., 1.])"),
    ({}, "[zero.ones(2), zero.tensor(3)]", "[tensor([1., 1.]), tensor(3)]"),
    ({}, '{"a": zero.tensor([1.5])}', "{'a': tensor([1.5000])}"),
    (
        {},
        "(zero.zeros(0), zero.nn.Parameter(zero.ones(1)))",
        ("(tensor([]), Parameter containing:\ntensor([1.], requires_grad=True))"),
    ),
    ({}, 'f"{zero.tensor(3.14159):.2f}"', "3.14"),
    ({}, 'f"{zero.tensor(42):05d}"', "00042"),
    ({}, 'f"{zero.tensor(42):x}"', "2a"),
    ({}, 'f"{zero.tensor(True)}"', "True"),
    ({}, 'f"{zero.tensor(0.000123):.1e}"', "1.2e-04"),
    ({}, 'f"{zero.tensor(2.5):>8}"', "     2.5"),
    ({}, 'f"{zero.tensor(1.5, dtype=zero.float16)}"', "1.5"),
    ({}, 'f"{zero.tensor(0.25):.0%}"', "25%"),
    ({}, 'f"{zero.tensor(2.0, requires_grad=True):.3f}"', "2.000"),
    ({}, 'f"{zero.tensor([1.5, 2.0])}"', "tensor([1.5000, 2.0000])"),
    ({}, 'f"{zero.tensor(3)!r}"', "tensor(3)"),
    ({}, '"%.3f" % zero.tensor(2.0)', "2.000"),
    ({}, '"%d" % zero.tensor(7)', "7"),
    ({}, "str(zero.tensor(1.25))", "tensor(1.2500)"),
    ({"precision": 1}, "zero.tensor([0.25, 0.35, 123.456])", "tensor([  0.2,   0.3, 123.5])"),
    ({"precision": 1}, "zero.tensor([[1e-9, 1.0]])", "tensor([[1.0e-09, 1.0e+00]])"),
    ({"precision": 6}, "zero.tensor([1/3, 2/3])", "tensor([0.333333, 0.666667])"),
    (
        {"precision": 10},
        "zero.tensor([1/3], dtype=zero.float64)",
        "tensor([0.3333333333], dtype=zero.float64)",
    ),
    ({"precision": 3}, "zero.tensor([1.0, 2.0])", "tensor([1., 2.])"),
    ({"precision": 2}, "zero.tensor([1e10, 1.0])", "tensor([1.00e+10, 1.00e+00])"),
    (
        {"precision": 2},
        "zero.arange(30.0) / 7",
        (
            "tensor([0.00, 0.14, 0.29, 0.43, 0.57, 0.71, 0.86, 1.00, 1.14, 1.29, 1.43, 1.57,\n"
            "        1.71, 1.86, 2.00, 2.14, 2.29, 2.43, 2.57, 2.71, 2.86, 3.00, 3.14, 3.29,\n"
            "        3.43, 3.57, 3.71, 3.86, 4.00, 4.14])"
        ),
    ),
    ({"precision": 0}, "zero.tensor([0.5, 1.5, 2.5])", "tensor([0, 2, 2])"),
    ({"precision": 0, "sci_mode": True}, "zero.tensor([12345.0])", "tensor([1e+04])"),
    (
        {"precision": 2, "sci_mode": True},
        "zero.tensor([[1.0, -20.0], [0.0, 3.5]])",
        ("tensor([[ 1.00e+00, -2.00e+01],\n        [ 0.00e+00,  3.50e+00]])"),
    ),
    ({"precision": 3}, "zero.tensor(2.71828)", "tensor(2.718)"),
    (
        {"precision": 2, "sci_mode": False},
        "zero.tensor([1e-5, 1e5])",
        "tensor([     0.00, 100000.00])",
    ),
    ({"sci_mode": False}, "zero.tensor([1e9, 1.5])", "tensor([1000000000.0000,          1.5000])"),
    ({"sci_mode": True}, "zero.tensor([1.0, 100.0])", "tensor([1.0000e+00, 1.0000e+02])"),
    ({"sci_mode": True}, "zero.tensor(0.5)", "tensor(5.0000e-01)"),
    ({"sci_mode": True}, "zero.tensor([True, False])", "tensor([ True, False])"),
    (
        {"sci_mode": True},
        "zero.arange(12.0)",
        (
            "tensor([0.0000e+00, 1.0000e+00, 2.0000e+00, 3.0000e+00, 4.0000e+00, 5.0000e+00,\n"
            "        6.0000e+00, 7.0000e+00, 8.0000e+00, 9.0000e+00, 1.0000e+01, 1.1000e+01])"
        ),
    ),
    ({"threshold": 3}, "zero.arange(4.0)", "tensor([0., 1., 2., 3.])"),
    (
        {"threshold": 6},
        "zero.arange(7.0).requires_grad_()",
        "tensor([0., 1., 2.,  ..., 4., 5., 6.], requires_grad=True)",
    ),
    ({"threshold": 7}, "zero.arange(7.0)", "tensor([0., 1., 2., 3., 4., 5., 6.])"),
    (
        {"threshold": 10},
        "zero.arange(12).reshape(3, 4)",
        ("tensor([[ 0,  1,  2,  3],\n        [ 4,  5,  6,  7],\n        [ 8,  9, 10, 11]])"),
    ),
    (
        {"threshold": 10, "edgeitems": 1},
        "zero.arange(12).reshape(3, 4)",
        ("tensor([[ 0,  ...,  3],\n        ...,\n        [ 8,  ..., 11]])"),
    ),
    (
        {"threshold": 10, "edgeitems": 2},
        "zero.arange(60).reshape(3, 4, 5)",
        (
            "tensor([[[ 0,  1,  ...,  3,  4],\n"
            "         [ 5,  6,  ...,  8,  9],\n"
            "         [10, 11,  ..., 13, 14],\n"
            "         [15, 16,  ..., 18, 19]],\n"
            "\n"
            "        [[20, 21,  ..., 23, 24],\n"
            "         [25, 26,  ..., 28, 29],\n"
            "         [30, 31,  ..., 33, 34],\n"
            "         [35, 36,  ..., 38, 39]],\n"
            "\n"
            "        [[40, 41,  ..., 43, 44],\n"
            "         [45, 46,  ..., 48, 49],\n"
            "         [50, 51,  ..., 53, 54],\n"
            "         [55, 56,  ..., 58, 59]]])"
        ),
    ),
    (
        {"threshold": 10, "edgeitems": 1},
        "zero.arange(81.0).reshape(3, 3, 3, 3) / 81",
        (
            "tensor([[[[0.0000,  ..., 0.0247],\n"
            "          ...,\n"
            "          [0.0741,  ..., 0.0988]],\n"
            "\n"
            "         ...,\n"
            "\n"
            "         [[0.2222,  ..., 0.2469],\n"
            "          ...,\n"
            "          [0.2963,  ..., 0.3210]]],\n"
            "\n"
            "\n"
            "        ...,\n"
            "\n"
            "\n"
            "        [[[0.6667,  ..., 0.6914],\n"
            "          ...,\n"
            "          [0.7407,  ..., 0.7654]],\n"
            "\n"
            "         ...,\n"
            "\n"
            "         [[0.8889,  ..., 0.9136],\n"
            "          ...,\n"
            "          [0.9630,  ..., 0.9877]]]])"
        ),
    ),
    (
        {"threshold": 10, "edgeitems": 5},
        "zero.arange(40)",
        "tensor([ 0,  1,  2,  3,  4,  ..., 35, 36, 37, 38, 39])",
    ),
    (
        {"threshold": 10, "edgeitems": 5},
        "zero.arange(40).reshape(20, 2)",
        (
            "tensor([[ 0,  1],\n"
            "        [ 2,  3],\n"
            "        [ 4,  5],\n"
            "        [ 6,  7],\n"
            "        [ 8,  9],\n"
            "        ...,\n"
            "        [30, 31],\n"
            "        [32, 33],\n"
            "        [34, 35],\n"
            "        [36, 37],\n"
            "        [38, 39]])"
        ),
    ),
    ({"threshold": 0}, "zero.arange(3)", "tensor([0, 1, 2])"),
    ({"threshold": 0}, "zero.tensor(1.5)", "tensor(1.5000)"),
    (
        {"threshold": 0, "edgeitems": 1},
        "zero.tensor([[1.0, 2.0, 3000.5]])",
        "tensor([[1.0000e+00,  ..., 3.0005e+03]])",
    ),
    (
        {"threshold": 0, "edgeitems": 1},
        "zero.tensor([1.0, 99999.5, 2.0])",
        "tensor([1.,  ..., 2.])",
    ),
    ({"edgeitems": 1}, "zero.arange(1001)", "tensor([   0,  ..., 1000])"),
    (
        {"edgeitems": 10},
        "zero.arange(1001)",
        (
            "tensor([   0,    1,    2,    3,    4,    5,    6,    7,    8,    9,  ...,  991,\n"
            "         992,  993,  994,  995,  996,  997,  998,  999, 1000])"
        ),
    ),
    (
        {"edgeitems": 10},
        "zero.arange(1001.0)",
        (
            "tensor([   0.,    1.,    2.,    3.,    4.,    5.,    6.,    7.,    8.,    9.,\n"
            "         ...,  991.,  992.,  993.,  994.,  995.,  996.,  997.,  998.,  999.,\n"
            "        1000.])"
        ),
    ),
    (
        {"edgeitems": 20},
        "zero.arange(1001.0)",
        (
            "tensor([   0.,    1.,    2.,    3.,    4.,    5.,    6.,    7.,    8.,    9.,\n"
            "          10.,   11.,   12.,   13.,   14.,   15.,   16.,   17.,   18.,   19.,\n"
            "         ...,  981.,  982.,  983.,  984.,  985.,  986.,  987.,  988.,  989.,\n"
            "         990.,  991.,  992.,  993.,  994.,  995.,  996.,  997.,  998.,  999.,\n"
            "        1000.])"
        ),
    ),
    (
        {"linewidth": 40},
        "zero.arange(20)",
        (
            "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,\n"
            "         8,  9, 10, 11, 12, 13, 14, 15,\n"
            "        16, 17, 18, 19])"
        ),
    ),
    (
        {"linewidth": 40},
        "zero.arange(20.0).reshape(2, 10) / 3",
        (
            "tensor([[0.0000, 0.3333, 0.6667, 1.0000,\n"
            "         1.3333, 1.6667, 2.0000, 2.3333,\n"
            "         2.6667, 3.0000],\n"
            "        [3.3333, 3.6667, 4.0000, 4.3333,\n"
            "         4.6667, 5.0000, 5.3333, 5.6667,\n"
            "         6.0000, 6.3333]])"
        ),
    ),
    (
        {"linewidth": 120},
        "zero.arange(30.0) / 7",
        (
            "tensor([0.0000, 0.1429, 0.2857, 0.4286, 0.5714, 0.7143, 0.8571, 1.0000, 1.1429, 1.2857, 1.4286, 1.5714, 1.7143, 1.8571,\n"
            "        2.0000, 2.1429, 2.2857, 2.4286, 2.5714, 2.7143, 2.8571, 3.0000, 3.1429, 3.2857, 3.4286, 3.5714, 3.7143, 3.8571,\n"
            "        4.0000, 4.1429])"
        ),
    ),
    ({"linewidth": 1}, "zero.arange(3)", ("tensor([0,\n        1,\n        2])")),
    (
        {"linewidth": 40},
        "zero.ones(3, dtype=zero.float64, requires_grad=True)",
        ("tensor([1., 1., 1.],\n       dtype=zero.float64,\n       requires_grad=True)"),
    ),
    (
        {"linewidth": 30},
        "zero.ones(3, dtype=zero.float64, requires_grad=True) * 2",
        ("tensor([2., 2., 2.],\n       dtype=zero.float64,\n       grad_fn=<MulBackward0>)"),
    ),
    (
        {"linewidth": 30},
        "zero.zeros(2, 0, dtype=zero.int32)",
        ("tensor([], size=(2, 0),\n       dtype=zero.int32)"),
    ),
    (
        {"linewidth": 30},
        "zero.zeros(2, 3, dtype=zero.int32, device='meta')",
        ("tensor(..., device='meta',\n       size=(2, 3),\n       dtype=zero.int32)"),
    ),
    (
        {"linewidth": 30},
        "zero.nn.Parameter(zero.ones(4))",
        ("Parameter containing:\ntensor([1., 1., 1., 1.],\n       requires_grad=True)"),
    ),
    (
        {"linewidth": 40, "threshold": 10},
        "zero.arange(100.0).reshape(10, 10) / 9",
        (
            "tensor([[ 0.0000,  0.1111,  0.2222,\n"
            "          ...,  0.7778,  0.8889,\n"
            "          1.0000],\n"
            "        [ 1.1111,  1.2222,  1.3333,\n"
            "          ...,  1.8889,  2.0000,\n"
            "          2.1111],\n"
            "        [ 2.2222,  2.3333,  2.4444,\n"
            "          ...,  3.0000,  3.1111,\n"
            "          3.2222],\n"
            "        ...,\n"
            "        [ 7.7778,  7.8889,  8.0000,\n"
            "          ...,  8.5556,  8.6667,\n"
            "          8.7778],\n"
            "        [ 8.8889,  9.0000,  9.1111,\n"
            "          ...,  9.6667,  9.7778,\n"
            "          9.8889],\n"
            "        [10.0000, 10.1111, 10.2222,\n"
            "          ..., 10.7778, 10.8889,\n"
            "         11.0000]])"
        ),
    ),
    (
        {"profile": "short"},
        "zero.arange(1100.0).reshape(50, 22) / 7",
        (
            "tensor([[0.00e+00, 1.43e-01,  ..., 2.86e+00, 3.00e+00],\n"
            "        [3.14e+00, 3.29e+00,  ..., 6.00e+00, 6.14e+00],\n"
            "        ...,\n"
            "        [1.51e+02, 1.51e+02,  ..., 1.54e+02, 1.54e+02],\n"
            "        [1.54e+02, 1.54e+02,  ..., 1.57e+02, 1.57e+02]])"
        ),
    ),
    ({"profile": "short"}, "zero.tensor([1e-6, 1.0])", "tensor([1.00e-06, 1.00e+00])"),
    ({"profile": "short", "precision": 3}, "zero.tensor([1.23456])", "tensor([1.235])"),
    (
        {"profile": "full", "linewidth": 200},
        "zero.arange(50.0) / 7",
        (
            "tensor([0.0000, 0.1429, 0.2857, 0.4286, 0.5714, 0.7143, 0.8571, 1.0000, 1.1429, 1.2857, 1.4286, 1.5714, 1.7143, 1.8571, 2.0000, 2.1429, 2.2857, 2.4286, 2.5714, 2.7143, 2.8571, 3.0000, 3.1429, 3.2857,\n"
            "        3.4286, 3.5714, 3.7143, 3.8571, 4.0000, 4.1429, 4.2857, 4.4286, 4.5714, 4.7143, 4.8571, 5.0000, 5.1429, 5.2857, 5.4286, 5.5714, 5.7143, 5.8571, 6.0000, 6.1429, 6.2857, 6.4286, 6.5714, 6.7143,\n"
            "        6.8571, 7.0000])"
        ),
    ),
    ({"profile": "full", "sci_mode": True}, "zero.tensor([1.5])", "tensor([1.5000e+00])"),
    (
        {"profile": "default"},
        "zero.arange(1001) - 500",
        "tensor([-500, -499, -498,  ...,  498,  499,  500])",
    ),
    (
        {},
        "zero.nn.ParameterList([zero.ones(2), zero.zeros(2, 3)])",
        (
            "ParameterList(\n"
            "    (0): Parameter containing: [zero.float32 of size 2]\n"
            "    (1): Parameter containing: [zero.float32 of size 2x3]\n"
            ")"
        ),
    ),
    (
        {},
        "zero.nn.ParameterList([zero.nn.Parameter(zero.ones(2, dtype=zero.float64)), 3])",
        (
            "ParameterList(\n"
            "    (0): Parameter containing: [zero.float64 of size 2]\n"
            "    (1): Object of type: int\n"
            ")"
        ),
    ),
]
