#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "engine/device.h"
#include "engine/dtype.h"
#include "engine/shape.h"
#include "engine/storage.h"

namespace farfield {

class PackedCopies;
struct Node;

/// A value handle: copies share the elements. Always row-major and without gaps; a reshape or a
/// slice of the first dimension shares storage, every other rearrangement copies.
class Tensor {
 public:
  Tensor() = default;  ///< undefined: stands for "no tensor" (an absent bias, no gradient)

  /// Not initialised. BackendError, with shape and dtype, when there is no memory for it.
  static Tensor empty(const Shape& shape, DType dtype = DType::f32, const Device& device = {});
  static Tensor zeros(const Shape& shape, DType dtype = DType::f32, const Device& device = {});
  static Tensor full(const Shape& shape, double value, DType dtype = DType::f32,
                     const Device& device = {});
  /// Values in row-major order, rounded to dtype. ShapeError if their number does not fit the
  /// shape.
  static Tensor from(std::span<const double> values, const Shape& shape, DType dtype = DType::f32,
                     const Device& device = {});
  static Tensor from(std::initializer_list<double> values, const Shape& shape,
                     DType dtype = DType::f32, const Device& device = {});
  static Tensor from(std::span<const int32_t> values, const Shape& shape,
                     const Device& device = {});

  bool defined() const { return impl_ != nullptr; }
  const Shape& shape() const;
  int rank() const { return shape().rank(); }
  int64_t dim(int i) const { return shape()[i]; }
  int64_t numel() const { return shape().numel(); }
  int64_t size_bytes() const { return numel() * size_of(dtype()); }
  DType dtype() const;
  const Device& device() const;

  /// The elements; DTypeError unless T is the element type. A pointer of the tensor's device.
  template <class T>
  T* data() {
    check_dtype(dtype_of<T>);
    return static_cast<T*>(raw_data());
  }
  template <class T>
  const T* data() const {
    check_dtype(dtype_of<T>);
    return static_cast<const T*>(raw_data());
  }
  void* raw_data();
  const void* raw_data() const;

  /// Keeps a second copy of the float32 elements, rounded to bfloat16, for ops that would round
  /// them in every call. The copy covers all elements of the storage, and keeps its address as long
  /// as they do. assign() updates the copy, and so do kernels that write by data_and_rounded(). Any
  /// other write makes it invalid: a call of data() or raw_data() on a non-const tensor drops it
  /// until the next keep_rounded(), which rounds again. (So do not keep a pointer from an earlier
  /// call.) DTypeError for another dtype. Not while others use the elements.
  void keep_rounded() const;
  /// Whether an up-to-date rounded copy exists.
  bool has_rounded() const;
  /// Pointers for a kernel that writes each changed element to both copies.
  template <class T>
  struct DataAndRounded {
    T* data;
    BFloat16* rounded;  ///< nullptr unless has_rounded()
  };
  template <class T>
  DataAndRounded<T> data_and_rounded() {
    check_dtype(dtype_of<T>);
    end_copies_beside_rounded();
    return {static_cast<T*>(address()), has_rounded() ? rounded_address() : nullptr};
  }

  /// Lets matrix products on the CPU keep what they pack of these elements until they change: for
  /// weights that many products read. As with keep_rounded(), whose copy they keep packed too, any
  /// write to the elements drops the packed copies; later products pack again. Not while others use
  /// the elements.
  void keep_packed() const;
  /// Where products keep it; nullptr without keep_packed().
  PackedCopies* packed_copies() const;

  /// Bytes that keep_rounded() and keep_packed() hold beside the elements of the storage.
  int64_t kept_bytes() const;

  /// Stores the sums of these elements over all dimensions but the last, [dim(-1)], which the
  /// writer of the elements had at hand: for ops that would read all elements to get them. As with
  /// keep_rounded(), a write to the elements drops the sums. ShapeError for sums of another shape,
  /// and for a tensor that is only a part of its storage.
  void keep_column_sums(const Tensor& sums) const;
  /// These sums, or undefined if no up-to-date sums exist.
  Tensor column_sums() const;

  /// All elements, widened, on the host.
  std::vector<double> to_vector() const;
  /// The one element of a tensor with numel() == 1.
  double item() const;
  /// The same values on another device; the same tensor if it is on that device already. Not
  /// differentiable.
  Tensor to(const Device& device) const;
  /// The same values, rounded to another floating dtype, without gradient history. If the tensor
  /// has this dtype already, or keep_rounded() keeps a copy in it, the result shares these
  /// elements: do not write to it. Not differentiable.
  Tensor to(DType dtype) const;
  /// Overwrites the elements by the elements of x, which may be on another device and of another
  /// dtype. ShapeError for another shape. Not differentiable.
  void assign(const Tensor& x);
  /// A copy with its own storage, without gradient history.
  Tensor clone() const;
  /// The same elements without gradient history: a backward closure keeps such a tensor, so that no
  /// node owns itself.
  Tensor detach() const;
  /// Shares storage, no history: elements from `offset` on, read as `shape`. The differentiable
  /// views are in ops/view.h.
  Tensor view(const Shape& shape, int64_t offset = 0) const;

  /// Marks a leaf whose gradient backward() accumulates into grad(). Returns *this.
  Tensor& set_requires_grad(bool value = true);
  bool requires_grad() const;        ///< a leaf that requires a gradient
  bool needs_grad() const;           ///< requires_grad(), or made from such a tensor
  Tensor grad() const;               ///< undefined until backward() reaches this leaf
  void set_grad(Tensor grad) const;  ///< an undefined tensor clears it

  /// Gradient history, for autograd.cpp.
  const std::shared_ptr<Node>& node() const;
  int output_index() const;
  void set_node(std::shared_ptr<Node> node, int output_index);

  /// True when this handle is the only owner of the elements, so they may be overwritten.
  bool is_sole_owner() const;

 private:
  struct Impl;
  explicit Tensor(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  const Impl& impl() const;  // ConfigError-free access: throws ShapeError when undefined
  void check_dtype(DType wanted) const;
  void* address() const;
  BFloat16* rounded_address() const;
  Tensor rounded() const;  // the elements of keep_rounded()
  bool is_all_of_storage() const;
  void end_copies_beside_rounded() const;

  std::shared_ptr<Impl> impl_;
};

Tensor empty_like(const Tensor& x);
Tensor zeros_like(const Tensor& x);

}  // namespace farfield
