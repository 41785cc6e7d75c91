#include "engine/cuda/blas_tuning.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>

#include "engine/cuda/context.h"
#include "engine/cuda/launch.h"
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

using Candidate = std::optional<BlasAlgorithm>;  // empty: `instead`

// One product with the place that its candidates write to.
class Trial {
 public:
  Trial(Cuda device, cublasLtHandle_t context, const BlasPlan& plan, const BlasProduct& product,
        const std::function<void()>& instead, BlasWorkspace& workspace)
      : device_(device),
        stream_(stream_of(device)),
        context_(context),
        plan_(plan),
        product_(product),
        instead_(instead),
        workspace_(workspace) {
    if (product.first.accumulate)
      beside_.emplace(static_cast<int64_t>(bytes_of_c(product)),
                      Device{Device::Kind::cuda, device.index});
  }

  double time_us(const Candidate& candidate, int n) {
    begin_.record(stream_);
    for (int i = 0; i < n; ++i) run(candidate);
    end_.record(stream_);
    end_.synchronize();
    return 1e3 * static_cast<double>(end_.time_ms_since(begin_)) / n;
  }

  // If the device stays in error after a failed trial, the next wait reports it.
  bool device_works() const { return cudaStreamSynchronize(stream_) == cudaSuccess; }

  bool has_the_same_bits_each_time(const Candidate& candidate) {
    std::vector<std::byte> first, again;
    for (int i = 0; i < kRepeats; ++i) {
      clear(i);
      run(candidate);
      read(i == 0 ? first : again);
      if (i > 0 && again != first) return false;
    }
    return true;
  }

 private:
  void* c() { return beside_ ? beside_->data() : product_.first.c; }
  void run(const Candidate& candidate) {
    if (!candidate) return instead_();
    require<BackendError>(
        plan_.run(context_, product_, *candidate, c(),
                  workspace_.at_least(candidate->workspace_bytes, product_, device_), stream_),
        "cuda", describe(product_), ": expected cuBLASLt to make what it proposed, it refuses");
    wait_if_asked(stream_, describe(product_));
  }
  size_t bytes_of_dbias() const {
    return product_.dbias ? static_cast<size_t>(product_.first.m) * sizeof(float) : 0;
  }
  // dbias to other numbers each time: sums that are left out, or added to old numbers, change.
  void clear(int repeat) {
    const auto fill = [&](void* begin, int byte, size_t size) {
      cuda_check(cudaMemsetAsync(begin, byte, size, stream_), "clearing of a product");
      wait_if_asked(stream_, "clearing of a product");
    };
    if (beside_) fill(c(), 0, bytes_of_c(product_));
    if (product_.dbias) fill(product_.dbias, 0x40 + repeat, bytes_of_dbias());
  }
  void read(std::vector<std::byte>& to) {
    const size_t of_c = bytes_of_c(product_);
    to.resize(of_c + bytes_of_dbias());
    const auto copy = [&](std::byte* begin, const void* from, size_t size) {
      cuda_check(cudaMemcpyAsync(begin, from, size, cudaMemcpyDeviceToHost, stream_), "copy of a ",
                 describe(product_));
    };
    copy(to.data(), c(), of_c);
    if (product_.dbias) copy(to.data() + of_c, product_.dbias, bytes_of_dbias());
    cuda_check(cudaStreamSynchronize(stream_), "wait for a ", describe(product_));
  }

  Cuda device_;
  cudaStream_t stream_;
  cublasLtHandle_t context_;
  const BlasPlan& plan_;
  const BlasProduct& product_;
  const std::function<void()>& instead_;
  BlasWorkspace& workspace_;
  std::optional<Storage> beside_;  // where C is a term: the trials must not add to it
  Event begin_, end_;
};

}  // namespace

std::optional<TunedProduct> fastest_algorithm(Cuda device, cublasLtHandle_t context,
                                              const BlasPlan& plan, const BlasProduct& product,
                                              const std::function<void()>& instead,
                                              BlasWorkspace& workspace) {
  const std::vector<BlasAlgorithm> proposed =
      plan.proposed(context, product, kCandidates, most_workspace_bytes(product));
  if (proposed.empty()) return {};
  std::vector<Candidate> all(proposed.begin(), proposed.end());
  if (instead) all.emplace_back();
  Trial trial(device, context, plan, product, instead, workspace);
  std::vector<Candidate> candidates;
  std::vector<int> n_in_round;
  for (const Candidate& candidate : all) {
    try {
      trial.time_us(candidate, 1);  // loads its code; tunes the products of `instead`
      const double time = trial.time_us(candidate, 1);
      n_in_round.push_back(time * kMostInRound > kLeastTime_us
                               ? std::max(1, static_cast<int>(kLeastTime_us / time))
                               : kMostInRound);
      candidates.push_back(candidate);
    } catch (const BackendError&) {  // no memory for it, or the library is mistaken
      if ((candidates.empty() && &candidate == &all.back()) || !trial.device_works()) throw;
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
                      .n_candidate = static_cast<int>(candidates.size()),
                      .repeats = found != order.end()}};
  for (size_t i = 0; i < candidates.size(); ++i)
    if (!candidates[i]) tuned.choice.instead_us = time_us[i];
  if (tuned.algorithm) {
    const auto& words = tuned.algorithm->words.data;
    std::copy(std::begin(words), std::end(words), tuned.choice.algorithm.begin());
  }
  return tuned;
}

}  // namespace farfield
