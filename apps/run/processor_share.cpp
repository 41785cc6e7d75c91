#include "apps/run/processor_share.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "engine/base/parallel.h"

namespace farfield::run {
namespace {

// The host's name, and the kernel's random boot id: two machines may have one name.
std::string host_of_process() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  std::string boot_id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot_id;
  return std::string(name) + ' ' + boot_id;
}

// How many of a machine may run on each of its processors.
std::vector<int64_t> users_of(const std::vector<Processors>& all, const std::string& host) {
  std::vector<int64_t> n_user;
  for (const Processors& one : all) {
    if (one.host != host) continue;
    n_user.resize(std::max(n_user.size(), one.mask.size()));
    for (size_t i = 0; i < one.mask.size(); ++i) n_user[i] += one.mask[i] == '1';
  }
  return n_user;
}

}  // namespace

Processors own_processors() {
  std::string mask;
  for (const bool may : allowed_processors()) mask += may ? '1' : '0';
  return {host_of_process(), mask};
}

int64_t processor_share(const std::vector<Processors>& all, int rank) {
  const Processors& own = all[static_cast<size_t>(rank)];
  const std::vector<int64_t> n_user = users_of(all, own.host);
  double share = 0;
  for (size_t i = 0; i < own.mask.size(); ++i)
    if (own.mask[i] == '1') share += 1.0 / static_cast<double>(n_user[i]);
  constexpr double kRounding = 1e-6;  // a sixth, added up six times, is below 1
  return std::max(int64_t{1}, static_cast<int64_t>(std::floor(share + kRounding)));
}

int64_t n_used_processor(const std::vector<Processors>& all, int rank) {
  const std::vector<int64_t> n_user = users_of(all, all[static_cast<size_t>(rank)].host);
  return std::count_if(n_user.begin(), n_user.end(), [](int64_t n) { return n > 0; });
}

int64_t n_processor() { return std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)); }

}  // namespace farfield::run
