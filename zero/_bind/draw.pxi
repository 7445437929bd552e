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


def exponential_(Tensor self not None, lambd=1, *, generator=None):
    """Overwrites the elements with exponentially distributed numbers; returns the tensor.

    Their density is ``lambd exp(-lambd x)`` for x > 0. None is 0.

    Args:
        lambd: the rate, 1 / mean.
        generator: the source of random numbers; the default generator for None.

    Raises:
        ValueError: `lambd` is not positive.
        DTypeError: the tensor is not of floats.

    Example:
        >>> import zero
        >>> _ = zero.manual_seed(0)
        >>> x = zero.empty(10000).exponential_(2)
        >>> abs(x.mean().item() - 0.5) < 0.05, bool((x > 0).all())
        (True, True)
    """
    ops.exponential_(self.c, as_float(lambd, "exponential_", "lambd"),
                     as_generator(generator, "exponential_"))
    return self


def cauchy_(Tensor self not None, median=0, sigma=1, *, generator=None):
    """Overwrites the elements with numbers from a Cauchy distribution; returns the tensor.

    Their density is ``sigma / (pi ((x - median)^2 + sigma^2))``.

    Args:
        median: of the distribution; it has no mean.
        sigma: half of its width at half of its height.
        generator: the source of random numbers; the default generator for None.

    Raises:
        ValueError: `sigma` is not positive.
        DTypeError: the tensor is not of floats.

    Example:
        >>> import zero
        >>> _ = zero.manual_seed(0)
        >>> x = zero.empty(10000).cauchy_(3)
        >>> abs((x < 3).float().mean().item() - 0.5) < 0.03
        True
    """
    ops.cauchy_(self.c, as_float(median, "cauchy_", "median"),
                as_float(sigma, "cauchy_", "sigma"), as_generator(generator, "cauchy_"))
    return self


def log_normal_(Tensor self not None, mean=1, std=2, *, generator=None):
    """Overwrites the elements with numbers whose logarithm is normal; returns the tensor.

    Args:
        mean: of the logarithms.
        std: their standard deviation.
        generator: the source of random numbers; the default generator for None.

    Raises:
        ValueError: `std` is not positive.
        DTypeError: the tensor is not of floats.

    Example:
        >>> import zero
        >>> _ = zero.manual_seed(0)
        >>> abs(zero.empty(10000).log_normal_(1, 0.5).log().mean().item() - 1) < 0.03
        True
    """
    ops.log_normal_(self.c, as_float(mean, "log_normal_", "mean"),
                    as_float(std, "log_normal_", "std"), as_generator(generator, "log_normal_"))
    return self


def geometric_(Tensor self not None, p, *, generator=None):
    """Overwrites the elements with numbers of trials up to the first success; returns the tensor.

    ``P(x = k) = (1 - p)^(k - 1) p`` for k = 1, 2, ...

    Args:
        p: the probability of a success.
        generator: the source of random numbers; the default generator for None.

    Raises:
        ValueError: `p` is not between 0 and 1.
        DTypeError: the tensor is of bools.

    Example:
        >>> import zero
        >>> _ = zero.manual_seed(0)
        >>> x = zero.empty(10000).geometric_(0.25)
        >>> abs(x.mean().item() - 4) < 0.2, x.min().item()
        (True, 1.0)
    """
    ops.geometric_(self.c, as_float(p, "geometric_", "p"), as_generator(generator, "geometric_"))
    return self


def bernoulli_(Tensor self not None, p=0.5, *, generator=None):
    """Overwrites the elements with ones, with probability p, and zeros; returns the tensor.

    Args:
        p: the probability; or a tensor of them, which broadcasts to this one.
        generator: the source of random numbers; the default generator for None.

    Raises:
        ValueError: a probability is outside [0, 1].

    Example:
        >>> import zero
        >>> zero.empty(2, 2).bernoulli_(zero.tensor([0.0, 1.0])).tolist()
        [[0.0, 1.0], [0.0, 1.0]]
    """
    if isinstance(p, Tensor):
        ops.bernoulli_by_(self.c, (<Tensor> p).c, as_generator(generator, "bernoulli_"))
    else:
        ops.bernoulli_(self.c, as_float(p, "bernoulli_", "p"),
                       as_generator(generator, "bernoulli_"))
    return self


# ---- draws by other tensors ----------------------------------------------------------------------
def bernoulli(Tensor input not None, p=None, *, generator=None, out=None):
    """Ones with the probability that each element gives, zeros otherwise; the gradient is 0.

    Args:
        input: probabilities, of floats; with `p`, only its shape and dtype count.
        p: one probability for all, or a tensor of them.
        generator: the source of random numbers; the default generator for None.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ValueError: a probability is outside [0, 1].
        DTypeError: probabilities are not floats.

    Example:
        >>> import zero
        >>> zero.bernoulli(zero.tensor([0.0, 1.0])).tolist()
        [0.0, 1.0]
    """
    if p is None:
        return deliver(ops.bernoulli(input.c, as_generator(generator, "bernoulli")), out,
                       "bernoulli")
    cdef Tensor y = wrap(ops.empty_like(input.c, input.c.options()))
    return deliver((<Tensor> bernoulli_(y, p, generator=generator)).c, out, "bernoulli")


