# Operators on lists of tensors: one C++ call over all their elements.
from zero._cpp cimport lists


cdef object listed(object items, str op, str name):
    """An iterable of tensors; for one tensor that alone."""
    if isinstance(items, Tensor):
        return (items,)
    if not hasattr(items, "__iter__"):
        raise TypeError(f"{op}: {name} must be Tensors; got {type_name(items)}")
    return items


cdef Tensor tensor_among(object item, str op, str name):
    if not isinstance(item, Tensor):
        raise TypeError(f"{op}: {name} must be Tensors; got {type_name(item)} among them")
    return item


cdef CTensors tensors_among(object items, str op, str name) except *:
    cdef CTensors result
    for item in listed(items, op, name):
        result.push_back(tensor_among(item, op, name).c)
    return result


cdef CTensors grads_of(object parameters, str op) except *:
    """The gradients of those that have one."""
    cdef CTensors result
    cdef CTensor grad
    for item in listed(parameters, op, "parameters"):
        grad = meta.grad_of(tensor_among(item, op, "parameters").c)
        if grad.defined():
            result.push_back(grad)
    return result


cdef double norm_order(object x, str op) except? -1:
    """p of a norm; also as PyTorch's strings."""
    if isinstance(x, str) and x in ("inf", "-inf"):
        return float(x)
    return as_float(x, op, "norm_type")


def _get_total_norm(tensors, norm_type, error_if_nonfinite):
    """The norm of all elements of some tensors.

    Args:
        tensors: any iterable of tensors of floats.
        norm_type: p of the p-norm.
        error_if_nonfinite: raise if it is inf or nan.

    Example:
        >>> import zero
        >>> zero._get_total_norm([zero.tensor([3.0]), zero.tensor([4.0])], 2, False)
        tensor(5.)
    """
    cdef CTensors c_tensors = tensors_among(tensors, "get_total_norm", "tensors")
    return wrap(lists.total_norm(b"get_total_norm", c_tensors,
                                 norm_order(norm_type, "get_total_norm"),
                                 flag_of(error_if_nonfinite, "get_total_norm",
                                         "error_if_nonfinite")))


def _clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite):
    """Scales gradients down so that their norm is at most max_norm, and returns what it was.

    Args:
        parameters: any iterable of tensors; those without gradient are left out.
        max_norm: what the norm is to be at most.
        norm_type: p of the p-norm.
        error_if_nonfinite: raise, before anything is written, if it is inf or nan.

    Example:
        >>> import zero
        >>> x = zero.tensor([1.0, 2.0])
        >>> x.grad = zero.tensor([30.0, 40.0])
        >>> zero._clip_grad_norm_([x], 5, 2, False), x.grad
        (tensor(50.), tensor([3., 4.]))
    """
    cdef CTensors grads = grads_of(parameters, "clip_grad_norm_")
    cdef double limit = as_float(max_norm, "clip_grad_norm_", "max_norm")
    cdef double p = norm_order(norm_type, "clip_grad_norm_")
    cdef bint must_be_finite = flag_of(error_if_nonfinite, "clip_grad_norm_",
                                       "error_if_nonfinite")
    cdef CTensor norm = lists.total_norm(b"clip_grad_norm_", grads, p, must_be_finite)
    lists.clip_to_norm_(b"clip_grad_norm_", grads, limit, norm)
    return wrap(norm)


def _clip_grads_with_norm_(parameters, max_norm, total_norm):
    """Multiplies gradients by ``min(max_norm / (total_norm + 1e-6), 1)``.

    Args:
        parameters: any iterable of tensors; those without gradient are left out.
        max_norm: what the norm is to be at most.
        total_norm: what it is.
    """
    cdef CTensors grads = grads_of(parameters, "clip_grads_with_norm_")
    cdef double limit = as_float(max_norm, "clip_grads_with_norm_", "max_norm")
    if not isinstance(total_norm, Tensor):
        raise TypeError("clip_grads_with_norm_: total_norm is not a Tensor; got "
                        f"{type_name(total_norm)}")
    lists.clip_to_norm_(b"clip_grads_with_norm_", grads, limit, (<Tensor> total_norm).c)


def _clip_grad_value_(parameters, clip_value):
    """Limits the elements of gradients to [-clip_value, clip_value].

    Args:
        parameters: any iterable of tensors; those without gradient are left out.
        clip_value: the largest absolute value.
    """
    cdef CTensors grads = grads_of(parameters, "clip_grad_value_")
    cdef double limit = as_float(clip_value, "clip_grad_value_", "clip_value")
    lists.clip_to_range_(b"clip_grad_value_", grads, -limit, limit)


def _foreach_lerp_(self, tensors1, weight):
    """``self[i] += weight * (tensors1[i] - self[i])`` for all i, in place and unrecorded.

    Args:
        self: a list of tensors of floats.
        tensors1: as many of the same shapes and dtypes.
        weight: how far to go.

    Raises:
        ValueError: the lists differ in length.
        ShapeError, DTypeError: two tensors don't fit. Nothing is written then.

    Example:
        >>> import zero
        >>> x = zero.tensor([0.0, 2.0])
        >>> zero._foreach_lerp_([x], [zero.tensor([4.0, 4.0])], 0.5)
        >>> x
        tensor([2., 3.])
    """
    cdef CTensors written = tensors_among(self, "_foreach_lerp_", "self")
    cdef CTensors ends = tensors_among(tensors1, "_foreach_lerp_", "tensors1")
    lists.foreach_lerp_(written, ends, as_float(weight, "_foreach_lerp_", "weight"))
