# Pooling, padding, resampling. The functions that users call are in zero/_composed/pooling.py,
# zero/nn/_pooling.py and zero/nn/_resampling.py: one of these serves one, two and three dimensions,
# and is told the name that errors say.

cdef Tensor input_of(object input, str op):
    if isinstance(input, Tensor):
        return input
    raise TypeError(f"{op}: input is not a Tensor; got {type_name(input)}, expected a Tensor")


cdef CDims window_ints(object value, str op, str name) except *:
    """An int or a sequence of ints."""
    cdef CDims result
    if isinstance(value, (tuple, list)):
        for item in value:
            result.push_back(as_int(item, op, name))
    else:
        result.push_back(as_int(value, op, name))
    return result


cdef pools.CWindowOptions window_options(str op, object kernel_size, object stride, object padding,
                                         object dilation, object ceil_mode) except *:
    cdef pools.CWindowOptions options
    options.kernel = window_ints(kernel_size, op, "kernel_size")
    if stride is not None:  # else it is that of the kernel
        options.stride = window_ints(stride, op, "stride")
    options.padding = window_ints(padding, op, "padding")
    options.dilation = window_ints(dilation, op, "dilation")
    options.ceil_mode = flag_of(ceil_mode, op, "ceil_mode")
    return options


def _max_pool(op, dims, input, kernel_size, stride, padding, dilation, ceil_mode, indices):
    """The largest element of each window; with its place in the plane if `indices`."""
    cdef Tensor x = input_of(input, op)
    cdef bytes name = op.encode()
    cdef pair[CTensor, CTensor] both
    both = pools.max_pool(name, dims, x.c, window_options(op, kernel_size, stride, padding,
                                                          dilation, ceil_mode), indices)
    return (wrap(both.first), wrap(both.second)) if indices else wrap(both.first)


def _avg_pool(op, dims, input, kernel_size, stride, padding, ceil_mode, count_include_pad,
              divisor_override):
    """The average of each window."""
    cdef Tensor x = input_of(input, op)
    cdef bytes name = op.encode()
    cdef optional[int64_t] divisor
    if divisor_override is not None:
        divisor = as_int(divisor_override, op, "divisor_override")
    return wrap(pools.avg_pool(name, dims, x.c,
                               window_options(op, kernel_size, stride, padding, 1, ceil_mode),
                               flag_of(count_include_pad, op, "count_include_pad"), divisor))


cdef CDims adaptive_sizes(Tensor x, int64_t dims, object output_size, str op) except *:
    """Sizes of a result; None stands for that of the input."""
    cdef CDims result
    cdef int64_t d
    given = output_size if isinstance(output_size, (tuple, list)) else (output_size,) * dims
    for d, size in enumerate(given):
        if size is None:
            d += x.c.dim() - dims
            result.push_back(x.c.size(d) if 0 <= d < x.c.dim() else 0)
        else:
            result.push_back(as_int(size, op, "output_size"))
    return result


def _adaptive_max_pool(op, dims, input, output_size, indices):
    """The largest element of each of so many windows that cover the input."""
    cdef Tensor x = input_of(input, op)
    cdef bytes name = op.encode()
    cdef pair[CTensor, CTensor] both
    both = pools.adaptive_max_pool(name, dims, x.c, adaptive_sizes(x, dims, output_size, op),
                                   indices)
    return (wrap(both.first), wrap(both.second)) if indices else wrap(both.first)


def _fractional_max_pool(op, dims, input, kernel_size, output_size, Tensor samples, indices):
    """The largest element of each of so many windows at random places."""
    cdef Tensor x = input_of(input, op)
    cdef bytes name = op.encode()
    cdef pair[CTensor, CTensor] both
    both = pools.fractional_max_pool(name, dims, x.c, window_ints(kernel_size, op, "kernel_size"),
                                     window_ints(output_size, op, "output_size"),
                                     samples.c if samples is not None else CTensor(), indices)
    return (wrap(both.first), wrap(both.second)) if indices else wrap(both.first)


def _adaptive_avg_pool(op, dims, input, output_size):
    """The average of each of so many windows that cover the input."""
    cdef Tensor x = input_of(input, op)
    cdef bytes name = op.encode()
    return wrap(pools.adaptive_avg_pool(name, dims, x.c, adaptive_sizes(x, dims, output_size, op)))


def _pad(input, pad, mode, value):
    """F.pad: with a value, or (value None, another mode than "constant") the input's elements."""
    cdef Tensor x = input_of(input, "pad")
    cdef CDims pads = window_ints(pad, "pad", "pad")
    cdef CScalar number
    if mode != "constant":
        return wrap(resampling.pad_by(mode.encode(), x.c, pads))
    if value is not None:
        number = as_scalar(value, "pad", "value")
    return wrap(resampling.constant_pad(x.c, pads, number))


def _resample(mode, Tensor input not None, sizes, scales, align_corners):
    """Interpolation; `scales` are floats, or None."""
    cdef vector[double] factors
    if scales is not None:
        for scale in scales:
            factors.push_back(as_float(scale, "interpolate", "scale_factor"))
    return wrap(resampling.resample(mode.encode(), input.c,
                                    window_ints(sizes, "interpolate", "size"), factors,
                                    flag_of(align_corners, "interpolate", "align_corners")))


cdef resampling.CGridOptions grid_options(object mode, object padding,
                                          object align_corners) except *:
    cdef resampling.CGridOptions options
    options.mode, options.padding, options.align_corners = mode, padding, align_corners
    return options


def _grid_sample(Tensor input not None, Tensor grid not None, mode, padding, align_corners):
    """Samples at the places of a grid, without a record."""
    return wrap(resampling.grid_sample(input.c, grid.c,
                                       grid_options(mode, padding, align_corners)))


def _grid_sample_gradients(Tensor gradient not None, Tensor input not None, Tensor grid not None,
                           mode, padding, align_corners, of_input, of_grid):
    """The gradients of both tensors; None where not asked for."""
    cdef pair[CTensor, CTensor] both
    both = resampling.grid_sample_gradients(
        gradient.c, input.c, grid.c, grid_options(mode, padding, align_corners), of_input, of_grid)
    return wrap_optional(both.first), wrap_optional(both.second)
