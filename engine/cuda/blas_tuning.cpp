#include "engine/cuda/blas_tuning.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>

#include "engine/cuda/context.h"
#include "engine/cuda/stream.h"

namespace farfield {
namespace {

constexpr int kCandidates = 8, kRounds = 5, kRepeats = 3;
constexpr double kLeastTime_us = 1000;  // of a round of one candidate, which has up to...
constexpr int kMostInRound = 20;        // products

// Algorithms that sum parts of the inner dimension apart keep a C of float32 for each: so many of
// them.
uint64_t most_workspace_bytes(const BlasProduct& product) {
  constexpr uint64_t kParts = 8, kLeast = uint64_t{32} << 20, kMost = uint64_t{256} << 20;
  const auto c_bytes =
      static_cast<uint64_t>(product.n_batch * product.first.m * product.first.n) * sizeof(float);
  return std::clamp(kParts * c_bytes, kLeast, kMost);
}

// From the first byte of C to its last.
size_t bytes_of_c(const BlasProduct& product) {
  const Gemm& p = product.first;
  const int64_t last = (product.n_batch - 1) * product.stride_c + (p.m - 1) * p.ldc + p.n;
  return static_cast<size_t>(last * size_of(p.out));
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// One product with the place that its candidates write to.
class Trial {
 public:
  Trial(Cuda device, cublasLtHandle_t context, const BlasPlan& plan, const BlasProduct& product,
        BlasWorkspace& workspace)
      : device_(device),
        stream_(stream_of(device)),
        context_(context),
        plan_(plan),
        product_(product),
        workspace_(workspace) {
    if (product.first.accumulate)
      beside_.emplace(static_cast<int64_t>(bytes_of_c(product)),
                      Device{Device::Kind::cuda, device.index});
  }

  double time_us(const BlasAlgorithm& algorithm, int n) {
    begin_.record(stream_);
    for (int i = 0; i < n; ++i) run(algorithm);
    end_.record(stream_);
    end_.synchronize();
    return 1e3 * static_cast<double>(end_.time_ms_since(begin_)) / n;
  }

  bool has_the_same_bits_each_time(const BlasAlgorithm& algorithm) {
    std::vector<std::byte> first, again;
    for (int i = 0; i < kRepeats; ++i) {
      clear();
      run(algorithm);
      read(i == 0 ? first : again);
      if (i > 0 && again != first) return false;
    }
    return true;
  }

 private:
  void* c() { return beside_ ? beside_->data() : product_.first.c; }
  void run(const BlasAlgorithm& algorithm) {
    plan_.run(context_, product_, algorithm, c(),
              workspace_.at_least(algorithm.workspace_bytes, product_, device_), stream_);
  }
  void clear() {
    if (beside_)
      cuda_check(cudaMemsetAsync(c(), 0, bytes_of_c(product_), stream_), "clearing of a product");
  }
  void read(std::vector<std::byte>& to) {
    to.resize(bytes_of_c(product_));
    cuda_check(cudaMemcpyAsync(to.data(), c(), to.size(), cudaMemcpyDeviceToHost, stream_),
               "copy of a ", describe(product_));
    cuda_check(cudaStreamSynchronize(stream_), "wait for a ", describe(product_));
  }

  Cuda device_;
  cudaStream_t stream_;
  cublasLtHandle_t context_;
  const BlasPlan& plan_;
  const BlasProduct& product_;
  BlasWorkspace& workspace_;
  std::optional<Storage> beside_;  // where C is a term: the trials must not add to it
  Event begin_, end_;
};

}  // namespace

std::optional<TunedProduct> fastest_algorithm(Cuda device, cublasLtHandle_t context,
                                              const BlasPlan& plan, const BlasProduct& product,
                                              BlasWorkspace& workspace) {
  const std::vector<BlasAlgorithm> proposed =
      plan.proposed(context, product, kCandidates, most_workspace_bytes(product));
  if (proposed.empty()) return {};
  Trial trial(device, context, plan, product, workspace);
  std::vector<BlasAlgorithm> candidates;
  std::vector<int> n_in_round;
  for (const BlasAlgorithm& algorithm : proposed) {
    try {
      trial.time_us(algorithm, 1);  // loads its code
      const double time = trial.time_us(algorithm, 1);
      n_in_round.push_back(time * kMostInRound > kLeastTime_us
                               ? std::max(1, static_cast<int>(kLeastTime_us / time))
                               : kMostInRound);
      candidates.push_back(algorithm);
    } catch (const BackendError&) {  // no memory for it, or the library is mistaken
      if (candidates.empty() && &algorithm == &proposed.back()) throw;
    }
  }
  std::vector<std::vector<double>> times(candidates.size());
  for (int round = 0; round < kRounds; ++round)
    for (size_t i = 0; i < candidates.size(); ++i)
      times[i].push_back(trial.time_us(candidates[i], n_in_round[i]));
  std::vector<double> time_us;
  std::transform(times.begin(), times.end(), std::back_inserter(time_us), median);
  std::vector<size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return time_us[a] < time_us[b]; });
  const auto found = std::find_if(order.begin(), order.end(), [&](size_t i) {
    return trial.has_the_same_bits_each_time(candidates[i]);
  });
  const size_t best = found == order.end() ? 0 : *found;
  TunedProduct tuned{candidates[best],
                     {.time_us = time_us[best],
                      .first_us = time_us[0],
                      .n_candidate = static_cast<int>(candidates.size())}};
  const auto& words = candidates[best].words.data;
  std::copy(std::begin(words), std::end(words), tuned.choice.algorithm.begin());
  return tuned;
}

}  // namespace farfield
