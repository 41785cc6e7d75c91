#include "engine/cuda/attention_forward.cuh"

namespace farfield::attention_cuda {

template void run_forward<float, DroppingScores<GeneralScores<float>>>(
    Cuda, const Problem<float>&, const ForwardOutputs<float>&);

}  // namespace farfield::attention_cuda
