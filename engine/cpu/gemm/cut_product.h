#pragma once

#include <optional>

#include "engine/base/parallel.h"
#include "engine/cpu/gemm/panels.h"
#include "engine/packed_copies.h"

namespace farfield {

/// A panel of a product, for the part [k0, k0 + k) of its inner dimension.
struct Panel {
  int64_t m0 = 0, n0 = 0;  ///< its first row and column
  int64_t ik = 0;          ///< number of the part
  Gemm product;            ///< c is the panel in the whole product's
  const void* packed = nullptr;
};

/// The longest inner dimension whose B is packed at once: longer products are cut, and their parts
/// added in order.
int64_t longest_inner(const GemmLibrary& library, const Gemm& product);

/// A product to be computed panel by panel on all threads, with B packed if the library packs it.
/// m, n, k >= 1. The cuts depend on the shape alone.
class CutProduct {
 public:
  CutProduct(const GemmLibrary& library, const Gemm& product, bool may_cut_k);

  const Panels& cuts() const { return cuts_; }

  /// body(panel) for each panel and part, in parallel; the body calls multiply() with it, perhaps
  /// with another c.
  template <class Body>
  void for_each_panel(const Body& body) {
    if (packed_ == nullptr)
      return parallel_for(cuts_.count() * cuts_.k.count(), [&](int64_t i) {
        body(panel(i % cuts_.count() / cuts_.n.count(), i % cuts_.n.count(), i / cuts_.count()));
      });
    for (int64_t first = 0; first < cuts_.n.count(); first += group_) {
      const int64_t n = std::min(group_, cuts_.n.count() - first);
      if (buffer_.has_value()) {
        const int64_t last = first + n - 1;
        pack(cuts_.n.begin(first), cuts_.n.begin(last) + cuts_.n.length(last), buffer_->data());
      }
      parallel_for(cuts_.m.count() * n,
                   [&](int64_t i) { body(panel(i / n, first + i % n, 0, first)); });
    }
  }
  void multiply(const Panel& panel) const;

 private:
  Panel panel(int64_t im, int64_t in, int64_t ik, int64_t first_packed = 0);
  PackedCopies::Bytes kept_b() const;
  int64_t packed_bytes(int64_t n) const;
  /// Columns [begin, end) of B.
  void pack(int64_t begin, int64_t end, std::byte* to) const;

  const GemmLibrary& library_;
  const PackedGemm* packed_;  ///< null: this product goes to the library as it is
  Gemm product_;
  Panels cuts_;
  int64_t group_ = 0;         ///< panels of columns that are packed at a time
  PackedCopies::Bytes kept_;  ///< all of B, packed; perhaps by another product
  std::optional<Buffer<std::byte>> buffer_;
};

}  // namespace farfield
