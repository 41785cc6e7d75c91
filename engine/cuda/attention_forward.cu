#include "engine/cuda/attention_forward.cuh"

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
    if (p.mask.is_on()) return run_forward<T, DroppingScores<T>>(device, p, to);
    if constexpr (std::is_same_v<T, BFloat16>)
      if (p.is_plain()) return run_forward<T, PlainScores<T>>(device, p, to);
    run_forward<T, GeneralScores<T>>(device, p, to);
  });
}

}  // namespace farfield
