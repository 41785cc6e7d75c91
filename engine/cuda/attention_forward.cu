#include "engine/cuda/attention_forward.cuh"
#include "engine/cuda/attention_forward_warpgroup.cuh"

namespace farfield {

void attention_forward(Cuda device, const Heads& heads, const AttentionRule& rule, Tensor& out,
                       AttentionRows& rows) {
  attention_cuda::check_head_dim(heads.q.dim(3));
  attention_cuda::check_rows(heads);
  dispatch_device_float(heads.q.dtype(), [&](auto type) {
    using namespace attention_cuda;
    using T = decltype(type);
    const Problem<T> p(heads, rule);
    const ForwardOutputs<T> to{out.data<T>(), data_or_null<float>(rows.lse),
                               data_or_null<float>(rows.threshold), data_or_null<float>(rows.sum)};
    dispatch_scores(p, [&](auto scores) {
      using Scores = typename decltype(scores)::type;
      if constexpr (kHasWarpgroupKernels<Scores>)
        if (takes_warpgroups(device, p)) return run_forward_by_warpgroups<Scores>(device, p, to);
      run_forward<T, Scores>(device, p, to);
    });
  });
}

}  // namespace farfield
