#include "engine/shape.h"

#include <algorithm>

#include "engine/base/error.h"

namespace farfield {

Shape::Shape(std::initializer_list<int64_t> sizes)
    : Shape(std::span<const int64_t>(sizes.begin(), sizes.size())) {}

Shape::Shape(std::span<const int64_t> sizes) {
  require<ShapeError>(sizes.size() <= kMaxRank, "shape", "expected at most ", kMaxRank,
                      " dimensions, got ", sizes.size());
  rank_ = static_cast<int>(sizes.size());
  int64_t count = 1;
  for (int i = 0; i < rank_; ++i) {
    const int64_t size = sizes[static_cast<size_t>(i)];
    require<ShapeError>(size >= 0, "shape", "expected sizes of 0 or more, got ", size);
    require<ShapeError>(!__builtin_mul_overflow(count, size, &count), "shape",
                        "the number of elements overflows 64 bits");
    sizes_[static_cast<size_t>(i)] = size;
  }
}

int Shape::index(int i) const {
  require<ShapeError>(has_dim(i), "shape", "expected a dimension of ", *this, ", got ", i);
  return i < 0 ? i + rank_ : i;
}

int64_t Shape::numel() const { return product(0, rank_); }

int64_t Shape::product(int begin, int end) const {
  int64_t count = 1;
  for (int i = begin; i < end; ++i) count *= sizes_[static_cast<size_t>(i)];
  return count;
}

Shape Shape::with(int i, int64_t size) const {
  std::array<int64_t, kMaxRank> sizes = sizes_;
  sizes[static_cast<size_t>(index(i))] = size;
  return Shape(std::span<const int64_t>(sizes.data(), static_cast<size_t>(rank_)));
}

Shape Shape::without(int i) const {
  Shape result = *this;
  const auto first = result.sizes_.begin() + index(i);
  std::copy(first + 1, result.sizes_.end(), first);
  result.sizes_[static_cast<size_t>(--result.rank_)] = 0;
  return result;
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  out << '[';
  for (int i = 0; i < shape.rank(); ++i) out << (i ? ", " : "") << shape[i];
  return out << ']';
}

Shape broadcast(const Shape& a, const Shape& b, std::string_view where) {
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  Shape result = longer;
  for (int i = 1; i <= shorter.rank(); ++i) {
    const int64_t x = longer[-i], y = shorter[-i];
    require<ShapeError>(x == y || x == 1 || y == 1, where, "expected shapes that broadcast, got ",
                        a, " and ", b);
    result = result.with(-i, x == 1 ? y : x);
  }
  return result;
}

}  // namespace farfield
