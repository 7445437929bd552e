# dtype, device and Size objects.

# ---- dtype ---------------------------------------------------------------------------------------
cdef class DTypeObject:
    """The type of a tensor's elements. There is one object per type: ``zero.float32`` and so on.

    Example:
        >>> import zero
        >>> zero.float32
        zero.float32
        >>> zero.float32.itemsize, zero.int64.is_floating_point
        (4, False)
    """

    def __init__(self):
        raise TypeError("dtype: dtypes cannot be made; use zero.float32, zero.int64, …")

    @property
    def itemsize(self):
        """Bytes of one element."""
        return itemsize(self.value)

    @property
    def is_floating_point(self):
        """Whether this is a floating point type."""
        return is_floating(self.value)

    @property
    def is_complex(self):
        """Always False: zero has no complex types yet."""
        return False

    @property
    def is_signed(self):
        """Whether there are negative numbers."""
        return self.value != CDType.Bool and self.value != CDType.UInt8

    def to_real(self):
        """The type of real and imaginary part: the type itself, which is real."""
        return self

    def to_complex(self):
        """An error: zero has no complex types yet."""
        raise DTypeError(f"to_complex: there are no complex dtypes; got {self!r}, expected a use "
                         "of real numbers only")

    def __repr__(self):
        return "zero." + self.name

    def __reduce__(self):
        return _dtype_by_name, (self.name,)


cdef list dtype_objects = []


cdef int make_dtypes() except -1:
    cdef DTypeObject t
    cdef int i
    for i in range(10):
        t = DTypeObject.__new__(DTypeObject)
        t.value = <CDType> i
        t.name = dtype_name(t.value).decode()
        dtype_objects.append(t)
    return 0

make_dtypes()


def _dtype_by_name(str name):  # for pickle
    return globals()[name]


cdef inline DTypeObject dtype_object(CDType t):
    return <DTypeObject> dtype_objects[<int> t]


cdef str dtype_meant(object x):
    """The name of the dtype that a string or a type of numpy's stands for, in an error's words."""
    cdef DTypeObject t
    cdef object name = x if isinstance(x, str) else getattr(x, "name", getattr(x, "__name__", ""))
    for t in dtype_objects:
        if name in (t.name, "torch." + t.name, "zero." + t.name):
            return "zero." + t.name
    return ""


cdef CDType as_dtype(object x, str op) except *:
    """A dtype argument. As in PyTorch, Python's own float means float64, int int64."""
    if isinstance(x, DTypeObject):
        return (<DTypeObject> x).value
    if x is float:
        return CDType.Float64
    if x is int:
        return CDType.Int64
    if x is bool:
        return CDType.Bool
    raise TypeError(f"{op}: dtype is not a dtype; got {short_repr(x)} of type {type_name(x)}, "
                    f"expected {dtype_meant(x) or 'one such as zero.float32'}")


cdef optional[CDType] optional_dtype(object x, str op) except *:
    cdef optional[CDType] result
    if x is not None:
        result = as_dtype(x, op)
    return result


cdef CDType promoted(CDType a, CDType b) noexcept:
    return promote(a, b)


# ---- device --------------------------------------------------------------------------------------
cdef extern from *:
    """
    #include <vector>

    // Where factory functions without a device make tensors, in this thread; the outer choices of
    // `with device:` blocks below the current one.
    static thread_local zero::Device zero_default_device = zero::Device::Cpu;
    static thread_local std::vector<zero::Device> zero_outer_devices;
    static void zero_enter_device(zero::Device d) {
      zero_outer_devices.push_back(zero_default_device);
      zero_default_device = d;
    }
    static void zero_exit_device() {
      if (zero_outer_devices.empty()) return;  // __exit__ was called by hand
      zero_default_device = zero_outer_devices.back();
      zero_outer_devices.pop_back();
    }
    """
    CDevice default_device "zero_default_device"
    void enter_device "zero_enter_device"(CDevice d) except +raise_error
    void exit_device "zero_exit_device"() noexcept


cdef tuple accelerators = ("cuda", "mps", "xpu")  # names that programs for PyTorch use


