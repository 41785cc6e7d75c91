#include "apps/cli/version.h"

#include "apps/commit.h"
#include "engine/gemm.h"

namespace farfield::cli {

const std::vector<std::pair<std::string, std::string>>& build_facts() {
  static const std::vector<std::pair<std::string, std::string>> facts = {
      {"version", FARFIELD_VERSION},        {"commit", kCommit},
      {"compiler", FARFIELD_COMPILER},      {"gemm", gemm_library()},
      {"architecture", FARFIELD_ARCH_NAME}, {"build_type", FARFIELD_BUILD_TYPE}};
  return facts;
}

const char* commit_day() { return kCommitDay; }

const std::vector<std::pair<std::string, std::string>>& processor_facts() {
  static const std::vector<std::pair<std::string, std::string>> facts = {
      {"instruction_set", gemm_instruction_set()}, {"bf16_products", gemm_bf16()}};
  return facts;
}

std::string version_text() {
  std::string text;
  for (const auto* facts : {&build_facts(), &processor_facts()})
    for (const auto& [name, value] : *facts)
      text += text.empty() ? "(farfield " + value + ")\n" : "  " + name + ": " + value + "\n";
  return text;
}

}  // namespace farfield::cli
