#include "engine/cpu/gemm/cut_product.h"

#include <algorithm>

#include "engine/cpu/gemm/thin.h"

namespace farfield {
namespace {

// Bytes of B that are packed at a time: they stay in the third-level cache.
constexpr int64_t kMostPacked = int64_t{4} << 20;

// The same for columns of which a panel needs all at once.
constexpr int64_t kMostOfPanel = int64_t{8} << 20;

}  // namespace

int64_t longest_inner(const GemmLibrary& library, const Gemm& p) {
  if (library.packed == nullptr || is_thin(p)) return p.k;
  const Cut columns = cut_packed(p.m, p.n, p.k, *library.packed).n;
  const int64_t bytes = library.packed->bytes(p) * (columns.step / library.packed->columns);
  const int64_t parts = (bytes + kMostOfPanel - 1) / kMostOfPanel;
  constexpr int64_t kStep = 16;
  return ((p.k + parts - 1) / parts + kStep - 1) / kStep * kStep;
}

CutProduct::CutProduct(const GemmLibrary& library, const Gemm& p, bool may_cut_k)
    : library_(library), packed_(is_thin(p) ? nullptr : library.packed), product_(p) {
  if (packed_ == nullptr) {
    cuts_ = cut_panels(p.m, p.n, p.k, may_cut_k);
    return;
  }
  cuts_ = cut_packed(p.m, p.n, p.k, *packed_);
  kept_ = kept_b();
  if (kept_ != nullptr || packed_->reads_b(p)) {
    group_ = cuts_.n.count();
    return;
  }
  const int64_t bytes = packed_->bytes(p) * (cuts_.n.step / packed_->columns);  // of a panel's B
  group_ = std::clamp<int64_t>(kMostPacked / bytes, 1, cuts_.n.count());
  buffer_.emplace(bytes * group_);
}

void CutProduct::multiply(const Panel& panel) const {
  if (packed_ != nullptr)
    packed_->product(panel.product, panel.packed);
  else
    panel_product(library_, panel.product);
}

Panel CutProduct::panel(int64_t im, int64_t in, int64_t ik, int64_t first_packed) {
  Panel panel{cuts_.m.begin(im), cuts_.n.begin(in), ik, {}};
  panel.product = part_of(product_, panel.m0, cuts_.m.length(im), panel.n0, cuts_.n.length(in),
                          cuts_.k.begin(ik), cuts_.k.length(ik));
  if (kept_ != nullptr || buffer_.has_value()) {
    const void* const first_column = kept_ != nullptr ? kept_->data() : buffer_->data();
    panel.packed = static_cast<const std::byte*>(first_column) +
                   packed_bytes(panel.n0 - cuts_.n.begin(first_packed));
  }
  return panel;
}

// Of so many columns.
int64_t CutProduct::packed_bytes(int64_t n) const {
  return (n + packed_->columns - 1) / packed_->columns * packed_->bytes(product_);
}

PackedCopies::Bytes CutProduct::kept_b() const {
  const Gemm& p = product_;
  if (p.packed_b == nullptr) return nullptr;
  const PackedCopies::Key key{.data = p.b,
                              .rows = p.transpose_b ? p.n : p.k,
                              .columns = p.transpose_b ? p.k : p.n,
                              .ld = p.ldb,
                              .transposed = p.transpose_b,
                              .packer = packed_};
  return p.packed_b->get(key, packed_bytes(p.n), [&](std::byte* to) { pack(0, p.n, to); });
}

void CutProduct::pack(int64_t begin, int64_t end, std::byte* to) const {
  constexpr int64_t kBytes = int64_t{1} << 18;  // at a time: worth a thread
  const int64_t grain = std::max<int64_t>(1, kBytes / packed_->bytes(product_)) * packed_->columns;
  parallel_chunks(end - begin, grain, [&](int64_t from, int64_t until) {
    packed_->pack(product_, begin + from, until - from, to + packed_bytes(from));
  });
}

}  // namespace farfield
