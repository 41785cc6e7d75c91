#pragma once

#include <functional>
#include <optional>

#include "engine/cuda/blas_plan.h"
#include "engine/cuda/blas_workspace.h"

namespace farfield {

/// What came out fastest for a product, and the figures of that.
struct TunedProduct {
  std::optional<BlasAlgorithm> algorithm;  ///< empty: `instead`
  ProductChoice choice;
};

/// Makes a product by each algorithm that the library proposes, and by `instead` unless that is
/// empty, in turn: of those that give the same bits each time, in C and dbias, the one with the
/// least median time, by the device's clock; the library's first when none does. Empty when the
/// library proposes none; BackendError when all fail. What C holds is lost, unless the product is
/// added to it, and what dbias holds too. Waits for the device, so its stream must not be captured.
std::optional<TunedProduct> fastest_algorithm(Cuda device, cublasLtHandle_t context,
                                              const BlasPlan& plan, const BlasProduct& product,
                                              const std::function<void()>& instead,
                                              BlasWorkspace& workspace);

}  // namespace farfield
