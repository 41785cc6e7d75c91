#include "apps/compare/measurements.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "apps/eval/parameters.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::compare {
namespace {

const eval::ProtocolResult& result_of(const Measurement& one) { return one.cells.front()->result; }

std::vector<Measurement> all_measurements(const std::vector<const RunCell*>& cells) {
  std::vector<Measurement> all;
  for (const RunCell* cell : cells) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const Measurement& other) {
      return result_of(other).protocol == cell->result.protocol &&
             result_of(other).parameters == cell->result.parameters;
    });
    if (same == all.end())
      all.push_back({{cell}, "", ""});
    else
      same->cells.push_back(cell);
  }
  return all;
}

std::filesystem::file_time_type time_of(const Measurement& one) {
  std::filesystem::file_time_type newest = one.cells.front()->time;
  for (const RunCell* cell : one.cells) newest = std::max(newest, cell->time);
  return newest;
}

// "0375ef1300aeb833 (segments=100, 3 runs)"
std::string description_of(const Measurement& one) {
  std::set<std::string> runs;
  for (const RunCell* cell : one.cells) runs.insert(cell->run);
  const std::string& parameters = result_of(one).parameters;
  return concat(result_of(one).hash(), " (", parameters, parameters.empty() ? "" : ", ",
                runs.size(), runs.size() == 1 ? " run)" : " runs)");
}

bool is_named(const Measurement& one, const std::string& hash) {
  return !hash.empty() && result_of(one).hash().starts_with(hash);
}

void check_hashes(const std::vector<Measurement>& all, const std::vector<std::string>& hashes) {
  std::vector<std::string> there;
  for (const Measurement& one : all)
    there.push_back(concat(result_of(one).protocol, ' ', description_of(one)));
  for (const std::string& hash : hashes)
    require<ConfigError>(
        std::any_of(all.begin(), all.end(), [&](const auto& one) { return is_named(one, hash); }),
        "eval:compare", "bad_argument: --protocol-hash: expected one of ", joined(there), ", got '",
        hash, "'");
}

}  // namespace

std::vector<Measurement> chosen_measurements(const std::vector<const RunCell*>& cells,
                                             const std::vector<std::string>& hashes) {
  const std::vector<Measurement> all = all_measurements(cells);
  check_hashes(all, hashes);
  std::vector<Measurement> chosen;
  for (const Measurement& one : all) {
    const auto is_better = [&](const Measurement& other) {
      return result_of(other).protocol == result_of(one).protocol && time_of(other) > time_of(one);
    };
    const bool is_first_of_protocol =
        std::none_of(chosen.begin(), chosen.end(), [&](const Measurement& other) {
          return result_of(other).protocol == result_of(one).protocol;
        });
    const bool is_chosen =
        hashes.empty() ? is_first_of_protocol && std::none_of(all.begin(), all.end(), is_better)
                       : std::any_of(hashes.begin(), hashes.end(),
                                     [&](const auto& hash) { return is_named(one, hash); });
    if (!is_chosen) continue;
    Measurement made = one;
    std::vector<std::string> others, parameters;
    for (const Measurement& other : all) {
      if (result_of(other).protocol != result_of(one).protocol) continue;
      parameters.push_back(result_of(other).parameters);
      if (&other != &one) others.push_back(description_of(other));
    }
    made.differing = eval::differing_parameters(result_of(one).parameters, parameters);
    if (!others.empty())
      made.others = concat("this is ", hashes.empty() ? "the newest" : "one", " of ",
                           others.size() + 1, " measurements of ", result_of(one).protocol,
                           "; --protocol-hash shows another: ", joined(others));
    chosen.push_back(std::move(made));
  }
  return chosen;
}

}  // namespace farfield::compare
