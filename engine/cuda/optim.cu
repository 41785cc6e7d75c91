#include "engine/cuda/block.cuh"
#include "engine/cuda/chunks.cuh"
#include "engine/cuda/context.h"
#include "engine/kernels/adamw.h"
#include "engine/kernels/nag.h"
#include "engine/kernels/optim.h"
#include "engine/storage.h"

namespace farfield {
namespace {

constexpr int kN = kPieceSize<float>;

struct Update {
  const float* grad;
  Tensor::DataAndRounded<float> param;
  float *m, *v;
  bool decay;
};

// A StepGuard where it lies.
struct Guard {
  const double *loss, *grad_norm;
  double max_norm;
};

__device__ void store_param(const Vector<float, kN>& values, const Piece<kN>& piece,
                            const Tensor::DataAndRounded<float>& param) {
  store(values, piece, param.data);
  if (param.rounded) store(narrowed<BFloat16>(values), piece, param.rounded);
}

__global__ void __launch_bounds__(kThreads)
    adamw_kernel(Chunks<Update> chunks, AdamWRule<float> rule, const double* rates, Guard guard) {
  if (!may_update(*guard.loss, *guard.grad_norm)) return;
  rule.scale = static_cast<float>(clip_scale(*guard.grad_norm, guard.max_norm));
  rule.take(rates, /*decay=*/true);
  chunks.for_each_piece<kN>(
      [](const Update& update) {
        return is_aligned(update.grad, update.param.data, update.param.rounded, update.m, update.v);
      },
      [&](const Update& update, const Piece<kN>& piece) {
        const Vector<float, kN> grad = load(update.grad, piece);
        Vector<float, kN> m = load(update.m, piece), v = load(update.v, piece),
                          param = load(update.param.data, piece);
        AdamWRule<float> own = rule;
        if (!update.decay) own.keep = 1;
        for (int i = 0; i < kN; ++i) own(grad.at[i], m.at[i], v.at[i], param.at[i]);
        store(m, piece, update.m);
        store(v, piece, update.v);
        store_param(param, piece, update.param);
      });
}

struct NagUpdate {
  const float* grad;
  Tensor::DataAndRounded<float> param;
  float* m;
  bool decay;
};

__global__ void __launch_bounds__(kThreads)
    nag_kernel(Chunks<NagUpdate> chunks, const double* rates, Guard guard) {
  if (!may_update(*guard.loss, *guard.grad_norm)) return;
  NagRule<float> rule;
  rule.scale = static_cast<float>(clip_scale(*guard.grad_norm, guard.max_norm));
  rule.take(rates, /*decay=*/true);
  chunks.for_each_piece<kN>(
      [](const NagUpdate& update) {
        return is_aligned(update.grad, update.param.data, update.param.rounded, update.m);
      },
      [&](const NagUpdate& update, const Piece<kN>& piece) {
        const Vector<float, kN> grad = load(update.grad, piece);
        Vector<float, kN> m = load(update.m, piece), param = load(update.param.data, piece);
        NagRule<float> own = rule;
        if (!update.decay) own.keep = 1;
        for (int i = 0; i < kN; ++i) own(grad.at[i], m.at[i], param.at[i]);
        store(m, piece, update.m);
        store_param(param, piece, update.param);
      });
}

// sums[chunk]
__global__ void __launch_bounds__(kThreads)
    sum_squares_kernel(Chunks<const float*> chunks, double* sums) {
  double total[1] = {};
  chunks.for_each_piece<kN>([](const float* begin) { return is_aligned(begin); },
                            [&](const float* begin, const Piece<kN>& piece) {
                              const Vector<float, kN> x = load(begin, piece);
                              for (int i = 0; i < kN; ++i) {
                                const auto value = static_cast<double>(x.at[i]);
                                total[0] += value * value;
                              }
                            });
  block_sum(total);
  if (threadIdx.x == 0) sums[blockIdx.x] = total[0];
}

// norm[0] = the root of the sum of sums[n], by one block
__global__ void __launch_bounds__(kThreads)
    norm_kernel(int64_t n, const double* sums, double* norm) {
  double total[1] = {};
  for (int64_t i = threadIdx.x; i < n; i += kThreads) total[0] += sums[i];
  block_sum(total);
  if (threadIdx.x == 0) norm[0] = std::sqrt(total[0]);
}

}  // namespace

void adamw_step(Cuda device, const AdamWStep& step, std::span<AdamWTarget> targets) {
  const AdamWRule<float> rule(step);
  const Guard guard{step.guard.loss.data<double>(), step.guard.grad_norm.data<double>(),
                    step.guard.max_norm};
  in_chunks<Update>(
      [&](const auto& add) {
        for (AdamWTarget& target : targets) {
          require_device_float(target.param.dtype());
          add({target.grad.data<float>(), target.param.data_and_rounded<float>(),
               target.m.data<float>(), target.v.data<float>(), target.decay},
              target.param.numel());
        }
      },
      [&](const Chunks<Update>& chunks) {
        launch(adamw_kernel, chunks.n_chunks(), kThreads, 0, stream_of(device), chunks, rule,
               step.rates.data<double>(), guard);
      });
}

void nag_step(Cuda device, const NagStep& step, std::span<NagTarget> targets) {
  const Guard guard{step.guard.loss.data<double>(), step.guard.grad_norm.data<double>(),
                    step.guard.max_norm};
  in_chunks<NagUpdate>(
      [&](const auto& add) {
        for (NagTarget& target : targets) {
          require_device_float(target.param.dtype());
          add({target.grad.data<float>(), target.param.data_and_rounded<float>(),
               target.m.data<float>(), target.decay},
              target.param.numel());
        }
      },
      [&](const Chunks<NagUpdate>& chunks) {
        launch(nag_kernel, chunks.n_chunks(), kThreads, 0, stream_of(device), chunks,
               step.rates.data<double>(), guard);
      });
}

void global_norm(Cuda device, std::span<const Tensor> tensors, Tensor& norm) {
  int64_t n_sums = 0;
  for (const Tensor& x : tensors) n_sums += (x.numel() + kChunk - 1) / kChunk;
  const Storage sums(n_sums * static_cast<int64_t>(sizeof(double)),
                     {Device::Kind::cuda, device.index});
  auto* const all = static_cast<double*>(sums.data());
  double* next = all;
  in_chunks<const float*>(
      [&](const auto& add) {
        for (const Tensor& x : tensors) {
          require_device_float(x.dtype());
          add(x.data<float>(), x.numel());
        }
      },
      [&](const Chunks<const float*>& chunks) {
        launch(sum_squares_kernel, chunks.n_chunks(), kThreads, 0, stream_of(device), chunks, next);
        next += chunks.n_chunks();
      });
  launch(norm_kernel, 1, kThreads, 0, stream_of(device), n_sums, all, norm.data<double>());
}

}  // namespace farfield
