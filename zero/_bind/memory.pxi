# Memory that tensors can lie in besides their own: pages of files that processes share, and pages
# that are locked. Who shares what with whom is decided in Python (zero/multiprocessing).
from cpython.buffer cimport PyBuffer_FillInfo

cdef extern from *:
    """
    #include "zero/core/tensor.h"
    #include "zero/runtime/blocking.h"

    static void (*zero_end_use)(PyObject* memory);
    static void zero_release_memory(void* owner) {
      if (!Py_IsInitialized()) return;
      const PyGILState_STATE state = PyGILState_Ensure();
      zero_end_use(static_cast<PyObject*>(owner));
      Py_DECREF(static_cast<PyObject*>(owner));
      PyGILState_Release(state);
    }
    static zero::Tensor zero_tensor_in(PyObject* owner, void* data, size_t nbytes,
                                       const zero::Dims& sizes, const zero::Dims& strides,
                                       int64_t offset, zero::DType dtype) {
      auto storage = zero::make_ref<zero::Storage>(data, nbytes, zero_release_memory, owner);
      Py_INCREF(owner);
      return zero::Tensor(
          zero::make_ref<zero::TensorImpl>(std::move(storage), sizes, strides, offset, dtype));
    }
    // Borrowed; null where the tensor's memory is of another kind.
    static PyObject* zero_memory_of(const zero::Tensor& t) {
      return static_cast<PyObject*>(t.impl()->storage_->owner(zero_release_memory));
    }
    static size_t zero_storage_size(const zero::Tensor& t) {
      return t.impl()->storage_->nbytes();
    }
    static bool zero_is_lent(const zero::Tensor& t) { return t.impl()->storage_->is_lent(); }
    // What the tensor had is kept as long as another thread may be computing with it.
    static void zero_move_to(const zero::Tensor& t, PyObject* owner, void* data) {
      zero::Storage& storage = *t.impl()->storage_;
      const zero::Tensor old = zero_tensor_in(owner, data, storage.nbytes(), zero::Dims{0},
                                              zero::Dims{1}, 0, zero::DType::UInt8);
      storage.move_to(*old.impl()->storage_);
      zero::keep_while_blocking(old);
    }
    """
    CTensor tensor_in "zero_tensor_in"(PyObject* owner, void* data, size_t nbytes,
                                       const CDims& sizes, const CDims& strides, int64_t offset,
                                       CDType dtype) except +raise_error
    void (*zero_end_use)(PyObject* memory) noexcept
    PyObject* owner_of "zero_memory_of"(const CTensor& t) noexcept
    size_t storage_size "zero_storage_size"(const CTensor& t) noexcept
    bint is_lent "zero_is_lent"(const CTensor& t) noexcept
    void move_memory "zero_move_to"(const CTensor& t, PyObject* owner,
                                    void* data) except +raise_error


