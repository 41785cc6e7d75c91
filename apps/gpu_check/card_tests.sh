# Sourced by apps/gpu_check.sh and third_party/gpu_bundle.sh.

# What a card that is there for minutes is asked first: its kernels, products and a recorded step.
readonly essential_tests=(test_cuda_attention test_cuda_cross_entropy test_cuda_gemm test_kernels test_step_graph)

# card_tests TREE: names of the tests of a build tree that need a card, each an executable, as CMake
# has written them down. Paths there are those of the machine that configured it, and not read.
card_tests() {
  sed -nE 's/^set_tests_properties\(\[=\[(test_[a-z0-9_]+)\]=\] .* LABELS "([^"]*;)?gpu(;[^"]*)?".*/\1/p' \
    "$1/tests/CTestTestfile.cmake"
}
