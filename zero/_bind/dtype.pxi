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
    raise TypeError(f"{op}: dtype is not a dtype; got {x!r} of type {type_name(x)}, expected one "
                    "such as zero.float32")


cdef optional[CDType] optional_dtype(object x, str op) except *:
    cdef optional[CDType] result
    if x is not None:
        result = as_dtype(x, op)
    return result


cdef CDType promoted(CDType a, CDType b) noexcept:
    return promote(a, b)


# ---- device --------------------------------------------------------------------------------------
cdef class DeviceObject:
    """Where a tensor lives: 'cpu', or 'meta' for tensors that have a shape but no elements.

    Args:
        type: 'cpu', 'meta', the same with ':0', or a device.
        index: None or 0.

    Raises:
        RuntimeError: any other device; zero computes on CPUs.

    Example:
        >>> import zero
        >>> zero.device("cpu")
        device(type='cpu')
        >>> zero.ones(2, 3, device="meta").shape
        zero.Size([2, 3])
    """

    def __init__(self, type, index=None):
        self.value = as_device(type, "device")
        if index is not None and index != 0:
            raise RuntimeError(f"device: no such device; got {type!r} with index {index!r}, "
                               "expected index 0: there is one CPU device")

    @property
    def type(self):
        """'cpu' or 'meta'."""
        return device_name(self.value).decode()

    @property
    def index(self):
        """None: a device is not numbered."""
        return None

    def __repr__(self):
        return f"device(type='{self.type}')"

    def __str__(self):
        return self.type

    def __eq__(self, other):
        return isinstance(other, DeviceObject) and self.value == (<DeviceObject> other).value

    def __hash__(self):
        return hash(self.type)

    def __reduce__(self):
        return DeviceObject, (self.type,)


cdef DeviceObject device_cpu = DeviceObject.__new__(DeviceObject)
device_cpu.value = CDevice.Cpu
cdef DeviceObject device_meta = DeviceObject.__new__(DeviceObject)
device_meta.value = CDevice.Meta


cdef inline DeviceObject device_object(CDevice d):
    return device_cpu if d == CDevice.Cpu else device_meta


cdef CDevice as_device(object x, str op) except *:
    """A device argument: a name or a device; None is the CPU."""
    if x is None:
        return CDevice.Cpu
    if isinstance(x, DeviceObject):
        return (<DeviceObject> x).value
    if isinstance(x, str):
        if x == "cpu" or x == "cpu:0":
            return CDevice.Cpu
        if x == "meta" or x == "meta:0":
            return CDevice.Meta
        raise RuntimeError(f"{op}: no such device; got {x!r}, expected 'cpu' or 'meta': zero "
                           "computes on CPUs only")
    raise TypeError(f"{op}: device is not a device; got {x!r} of type {type_name(x)}, expected "
                    "'cpu', 'meta' or a zero.device")


cdef CTensorOptions as_options(object dtype, object device, str op) except *:
    cdef CTensorOptions options
    if dtype is not None:
        options.dtype = as_dtype(dtype, op)
    if device is not None:
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
