# Memory shared with numpy and others: the buffer protocol, both ways. Only numpy() imports numpy.
from cpython.buffer cimport (PyBUF_ANY_CONTIGUOUS, PyBUF_C_CONTIGUOUS, PyBUF_F_CONTIGUOUS,
                             PyBUF_FORMAT,
                             PyBUF_ND, PyBUF_STRIDES, PyBUF_WRITABLE, PyObject_CheckBuffer)

cdef extern from *:
    """
    #include "zero/core/tensor.h"

    // What another object lends us.
    static void zero_release_borrowed(void* owner) {
      if (!Py_IsInitialized()) return;
      const PyGILState_STATE state = PyGILState_Ensure();
      auto* view = static_cast<Py_buffer*>(owner);
      PyBuffer_Release(view);
      delete view;
      PyGILState_Release(state);
    }

    class ZeroBorrowed {
     public:
      ~ZeroBorrowed() {
        if (view_ != nullptr) zero_release_borrowed(view_);
      }
      // False, with a Python error, where `x` does not lend its memory in this way.
      bool get(PyObject* x, int flags) {
        auto* view = new Py_buffer();
        if (PyObject_GetBuffer(x, view, flags) != 0) {
          delete view;
          return false;
        }
        view_ = view;
        return true;
      }
      const Py_buffer& view() const { return *view_; }

      // A tensor in the lent memory, which is given back when the last view of the tensor is gone.
      zero::Tensor share(zero::DType dtype) {
        const int64_t item = zero::itemsize(dtype);
        zero::Dims sizes, strides;
        int64_t bytes = item;
        for (int d = 0; d < view_->ndim; ++d) {
          const int64_t stride = view_->strides[d] / item;
          sizes.push_back(view_->shape[d]);
          strides.push_back(view_->shape[d] > 1 ? stride : std::max<int64_t>(stride, 1));
          if (view_->shape[d] > 1) bytes += (view_->shape[d] - 1) * view_->strides[d];
        }
        if (view_->len == 0) bytes = 0;
        auto storage = zero::make_ref<zero::Storage>(view_->buf, static_cast<size_t>(bytes),
                                                     zero_release_borrowed, view_);
        view_ = nullptr;
        return zero::Tensor(zero::make_ref<zero::TensorImpl>(std::move(storage), std::move(sizes),
                                                             std::move(strides), 0, dtype));
      }

      // A tensor with a copy, for layouts that tensors don't have.
      zero::Tensor copy(zero::DType dtype) const {
        zero::Dims sizes;
        for (int d = 0; d < view_->ndim; ++d) sizes.push_back(view_->shape[d]);
        zero::Tensor t = zero::empty(sizes, {dtype, zero::Device::Cpu});
        if (view_->len > 0) PyBuffer_ToContiguous(t.data(), view_, view_->len, 'C');
        return t;
      }

     private:
      Py_buffer* view_ = nullptr;
    };

    // What we lend: keeps the storage alive and holds the numbers that the buffer points to.
    struct ZeroLent {
      zero::Ref<zero::Storage> storage;
      Py_ssize_t numbers[1];  // sizes, then strides in bytes
    };
    static bool zero_lend(const zero::Tensor& t, Py_buffer* buffer) {
      const int64_t n = t.dim();
      void* memory = PyMem_Malloc(sizeof(ZeroLent) + 2 * n * sizeof(Py_ssize_t));
      if (memory == nullptr) return false;
      auto* lent = new (memory) ZeroLent{t.impl()->storage_, {}};
      lent->storage->lend();
      for (int64_t d = 0; d < n; ++d) {
        lent->numbers[d] = static_cast<Py_ssize_t>(t.size(d));
        lent->numbers[n + d] = static_cast<Py_ssize_t>(t.stride(d) * zero::itemsize(t.dtype()));
      }
      buffer->buf = t.data();
      buffer->len = static_cast<Py_ssize_t>(t.numel() * zero::itemsize(t.dtype()));
      buffer->itemsize = static_cast<Py_ssize_t>(zero::itemsize(t.dtype()));
      buffer->readonly = 0;
      buffer->ndim = static_cast<int>(n);
      buffer->shape = lent->numbers;
      buffer->strides = lent->numbers + n;
      buffer->suboffsets = nullptr;
      buffer->internal = lent;
      return true;
    }
    static void zero_take_back(Py_buffer* buffer) {
      auto* lent = static_cast<ZeroLent*>(buffer->internal);
      if (lent == nullptr) return;
      lent->storage->take_back();
      lent->~ZeroLent();
      PyMem_Free(lent);
      buffer->internal = nullptr;
    }
    """
    cdef cppclass Borrowed "ZeroBorrowed":
        Borrowed() noexcept
        bint get(object x, int flags) except False
        const Py_buffer& view() noexcept
        CTensor share(CDType dtype) except +raise_error
        CTensor copy(CDType dtype) except +raise_error

    bint lend "zero_lend"(const CTensor& t, Py_buffer* buffer) except +raise_error
    void take_back "zero_take_back"(Py_buffer* buffer) noexcept


