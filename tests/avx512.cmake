# The sanitizers' build is for one instruction set (preset cpu-debug: x86-64-v3), so that results
# are the same on every machine. Kernels whose vectors are as wide as the target allows are built and
# tested there once more for AVX-512, if the processor can run it.
include(CheckCXXSourceCompiles)
include(CheckCXXSourceRuns)

# FARFIELD_IS_AVX512: whether all of this build is for AVX-512 already.
set(CMAKE_REQUIRED_FLAGS "-march=${FARFIELD_ARCH}")
check_cxx_source_compiles("
  #ifndef __AVX512F__
  #error
  #endif
  int main() {}" FARFIELD_IS_AVX512)
unset(CMAKE_REQUIRED_FLAGS)

check_cxx_source_runs("
  int main() {
    __builtin_cpu_init();
    return !(__builtin_cpu_supports(\"avx512f\") && __builtin_cpu_supports(\"avx512bw\") &&
             __builtin_cpu_supports(\"avx512cd\") && __builtin_cpu_supports(\"avx512dq\") &&
             __builtin_cpu_supports(\"avx512vl\"));
  }" FARFIELD_CAN_RUN_AVX512)

# GCC up to 12 and some later ones lose alignments above 32 bytes in frames that the address sanitizer
# moves to the heap, which is how it detects the use of a frame after return: locals of 64 bytes are
# then written where they must not be (GCC bug 110027). What a compiler does is tried: a canary shifts
# the frame as a spilled register would.
set(CMAKE_REQUIRED_FLAGS "-fsanitize=address -fstack-protector-strong")
check_cxx_source_runs("
  #include <cstdint>
  extern \"C\" const char* __asan_default_options() {
    return \"detect_stack_use_after_return=1:detect_leaks=0\";
  }
  struct alignas(64) Wide { char bytes[64]; };
  __attribute__((noinline)) int is_off(void* p) {
    asm volatile(\"\" : : \"r\"(p) : \"memory\");
    return reinterpret_cast<std::uintptr_t>(p) % 64 != 0;
  }
  __attribute__((noinline)) int frame() {
    Wide wide;
    char small[20];
    is_off(small);
    return is_off(&wide);
  }
  int main() { return frame(); }" FARFIELD_SOUND_HEAP_FRAMES)
unset(CMAKE_REQUIRED_FLAGS)

# What a test whose locals are 64 bytes wide has to be told, as ctest takes it.
set(farfield_wide_frames "")
if(NOT FARFIELD_SOUND_HEAP_FRAMES)
  set(farfield_wide_frames "ASAN_OPTIONS=string_append::detect_stack_use_after_return=0")
endif()

# farfield_run_on_avx512(PROGRAM LIBRARIES library ... TESTS test_attention ...): runs these tests of a
# program with these libraries once more, NAME_avx512, with these kernels for AVX-512. The
# same objects are linked to these kernels instead of farfield::engine's, which the linker then does
# not need.
function(farfield_run_on_avx512 program)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBRARIES;TESTS")
  set(kernels
    "${PROJECT_SOURCE_DIR}/engine/cpu/attention_backward.cpp"
    "${PROJECT_SOURCE_DIR}/engine/cpu/attention_forward.cpp"
    "${PROJECT_SOURCE_DIR}/engine/cpu/cross_entropy.cpp"
    "${PROJECT_SOURCE_DIR}/engine/cpu/gemm/own.cpp"
    "${PROJECT_SOURCE_DIR}/engine/cpu/linear.cpp"
    "${PROJECT_SOURCE_DIR}/engine/cpu/norm.cpp")
  set_source_files_properties(${kernels} PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Debug>:-O1>")
  add_library(farfield_kernels_avx512 OBJECT ${kernels})
  set(flags -mavx512f -mavx512bw -mavx512cd -mavx512dq -mavx512vl)  # on top of -march
  target_compile_options(farfield_kernels_avx512 PRIVATE ${flags})
  target_link_libraries(farfield_kernels_avx512 PRIVATE farfield::engine farfield_flags)
  set(FARFIELD_IS_AVX512 TRUE)  # as far as these go
  add_executable(${program}_avx512
    $<TARGET_OBJECTS:${program}> $<TARGET_OBJECTS:farfield_kernels_avx512>)
  farfield_test_options(${program}_avx512 ${arg_LIBRARIES})
  foreach(name IN LISTS arg_TESTS)
    farfield_add_suite(${name}_avx512 ${program}_avx512 ${name} engine sanitize)
  endforeach()
  # These tests examine the vectors themselves. Their flags differ from the precompiled header's.
  foreach(test IN ITEMS test_attention_exp lanes/test_gelu lanes/test_lanes)
    get_filename_component(name ${test} NAME)
    add_executable(${name}_avx512 engine/cpu/${test}.cpp)
    target_compile_options(${name}_avx512 PRIVATE ${flags})
    farfield_test_options(${name}_avx512 farfield::engine)
    set_target_properties(${name}_avx512 PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
    farfield_add_suite(${name}_avx512 ${name}_avx512 ${name} engine sanitize)
  endforeach()
endfunction()
