#include "engine/cuda/attention_backward_warpgroup.cuh"

namespace farfield::attention_cuda {

template void run_backward_by_warpgroups<Side::keys, PlainScores<BFloat16>>(
    Cuda, const Problem<BFloat16>&, const BackwardArguments<BFloat16>&);
template void run_backward_by_warpgroups<Side::keys, RowBiasScores<BFloat16>>(
    Cuda, const Problem<BFloat16>&, const BackwardArguments<BFloat16>&);

}  // namespace farfield::attention_cuda
