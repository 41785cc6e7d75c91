#include "apps/run/machine.h"

#include <malloc.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "engine/base/error.h"
#include "engine/device_info.h"

namespace fs = std::filesystem;

namespace farfield::run {
namespace {

// The number behind a word at the start of a line: "MemAvailable:   123 kB", "inactive_file 123".
std::optional<int64_t> number_behind(const fs::path& path, const std::string& word) {
  std::ifstream file(path);
  for (std::string first; file >> first;) {
    int64_t value = 0;
    if (first == word && file >> value) return value;
    file.clear();
    std::getline(file, first);
  }
  return {};
}

// The only number of a file; empty for "max" and for no file.
std::optional<int64_t> number_in(const fs::path& path) {
  std::ifstream file(path);
  int64_t value = 0;
  if (file >> value) return value;
  return {};
}

// The folder of this process's control group below `mount`: "0::/a/b" (version 2) or
// "9:memory:/a/b" (version 1). In a container the folder that is named may not be there; the mount
// itself is then the group.
fs::path group_folder(const fs::path& root, const fs::path& mount, const std::string& kind) {
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos || line.substr(first + 1, second - first - 1) != kind) continue;
    const fs::path folder = mount / fs::path(line.substr(second + 1)).relative_path();
    std::error_code status;
    if (fs::is_directory(folder, status)) return folder;
  }
  return mount;
}

// Bytes left under a limit of this group or of an enclosing group.
std::optional<int64_t> left_in_group(fs::path folder, const fs::path& mount, const char* limit_name,
                                     const char* usage_name, const char* file_word) {
  std::optional<int64_t> least;
  for (;; folder = folder.parent_path()) {
    const auto limit = number_in(folder / limit_name), usage = number_in(folder / usage_name);
    if (limit && usage) {
      const int64_t files = number_behind(folder / "memory.stat", file_word).value_or(0);
      const int64_t left = std::max<int64_t>(0, *limit - std::max<int64_t>(0, *usage - files));
      least = std::min(least.value_or(left), left);
    }
    if (folder == mount || folder == folder.parent_path()) return least;
  }
}

constexpr const char* kStatus = "/proc/self/status";

// Linux has no names for cores of ARM, only the numbers of their register MIDR_EL1. Cores of
// servers and of small boards, as Linux numbers them in arch/arm64/include/asm/cputype.h.
struct ArmCore {
  const char* implementer;
  const char* part;
  const char* name;
};
constexpr ArmCore kArmCores[] = {
    {"0x41", "0xd03", "ARM Cortex-A53"},  {"0x41", "0xd07", "ARM Cortex-A57"},
    {"0x41", "0xd08", "ARM Cortex-A72"},  {"0x41", "0xd0b", "ARM Cortex-A76"},
    {"0x41", "0xd0c", "ARM Neoverse-N1"}, {"0x41", "0xd40", "ARM Neoverse-V1"},
    {"0x41", "0xd49", "ARM Neoverse-N2"}, {"0x41", "0xd4f", "ARM Neoverse-V2"},
    {"0x46", "0x001", "Fujitsu A64FX"},   {"0xc0", "0xac3", "Ampere-1"},
};

}  // namespace

std::string processor_name(const fs::path& root) {
  std::ifstream file(root / "proc/cpuinfo");
  std::string implementer, part;
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::string value = line.substr(colon + 2);
    if (line.starts_with("model name")) return value;
    if (line.starts_with("CPU implementer")) implementer = value;
    if (line.starts_with("CPU part")) part = value;
  }
  if (implementer.empty() || part.empty()) return "unknown";
  for (const ArmCore& core : kArmCores)
    if (implementer == core.implementer && part == core.part) return core.name;
  return concat("ARM, implementer ", implementer, ", part ", part);
}

std::string machine_name(const Device& device) {
  utsname system{};
  ::uname(&system);
  std::string name = concat(system.nodename, ", ", processor_name(), ", ",
                            ::sysconf(_SC_NPROCESSORS_ONLN), " processors");
  if (device.kind != Device::Kind::cpu) name += ", " + device_info(device).name;
  return name;
}

int64_t available_bytes(const Device& device) {
  return device.kind == Device::Kind::cpu ? available_memory() : device_free_bytes(device);
}

int64_t available_memory(const fs::path& root) {
  std::optional<int64_t> available = number_behind(root / "proc/meminfo", "MemAvailable:");
  if (available) *available *= 1024;
  const fs::path unified = root / "sys/fs/cgroup", memory = unified / "memory";
  for (const std::optional<int64_t>& left :
       {left_in_group(group_folder(root, unified, ""), unified, "memory.max", "memory.current",
                      "inactive_file"),
        left_in_group(group_folder(root, memory, "memory"), memory, "memory.limit_in_bytes",
                      "memory.usage_in_bytes", "total_inactive_file")})
    if (left) available = std::min(available.value_or(*left), *left);
  return available.value_or(0);
}

int64_t resident_bytes() { return number_behind(kStatus, "VmRSS:").value_or(0) * 1024; }
int64_t peak_resident_bytes() { return number_behind(kStatus, "VmHWM:").value_or(0) * 1024; }

bool reset_peak_resident() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return file.good();
}

}  // namespace farfield::run
