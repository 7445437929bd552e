# Random numbers written over a tensor, and PyTorch's old constructor from a tensor.


def uniform_(Tensor self not None, _from=0, to=1, *, generator=None):
    """Overwrites the elements with numbers uniform on [from, to); returns the tensor.

    Args:
        _from: the least value; also by the name ``from``, as in ``x.uniform_(**{"from": 0})``.
        to: the limit.
        generator: the source of random numbers; the default generator for None.

    Raises:
        ValueError: the bounds are in the wrong order.
        DTypeError: the tensor is not of floats.

    Example:
        >>> import zero
        >>> x = zero.empty(100).uniform_(2, 3)
        >>> bool((x >= 2).all()), bool((x < 3).all())
        (True, True)
    """
    ops.uniform_(self.c, as_float(_from, "uniform_", "from"), as_float(to, "uniform_", "to"),
                 as_generator(generator, "uniform_"))
    return self


def normal_(Tensor self not None, mean=0, std=1, *, generator=None):
    """Overwrites the elements with normally distributed numbers; returns the tensor.

    Args:
        mean: of the distribution.
        std: its standard deviation.
        generator: the source of random numbers; the default generator for None.

    Raises:
        ValueError: `std` is negative.
        DTypeError: the tensor is not of floats.

    Example:
        >>> import zero
        >>> _ = zero.manual_seed(0)
        >>> x = zero.empty(10000).normal_(5, 2)
        >>> abs(x.mean().item() - 5) < 0.1, abs(x.std().item() - 2) < 0.1
        (True, True)
    """
    ops.normal_(self.c, as_float(mean, "normal_", "mean"), as_float(std, "normal_", "std"),
                as_generator(generator, "normal_"))
    return self


def random_(Tensor self not None, _from=None, to=None, *, generator=None):
    """Overwrites the elements with random integers; returns the tensor.

    Called as ``random_()``, ``random_(to)`` or ``random_(from, to)``.

    Args:
        _from: the least value; 0 if left out.
        to: the limit, which is not included; by default all integers from 0 on that the dtype
            holds exactly.
        generator: the source of random numbers; the default generator for None.

    Raises:
        ValueError: there is no integer in the range, or the dtype does not hold it.

    Example:
        >>> import zero
        >>> x = zero.empty(100).random_(3, 5)
        >>> x.min().item(), x.max().item()
        (3.0, 4.0)
    """
    cdef optional[int64_t] low, high
    if _from is not None and to is None:
        _from, to = None, _from
    if _from is not None:
        low = as_int(_from, "random_", "from")
    if to is not None:
        high = as_int(to, "random_", "to")
    ops.random_(self.c, low, high, as_generator(generator, "random_"))
    return self


def new(Tensor self not None, *args):
    """A tensor of this dtype and device: PyTorch's old constructor.

    ``x.new(2, 3)`` has undefined elements, ``x.new([1, 2])`` those of the list, ``x.new(y)`` shows
    the memory of y, ``x.new()`` is empty. New code says `new_empty` and `new_tensor`.

    Args:
        *args: sizes, or one Size, list, array or tensor.

    Raises:
        TypeError: a tensor of another dtype or device is given.

    Example:
        >>> import zero
        >>> zero.ones(1).new([2, 3])
        tensor([2., 3.])
    """
    cdef CTensorOptions options = self.c.options()
    cdef Tensor other
    if PyTuple_GET_SIZE(args) == 1:
        data = args[0]
        if isinstance(data, Tensor):
            other = data
            if other.c.dtype() != options.dtype or other.c.device() != options.device:
                raise DTypeError(f"new: the tensor is of another kind; got {other.dtype} on "
                                 f"{other.device}, expected {self.dtype} on {self.device}")
            return wrap(inplace.detach(other.c))
        if not isinstance(data, Size) and not PyIndex_Check(data):
            return finish(tensor_from(data, dtype_object(options.dtype), options.device, True),
                          False)
    if not args:
        args = (0,)
    return wrap(core.empty(as_dims(args, "new"), options))


as_methods_only("""
    uniform_ normal_ random_ new
""")
