#include "apps/version.h"

#include "apps/commit.h"
#include "engine/kernels/gemm.h"

namespace farfield::apps {

const std::vector<std::pair<std::string, std::string>>& build_facts() {
  static const std::vector<std::pair<std::string, std::string>> facts = {
      {"version", FARFIELD_VERSION},        {"commit", kCommit},
      {"compiler", FARFIELD_COMPILER},      {"gemm", gemm_library()},
      {"architecture", FARFIELD_ARCH_NAME}, {"build_type", FARFIELD_BUILD_TYPE}};
  return facts;
}

std::string version_text() {
  std::string text;
  for (const auto& [name, value] : build_facts())
    text += text.empty() ? "(farfield " + value + ")\n" : "  " + name + ": " + value + "\n";
  return text;
}

}  // namespace farfield::apps