def normal(mean=0.0, std=1.0, size=None, *, generator=None, out=None, dtype=None, layout=None,
           device=None, requires_grad=False, pin_memory=False):
    """Normally distributed numbers, each with a mean and a standard deviation of its own.

    The gradient of `mean` and `std` is 0: the numbers are drawn, not computed from them.

    Args:
        mean: a number, or a tensor, whose dtype the result gets.
        std: a number, or a tensor whose shape broadcasts with that of `mean`.
        size: the shape, if both are numbers.
        generator: the source of random numbers; the default generator for None.
        out: where to write the result: a tensor of its shape, or one without elements.
        dtype: the element type, if both are numbers; the default float dtype for None.
        layout: None or zero.strided.
        device: likewise.
        requires_grad: whether operations on the result are recorded, if both are numbers.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.

    Raises:
        ValueError: `std` is negative.
        TypeError: two numbers without a `size`, or a tensor with one.

    Example:
        >>> import zero
        >>> zero.normal(zero.zeros(2, 3), 1.0).shape, zero.normal(0.0, 1.0, (2,)).shape
        (zero.Size([2, 3]), zero.Size([2]))
    """
    only_plain(layout, pin_memory, "normal")
    cdef CTensor y
    cdef CGenerator* source = as_generator(generator, "normal")
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        if size is not None or dtype is not None or device is not None or requires_grad is True:
            raise TypeError("normal: size, dtype, device or requires_grad is given beside a "
                            "tensor; expected them beside two numbers only")
        return deliver(ops.normal(as_operand(mean, "normal", "mean"),
                                  as_operand(std, "normal", "std"), source), out, "normal")
    if size is None:
        if out is None:
            raise TypeError("normal: no size is given beside two numbers; expected a tuple of ints")
        size = out.shape
    y = core.empty(as_dims(size, "normal"), options_with(dtype, device, out, "normal"))
    ops.normal_(y, as_float(mean, "normal", "mean"), as_float(std, "normal", "std"), source)
    return finish_with(y, out, requires_grad, pin_memory, "normal")


def poisson(Tensor input not None, generator=None, *, out=None):
    """Numbers of events, each Poisson distributed with its own mean; the gradient is 0.

    ``P(y = k) = input^k exp(-input) / k!``

    Args:
        input: the means, of floats, whose shape and dtype the result gets.
        generator: the source of random numbers; the default generator for None.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ValueError: a mean is negative or not finite.
        DTypeError: `input` is not of floats.

    Example:
        >>> import zero
        >>> _ = zero.manual_seed(0)
        >>> abs(zero.poisson(zero.full((10000,), 20.0)).mean().item() - 20) < 0.3
        True

    Source: Hoermann, The transformed rejection method for generating Poisson random variables,
    1993.
    """
    return deliver(ops.poisson(input.c, as_generator(generator, "poisson")), out, "poisson")


def binomial(Tensor count not None, Tensor prob not None, generator=None, *, out=None):
    """Numbers of successes in `count` trials, each with probability `prob`; the gradient is 0.

    Args:
        count: numbers of trials, of floats.
        prob: probabilities, of floats; both broadcast. Below 0 counts as 0, above 1 as 1.
        generator: the source of random numbers; the default generator for None.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        DTypeError: an argument is not of floats.

    Example:
        >>> import zero
        >>> _ = zero.manual_seed(0)
        >>> x = zero.binomial(zero.full((10000,), 50.0), zero.tensor(0.5))
        >>> abs(x.mean().item() - 25) < 0.2
        True

    Source: Hoermann, The generation of binomial random variates, 1993.
    """
    return deliver(ops.binomial(count.c, prob.c, as_generator(generator, "binomial")), out,
                   "binomial")


def _standard_gamma(Tensor input not None, generator=None):
    """Gamma distributed numbers of rate 1, by their concentrations; gradients flow.

    Args:
        input: concentrations, above 0, of floats.
        generator: the source of random numbers; the default generator for None.

    Raises:
        DTypeError: `input` is not of floats.
    """
    return wrap(ops.standard_gamma(input.c, as_generator(generator, "standard_gamma")))


def multinomial(Tensor input not None, num_samples, replacement=False, *, generator=None,
                out=None):
    """Indices drawn by weight.

    Args:
        input: weights of floats, [N] or [rows, N]; a row need not sum to 1.
        num_samples: how many indices per row.
        replacement: whether an index may be drawn again.
        generator: the source of random numbers; the default generator for None.
        out: where to write the result: a tensor of its shape, or one without elements.

    Returns:
        int64, [num_samples] or [rows, num_samples]; an index of weight 0 is never drawn.

    Raises:
        ValueError: a weight is negative, infinite or nan, all of a row are 0, or there are fewer
            above 0 than samples, without replacement.
        ShapeError: there are not one or two dimensions.

    Example:
        >>> import zero
        >>> zero.multinomial(zero.tensor([0.0, 3.0, 0.0]), 2, replacement=True).tolist()
        [1, 1]

    Source: Efraimidis and Spirakis, Weighted random sampling with a reservoir, 2006.
    """
    return deliver(ops.multinomial(input.c, as_int(num_samples, "multinomial", "num_samples"),
                                   flag_of(replacement, "multinomial", "replacement"),
                                   as_generator(generator, "multinomial")), out, "multinomial")


as_methods("""
    bernoulli multinomial
""")
as_methods_only("""
    uniform_ normal_ random_ exponential_ cauchy_ log_normal_ geometric_ bernoulli_
""")