cdef bint has_array(object x) except -1:
    """Whether x is an array: it lends memory or tells where. numpy's scalars are numbers."""
    if isinstance(x, (str, bytes)):
        return False
    if PyObject_CheckBuffer(x):
        return getattr(x, "shape", None) != ()
    if hasattr(type(x), "__array__"):
        return getattr(x, "shape", None) != ()
    return hasattr(type(x), "__dlpack__") or hasattr(type(x), "__array_interface__")


cdef CDType dtype_of_format(const char* text, Py_ssize_t size, object x) except *:
    """The dtype of a struct-module format of one element."""
    if text is not NULL and text[0] and not text[1]:  # in a hurry: most arrays have one of these
        if text[0] == c"f" and size == 4:
            return CDType.Float32
        if text[0] == c"d" and size == 8:
            return CDType.Float64
        if text[0] == c"B" and size == 1:
            return CDType.UInt8
    cdef str format = text.decode() if text is not NULL else "B"
    cdef str code = format.lstrip("@=<>!")
    if format[:1] in (">", "!") and size > 1:
        raise ZeroValueError(f"from_numpy: the byte order is not this machine's; got format "
                             f"{format!r}, expected native order; "
                             "x.astype(x.dtype.newbyteorder('=')) gives it")
    if code == "?":
        return CDType.Bool
    if code == "B" and size == 1:
        return CDType.UInt8
    if code in ("b", "h", "i", "l", "q", "n"):
        return {1: CDType.Int8, 2: CDType.Int16, 4: CDType.Int32, 8: CDType.Int64}[size]
    if code in ("e", "f", "d"):
        return {2: CDType.Float16, 4: CDType.Float32, 8: CDType.Float64}[size]
    raise TypeError(f"from_numpy: the elements have no dtype here; got "
                    f"{getattr(x, 'dtype', format)!s} elements of a {type_name(x)}, expected bool, "
                    "uint8, int8, int16, int32, int64, float16, float32 or float64")


cdef CDType dtype_of_array(object x) except *:
    """The dtype of a numpy scalar or array."""
    kind, size = x.dtype.kind, x.dtype.itemsize
    if kind == "V" and x.dtype.name == "bfloat16":
        return CDType.BFloat16
    formats = {"b": b"?", "i": b"i", "f": b"f", "u": b"B" if size == 1 else b"H"}
    return dtype_of_format(formats.get(kind, b"V"), size, x)


