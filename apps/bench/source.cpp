#include "apps/bench/source.h"

#include <ctime>

#include "apps/cli/shell_word.h"
#include "apps/cli/version.h"
#include "apps/run/machine.h"
#include "engine/base/error.h"
#include "engine/base/markdown.h"
#include "engine/base/parallel.h"
#include "engine/device_info.h"
#include "engine/gemm.h"

namespace farfield::bench {
namespace {

std::string build_fact(const std::string& name) {
  for (const auto& [fact, value] : cli::build_facts())
    if (fact == name) return value;
  return "unknown";
}

std::string today() {
  const std::time_t time = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&time, &utc);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &utc);
  return text;
}

}  // namespace

std::string machine_here(const Device& device, int64_t n_process) {
  std::string machine =
      device.kind == Device::Kind::cpu ? "" : device_info(device).name + " beside ";
  machine += run::processor_name() + ", ";
  if (n_process > 1) machine += concat(n_process, " processes of ");
  return machine + concat(thread_count(), thread_count() == 1 ? " thread, " : " threads, ",
                          gemm_instruction_set(), ", ", gemm_library());
}

std::string source_line(const std::string& machine, int argc, const char* const* argv) {
  std::string words = "bench";
  for (int i = 0; i < argc; ++i) words += ' ' + cli::shell_word(argv[i]);
  return concat(markdown_text(machine), "; ", today(), ", commit ", build_fact("commit"), ", ",
                build_fact("compiler"), "; ", markdown_code(words));
}

}  // namespace farfield::bench
