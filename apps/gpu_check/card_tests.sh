# Sourced by apps/gpu_check.sh and third_party/gpu_bundle.sh.

# card_tests TREE: names of the tests of a build tree that need a card, each an executable, as CMake
# has written them down. Paths there are those of the machine that configured it, and not read.
card_tests() {
  sed -nE 's/^set_tests_properties\(\[=\[(test_[a-z0-9_]+)\]=\] .* LABELS "([^"]*;)?gpu(;[^"]*)?".*/\1/p' \
    "$1/tests/CTestTestfile.cmake"
}
