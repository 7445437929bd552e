# Activation functions; relu, tanh and sigmoid are with the other functions of one input.


def _activation(str name not None, Tensor input not None, bint over=False, a=0.0, b=0.0, c=0.0,
                out=None):
    """An activation function by its name; `over` writes to the input. See kernels/activation.h."""
    cdef double x = as_float(a, name, "an option")
    cdef double y = as_float(b, name, "an option")
    cdef double z = as_float(c, name, "an option")
    cdef const char* text = PyUnicode_AsUTF8(name)
    if over:
        activations.activation(text, input.c, x, y, z, inplace.inplace(input.c))
        return input
    return wrap(activations.activation(text, input.c, x, y, z, target_of(out, name)))


def prelu(Tensor input not None, Tensor weight not None):
    """x where it is positive, else weight x: :func:`zero.relu` with a slope that is learned.

    Args:
        input: of floats, any shape; dimension 1 is that of channels.
        weight: one number, or one for each channel.

    Raises:
        ShapeError: the weights do not fit.
        DTypeError: the input is not floating point, or the dtypes differ.

    Example:
        >>> import zero
        >>> zero.prelu(zero.tensor([-2.0, 3.0]), zero.tensor(0.25))
        tensor([-0.5000,  3.0000])

    Source: He et al., Delving deep into rectifiers, 2015.
    """
    return wrap(activations.prelu(input.c, weight.c))


def _glu(Tensor input not None, dim):
    """glu of zero.nn.functional."""
    return wrap(activations.glu(input.c, as_int(dim, "glu", "dim")))


as_methods("""
    prelu
""")