cdef class DeviceObject:
    """Where a tensor lives: 'cpu', or 'meta' for tensors that have a shape but no elements.

    In a ``with`` block it is where functions make tensors that are given no device, in the thread
    that entered the block. Names of accelerators can be written down, as in
    ``device("cuda" if zero.cuda.is_available() else "cpu")``; their use is an error.

    Args:
        type: 'cpu', 'meta', 'cuda', 'mps' or 'xpu', with or without an index (``'cpu:0'``), or a
            device.
        index: a number instead of the one in `type`; 0 for the CPU.

    Raises:
        RuntimeError: there is no such device.

    Example:
        >>> import zero
        >>> zero.device("cpu")
        device(type='cpu')
        >>> zero.ones(2, 3, device="meta").shape
        zero.Size([2, 3])
        >>> with zero.device("meta"):
        ...     zero.ones(2).device
        device(type='meta')
        >>> zero.ones(2, device=zero.device("cuda"))
        Traceback (most recent call last):
        ...
        RuntimeError: ones: no such device; got 'cuda', expected 'cpu' or 'meta': zero computes on
        CPUs only
    """

    def __init__(self, type, index=None):
        cdef str name, number
        if isinstance(type, DeviceObject) and index is None:
            self.type, self.index = (<DeviceObject> type).type, (<DeviceObject> type).index
        elif isinstance(type, str):
            name, _, number = type.partition(":")
            if ":" in type:
                if index is not None:
                    raise RuntimeError(f"device: the index is given twice; got {type!r} and "
                                       f"{index!r}, expected one of them")
                # Decimal digits without a zero in front, as PyTorch wants them.
                if not (number.isascii() and number.isdigit()) or \
                        (number[0] == "0" and number != "0"):
                    raise RuntimeError(f"device: the index is not a number; got {type!r}, expected "
                                       "one such as 'cpu:0'")
                index = as_int(int(number), "device", "index")
            elif index is not None:
                index = as_int(index, "device", "index")
            if name not in ("cpu", "meta") and name not in accelerators:
                no_device("device", type)
            if index is not None and (index < 0 or (name in ("cpu", "meta") and index != 0)):
                raise RuntimeError(f"device: no such device; got {type!r} with index {index}, "
                                   "expected index 0: there is one CPU device")
            self.type, self.index = name, index
        elif isinstance(type, int):
            no_device("device", type)
        else:
            raise TypeError(f"device: type is not a name; got {short_repr(type)} of type "
                            f"{type_name(type)}, expected 'cpu', 'meta' or a zero.device")

    def __repr__(self):
        number = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{number})"

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other):
        return isinstance(other, DeviceObject) and self.type == (<DeviceObject> other).type \
            and self.index == (<DeviceObject> other).index

    def __hash__(self):
        return hash((self.type, self.index))

    def __reduce__(self):
        return DeviceObject, (self.type, self.index)

    def __enter__(self):
        enter_device(as_device(self, "device"))
        return self

    def __exit__(self, *exception):
        exit_device()


cdef DeviceObject device_cpu = DeviceObject("cpu")
cdef DeviceObject device_meta = DeviceObject("meta")


cdef inline DeviceObject device_object(CDevice d):
    return device_cpu if d == CDevice.Cpu else device_meta


cdef int no_device(str op, object x) except -1:
    if dtype_meant(x):
        raise RuntimeError(f"{op}: a string is taken for a device; got {x!r}, expected the dtype "
                           f"{dtype_meant(x)}")
    raise RuntimeError(f"{op}: no such device; got {short_repr(x)}, expected 'cpu' or 'meta': zero "
                       "computes on CPUs only")


cdef CDevice as_device(object x, str op) except *:
    """A device argument: a name or a device; None is the default device."""
    if x is None:
        return default_device
    if isinstance(x, DeviceObject):
        if (<DeviceObject> x).type == "cpu":
            return CDevice.Cpu
        if (<DeviceObject> x).type == "meta":
            return CDevice.Meta
        no_device(op, str(x))
    if isinstance(x, str):
        if x == "cpu" or x == "cpu:0":
            return CDevice.Cpu
        if x == "meta" or x == "meta:0":
            return CDevice.Meta
        no_device(op, x)
    if isinstance(x, int) and not isinstance(x, bool):  # in PyTorch an accelerator's number
        no_device(op, x)
    raise TypeError(f"{op}: device is not a device; got {short_repr(x)} of type {type_name(x)}, "
                    "expected 'cpu', 'meta' or a zero.device")


