#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/dtype.h"
#include "engine/gemm.h"
#include "engine/tensor.h"
#include "layers/config.h"

namespace farfield::bench {

/// A matrix product C[m, n] = A[m, k] B[k, n] as a training step makes it.
struct ProductShape {
  enum class Kind { forward, input_gradient, weight_gradient };  ///< NT, NN and TN operands
  std::string name;
  Kind kind = Kind::forward;
  int64_t m = 0, n = 0, k = 0;
  double count = 1;                         ///< times per step
  DType in = DType::f32, out = DType::f32;  ///< of A and B, and of C

  double gflop() const {
    return 2e-9 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
};

/// The products of one training step of the decoder on n_token tokens, without attention's
/// products, as a device computes them for activations in dtype. The head's logits have the type
/// `logits`, if it is given.
std::vector<ProductShape> step_products(const ModelConfig& config, int64_t n_token,
                                        bool checkpointing, DType dtype, Device::Kind device,
                                        std::optional<DType> logits = {});

/// Random operands, made once, for several products of one dtype.
class ProductRunner {
 public:
  explicit ProductRunner(const std::vector<ProductShape>& products, const Device& device = {});
  /// Seconds that one product takes; on the CPU by a library of its name (gemm_libraries_for()), if
  /// one is given.
  double run(const ProductShape& product, const std::string& library = {});
  /// Seconds that all products of a step take, each run once and counted as often as it comes.
  double run_all();
  /// Flop of all products of a step, in 10^9.
  double gflop() const;

 private:
  std::vector<ProductShape> products_;
  Tensor a_, b_, c_;
};

}  // namespace farfield::bench