cdef class _Memory:
    """Pages for the elements of tensors.

    Args:
        nbytes: how many bytes.
        file: descriptor of an open file, whose pages all processes share that map them; -1 for
            memory of this process. It may be closed afterwards.
        offset: where in the file, in bytes, a multiple of 64 KiB; or in `base`.
        base: other memory of which to be a part.

    Raises:
        MemoryError: the system refuses.
    """

    cdef char* data
    cdef size_t nbytes
    cdef void* block  # of the allocator
    cdef readonly bint shared  # with other processes
    cdef readonly bint locked
    cdef readonly Py_ssize_t users  # storages in it
    cdef readonly _Memory base
    cdef object __weakref__

    def __cinit__(self, nbytes, *, int file=-1, offset=0, _Memory base=None):
        self.nbytes = nbytes
        self.base = base
        if base is not None:
            if not 0 <= offset <= base.nbytes or nbytes > base.nbytes - <size_t> offset:
                raise ZeroValueError(f"_Memory: not a part of base; got {nbytes} bytes from "
                                     f"{offset}, expected some of {base.nbytes}")
            self.data = base.data + <size_t> offset
            self.locked, self.shared = base.locked, base.shared
        elif file >= 0:
            self.data = <char*> pages.map_file(file, offset, self.mapped_size())
            if self.data is NULL:
                raise MemoryError(f"zero: the system did not map {nbytes} bytes of shared memory")
            self.shared = True
        else:
            self.block = allocator.allocate(self.nbytes + pages.page_size())
            self.data = <char*> (<size_t> self.block + pages.page_size() - 1
                                 & ~(pages.page_size() - 1))

    def __dealloc__(self):
        if self.base is not None or self.data is NULL:
            return
        if self.locked and self.nbytes > 0:
            pages.unlock_pages(self.data, self.nbytes)
        if self.block is NULL:
            pages.unmap_file(self.data, self.mapped_size())
        else:
            allocator.deallocate(self.block, self.nbytes + pages.page_size())

    cdef size_t mapped_size(self) noexcept:
        return self.nbytes if self.nbytes > 0 else 1  # the system maps no nothing

    def __len__(self):
        return self.nbytes

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        PyBuffer_FillInfo(buffer, self, self.data, self.nbytes, False, flags)

    @property
    def view(self):
        """The bytes, which may be written to."""
        return memoryview(self)

    @property
    def address(self):
        return <size_t> self.data

    def lock(self):
        """Keeps the pages in memory; False where the system allows no more."""
        if not self.locked:
            self.locked = self.nbytes == 0 or pages.lock_pages(self.data, self.nbytes)
        return self.locked

    def discard(self):
        """Gives a file's pages back to the system; they hold zeros then."""
        if self.locked:  # the system refuses it then
            pages.unlock_pages(self.data, self.nbytes)
            self.locked = False
        if self.nbytes > 0:
            pages.discard_pages(self.data, self.nbytes)

    def part_from_file(self, used):
        """Goes on as memory of this process, with a copy of the first bytes; False where the system
        has no way to do so."""
        if not 0 <= used <= self.nbytes:
            raise ZeroValueError(f"_Memory: not a part of it; got {used}, expected 0 to "
                                 f"{self.nbytes} bytes")
        if pages.unshare_file(self.data, self.mapped_size(), used):
            self.shared = False
        return not self.shared

    def tensor(self, dtype, size, stride=None, offset=0, *, begin=0, nbytes=None):
        """A tensor whose storage is a part of this memory.

        Args:
            dtype: of the elements.
            size: its shape.
            stride: row-major for None.
            offset: of its first element in the storage, in elements.
            begin: where the storage begins, in bytes.
            nbytes: the size of the storage; None for all the rest.
        """
        cdef CDType element = as_dtype(dtype, "_Memory.tensor")
        cdef CDims sizes = as_dims(size, "_Memory.tensor"), strides
        cdef int64_t last = offset, i, first = begin
        cdef int64_t room = <int64_t> self.nbytes - first if nbytes is None else nbytes
        strides = shapes.contiguous_strides(sizes) if stride is None else \
            as_dims(stride, "_Memory.tensor")
        cdef bint fits = first >= 0 and 0 <= room <= <int64_t> self.nbytes - first and last >= 0 \
            and sizes.size() == strides.size() \
            and <size_t> (self.data + first) % itemsize(element) == 0
        cdef bint is_empty = False
        for i in range(sizes.size()):
            is_empty = is_empty or sizes[i] == 0
        for i in range(sizes.size() if fits else 0):
            fits = fits and sizes[i] >= 0 and strides[i] >= 0
            if fits and sizes[i] > 1 and not is_empty:
                fits = sizes[i] <= room and strides[i] <= room
                last += (sizes[i] - 1) * strides[i] if fits else 0
                fits = fits and last <= room
        if not fits or not (is_empty or last < room // itemsize(element)):
            raise ZeroValueError(f"_Memory.tensor: outside of the memory; got {size} elements from "
                                 f"byte {begin}, expected some of {self.nbytes} bytes")
        self.users += 1
        return wrap(tensor_in(<PyObject*> self, self.data + first, room, sizes, strides, offset,
                              element))


cdef void end_use(PyObject* memory) noexcept:
    (<_Memory> memory).users -= 1


zero_end_use = end_use


cdef _Memory memory_of(Tensor x):
    cdef PyObject* owner = owner_of(x.c)
    return None if owner is NULL else <_Memory> owner


def _memory_of(Tensor x not None):
    """The memory that a tensor was put in; None where it has its own."""
    return memory_of(x)


def _move_to(Tensor x not None, _Memory memory not None, op):
    """Moves what x and its views show to other memory, which is not used otherwise."""
    move_storage(x.c, memory, op)


cdef int move_storage(const CTensor& x, _Memory memory, str op) except -1:
    if is_lent(x):
        raise RuntimeError(f"{op}: the memory may not move while NumPy or another library uses it; "
                           "got a tensor whose .numpy() or memoryview is alive, expected none; do "
                           f"it before, or with a clone()")
    if storage_size(x) > memory.nbytes:
        raise ZeroValueError(f"{op}: the memory is too small; got {memory.nbytes} bytes, expected "
                             f"{storage_size(x)}")
    memory.users += 1
    move_memory(x, <PyObject*> memory, memory.data)
    return 0


# ---- pinned memory -------------------------------------------------------------------------------
cdef bint said_unlocked = False


cdef _Memory locked_memory(const CTensor& x, size_t nbytes, str op):
    """Pages that stay in memory, or, over the system's limit, ordinary ones, with a warning."""
    global said_unlocked
    if x.is_meta():
        raise RuntimeError(f"{op}: a meta tensor has no memory to pin; got a tensor on meta, "
                           "expected cpu")
    cdef _Memory memory = _Memory(nbytes)
    if not memory.lock() and not said_unlocked:
        said_unlocked = True
        import warnings
        warnings.warn(f"{op}: the system locks no more memory, so tensors are not pinned from here "
                      "on; they work as others. `ulimit -l` shows the limit (said once)",
                      UserWarning, stacklevel=1)
    return memory


cdef bint in_shared_memory(Tensor x):
    cdef _Memory memory = memory_of(x)
    return memory is not None and memory.shared


cdef bint is_locked(Tensor x):
    cdef _Memory memory = memory_of(x)
    return memory is not None and memory.locked


cdef int pin(const CTensor& x, object pin_memory) except -1:
    """Pins the memory of a new tensor, if that is asked for."""
    if flag_of(pin_memory, "pin_memory", "the value"):
        move_storage(x, locked_memory(x, storage_size(x), "pin_memory"), "pin_memory")
    return 0


cdef CTensor pinned_copy(const CTensor& x) except *:
    """A copy in pinned memory, in the same order; gradients flow through it."""
    cdef CTensorOptions options = x.options()
    options.device = CDevice.Meta
    cdef CTensor shape = ops.empty_like(x, options), result
    cdef size_t nbytes = x.numel() * itemsize(x.dtype())
    cdef _Memory memory = locked_memory(x, nbytes, "pin_memory")
    memory.users += 1
    result = tensor_in(<PyObject*> memory, memory.data, nbytes, shape.sizes(), shape.strides(), 0,
                       x.dtype())
    ops.copy_(result, x)
    return result
