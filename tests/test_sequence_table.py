"""Recurrent layers, attention and transformers: keys and shapes of the state_dict, outputs and
gradients are PyTorch's."""

import numpy as np
import pytest
import sequence_cases
from sequence_table import EXPECTED

import zero


@pytest.mark.parametrize("name", sequence_cases.CASES)
def test_pytorchs_values(name):
    build, call = sequence_cases.CASES[name]
    shapes, values, gradients = sequence_cases.run(zero, build, call)
    expected_shapes, expected_values, expected_gradients = EXPECTED[name]
    assert list(shapes.items()) == list(expected_shapes.items())
    for (shape, total, first), known in zip(values, expected_values, strict=True):
        assert shape == known[0]
        np.testing.assert_allclose([total, *first], [known[1], *known[2]], 1e-8, 1e-8)
    for key, known in expected_gradients.items():
        np.testing.assert_allclose(gradients.get(key, 0.0), known, 1e-8, 1e-8, err_msg=key)
    for key in gradients.keys() - expected_gradients.keys():
        assert gradients[key] == 0, key


def test_every_row_of_the_table_is_used():
    assert list(EXPECTED) == list(sequence_cases.CASES)
