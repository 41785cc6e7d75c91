#pragma once

#include <span>

#include "engine/device.h"
#include "engine/step_guard.h"
#include "engine/tensor.h"

namespace farfield {

struct AdamWStep {
  double beta1, beta2, eps;
  /// The coefficients that change from update to update, float64 [3], see adamw_rates(). They lie
  /// on the device, so that an update can be recorded once and replayed.
  Tensor rates;
  StepGuard guard;
};
/// One parameter of an update: all four of one shape and dtype, float32 or float64. Where param
/// keeps itself rounded (Tensor::keep_rounded()), that is written in the same pass.
struct AdamWTarget {
  Tensor grad, param;
  Tensor m, v;  ///< running means of the gradient and of its square
  bool decay;   ///< weight_decay applies
};
/// One update in place of every target, one pass over memory. The whole list is one piece of work,
/// so that hundreds of small tensors do not cost hundreds of thread wake-ups.
void adamw_step(Cpu, const AdamWStep& step, std::span<AdamWTarget> targets);
void adamw_step(Cuda, const AdamWStep& step, std::span<AdamWTarget> targets);

struct NagStep {
  Tensor rates;  ///< float64 [kNagRates] on the device, see nag_rates()
  StepGuard guard;
};
/// One parameter of an update: all three of one shape and dtype, float32 or float64; param as in
/// AdamWTarget.
struct NagTarget {
  Tensor grad, param;
  Tensor m;    ///< the velocity
  bool decay;  ///< weight_decay applies
};
/// One update in place of every target, as adamw_step().
void nag_step(Cpu, const NagStep& step, std::span<NagTarget> targets);
void nag_step(Cuda, const NagStep& step, std::span<NagTarget> targets);

/// Elements of one sum of square_sums().
inline constexpr int64_t kSquareBlock = int64_t{1} << 14;
/// sums float64 [blocks]: of the squares of each kSquareBlock elements of all tensors behind one
/// another (float32 or float64). A sum has the same bits whichever process has the other blocks.
void square_sums(Cpu, std::span<const Tensor> tensors, Tensor& sums);

/// norm float64 [] = the root of the sum of squares of all elements of all tensors (float32 or
/// float64), summed in float64 in the order of the list; on the CPU it adds the results of
/// square_sums(), one after the other.
void global_norm(Cpu, std::span<const Tensor> tensors, Tensor& norm);
void global_norm(Cuda, std::span<const Tensor> tensors, Tensor& norm);

}  // namespace farfield
