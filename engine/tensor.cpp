#include "engine/tensor.h"

#include <algorithm>
#include <atomic>

#include "engine/autograd.h"
#include "engine/kernels.h"
#include "engine/packed_copies.h"

namespace farfield {

namespace {

// The memory of elements, which a tensor and all of its views share.
struct Elements {
  Elements(int64_t size_bytes, const Device& device) : storage(size_bytes, device) {}

  Storage storage;
  std::shared_ptr<Elements> rounded;     // the same in bfloat16, from the first keep_rounded() on
  std::unique_ptr<PackedCopies> packed;  // from keep_packed() on
  Tensor column_sums;
  // Threads may ask for pointers, or read, at the same time.
  std::atomic<bool> is_rounded_current{false}, has_column_sums{false};
};

// Not written where it is false already: threads share it.
void end(std::atomic<bool>& is_current) {
  if (is_current.load(std::memory_order_relaxed))
    is_current.store(false, std::memory_order_relaxed);
}

}  // namespace

struct Tensor::Impl {
  std::shared_ptr<Elements> elements;
  int64_t offset_bytes = 0;
  Shape shape;
  DType dtype = DType::f32;
  bool requires_grad = false;
  int output_index = 0;
  std::shared_ptr<Node> node;
  Tensor grad;
};

namespace {

template <class T>
Tensor from_host(std::span<const T> values, const Shape& shape, DType dtype, const Device& device) {
  require<ShapeError>(static_cast<int64_t>(values.size()) == shape.numel(), "tensor", "expected ",
                      shape.numel(), " values for shape ", shape, ", got ", values.size());
  Tensor host = Tensor::empty(shape, dtype);
  if constexpr (std::is_same_v<T, int32_t>) {
    std::copy(values.begin(), values.end(), host.data<int32_t>());
  } else if (dtype == DType::i32) {
    std::transform(values.begin(), values.end(), host.data<int32_t>(),
                   [](T x) { return static_cast<int32_t>(x); });
  } else {
    dispatch_float(dtype, [&](auto type) {
      using Element = decltype(type);
      std::transform(values.begin(), values.end(), host.data<Element>(),
                     [](T x) { return static_cast<Element>(x); });
    });
  }
  return host.to(device);
}

}  // namespace

Tensor Tensor::empty(const Shape& shape, DType dtype, const Device& device) {
  auto impl = std::make_shared<Impl>();
  int64_t bytes = 0;
  require<ShapeError>(!__builtin_mul_overflow(shape.numel(), size_of(dtype), &bytes), "tensor",
                      "the size in bytes of ", shape, " overflows 64 bits");
  try {
    impl->elements = std::make_shared<Elements>(bytes, device);
  } catch (const BackendError& error) {
    throw BackendError(concat(error.what(), "; it was for a tensor of ", dtype, ' ', shape));
  }
  impl->shape = shape;
  impl->dtype = dtype;
  return Tensor(std::move(impl));
}

Tensor Tensor::zeros(const Shape& shape, DType dtype, const Device& device) {
  return full(shape, 0, dtype, device);
}

Tensor Tensor::full(const Shape& shape, double value, DType dtype, const Device& device) {
  Tensor x = empty(shape, dtype, device);
  dispatch(device, [&](auto tag) { fill(tag, value, x); });
  return x;
}

Tensor Tensor::from(std::span<const double> values, const Shape& shape, DType dtype,
                    const Device& device) {
  return from_host(values, shape, dtype, device);
}
Tensor Tensor::from(std::initializer_list<double> values, const Shape& shape, DType dtype,
                    const Device& device) {
  return from_host(std::span<const double>(values.begin(), values.size()), shape, dtype, device);
}
Tensor Tensor::from(std::span<const int32_t> values, const Shape& shape, const Device& device) {
  return from_host(values, shape, DType::i32, device);
}

const Tensor::Impl& Tensor::impl() const {
  require<ShapeError>(impl_ != nullptr, "tensor", "expected a tensor, got an undefined one");
  return *impl_;
}
void Tensor::check_dtype(DType wanted) const {
  require<DTypeError>(dtype() == wanted, "tensor", "expected ", wanted, ", got ", dtype());
}

const Shape& Tensor::shape() const { return impl().shape; }
DType Tensor::dtype() const { return impl().dtype; }
const Device& Tensor::device() const { return impl().elements->storage.device(); }
void* Tensor::address() const {
  return static_cast<char*>(impl().elements->storage.data()) + impl().offset_bytes;
}
void* Tensor::raw_data() {
  end(impl().elements->is_rounded_current);
  end_copies_beside_rounded();
  return address();
}
const void* Tensor::raw_data() const { return address(); }

void Tensor::keep_rounded() const {
  require<DTypeError>(dtype() == DType::f32, "tensor", "expected float32 to keep rounded, got ",
                      dtype());
  if (has_rounded()) return;
  Elements& elements = *impl().elements;
  const int64_t n = elements.storage.size_bytes() / size_of(DType::f32);
  if (elements.rounded == nullptr) {
    elements.rounded = std::make_shared<Elements>(n * size_of(DType::bf16), device());
    if (elements.packed != nullptr) elements.rounded->packed = std::make_unique<PackedCopies>();
  }
  auto all = std::make_shared<Impl>();
  all->elements = impl().elements;
  all->shape = {n};
  const Tensor from(std::move(all));
  Tensor to = from.rounded();
  dispatch(device(), [&](auto tag) { cast(tag, from, to); });
  elements.is_rounded_current.store(true, std::memory_order_relaxed);
}
bool Tensor::has_rounded() const {
  return impl().elements->is_rounded_current.load(std::memory_order_relaxed);
}
BFloat16* Tensor::rounded_address() const {
  return static_cast<BFloat16*>(impl().elements->rounded->storage.data()) +
         impl().offset_bytes / size_of(DType::f32);
}
Tensor Tensor::rounded() const {
  auto result = std::make_shared<Impl>();
  result->elements = impl().elements->rounded;
  result->offset_bytes = impl().offset_bytes / size_of(DType::f32) * size_of(DType::bf16);
  result->shape = shape();
  result->dtype = DType::bf16;
  return Tensor(std::move(result));
}

void Tensor::keep_packed() const {
  for (Elements* elements : {impl().elements.get(), impl().elements->rounded.get()})
    if (elements != nullptr && elements->packed == nullptr)
      elements->packed = std::make_unique<PackedCopies>();
}
PackedCopies* Tensor::packed_copies() const { return impl().elements->packed.get(); }

int64_t Tensor::kept_bytes() const {
  const auto packed_bytes = [](const Elements& elements) {
    return elements.packed != nullptr ? elements.packed->size_bytes() : 0;
  };
  const Elements* const rounded = impl().elements->rounded.get();
  return packed_bytes(*impl().elements) +
         (rounded != nullptr ? rounded->storage.size_bytes() + packed_bytes(*rounded) : 0);
}

bool Tensor::is_all_of_storage() const {
  return size_bytes() == impl().elements->storage.size_bytes();
}
void Tensor::keep_column_sums(const Tensor& sums) const {
  require<ShapeError>(rank() > 0 && sums.shape() == Shape{dim(-1)}, "tensor",
                      "expected sums over the rows of x", shape(), ", got ", sums.shape());
  require<ShapeError>(is_all_of_storage(), "tensor",
                      "expected column sums of all that is stored, got those of a part");
  Elements& elements = *impl().elements;
  elements.column_sums = sums;
  elements.has_column_sums.store(true, std::memory_order_relaxed);
}
Tensor Tensor::column_sums() const {
  const Elements& elements = *impl().elements;
  const bool are_ours = elements.has_column_sums.load(std::memory_order_relaxed) &&
                        is_all_of_storage() && rank() > 0 &&
                        elements.column_sums.shape() == Shape{dim(-1)};
  return are_ours ? elements.column_sums : Tensor();
}
void Tensor::end_copies_beside_rounded() const {
  Elements& elements = *impl().elements;
  end(elements.has_column_sums);
  if (elements.packed == nullptr) return;
  elements.packed->clear();
  if (elements.rounded != nullptr) elements.rounded->packed->clear();
}

std::vector<double> Tensor::to_vector() const {
  const Tensor host = to(Device{});
  std::vector<double> values(static_cast<size_t>(numel()));
  if (dtype() == DType::i32) {
    std::copy_n(host.data<int32_t>(), numel(), values.begin());
  } else {
    dispatch_float(dtype(), [&](auto type) {
      using Element = decltype(type);
      std::transform(host.data<Element>(), host.data<Element>() + numel(), values.begin(),
                     [](Element x) { return static_cast<double>(x); });
    });
  }
  return values;
}

double Tensor::item() const {
  require<ShapeError>(numel() == 1, "tensor", "item() expects one element, got shape ", shape());
  return to_vector()[0];
}

Tensor Tensor::to(const Device& device) const {
  if (this->device() == device) return *this;
  Tensor result = empty(shape(), dtype(), device);
  const Device& other = device.kind == Device::Kind::cpu ? this->device() : device;
  dispatch(other, [&](auto tag) { copy_bytes(tag, *this, result); });
  return result;
}

Tensor Tensor::to(DType dtype) const {
  if (dtype == this->dtype()) return detach();
  if (dtype == DType::bf16 && has_rounded()) return rounded();
  Tensor result = empty(shape(), dtype, device());
  dispatch(device(), [&](auto tag) { cast(tag, *this, result); });
  return result;
}

void Tensor::assign(const Tensor& x) {
  require<ShapeError>(x.shape() == shape(), "tensor", "expected values of shape ", shape(),
                      ", got ", x.shape());
  if (x.dtype() == dtype() && x.address() == address()) return;
  Tensor copy = has_rounded() ? rounded() : Tensor();
  if (x.dtype() != dtype()) {
    const Tensor here = x.to(device());
    dispatch(device(), [&](auto tag) { cast(tag, here, *this); });
  } else {
    const Device& other = device().kind == Device::Kind::cpu ? x.device() : device();
    dispatch(other, [&](auto tag) { copy_bytes(tag, x, *this); });
  }
  if (!copy.defined()) return;
  dispatch(device(), [&](auto tag) { cast(tag, *this, copy); });
  impl().elements->is_rounded_current.store(true, std::memory_order_relaxed);
}

Tensor Tensor::clone() const {
  Tensor result = empty(shape(), dtype(), device());
  dispatch(device(), [&](auto tag) { copy_bytes(tag, *this, result); });
  return result;
}

Tensor Tensor::detach() const {
  if (!defined()) return {};
  return view(shape());
}

Tensor Tensor::view(const Shape& shape, int64_t offset) const {
  require<ShapeError>(offset >= 0 && offset <= numel() - shape.numel(), "tensor",
                      "a view of shape ", shape, " at element ", offset, " does not fit in ",
                      this->shape());
  auto result = std::make_shared<Impl>();
  result->elements = impl().elements;
  result->offset_bytes = impl().offset_bytes + offset * size_of(dtype());
  result->shape = shape;
  result->dtype = dtype();
  return Tensor(std::move(result));
}

Tensor& Tensor::set_requires_grad(bool value) {
  require<ShapeError>(impl().node == nullptr, "tensor", "only a leaf can be marked for a gradient");
  require<DTypeError>(!value || is_float(dtype()), "tensor",
                      "a gradient needs a floating type, got ", dtype());
  impl_->requires_grad = value;
  return *this;
}
bool Tensor::requires_grad() const { return impl_ != nullptr && impl_->requires_grad; }
bool Tensor::needs_grad() const {
  return impl_ != nullptr && (impl_->requires_grad || impl_->node != nullptr);
}
Tensor Tensor::grad() const { return impl().grad; }
void Tensor::set_grad(Tensor grad) const {
  require<ShapeError>(!grad.defined() || grad.shape() == shape(), "tensor",
                      "expected a gradient of shape ", shape());
  impl_->grad = std::move(grad);
}
const std::shared_ptr<Node>& Tensor::node() const { return impl().node; }
int Tensor::output_index() const { return impl().output_index; }
void Tensor::set_node(std::shared_ptr<Node> node, int output_index) {
  impl();
  impl_->node = std::move(node);
  impl_->output_index = output_index;
}
bool Tensor::is_sole_owner() const {
  return impl_ != nullptr && impl_.use_count() == 1 && impl_->elements.use_count() == 1;
}

Tensor empty_like(const Tensor& x) { return Tensor::empty(x.shape(), x.dtype(), x.device()); }
Tensor zeros_like(const Tensor& x) { return Tensor::zeros(x.shape(), x.dtype(), x.device()); }

}  // namespace farfield
