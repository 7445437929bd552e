// Tensor: a handle to a strided view of a storage, with what autograd and Python hang onto it.
#pragma once

#include <memory>

#include "zero/core/dtype.h"
#include "zero/core/scalar.h"
#include "zero/core/shape.h"
#include "zero/core/storage.h"
#include "zero/core/thread_local.h"

namespace zero {

// Owned by the tensor, defined by autograd (autograd/meta.h); core only ends it.
struct AutogradMetaBase { virtual ~AutogradMetaBase() = default; };

struct TensorOptions {
  DType dtype = default_dtype();
  Device device = Device::Cpu;
};

// Whether tensors that this thread makes are for inference only: autograd counts no writes to them
// and never records them (autograd/grad_mode.h).
inline ZERO_THREAD_LOCAL bool inference_mode_on = false;

class TensorImpl : public RefCounted {
 public:
  // Contiguous, at the start of its storage.
  TensorImpl(Ref<Storage> storage, const Dims& sizes, DType dtype, int64_t numel)
      : storage_(std::move(storage)), sizes_(sizes), numel_(numel), dtype_(dtype) {
    strides_.resize(sizes.size());
    int64_t step = 1;
    for (int64_t i = sizes.size() - 1; i >= 0; --i) {
      strides_[i] = step;
      step *= std::max<int64_t>(sizes[i], 1);
    }
  }
  // With the geometry of another tensor, at less cost.
  TensorImpl(Ref<Storage> storage, const TensorImpl& like, DType dtype)
      : storage_(std::move(storage)),
        sizes_(like.sizes_),
        strides_(like.strides_),
        offset_(like.offset_),
        numel_(like.numel_),
        dtype_(dtype),
        contiguous_(like.contiguous_) {}
  TensorImpl(Ref<Storage> storage, Dims sizes, Dims strides, int64_t offset, DType dtype)
      : storage_(std::move(storage)), offset_(offset), dtype_(dtype) {
    set_geometry(std::move(sizes), std::move(strides));
  }

  void set_geometry(Dims sizes, Dims strides) {
    sizes_ = std::move(sizes);
    strides_ = std::move(strides);
    numel_ = zero::numel(sizes_);
    contiguous_ = zero::is_contiguous(sizes_, strides_);
  }

  // Where writes are counted: in the storage, unless `.data` made a counter of its own.
  VersionCounter& version() const { return own_version_ ? *own_version_ : *storage_; }

  Ref<Storage> storage_;
  Dims sizes_;
  Dims strides_;        // in elements
  int64_t offset_ = 0;  // in elements
  int64_t numel_ = 0;
  DType dtype_;
  bool contiguous_ = true;
  bool is_parameter_ = false;  // so that a new Python wrapper has the right class
  bool is_inference_ = inference_mode_on;
  bool is_view_ =
      false;  // made by an operator that gives views; integers have no record of it else
  Ref<VersionCounter> own_version_;
  std::unique_ptr<AutogradMetaBase> autograd_;
  std::atomic<void*> wrapper_{nullptr};  // the Python object of this tensor, borrowed
};

class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(Ref<TensorImpl> impl) : impl_(std::move(impl)) {}

  bool defined() const { return static_cast<bool>(impl_); }
  TensorImpl* impl() const { return impl_.get(); }
  const Ref<TensorImpl>& ref() const { return impl_; }
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }

  const Dims& sizes() const { return impl_->sizes_; }
  const Dims& strides() const { return impl_->strides_; }
  int64_t size(int64_t dim) const { return impl_->sizes_[dim]; }      // dim >= 0, unchecked
  int64_t stride(int64_t dim) const { return impl_->strides_[dim]; }  // likewise
  int64_t dim() const { return impl_->sizes_.size(); }
  int64_t numel() const { return impl_->numel_; }
  int64_t storage_offset() const { return impl_->offset_; }
  DType dtype() const { return impl_->dtype_; }
  Device device() const { return impl_->storage_->device(); }
  bool is_meta() const { return device() == Device::Meta; }
  bool is_contiguous() const { return impl_->contiguous_; }
  TensorOptions options() const { return {dtype(), device()}; }
  uint32_t version() const { return impl_->version().current(); }

  // The first element; null on the meta device.
  void* data() const {
    char* p = static_cast<char*>(impl_->storage_->data());
    return p ? p + impl_->offset_ * itemsize(dtype()) : nullptr;
  }
  template <class T> T* data() const { return static_cast<T*>(data()); }

 private:
  Ref<TensorImpl> impl_;
};

using Tensors = SmallVector<Tensor, 3>;

// A new contiguous tensor, uninitialised; checks that the size fits before it allocates.
Tensor empty(const Dims& sizes, TensorOptions options = {});
// Whether no dimension of x lies in memory outside of one before it.
inline bool in_row_order(const Tensor& x) {
  if (x.is_contiguous()) return true;
  for (int64_t d = 1; d < x.dim(); ++d)
    if (x.stride(d) > x.stride(d - 1)) return false;
  return true;
}
// Strides without gaps for a result: its dimensions lie in memory in the order of its inputs', of
// which the first that tells two dimensions apart decides, as in PyTorch.
Dims strides_after(const Dims& sizes, std::initializer_list<const Tensor*> inputs);
// A new tensor with the sizes of one that exists, in the same order in memory.
Tensor empty_as(const Tensor& like, TensorOptions options);
// New strides over fresh memory, just large enough.
Tensor empty_strided(const Dims& sizes, const Dims& strides, TensorOptions options = {});
// Another tensor over the same storage, without any record in autograd: with the same geometry, or
// with another. `op` names the caller in errors.
Tensor alias(const Tensor& x);
Tensor alias(const char* op, const Tensor& base, Dims sizes, Dims strides, int64_t offset);

// "float32 (2, 3)" for error messages.
std::ostream& operator<<(std::ostream& out, const Tensor& t);

}  // namespace zero