def get_default_device():
    """Where functions make tensors that are given no device, in this thread.

    Example:
        >>> import zero
        >>> zero.get_default_device()
        device(type='cpu')
    """
    return device_object(default_device)


def set_default_device(device):
    """Sets where functions make tensors that are given no device, in this thread.

    Functions that take memory or the device from another tensor or array don't follow it, nor
    does the class Tensor.

    Args:
        device: 'cpu', 'meta' or a device; None for the CPU.

    Raises:
        RuntimeError: there is no such device.

    Example:
        >>> import zero
        >>> zero.set_default_device("meta")
        >>> zero.ones(2).device
        device(type='meta')
        >>> zero.set_default_device("cpu")
    """
    global default_device
    default_device = CDevice.Cpu if device is None else as_device(device, "set_default_device")


# ---- layout, memory format -----------------------------------------------------------------------
class NamedConstant:
    """One of a few values, known by their names."""

    __slots__ = ("name",)

    def __init__(self, name=None):
        raise TypeError(f"{type(self).__name__}: cannot be made; use zero.strided or "
                        "zero.contiguous_format")

    def __repr__(self):
        return "zero." + self.name

    def __reduce__(self):
        return _constant_by_name, (self.name,)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


class layout(NamedConstant):
    """How elements are arranged: ``zero.strided``, the one layout there is.

    Example:
        >>> import zero
        >>> zero.ones(2).layout
        zero.strided
    """

    __slots__ = ()


class memory_format(NamedConstant):
    """The order of dimensions in memory.

    ``zero.contiguous_format`` is row-major; ``zero.preserve_format`` is that of the input;
    ``zero.channels_last`` and ``zero.channels_last_3d`` are for shapes [N, C, H, W] and
    [N, C, D, H, W], with the channels next to each other.

    Example:
        >>> import zero
        >>> x = zero.ones(2, 3).T
        >>> x.clone().stride(), x.clone(memory_format=zero.contiguous_format).stride()
        ((1, 3), (2, 1))
    """

    __slots__ = ()


cdef object named_constant(object cls, str name):
    result = object.__new__(cls)
    result.name = name
    return result


strided = named_constant(layout, "strided")
contiguous_format = named_constant(memory_format, "contiguous_format")
preserve_format = named_constant(memory_format, "preserve_format")
channels_last = named_constant(memory_format, "channels_last")
channels_last_3d = named_constant(memory_format, "channels_last_3d")
layout.__module__ = memory_format.__module__ = "zero"


def _constant_by_name(str name):  # for pickle
    return globals()[name]


cdef enum Format:
    preserved, row_major, channels_last_4d, channels_last_5d


cdef Format format_of(object format, str op) except *:
    """What a memory_format argument asks for; None keeps the order."""
    if format is None or format is preserve_format:
        return Format.preserved
    if format is contiguous_format:
        return Format.row_major
    if format is channels_last:
        return Format.channels_last_4d
    if format is channels_last_3d:
        return Format.channels_last_5d
    raise TypeError(f"{op}: memory_format is not a memory format; got {short_repr(format)}, "
                    "expected zero.contiguous_format, zero.preserve_format, zero.channels_last or "
                    "zero.channels_last_3d")


cdef CDims channels_order(int64_t dims, Format format, bint back, str op) except *:
    """The order of dimensions in memory with the channels last, or the way back."""
    cdef CDims order
    cdef int64_t d, wanted = 4 if format == Format.channels_last_4d else 5
    if dims != wanted:
        raise ShapeError(f"{op}: not as many dimensions as the memory format has; got {dims}, "
                         f"expected {wanted}")
    order.push_back(0)
    if back:
        order.push_back(dims - 1)
    for d in range(1 if back else 2, dims - 1 if back else dims):
        order.push_back(d)
    if not back:
        order.push_back(1)
    return order


cdef CTensor in_format(const CTensor& x, Format format, str op) except *:
    """x in the order asked for; x itself where it is."""
    if format == Format.preserved:
        return x
    if format == Format.row_major:
        return ops.contiguous(x)
    cdef CTensor y = ops.permute(x, channels_order(x.dim(), format, False, op))
    if y.is_contiguous():
        return x
    return ops.permute(ops.contiguous(y), channels_order(x.dim(), format, True, op))


