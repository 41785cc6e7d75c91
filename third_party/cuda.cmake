# nvcc of CUDA 13 or later, when there is one: the language CUDA, CUDAToolkit and
# farfield_nvcc_flags, what every target with kernels is compiled with. Sets FARFIELD_HAS_NVCC in any
# case.
set(FARFIELD_HAS_NVCC FALSE)
if(CMAKE_CROSSCOMPILING)  # its code for the host would be for this machine
  return()
endif()
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  return()
endif()
# Asked for itself: an old one does not even pass CMake's own test of a compiler.
execute_process(COMMAND "${CMAKE_CUDA_COMPILER}" --version OUTPUT_VARIABLE version ERROR_QUIET)
if(NOT version MATCHES "release ([0-9.]+)" OR CMAKE_MATCH_1 VERSION_LESS 13)
  message(STATUS "${CMAKE_CUDA_COMPILER} left out: expected CUDA 13 or later, got '${CMAKE_MATCH_1}'")
  return()
endif()
set(FARFIELD_HAS_NVCC TRUE)
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  # 80: also as PTX, for what comes later. 90a: with the products of warpgroups that only Hopper has.
  set(CMAKE_CUDA_ARCHITECTURES 80 90a-real)
endif()
if(FARFIELD_CCACHE AND NOT DEFINED CMAKE_CUDA_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER "${FARFIELD_CCACHE}")
endif()
enable_language(CUDA)
find_package(CUDAToolkit 13 REQUIRED)
find_package(NCCL 2.18)  # a shared library alone: of a portable build one test uses it

add_library(farfield_nvcc_flags INTERFACE)
# -std: CMake 3.25 does not know that nvcc has C++20. No -Wpedantic: lines that nvcc makes fail it.
target_compile_options(farfield_nvcc_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 --expt-relaxed-constexpr -Xcompiler=-Wall,-Wextra,-Wshadow>)
if("${CMAKE_CUDA_ARCHITECTURES}" MATCHES "(^|;)90a")
  target_compile_definitions(farfield_nvcc_flags INTERFACE FARFIELD_HAS_SM90A)
else()
  message(STATUS "CUDA without 90a in CMAKE_CUDA_ARCHITECTURES: attention on H100 and H200 will be slower")
endif()
if(FARFIELD_WERROR)  # for the host compiler; nvcc's own: CMAKE_COMPILE_WARNING_AS_ERROR
  target_compile_options(farfield_nvcc_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Werror>)
endif()
