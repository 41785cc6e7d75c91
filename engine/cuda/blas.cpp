#include "engine/cuda/blas.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "engine/cuda/blas_plan.h"
#include "engine/cuda/blas_tuning.h"
#include "engine/cuda/blas_workspace.h"
#include "engine/cuda/context.h"
#include "engine/cuda/launch.h"
#include "engine/cuda/per_device.h"
#include "engine/kernels/product_choices.h"

namespace farfield {
namespace {

// Device memory limit of an algorithm that was not measured: NVIDIA's recommendation for compute
// capability 9.0.
constexpr uint64_t kMostWorkspaceBytes = uint64_t{32} << 20;

// The override makes the library drop 13 bits of each float32, whatever precision the product asks
// for.
void refuse_tf32_override() {
  const char* const said = std::getenv("NVIDIA_TF32_OVERRIDE");
  require<BackendError>(said == nullptr || std::string_view(said) != "1", "cuda",
                        "expected products in full float32, got NVIDIA_TF32_OVERRIDE=1 in the "
                        "environment, which has them in TF32; unset it");
}

std::string library_version() { return concat("cuBLASLt ", cublasLtGetVersion()); }

// The library on one device. A user holds the mutex until its product is in the stream, since
// workspace and bias of a plan belong to the next product. Tuning may measure a pass instead of a
// product, and the pass makes products itself: so the mutex is recursive.
class Blas {
 public:
  Blas() : context_(cublasLtCreate) { refuse_tf32_override(); }

  bool product(Cuda device, const BlasProduct& product, const std::function<void()>& instead) {
    const std::lock_guard lock(mutex_);
    Chosen& chosen = chosen_for(device, product, instead);
    if (!chosen.algorithm) return false;
    if (!chosen.plan.run(context_.get(), product, *chosen.algorithm, product.first.c,
                         workspace_.at_least(chosen.algorithm->workspace_bytes, product, device),
                         stream_of(device))) {
      chosen.algorithm = {};
      return false;
    }
    if (waits_for_each_launch()) wait_for_launch(stream_of(device), describe(product));
    return true;
  }

  void use(ProductChoices choices) {
    const std::lock_guard lock(mutex_);
    choices_ = std::move(choices);
    chosen_.clear();
  }

  ProductChoices tune(Cuda device, const std::function<void()>& work) {
    use({.device = device_info(device).name, .library = library_version(), .of = {}});
    const Tuning tuning(*this);
    work();
    const std::lock_guard lock(mutex_);
    return choices_;
  }

 private:
  struct Chosen {
    BlasPlan plan;
    std::optional<BlasAlgorithm> algorithm;
  };
  // New products are measured for as long as it lives.
  struct Tuning {
    explicit Tuning(Blas& of) : blas(of) { set(true); }
    Tuning(const Tuning&) = delete;
    Tuning& operator=(const Tuning&) = delete;
    ~Tuning() { set(false); }
    void set(bool is_tuning) {
      const std::lock_guard lock(blas.mutex_);
      blas.is_tuning_ = is_tuning;
    }
    Blas& blas;
  };
  static constexpr size_t kMostChosen = 1024;  // a model has some dozens for each length

  Chosen& chosen_for(Cuda device, const BlasProduct& product,
                     const std::function<void()>& instead) {
    const BlasProblem problem(product);
    if (const auto found = chosen_.find(problem); found != chosen_.end()) return found->second;
    if (chosen_.size() >= kMostChosen) chosen_.clear();
    Chosen chosen{BlasPlan(problem), {}};
    chosen.algorithm = algorithm_for(device, product, instead, chosen.plan, problem.text());
    return chosen_.emplace(problem, std::move(chosen)).first->second;
  }

  std::optional<BlasAlgorithm> algorithm_for(Cuda device, const BlasProduct& product,
                                             const std::function<void()>& instead,
                                             const BlasPlan& plan, const std::string& text) {
    if (const auto found = choices_.of.find(text); found != choices_.of.end()) {
      if (instead && found->second.is_none()) return {};
      return plan.restored(context_.get(), product, found->second);
    }
    if (is_tuning_) {
      const auto tuned =
          fastest_algorithm(device, context_.get(), plan, product, instead, workspace_);
      if (!tuned) return {};
      choices_.of.emplace(text, tuned->choice);
      return tuned->algorithm;
    }
    const std::vector<BlasAlgorithm> found =
        plan.proposed(context_.get(), product, 1, kMostWorkspaceBytes);
    return found.empty() ? std::nullopt : std::optional(found.front());
  }

  BlasContext context_;
  std::recursive_mutex mutex_;
  std::map<BlasProblem, Chosen> chosen_;
  ProductChoices choices_;
  bool is_tuning_ = false;
  BlasWorkspace workspace_;
};

Blas& blas_of(Cuda device) {
  static auto* const all = new PerDevice<Blas>;  // never destroyed: the runtime may go before it
  return all->at(device.index, [] { return std::make_unique<Blas>(); });
}

}  // namespace

bool blas_product(Cuda device, const BlasProduct& product, const std::function<void()>& instead) {
  return blas_of(device).product(device, product, instead);
}

ProductChoices tune_products(Cuda device, const std::function<void()>& work) {
  return blas_of(device).tune(device, work);
}

void use_product_choices(Cuda device, const ProductChoices& choices) {
  const std::string name = device_info(device).name, library = library_version();
  require<ConfigError>(choices.of.empty() || (choices.device == name && choices.library == library),
                       "products", "expected choices that were made on ", name, " with ", library,
                       ", got those of ", choices.device, " with ", choices.library,
                       ", whose algorithms are others");
  blas_of(device).use(choices);
}

std::string describe(const BlasProduct& product) {
  const Gemm& p = product.first;
  return concat("product of ", p.m, " x ", p.k, " and ", p.k, " x ", p.n, ", ", p.in, " to ", p.out,
                product.dbias ? ", with dbias" : "",
                product.n_batch == 1 ? "" : concat(", ", product.n_batch, " times"));
}

}  // namespace farfield