cdef CTensor empty_in_format(const CDims& sizes, const CTensorOptions& options, Format format,
                             str op) except *:
    cdef CDims order, wide, own = sizes
    cdef int64_t d
    if format == Format.preserved or format == Format.row_major:
        return core.empty(sizes, options)
    order = channels_order(own.size(), format, False, op)
    for d in range(own.size()):
        wide.push_back(own[order[d]])
    return ops.permute(core.empty(wide, options), channels_order(own.size(), format, True, op))


cdef CTensorOptions as_options(object dtype, object device, str op) except *:
    cdef CTensorOptions options
    if dtype is not None:
        options.dtype = as_dtype(dtype, op)
    options.device = as_device(device, op)
    return options


# ---- Size ----------------------------------------------------------------------------------------
class Size(tuple):
    """The sizes of a tensor: a tuple of ints.

    Example:
        >>> import zero
        >>> shape = zero.ones(2, 3).shape
        >>> shape, shape.numel(), shape == (2, 3)
        (zero.Size([2, 3]), 6, True)
    """

    __slots__ = ()

    def __new__(cls, sizes=()):
        return tuple.__new__(cls, [as_int(size, "Size", "a size") for size in sizes])

    def numel(self):
        """The product of the sizes: how many elements a tensor of this shape has."""
        cdef int64_t n = 1
        for size in self:
            n *= size
        return n

    def __repr__(self):
        return f"zero.Size({list(self)!r})"

    def __getitem__(self, index):
        item = tuple.__getitem__(self, index)
        return type(self)(item) if isinstance(index, slice) else item

    def __add__(self, other):
        return type(self)(tuple.__add__(self, tuple(other)))

    def __mul__(self, n):
        return type(self)(tuple.__mul__(self, n))

    __rmul__ = __mul__

    def __reduce__(self):
        return Size, (tuple(self),)


cdef extern from *:
    """
    // A tuple of a subclass that adds no members; the caller fills it.
    static PyObject* zero_new_tuple(PyObject* type, Py_ssize_t n) {
      auto* t = reinterpret_cast<PyTypeObject*>(type);
      return t->tp_alloc(t, n);
    }
    """
    object new_tuple "zero_new_tuple"(object type, Py_ssize_t n)
    void set_tuple_item "PyTuple_SET_ITEM"(object t, Py_ssize_t i, PyObject* item)
    PyObject* new_int "PyLong_FromLongLong"(long long v) except NULL


cdef object size_type = Size


cdef object size_of(const CDims& dims):
    """Sizes as Python shows them."""
    cdef Py_ssize_t i, n = <Py_ssize_t> dims.size()
    cdef object result = new_tuple(size_type, n)
    for i in range(n):
        set_tuple_item(result, i, new_int(dims[i]))
    return result


cdef tuple tuple_of(const CDims& dims):
    """Strides and other lists of ints: a plain tuple."""
    return tuple([dims[i] for i in range(dims.size())])


cdef int publish_types() except -1:
    """The names under which users see the types; the dtypes and their other names.

    Not by assignment: a module-level `float` would hide Python's from all code here.
    """
    cdef dict names = globals()
    for t in dtype_objects:
        names[(<DTypeObject> t).name] = t
    for alias, name in (("short", "int16"), ("int", "int32"), ("long", "int64"),
                        ("half", "float16"), ("float", "float32"), ("double", "float64")):
        names[alias] = names[name]
    set_public_name(DTypeObject, b"zero.dtype")
    set_public_name(DeviceObject, b"zero.device")
    names["dtype"] = DTypeObject
    names["device"] = DeviceObject
    Size.__module__ = "zero"
    return 0


cdef extern from *:
    """
    // `name` must live as long as the type.
    static void zero_set_type_name(PyObject* type, const char* name) {
      reinterpret_cast<PyTypeObject*>(type)->tp_name = name;
      PyType_Modified(reinterpret_cast<PyTypeObject*>(type));
    }
    """
    void set_type_name "zero_set_type_name"(object type, const char* name)


cdef list public_names = []


cdef void set_public_name(object type, bytes name):
    """Shows a class as `zero.Tensor` instead of `zero._zero.Tensor`, also to pickle."""
    public_names.append(name)
    set_type_name(type, name)


publish_types()
