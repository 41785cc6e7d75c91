# The sources of engine/cuda, for each target that compiles them: how kernels are launched, which
# needs farfield::base alone, and the engine's devices and kernels.
set(farfield_cuda_launch_sources kernel_name.cpp launch.cpp staging.cpp stream.cpp)
set(farfield_cuda_device_sources blas.cpp context.cpp gemm.cpp graph.cpp memory.cpp)
set(farfield_cuda_kernels
  attention_backward.cu
  attention_backward_keys_f32.cu
  attention_backward_keys_general.cu
  attention_backward_keys_plain.cu
  attention_backward_queries_f32.cu
  attention_backward_queries_general.cu
  attention_backward_queries_plain.cu
  attention_forward.cu
  attention_forward_f32.cu
  attention_forward_general.cu
  attention_forward_plain.cu
  attention_sums.cu
  broadcast.cu
  cross_entropy.cu
  dropout.cu
  index.cu
  linear.cu
  norm.cu
  norm_backward.cu
  optim.cu
  pointwise.cu
  reduce.cu
  softmax.cu
  split_heads.cu
  view.cu)
foreach(list IN ITEMS launch_sources device_sources kernels)
  list(TRANSFORM farfield_cuda_${list} PREPEND "${CMAKE_CURRENT_LIST_DIR}/")
endforeach()
