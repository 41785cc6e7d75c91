#include "engine/comm/slurm.h"

#include <string_view>

#include "engine/base/error.h"
#include "engine/comm/variables.h"

namespace farfield::comm {
namespace {

constexpr std::string_view kWhere = "processes";
const std::string kTasks = "SLURM_STEP_TASKS_PER_NODE";

// How many digits a text begins with.
size_t digits_at(std::string_view text) {
  const size_t end = text.find_first_not_of("0123456789");
  return end == std::string_view::npos ? text.size() : end;
}

// The first number, as it is written, of what stands between brackets: "1-3,07"; "" where that is
// no list of numbers and ranges.
std::string_view first_number(std::string_view ranges) {
  const std::string_view first = ranges.substr(0, digits_at(ranges));
  for (std::string_view rest = ranges;;) {
    for (const bool is_end : {false, true}) {
      const size_t n = digits_at(rest);
      if (n == 0) return "";
      rest.remove_prefix(n);
      if (is_end || rest.empty() || rest[0] != '-') break;
      rest.remove_prefix(1);
    }
    if (rest.empty()) return first;
    if (rest[0] != ',') return "";
    rest.remove_prefix(1);
  }
}

}  // namespace

std::string first_host(const std::string& nodes) {
  const auto refuse_unless = [&](bool ok) {
    require<ConfigError>(ok, kWhere,
                         "SLURM_STEP_NODELIST: expected hosts such as login,gpu[017-018], got '",
                         nodes, "'; set MASTER_ADDR to the host of process 0");
  };
  std::string host;
  for (std::string_view rest = nodes; !rest.empty() && rest[0] != ',';) {
    const size_t n = rest.find_first_of(",[]");
    host += rest.substr(0, n);
    if (n == std::string_view::npos) break;
    rest.remove_prefix(n);
    if (rest[0] == ',') break;
    const size_t close = rest.find(']');
    refuse_unless(rest[0] == '[' && close != std::string_view::npos);
    const std::string_view number = first_number(rest.substr(1, close - 1));
    refuse_unless(!number.empty());
    host += number;
    rest.remove_prefix(close + 1);
  }
  refuse_unless(!host.empty());
  return host;
}

int tasks_of_node(const std::string& counts, int64_t node) {
  for (size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = counts.find(',', begin);
    const std::string entry = counts.substr(begin, end - begin);
    const size_t times = entry.find("(x");
    const auto n_tasks = static_cast<int>(number_of(kTasks, entry.substr(0, times), 1, INT32_MAX));
    int64_t n_nodes = 1;
    if (times != std::string::npos) {
      require<ConfigError>(entry.back() == ')', kWhere, kTasks,
                           ": expected 2(x3),1 or the like, got '", counts, "'");
      n_nodes = number_of(kTasks, entry.substr(times + 2, entry.size() - times - 3), 1, INT32_MAX);
    }
    if (node < n_nodes) return n_tasks;
    node -= n_nodes;
  }
  fail<ConfigError>(kWhere, kTasks, ": expected an entry for the node SLURM_NODEID, got '", counts,
                    "'");
}

uint16_t port_of_step(int64_t job, int64_t step) {
  constexpr int kFirstPort = 20'000, kPorts = 10'000;
  return static_cast<uint16_t>(kFirstPort + (job * 7 + step) % kPorts);
}

}  // namespace farfield::comm
