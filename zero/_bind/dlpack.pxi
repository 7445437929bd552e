# Memory shared with other array libraries by DLPack, whose structs stand here as its specification
# (version 1.0) lays them out. What a call asks for is decided in Python (zero/utils/dlpack.py).
from cpython.pycapsule cimport PyCapsule_CheckExact, PyCapsule_IsValid

cdef extern from *:
    """
    #include "zero/core/tensor.h"

    struct ZeroDlTensor {
      void* data;
      struct { int32_t kind, id; } device;
      int32_t ndim;
      struct { uint8_t code, bits; uint16_t lanes; } dtype;
      int64_t* shape;
      int64_t* strides;  // of elements; null for row-major order
      uint64_t byte_offset;
    };
    struct ZeroDlManaged {
      ZeroDlTensor tensor;
      void* context;
      void (*deleter)(ZeroDlManaged*);
      static constexpr const char* name = "dltensor";
      static constexpr const char* used = "used_dltensor";
    };
    struct ZeroDlVersioned {
      struct { uint32_t major, minor; } version;
      void* context;
      void (*deleter)(ZeroDlVersioned*);
      uint64_t flags;  // 1: not to be written, 2: a copy, 4: elements below a byte are padded
      ZeroDlTensor tensor;
      static constexpr const char* name = "dltensor_versioned";
      static constexpr const char* used = "used_dltensor_versioned";
    };

    // ---- out: the capsule's memory keeps the storage, without Python, so any thread may end it.
    template <class Managed>
    struct ZeroDlLent {
      Managed managed;
      zero::Ref<zero::Storage> storage;
      zero::Dims sizes, strides;

      static void end(Managed* managed) {
        auto* lent = static_cast<ZeroDlLent*>(managed->context);
        lent->storage->take_back();
        delete lent;
      }
      // A capsule that nobody took gives the memory back.
      static void drop(PyObject* capsule) {
        if (!PyCapsule_IsValid(capsule, Managed::name)) return;
        auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, Managed::name));
        if (managed->deleter != nullptr) managed->deleter(managed);
      }
      static PyObject* capsule(const zero::Tensor& t, uint8_t code, uint64_t flags) {
        auto* lent = new ZeroDlLent{{}, t.impl()->storage_, t.sizes(), t.strides()};
        for (int64_t d = 0; d < t.dim(); ++d)
          if (lent->sizes[d] == 1) lent->strides[d] = 1;
        lent->storage->lend();
        Managed& managed = lent->managed;
        managed.context = lent;
        managed.deleter = end;
        const auto bits = static_cast<uint8_t>(8 * zero::itemsize(t.dtype()));
        managed.tensor = {t.data(), {1, 0}, static_cast<int32_t>(t.dim()), {code, bits, 1},
                          lent->sizes.data(), lent->strides.data(), 0};
        if constexpr (requires { managed.flags; }) {
          managed.version = {1, 0};
          managed.flags = flags;
        }
        PyObject* result = PyCapsule_New(&managed, Managed::name, drop);
        if (result == nullptr) end(&managed);
        return result;
      }
    };
    static PyObject* zero_dl_lend(const zero::Tensor& t, uint8_t code, bool versioned,
                                  uint64_t flags) {
      return versioned ? ZeroDlLent<ZeroDlVersioned>::capsule(t, code, flags)
                       : ZeroDlLent<ZeroDlManaged>::capsule(t, code, flags);
    }

    // ---- in: its deleter is called once, when the last view of the tensor is gone.
    template <class Managed>
    static void zero_dl_release(void* owner) {
      auto* managed = static_cast<Managed*>(owner);
      if (managed->deleter != nullptr) managed->deleter(managed);
    }
    template <class Managed>
    static zero::Tensor zero_dl_take(PyObject* capsule, Managed* managed, zero::DType dtype) {
      const ZeroDlTensor& lent = managed->tensor;
      const int64_t item = zero::itemsize(dtype);
      zero::Dims sizes, strides;
      int64_t last = 0, next = 1;
      bool empty = false;
      for (int32_t d = 0; d < lent.ndim; ++d) {
        sizes.push_back(lent.shape[d]);
        strides.push_back(1);
        empty |= lent.shape[d] == 0;
      }
      for (int32_t d = lent.ndim; d-- > 0;) {
        strides[d] = lent.strides != nullptr ? lent.strides[d] : next;
        next *= sizes[d];
        if (sizes[d] == 1) strides[d] = strides[d] > 0 ? strides[d] : 1;
        last += (sizes[d] - 1) * strides[d];
      }
      auto storage = zero::make_ref<zero::Storage>(
          static_cast<char*>(lent.data) + lent.byte_offset,
          static_cast<size_t>(empty ? 0 : (last + 1) * item), zero_dl_release<Managed>, managed);
      PyCapsule_SetName(capsule, Managed::used);
      return zero::Tensor(zero::make_ref<zero::TensorImpl>(std::move(storage), std::move(sizes),
                                                           std::move(strides), 0, dtype));
    }
    // What a capsule holds, of either kind: all zero without one.
    struct ZeroDlShown {
      ZeroDlTensor tensor{};
      uint64_t flags = 0;
      uint32_t major = 0;
      bool found = false;
    };
    static ZeroDlShown zero_dl_show(PyObject* capsule) {
      ZeroDlShown shown;
      if (PyCapsule_IsValid(capsule, ZeroDlVersioned::name)) {
        auto* managed = static_cast<ZeroDlVersioned*>(
            PyCapsule_GetPointer(capsule, ZeroDlVersioned::name));
        shown.major = managed->version.major;
        shown.found = true;
        if (shown.major == 1) {  // what follows may be laid out in another way elsewhere
          shown.flags = managed->flags;
          shown.tensor = managed->tensor;
        }
      } else if (PyCapsule_IsValid(capsule, ZeroDlManaged::name)) {
        shown.tensor =
            static_cast<ZeroDlManaged*>(PyCapsule_GetPointer(capsule, ZeroDlManaged::name))->tensor;
        shown.major = 1;
        shown.found = true;
      }
      return shown;
    }
    static zero::Tensor zero_dl_tensor(PyObject* capsule, zero::DType dtype) {
      if (PyCapsule_IsValid(capsule, ZeroDlVersioned::name))
        return zero_dl_take(capsule, static_cast<ZeroDlVersioned*>(PyCapsule_GetPointer(
                                         capsule, ZeroDlVersioned::name)), dtype);
      return zero_dl_take(capsule, static_cast<ZeroDlManaged*>(PyCapsule_GetPointer(
                                       capsule, ZeroDlManaged::name)), dtype);
    }
    """
    cdef struct DlDevice "decltype(ZeroDlTensor::device)":
        int kind
        int id
    cdef struct DlDType "decltype(ZeroDlTensor::dtype)":
        int code
        int bits
        int lanes
    cdef struct DlTensor "ZeroDlTensor":
        void* data
        DlDevice device
        int ndim
        DlDType dtype
        int64_t* shape
        int64_t* strides
        uint64_t byte_offset
    cdef struct DlShown "ZeroDlShown":
        DlTensor tensor
        uint64_t flags
        int major
        bint found
    DlShown dl_show "zero_dl_show"(object capsule) noexcept
    object dl_lend "zero_dl_lend"(const CTensor& t, int code, bint versioned,
                                  uint64_t flags) except +raise_error
    CTensor dl_tensor "zero_dl_tensor"(object capsule, CDType dtype) except +raise_error


