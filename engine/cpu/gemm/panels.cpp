#include "engine/cpu/gemm/panels.h"

#include "engine/cpu/gemm/thin.h"
#include "engine/dtype.h"

namespace farfield {
namespace {

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// About `pieces` pieces, each a multiple of 16.
Cut cut(int64_t size, int64_t pieces) {
  return {size, std::max<int64_t>(16, ceil_div(ceil_div(size, pieces), 16) * 16)};
}

// The longest slice of the inner dimension that is widened at a time, so that it is still in the
// second cache when it is multiplied.
constexpr int64_t kSlice = 512;

void widen(const BFloat16* from, int64_t ld, int64_t rows, int64_t columns, float* to,
           int64_t ld_to) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) to[r * ld_to + c] = static_cast<float>(from[r * ld + c]);
}

// A bfloat16 panel through a float32 product.
void widened_product(const GemmLibrary& library, const Gemm& p) {
  const int64_t slice = std::min(p.k, kSlice), stride = padded_stride(slice);
  const int64_t stride_b = p.transpose_b ? stride : padded_stride(p.n);
  const bool narrow = p.out == DType::bf16;
  Buffer<float> a(p.m * stride), b((p.transpose_b ? p.n : slice) * stride_b);
  Buffer<float> c(narrow ? p.m * p.n : 0);
  Gemm wide = p;
  wide.in = wide.out = DType::f32;
  wide.transpose_a = false;
  wide.a = a.data();
  wide.b = b.data();
  wide.lda = stride;
  wide.ldb = stride_b;
  if (narrow) {
    wide.c = c.data();
    wide.ldc = p.n;
    if (p.accumulate) widen(static_cast<const BFloat16*>(p.c), p.ldc, p.m, p.n, c.data(), p.n);
  }
  for (int64_t k0 = 0; k0 < p.k; k0 += slice) {
    const Gemm part = part_of(p, 0, p.m, 0, p.n, k0, std::min(slice, p.k - k0));
    const auto* const from_a = static_cast<const BFloat16*>(part.a);
    const auto* const from_b = static_cast<const BFloat16*>(part.b);
    if (p.transpose_a)
      transpose(from_a, p.lda, part.k, p.m, a.data(), stride);
    else
      widen(from_a, p.lda, p.m, part.k, a.data(), stride);
    widen(from_b, p.ldb, p.transpose_b ? p.n : part.k, p.transpose_b ? part.k : p.n, b.data(),
          stride_b);
    wide.k = part.k;
    panel_product(library, wide);
    wide.accumulate = true;
  }
  if (!narrow) return;
  auto* const out = static_cast<BFloat16*>(p.c);
  for (int64_t r = 0; r < p.m; ++r)
    for (int64_t col = 0; col < p.n; ++col)
      out[r * p.ldc + col] = BFloat16(c.data()[r * p.n + col]);
}

const char* at(const void* base, int64_t element, DType dtype) {
  return static_cast<const char*>(base) + element * size_of(dtype);
}

}  // namespace

// Sizes from trials with `bench matmul`, oneDNN on AVX2. Small panels pay for packing their
// operands again and again; large ones leave threads waiting at the end.
Panels cut_panels(int64_t m, int64_t n, int64_t k, bool may_cut_k) {
  constexpr int64_t kColumns = 768, kDeepPiece = 512;
  // One row is limited by how fast b is read: pieces of 1 MiB are read as fast as all of b, and
  // an even number of them suits an even number of threads.
  constexpr int64_t kReadPair = int64_t{1} << 19;
  const Cut n_cut = cut(n, m == 1 ? 2 * ceil_div(n * k, kReadPair) : ceil_div(n, kColumns));
  // A power of two, so that the usual batches give equal panels.
  const int64_t rows = n_cut.step <= 128 ? 128 : n_cut.step < 512 ? 256 : 512;
  const int64_t work = ceil_div(m * n * k, int64_t{1} << 23);  // of some 0.1 ms
  const int64_t wanted = std::clamp<int64_t>(work / 16, std::min<int64_t>(8, work), 32);
  int64_t pieces = ceil_div(m, rows);
  if (pieces * n_cut.count() < wanted)
    pieces = std::min(ceil_div(wanted, n_cut.count()), ceil_div(m, std::min<int64_t>(rows, 256)));
  if (pieces > 1 && pieces * n_cut.count() % 2 == 1) ++pieces;
  Panels p{cut(m, pieces), n_cut, {k, k}};
  if (may_cut_k && p.count() < wanted && k >= 2 * kDeepPiece)
    p.k = cut(k, std::min(ceil_div(wanted, p.count()), k / kDeepPiece));
  return p;
}

// Of some 96 rows and at most 512 columns, so that sums and B's part stay in the second-level
// cache; fewer rows where that makes too few panels to share. Panels are as equal as whole blocks
// of rows allow, and an even number if there are blocks enough, so that two threads have as much to
// do.
Panels cut_packed(int64_t m, int64_t n, int64_t k, const PackedGemm& packed) {
  constexpr int64_t kRows = 96, kColumns = 512, kWanted = 8;
  const int64_t columns = ceil_div(n, ceil_div(n, kColumns));
  const Cut n_cut{n, ceil_div(columns, packed.columns) * packed.columns};
  int64_t pieces = std::max(ceil_div(m, kRows), ceil_div(kWanted, n_cut.count()));
  if (pieces * n_cut.count() % 2 == 1) ++pieces;
  Cut m_cut{m, packed.rows};
  m_cut.pieces = std::min(pieces, m_cut.n_step());
  return {m_cut, n_cut, {k, k}};
}

Gemm part_of(const Gemm& p, int64_t m0, int64_t m, int64_t n0, int64_t n, int64_t k0, int64_t k) {
  Gemm part = p;
  part.m = m;
  part.n = n;
  part.k = k;
  part.a = at(p.a, p.transpose_a ? k0 * p.lda + m0 : m0 * p.lda + k0, p.in);
  part.b = at(p.b, p.transpose_b ? n0 * p.ldb + k0 : k0 * p.ldb + n0, p.in);
  part.c = const_cast<char*>(at(p.c, m0 * p.ldc + n0, p.out));
  part.packed_b = nullptr;
  return part;
}

const GemmLibrary& library_for(DType in, DType out, int64_t m) {
  const auto& all = gemm_libraries();
  for (const DType dtype : {in, DType::f32})  // bfloat16 as it is, else widened
    for (const GemmLibrary& library : all)
      if (m >= library.least_rows && library.takes(dtype, dtype == in ? out : DType::f32))
        return library;
  fail<DTypeError>("gemm", "expected float32, float64 or bfloat16, got ", in);
}

void panel_product(const GemmLibrary& library, const Gemm& p) {
  if (is_thin(p))
    thin_product(p);
  else if (!library.takes(p.in, p.out))
    widened_product(library, p);
  else
    library.product(p);
}

}  // namespace farfield
