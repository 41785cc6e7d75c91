#include "engine/cuda/attention_forward_warpgroup.cuh"

namespace farfield::attention_cuda {

template void run_forward_by_warpgroups<PlainScores<BFloat16>>(Cuda, const Problem<BFloat16>&,
                                                               const ForwardOutputs<BFloat16>&);
template void run_forward_by_warpgroups<RowBiasScores<BFloat16>>(Cuda, const Problem<BFloat16>&,
                                                                 const ForwardOutputs<BFloat16>&);

}  // namespace farfield::attention_cuda
