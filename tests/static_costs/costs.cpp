#include "tests/static_costs/costs.h"

#include <algorithm>
#include <tuple>

#include "apps/cli/text_table.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/parallel.h"
#include "tests/static_costs/disassembler.h"

namespace farfield::static_costs {
namespace {

namespace fs = std::filesystem;

void add_disassembly(std::vector<KernelCosts>& kernels, const std::vector<KernelKey>& keys,
                     const std::string& cuobjdump, const fs::path& object) {
  std::map<KernelKey, std::vector<Instruction>> code;
  for (Code& one : read_sass(output_of(cuobjdump, "-sass", object)))
    code[{std::move(one.function), one.sm}] = std::move(one.instructions);
  const auto bounds = read_launch_bounds(output_of(cuobjdump, "-elf", object));
  for (size_t i = 0; i < kernels.size(); ++i) {
    const auto found = code.find(keys[i]);
    require<IoError>(found != code.end() && !found->second.empty(), "static_costs",
                     "expected the instructions of ", kernels[i].name, " for sm_", kernels[i].sm,
                     " in ", object.string(), ", got none; is nvdisasm beside ", cuobjdump, '?');
    kernels[i].code = code_costs(found->second);
    kernels[i].has_dynamic_shared =
        kernels[i].resources.shared_bytes == 0 &&
        std::any_of(found->second.begin(), found->second.end(),
                    [](const Instruction& x) { return kind_of(x.opcode) == Kind::shared; });
    if (const auto bound = bounds.find(keys[i]); bound != bounds.end())
      kernels[i].n_thread = bound->second;
  }
}

std::vector<KernelCosts> kernels_of(const fs::path& report, const std::string& cuobjdump) {
  const fs::path object = fs::path(report).replace_extension();  // without .ptxas
  std::vector<KernelCosts> kernels;
  std::vector<KernelKey> keys;
  for (const auto& [key, resources] : read_ptxas(read_file(report))) {
    kernels.push_back({.file = object.stem().string(),
                       .name = short_name(key.first),
                       .sm = key.second,
                       .resources = resources});
    keys.push_back(key);
  }
  if (!cuobjdump.empty() && !kernels.empty()) add_disassembly(kernels, keys, cuobjdump, object);
  return kernels;
}

// "4096", "0+41984", "0+41984..59392".
std::string shared_of(const KernelCosts& kernel) {
  std::string text = std::to_string(kernel.resources.shared_bytes);
  if (!kernel.dynamic) return kernel.has_dynamic_shared ? text + '+' : text;
  text += concat('+', kernel.dynamic->least);
  if (kernel.dynamic->most > kernel.dynamic->least) text += concat("..", kernel.dynamic->most);
  return text;
}

std::string blocks_of(const KernelCosts& kernel) {
  if (!kernel.n_thread) return "-";
  const auto with = [&](int64_t dynamic_bytes) {
    Resources resources = kernel.resources;
    resources.shared_bytes += dynamic_bytes;
    return resident_blocks(kernel.sm, *kernel.n_thread, resources);
  };
  // Dynamic shared memory of a launch may leave room for fewer blocks.
  if (!kernel.dynamic) return concat(kernel.has_dynamic_shared ? "<=" : "", with(0));
  const int64_t least = with(kernel.dynamic->most), most = with(kernel.dynamic->least);
  return least == most ? std::to_string(most) : concat(least, "..", most);
}

Counts counts_in(const Loop& loop, const std::vector<Instruction>& code) {
  Counts counts = {};
  for (const size_t i : loop.body) ++counts[static_cast<size_t>(kind_of(code[i].opcode))];
  return counts;
}

bool is_smaller_tile(const Counts& loop, const Counts& tile) {
  return loop[static_cast<size_t>(Kind::tensor)] > 0 &&
         (total(tile) == 0 || total(loop) < total(tile));
}

}  // namespace

CodeCosts code_costs(const std::vector<Instruction>& code) {
  CodeCosts costs;
  const std::vector<Loop> loops = loops_of(code);
  std::vector<bool> is_counted(code.size(), loops.empty());
  for (const Loop& loop : loops) {
    for (const size_t i : loop.body) is_counted[i] = true;
    const Counts counts = counts_in(loop, code);
    if (is_smaller_tile(counts, costs.tile)) costs.tile = counts;
    if (!loop.is_innermost) continue;
    ++costs.n_innermost;
    costs.innermost += static_cast<int64_t>(loop.body.size());
    costs.each.push_back(counts);
  }
  for (size_t i = 0; i < code.size(); ++i) {
    if (code[i].opcode == "NOP") continue;  // what fills the end
    const auto kind = static_cast<size_t>(kind_of(code[i].opcode));
    ++costs.all;
    ++costs.whole[kind];
    if (is_counted[i]) ++costs.in_loops[kind];
  }
  if (loops.empty()) costs.innermost = total(costs.in_loops);
  return costs;
}

std::vector<KernelCosts> gather(const fs::path& folder, const fs::path& sources,
                                const std::string& cuobjdump) {
  constexpr std::string_view kReport = ".o.ptxas";
  std::vector<fs::path> reports;
  if (fs::is_directory(folder))
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
      if (std::string name = entry.path().filename().string(); name.ends_with(kReport)) {
        name.resize(name.size() - kReport.size());
        if (name.ends_with(".cu") && fs::exists(sources / name)) reports.push_back(entry.path());
      }
  std::sort(reports.begin(), reports.end());
  std::vector<std::vector<KernelCosts>> of_file(reports.size());
  parallel_for(static_cast<int64_t>(reports.size()), [&](int64_t i) {
    const auto at = static_cast<size_t>(i);
    of_file[at] = kernels_of(reports[at], cuobjdump);
  });
  std::vector<KernelCosts> all;
  for (const auto& kernels : of_file) all.insert(all.end(), kernels.begin(), kernels.end());
  require<IoError>(!all.empty(), "static_costs", "expected reports of ptxas in ", folder.string(),
                   " of what is in ", sources.string(), ", got none: build the target nvcc");
  std::stable_sort(all.begin(), all.end(), [](const KernelCosts& a, const KernelCosts& b) {
    return std::tie(a.file, a.name, a.sm) < std::tie(b.file, b.name, b.sm);
  });
  return all;
}

void add_dynamic_shared(std::vector<KernelCosts>& kernels, const DynamicShared& bytes) {
  for (KernelCosts& kernel : kernels)
    if (const auto found = bytes.find(kernel.name); found != bytes.end())
      kernel.dynamic = found->second;
}

std::string table(const std::vector<KernelCosts>& kernels) {
  std::vector<std::vector<std::string>> rows = {{"kernel", "sm", "registers", "spill", "shared",
                                                 "threads", "blocks", "all", "loops", "innermost",
                                                 "in loops"}};
  for (int k = 0; k < kKinds; ++k) rows[0].push_back(name_of(static_cast<Kind>(k)));
  for (const KernelCosts& kernel : kernels) {
    const Resources& r = kernel.resources;
    rows.push_back({concat(kernel.file, ": ", kernel.name), std::to_string(kernel.sm),
                    std::to_string(r.registers), std::to_string(r.spill_bytes), shared_of(kernel),
                    kernel.n_thread ? std::to_string(*kernel.n_thread) : "-", blocks_of(kernel)});
    auto& row = rows.back();
    if (kernel.code) {
      row.push_back(std::to_string(kernel.code->all));
      row.push_back(std::to_string(kernel.code->n_innermost));
      row.push_back(std::to_string(kernel.code->innermost));
      row.push_back(std::to_string(total(kernel.code->in_loops)));
      for (const int64_t n : kernel.code->in_loops) row.push_back(std::to_string(n));
    }
    row.resize(rows[0].size(), "-");
  }
  return cli::text_table(rows, 2);
}

}  // namespace farfield::static_costs
