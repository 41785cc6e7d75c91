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

/// The products of one training step of the decoder on n_token tokens, attention's left out, as a
/// device makes them of activations in dtype; with `logits` those of the head in this type.
std::vector<ProductShape> step_products(const ModelConfig& config, int64_t n_token,
                                        bool checkpointing, DType dtype, Device::Kind device,
                                        std::optional<DType> logits = {});

/// Random operands for any of some products, which are of one dtype, made once.
class ProductRunner {
 public:
  explicit ProductRunner(const std::vector<ProductShape>& products, const Device& device = {});
  /// Seconds that one product takes.
  double run(const ProductShape& product);
  /// Seconds that all products of a step take, each run once and counted as often as it comes.
  double run_all();
  /// Flop of all products of a step, in 10^9.
  double gflop() const;

 private:
  std::vector<ProductShape> products_;
  Tensor a_, b_, c_;
};

}  // namespace farfield::bench
