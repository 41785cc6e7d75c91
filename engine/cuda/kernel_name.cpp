#include "engine/cuda/kernel_name.h"

#include <cuda_runtime.h>
#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace farfield {
namespace {

// Without the parameters, which the opening parenthesis that belongs to the last character begins.
std::string without_parameters(std::string name) {
  if (name.empty() || name.back() != ')') return name;
  int depth = 0;
  for (size_t i = name.size(); i-- > 0;) {
    depth += name[i] == ')' ? 1 : name[i] == '(' ? -1 : 0;
    if (depth == 0) return name.substr(0, i);
  }
  return name;
}

}  // namespace

std::string kernel_name(const void* kernel) {
  const char* mangled = nullptr;
  if (cudaFuncGetName(&mangled, kernel) != cudaSuccess || !mangled || !*mangled)
    return "a kernel without a name";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &status), std::free);
  return status == 0 ? without_parameters(name.get()) : mangled;
}

}  // namespace farfield
