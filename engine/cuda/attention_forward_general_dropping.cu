#include "engine/cuda/attention_forward.cuh"

namespace farfield::attention_cuda {

template void run_forward<BFloat16, DroppingScores<GeneralScores<BFloat16>>>(
    Cuda, const Problem<BFloat16>&, const ForwardOutputs<BFloat16>&);

}  // namespace farfield::attention_cuda
