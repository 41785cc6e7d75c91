#include "engine/cuda/attention_backward.cuh"

namespace farfield::attention_cuda {

template void run_backward<Side::queries, float, DroppingScores<GeneralScores<float>>>(
    Cuda, const Problem<float>&, const BackwardArguments<float>&);

}  // namespace farfield::attention_cuda
