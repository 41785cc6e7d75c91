# Sourced by apps/gpu_check.sh and third_party/gpu_bundle.sh.

# The first tests for a card that is available for minutes only: kernels, products and a recorded
# step.
readonly essential_tests=(test_cuda_attention test_cuda_cross_entropy test_cuda_gemm test_kernels test_step_graph)

# card_tests TREE: names of the tests of a build tree that need a card, each an executable, as CMake
# has written them down. Its paths belong to the machine that configured it, and are not read.
card_tests() {
  sed -nE 's/^set_tests_properties\(\[=\[(test_[a-z0-9_]+)\]=\] .* LABELS "([^"]*;)?gpu(;[^"]*)?".*/\1/p' \
    "$1/tests/CTestTestfile.cmake"
}
