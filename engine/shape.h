#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <span>
#include <string_view>

namespace farfield {

/// Sizes of a row-major tensor, outermost first; 0 to 6 dimensions. A dimension may be 0.
class Shape {
 public:
  static constexpr int kMaxRank = 6;

  Shape() = default;
  Shape(std::initializer_list<int64_t> sizes);
  explicit Shape(std::span<const int64_t> sizes);

  int rank() const { return rank_; }
  /// Size of dimension i; negative i counts from the end. ShapeError when there is none.
  int64_t operator[](int i) const { return sizes_[static_cast<size_t>(index(i))]; }
  /// i as a number from 0 to rank() - 1. ShapeError when there is no such dimension.
  int index(int i) const;
  bool has_dim(int i) const { return i >= -rank_ && i < rank_; }
  /// Number of elements; 1 for rank 0.
  int64_t numel() const;
  /// Product of the sizes of dimensions [begin, end).
  int64_t product(int begin, int end) const;
  Shape with(int i, int64_t size) const;  ///< a copy with dimension i of another size
  Shape without(int i) const;             ///< a copy with dimension i removed

  const int64_t* begin() const { return sizes_.data(); }
  const int64_t* end() const { return sizes_.data() + rank_; }
  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::array<int64_t, kMaxRank> sizes_{};
  int rank_ = 0;
};

/// "[8, 64]"
std::ostream& operator<<(std::ostream& out, const Shape& shape);

/// The common shape of a and b: aligned at the last dimension, equal sizes or 1. ShapeError, naming
/// `where`, otherwise.
Shape broadcast(const Shape& a, const Shape& b, std::string_view where);

}  // namespace farfield
