# The sources of engine/cuda, for each target that compiles them: how kernels are launched, which
# needs farfield::base alone, and the engine's devices and kernels.
set(farfield_cuda_launch_sources kernel_memory.cpp kernel_name.cpp launch.cpp staging.cpp stream.cpp
  tensor_map.cpp)
set(farfield_cuda_device_sources blas.cpp blas_plan.cpp blas_tuning.cpp context.cpp gemm.cpp graph.cpp memory.cpp)
set(farfield_cuda_group_sources nccl.cpp)  # where there is NCCL
file(GLOB farfield_cuda_kernels CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/*.cu")
foreach(list IN ITEMS launch_sources device_sources group_sources)
  list(TRANSFORM farfield_cuda_${list} PREPEND "${CMAKE_CURRENT_LIST_DIR}/")
endforeach()
