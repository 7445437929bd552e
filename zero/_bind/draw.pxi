# Random numbers written over a tensor.


def uniform_(Tensor self not None, _from=0, to=1, *, generator=None):
    """Overwrites the elements with numbers uniform on [from, to); returns the tensor.

    Args:
        _from: the least value; by position only, since PyTorch's name for it is a keyword.
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


as_methods_only("""
    uniform_ normal_ random_
""")
