#pragma once

#include <functional>
#include <optional>

#include "engine/cuda/blas_plan.h"
#include "engine/cuda/blas_workspace.h"

namespace farfield {

/// The fastest algorithm of a product, and its figures.
struct TunedProduct {
  std::optional<BlasAlgorithm> algorithm;  ///< empty: `instead`
  ProductChoice choice;
};

/// Makes a product by each algorithm that the library proposes, and by `instead` unless that is
/// empty, in turn. Of the algorithms that give the same bits each time, in C and dbias, it returns
/// the one with the least median time, by the device's clock; the library's first if none repeats
/// its bits. Empty if the library proposes none; BackendError if all fail. Overwrites C, unless the
/// product is added to it, and dbias. Waits for the device, so its stream must not be captured.
std::optional<TunedProduct> fastest_algorithm(Cuda device, cublasLtHandle_t context,
                                              const BlasPlan& plan, const BlasProduct& product,
                                              const std::function<void()>& instead,
                                              BlasWorkspace& workspace);

}  // namespace farfield
