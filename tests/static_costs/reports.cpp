#include "tests/static_costs/reports.h"

#include <cxxabi.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <optional>

#include "engine/base/text.h"

namespace farfield::static_costs {
namespace {

template <class F>
void for_each_line(std::string_view text, const F& f) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    f(trimmed(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// The text behind `mark`; empty without the mark.
std::optional<std::string_view> behind(std::string_view line, std::string_view mark) {
  const size_t at = line.find(mark);
  if (at == std::string_view::npos) return {};
  return line.substr(at + mark.size());
}

int64_t number(std::string_view digits, int base = 10) {
  int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  return value;
}

// 48 of "..., 48 bytes smem, ...": the word before `unit`; 0 if it is missing.
int64_t amount(std::string_view line, std::string_view unit) {
  const size_t end = line.find(unit);
  if (end == std::string_view::npos) return 0;
  const size_t begin = line.find_last_not_of("0123456789", end - 1) + 1;
  return number(line.substr(begin, end - begin));
}

int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

void erase_all(std::string& text, std::string_view part) {
  for (size_t at; (at = text.find(part)) != std::string::npos;) text.erase(at, part.size());
}

}  // namespace

std::map<KernelKey, Resources> read_ptxas(std::string_view report) {
  std::map<KernelKey, Resources> result;
  Resources* kernel = nullptr;
  for_each_line(report, [&](std::string_view line) {
    if (const auto name = behind(line, "Compiling entry function '")) {
      const auto sm = behind(*name, "' for 'sm_");
      if (sm) kernel = &result[{std::string(name->substr(0, name->find('\''))), number(*sm)}];
    } else if (kernel) {
      kernel->spill_bytes +=
          amount(line, " bytes spill stores") + amount(line, " bytes spill loads");
      kernel->registers = std::max(kernel->registers, amount(line, " registers"));
      kernel->shared_bytes = std::max(kernel->shared_bytes, amount(line, " bytes smem"));
    }
  });
  return result;
}

std::map<KernelKey, int64_t> read_launch_bounds(std::string_view listing) {
  std::map<KernelKey, int64_t> result;
  int sm = 0;
  std::string function;
  bool is_bound = false;
  for_each_line(listing, [&](std::string_view line) {
    if (const auto arch = behind(line, "arch = sm_")) {
      sm = static_cast<int>(number(*arch));
    } else if (line.starts_with(".nv.info.")) {
      function = line.substr(std::string_view(".nv.info.").size());
    } else if (line.starts_with("Attribute:")) {
      is_bound = line.ends_with("EIATTR_MAX_THREADS");
    } else if (const auto value = behind(line, "Value:"); value && is_bound) {
      int64_t n_thread = 1;  // of x, y and z
      auto digits = behind(*value, "0x");
      for (; digits; digits = behind(*digits, "0x")) n_thread *= number(*digits, 16);
      result[{function, sm}] = n_thread;
      is_bound = false;
    }
  });
  return result;
}

int64_t resident_blocks(int sm, int64_t n_thread, const Resources& of_kernel) {
  struct Limits {
    int sm;
    int64_t blocks, warps, shared_bytes;
  };
  constexpr Limits kLimits[] = {{80, 32, 64, 164 << 10},
                                {86, 16, 48, 100 << 10},
                                {89, 24, 48, 100 << 10},
                                {90, 32, 64, 228 << 10}};
  constexpr int64_t kWarp = 32, kRegisters = 65536, kRegisterUnit = 256, kWarpUnit = 4,
                    kSharedUnit = 128, kReserved = 1024;  // shared bytes of a block for the system
  const Limits* const limits = std::find_if(std::begin(kLimits), std::end(kLimits),
                                            [sm](const Limits& l) { return l.sm == sm; });
  if (limits == std::end(kLimits)) return 0;
  const int64_t warps = round_up(n_thread, kWarp) / kWarp;
  const int64_t of_warp =
      std::max(kRegisterUnit, round_up(of_kernel.registers * kWarp, kRegisterUnit));
  const int64_t by_registers = kRegisters / of_warp / kWarpUnit * kWarpUnit / warps;
  const int64_t by_shared =
      limits->shared_bytes / round_up(of_kernel.shared_bytes + kReserved, kSharedUnit);
  return std::min({limits->blocks, limits->warps / warps, by_registers, by_shared});
}

std::string short_name(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0) return mangled;
  std::string name = demangled.get();
  for (const std::string_view part : {"(anonymous namespace)::", "farfield::", "attention_cuda::"})
    erase_all(name, part);
  if (name.starts_with("void ")) name.erase(0, 5);
  int depth = 0;  // the parameters begin at the first parenthesis outside of <>
  for (size_t i = 0; i < name.size(); ++i) {
    depth += name[i] == '<' ? 1 : name[i] == '>' ? -1 : 0;
    if (depth == 0 && name[i] == '(') return name.substr(0, i);
  }
  return name;
}

}  // namespace farfield::static_costs