# Each dtype's code in DLPack, in the order of CDType: bool 6, unsigned 1, int 0, float 2, bfloat 4.
cdef bytes dl_codes = bytes([6, 1, 0, 0, 0, 0, 2, 4, 2, 2])


def _to_dlpack(Tensor x not None, *, bint versioned, bint copied=False):
    """A capsule with the memory of a tensor, see :mod:`zero.utils.dlpack`.

    Args:
        x: a tensor.
        versioned: whether in the form of DLPack 1.
        copied: whether nobody else has the memory, which such a capsule says.
    """
    if x.c.is_meta():
        raise BufferError("__dlpack__: a meta tensor has no memory; got a tensor on meta, expected "
                          "cpu")
    if meta.requires_grad(x.c):
        raise BufferError("__dlpack__: the tensor requires grad, which other libraries would not "
                          "see; use tensor.detach()")
    return dl_lend(x.c, dl_codes[<int> x.c.dtype()], versioned, 2 if copied else 0)


def _from_dlpack(capsule):
    """A tensor in the memory of a capsule, and whether it may be written; see `_to_dlpack`.

    Args:
        capsule: of DLPack, not used before.
    """
    cdef DlShown shown
    cdef int d, code
    if PyCapsule_CheckExact(capsule):
        shown = dl_show(capsule)
        if not shown.found and (PyCapsule_IsValid(capsule, b"used_dltensor")
                                or PyCapsule_IsValid(capsule, b"used_dltensor_versioned")):
            raise RuntimeError("from_dlpack: the capsule was used before; expected a new one, as "
                               "each makes one tensor")
    if not PyCapsule_CheckExact(capsule) or not shown.found:
        raise RuntimeError(f"from_dlpack: no DLPack capsule; got {short_repr(capsule)}, expected "
                           "an object that has __dlpack__, or what that returns")
    if shown.major != 1:
        raise BufferError(f"from_dlpack: an unknown version of DLPack; got {shown.major}, expected "
                          "1")
    if shown.tensor.device.kind != 1:
        raise BufferError("from_dlpack: the memory is not the processor's; got a device of kind "
                          f"{shown.tensor.device.kind}, expected kDLCPU, 1; copy the array to the "
                          "CPU in its own library")
    code = shown.tensor.dtype.code
    for d in range(len(dl_codes)):
        if (code == dl_codes[d] and shown.tensor.dtype.lanes == 1
                and shown.tensor.dtype.bits == 8 * itemsize(<CDType> d)):
            break
    else:
        raise BufferError(f"from_dlpack: the elements have no dtype here; got code {code} of "
                          f"{shown.tensor.dtype.bits} bits x {shown.tensor.dtype.lanes}, expected "
                          "bool, uint8, int8, int16, int32, int64, float16, bfloat16, float32 or "
                          "float64")
    cdef int n = shown.tensor.ndim, i
    if not 0 <= n <= MAX_DEPTH:
        raise BufferError(f"from_dlpack: too many dimensions; got {n}, expected at most "
                          f"{MAX_DEPTH}")
    for i in range(n):
        if shown.tensor.shape[i] < 0:
            raise BufferError(f"from_dlpack: a size is negative; got {shown.tensor.shape[i]}")
        if (shown.tensor.strides is not NULL and shown.tensor.shape[i] > 1
                and shown.tensor.strides[i] < 0):
            strides = tuple([shown.tensor.strides[j] for j in range(n)])
            raise ZeroValueError(f"from_dlpack: a stride is negative; got strides {strides}, "
                                 "expected none below 0; copy=True gives such a tensor")
    if (<size_t> shown.tensor.data + shown.tensor.byte_offset) % <size_t> itemsize(<CDType> d):
        raise ZeroValueError("from_dlpack: the elements are not aligned; got an address that is no "
                             f"multiple of {itemsize(<CDType> d)} bytes; copy=True "
                             "gives one")
    return wrap(dl_tensor(capsule, <CDType> d)), not shown.flags & 1