cdef Tensor tensor_of_array(object x, bint copying, bint strict=False, str op="from_numpy"):
    """An array as a tensor that shares its memory, or a copy where no tensor has its layout.

    `copying`: the caller copies anyway, so that memory which may not be written is no matter.
    `strict`: raises instead of copying.
    """
    cdef Borrowed lent
    cdef CDType dtype
    cdef int d, flags = PyBUF_STRIDES | PyBUF_FORMAT
    cdef bint fits = True
    if not PyObject_CheckBuffer(x):
        if hasattr(type(x), "__dlpack__"):  # which knows bfloat16
            from zero._composed.exchange import from_dlpack
            try:
                return from_dlpack(x)
            except (BufferError, ZeroValueError):
                if not hasattr(type(x), "__array__"):
                    raise
        if hasattr(type(x), "__array__"):
            x = x.__array__()
        else:
            import numpy
            x = numpy.asarray(x)
    cdef bint writable = True
    try:
        lent.get(x, flags | PyBUF_WRITABLE)
    except (BufferError, ValueError):
        writable = False
    if not writable:
        try:
            lent.get(x, flags)
        except ValueError as error:  # numpy has types that no buffer can describe
            raise TypeError(f"from_numpy: the elements have no dtype here; got {error}, expected "
                            "bool, an integer or a float") from None
    dtype = dtype_of_format(lent.view().format, lent.view().itemsize, x)
    for d in range(lent.view().ndim):
        if lent.view().shape[d] > 1 and lent.view().strides[d] < 0:
            fits = False
            if strict:
                strides = tuple([lent.view().strides[i] for i in range(lent.view().ndim)])
                raise ZeroValueError("from_numpy: a stride is negative; got strides "
                                     f"{strides}, expected none below 0; x.copy() gives such an "
                                     "array")
        if lent.view().shape[d] > 1 and lent.view().strides[d] % itemsize(dtype):
            fits = False
    if <size_t> lent.view().buf % <size_t> itemsize(dtype):
        fits = False
    if not fits:
        if strict:
            raise ZeroValueError("from_numpy: the elements are not aligned; got an address or "
                                 "strides that are no multiples of "
                                 f"{itemsize(dtype)} bytes, expected an aligned array; x.copy() "
                                 "gives one")
        return wrap(lent.copy(dtype))
    if not writable and not copying:
        import warnings
        warnings.warn(f"{op}: the memory may not be written; got a read-only {type_name(x)}, "
                      "expected a writable one. Writing to the tensor is undefined; x.copy() or "
                      "tensor(x) avoids that",
                      UserWarning, stacklevel=1)
    return wrap(lent.share(dtype))


cdef size_t data_address(object x) except? 0:
    return <size_t> (<Tensor> x if isinstance(x, Tensor) else tensor_of_array(x, True)).c.data()


def from_numpy(ndarray):
    """A tensor that shares the memory of a numpy array: a write to one is seen in the other.

    Args:
        ndarray: an array of a type that zero has, in native byte order, with strides that are not
            negative.

    Raises:
        TypeError: not an array, or of another type.
        ValueError: a layout that tensors don't have.

    Example:
        >>> import numpy as np, zero
        >>> a = np.zeros(3, dtype=np.float32)
        >>> t = zero.from_numpy(a)
        >>> a[0] = 7
        >>> t
        tensor([7., 0., 0.])
    """
    # Asked of the class, as the attribute itself is a dict that numpy makes anew each time.
    if isinstance(ndarray, Tensor) or not (hasattr(type(ndarray), "__array_interface__")
                                           and PyObject_CheckBuffer(ndarray)):
        raise TypeError(f"from_numpy: not an array; got {type_name(ndarray)}, expected a "
                        "numpy.ndarray")
    return tensor_of_array(ndarray, False, True)


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """A tensor of one dimension that shares the memory of an object such as a bytearray.

    Args:
        buffer: an object with the buffer protocol, whose memory has no gaps.
        dtype: how its bytes are read.
        count: how many elements; -1 for all.
        offset: how many bytes come before the first.
        requires_grad: whether operations on the result are recorded.

    Raises:
        TypeError: the object has no buffer, or one with gaps.
        ValueError: no elements, more than there are, a rest of bytes, or an address that is no
            multiple of the size of an element.

    Example:
        >>> import zero
        >>> memory = bytearray([1, 0, 2, 0])
        >>> x = zero.frombuffer(memory, dtype=zero.int16)
        >>> memory[0] = 7
        >>> x
        tensor([7, 2], dtype=zero.int16)
    """
    cdef CDType element = as_dtype(dtype, "frombuffer")
    cdef int64_t item = itemsize(element), n = as_int(count, "frombuffer", "count")
    cdef int64_t first = as_int(offset, "frombuffer", "offset"), size
    try:
        memory = memoryview(buffer).cast("B")
    except TypeError as error:
        raise TypeError(f"frombuffer: no memory without gaps; got {type_name(buffer)} ({error}), "
                        "expected an object such as a bytearray") from None
    size = len(memory)
    if not 0 <= first < size:
        raise ZeroValueError(f"frombuffer: offset is out of range; got {first}, expected 0 to less "
                             f"than the {size} bytes of the buffer")
    if n < 0:
        if (size - first) % item:
            raise ZeroValueError(f"frombuffer: bytes are left over; got {size - first}, expected a "
                                 f"multiple of {item}")
        n = (size - first) // item
    if n == 0 or n > (size - first) // item:
        raise ZeroValueError(f"frombuffer: count is out of range; got {n}, expected 1 to "
                             f"{(size - first) // item}")
    cdef Tensor shown = tensor_of_array(memory[first:first + n * item], False, False,
                                        "frombuffer")
    if <size_t> shown.c.data() % <size_t> item:
        raise ZeroValueError("frombuffer: the elements are not aligned; got an address that is no "
                             f"multiple of {item} bytes, expected one; a copy of the bytes has it")
    return finish(ops.view_as_type(shown.c, element), requires_grad)


