#include "engine/cuda/attention_backward.cuh"

namespace farfield::attention_cuda {

template void run_backward<Side::keys, BFloat16, DroppingScores<PlainScores<BFloat16>>>(
    Cuda, const Problem<BFloat16>&, const BackwardArguments<BFloat16>&);

}  // namespace farfield::attention_cuda
