// Eigen as the library of matrix products: float32 and float64.

#include <Eigen/Core>
#include <type_traits>

#include "engine/cpu/gemm/library.h"

namespace farfield {
namespace {

template <class T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using ConstMap = Eigen::Map<const RowMajor<T>, Eigen::Unaligned, Eigen::OuterStride<>>;

template <class T>
void multiply(const Gemm& p) {
  using Stride = Eigen::OuterStride<>;
  const ConstMap<T> a(static_cast<const T*>(p.a), p.transpose_a ? p.k : p.m,
                      p.transpose_a ? p.m : p.k, Stride(p.lda));
  const ConstMap<T> b(static_cast<const T*>(p.b), p.transpose_b ? p.n : p.k,
                      p.transpose_b ? p.k : p.n, Stride(p.ldb));
  Eigen::Map<RowMajor<T>, Eigen::Unaligned, Stride> c(static_cast<T*>(p.c), p.m, p.n,
                                                      Stride(p.ldc));
  const auto store = [&](const auto& product) {
    if (p.accumulate)
      c.noalias() += product;
    else
      c.noalias() = product;
  };
  if (p.transpose_a && p.transpose_b)
    store(a.transpose() * b.transpose());
  else if (p.transpose_a)
    store(a.transpose() * b);
  else if (p.transpose_b)
    store(a * b.transpose());
  else
    store(a * b);
}

bool takes(DType in, DType out) { return in == out && (in == DType::f32 || in == DType::f64); }

void product(const Gemm& panel) {
  if (panel.in == DType::f64)
    multiply<double>(panel);
  else
    multiply<float>(panel);
}

}  // namespace

GemmLibrary eigen_library() {
  GemmLibrary library;
  library.name =
      concat("Eigen ", EIGEN_WORLD_VERSION, '.', EIGEN_MAJOR_VERSION, '.', EIGEN_MINOR_VERSION);
  library.takes = takes;
  library.product = product;
  library.instruction_set = concat(Eigen::SimdInstructionSetsInUse(), ", as compiled");
  library.bf16 = "widened to float32: Eigen is not asked for them";
  return library;
}

}  // namespace farfield