cdef bytes int64_format = b"l" if sizeof(long) == 8 else b"q"
cdef list buffer_formats = [b"?", b"B", b"b", b"h", b"i", int64_format, b"e", None, b"f", b"d"]


cdef int check_shareable(Tensor x, str op) except -1:
    """Raises where another library must not see the memory."""
    if x.c.is_meta():
        raise TypeError(f"{op}: a meta tensor has no memory; got a tensor on meta, expected cpu")
    if x.c.dtype() == CDType.BFloat16:
        raise TypeError(f"{op}: numpy has no such dtype; got zero.bfloat16, expected another one; "
                        "x.float() gives it")
    if meta.requires_grad(x.c):
        raise RuntimeError(f"{op}: the tensor requires grad, which other libraries would not see; "
                           "use tensor.detach().numpy()")
    return 0


cdef int export_buffer(Tensor x, Py_buffer* buffer, int flags) except -1:
    cdef bint row_major = x.c.is_contiguous()
    buffer.obj = None
    buffer.internal = NULL
    try:
        check_shareable(x, "memoryview")
    except (TypeError, RuntimeError) as error:
        raise BufferError(str(error)) from None
    if flags & PyBUF_STRIDES != PyBUF_STRIDES and not row_major:
        raise BufferError("memoryview: the elements do not lie in row-major order; use "
                          "tensor.contiguous()")
    if flags & (PyBUF_C_CONTIGUOUS | PyBUF_ANY_CONTIGUOUS) & ~PyBUF_STRIDES and not row_major:
        raise BufferError("memoryview: the elements do not lie in row-major order; use "
                          "tensor.contiguous()")
    if flags & PyBUF_F_CONTIGUOUS & ~PyBUF_STRIDES and x.c.dim() > 1:
        raise BufferError("memoryview: the elements do not lie in column-major order")
    if not lend(x.c, buffer):
        raise MemoryError
    buffer.format = NULL
    if flags & PyBUF_FORMAT:
        buffer.format = <char*> (<bytes> buffer_formats[<int> x.c.dtype()])
    if flags & PyBUF_ND != PyBUF_ND:
        buffer.shape = NULL
        buffer.ndim = 1 if buffer.ndim else 0
    if flags & PyBUF_STRIDES != PyBUF_STRIDES:
        buffer.strides = NULL
    buffer.obj = x
    return 0


cdef object numpy_array(Tensor x):
    """The numpy array that shares x's memory; it keeps x alive."""
    import numpy
    check_shareable(x, "numpy")
    return numpy.asarray(memoryview(x))
