#include "data/tasks/task.h"

#include <cassert>

#include "data/synthetic/draws.h"
#include "engine/base/error.h"
#include "engine/base/random.h"

namespace farfield::data {
namespace {

constexpr std::string_view kWhere = "task";

}  // namespace

void TaskSample::add(int64_t token, bool answer) {
  tokens.push_back(static_cast<int32_t>(token));
  targets.push_back(static_cast<int32_t>(token));
  is_answer.push_back(answer ? 1 : 0);
  is_output.push_back(answer ? 1 : 0);
  sources.push_back(-1);
}

void TaskSample::add_copy(int64_t source) {
  add(tokens[static_cast<size_t>(source)], true);
  sources.back() = static_cast<int32_t>(source);
}

int64_t Task::tokens_of(int64_t length) const {
  const LengthLimits limit = limits();
  require<ConfigError>(
      length >= limit.least && length <= limit.most && (!limit.is_even || length % 2 == 0), kWhere,
      "bad_argument: ", canonical_, ": expected ", limit.is_even ? "an even length" : "a length",
      " in ", limit.least, " ... ", limit.most, ", got ", length);
  return n_tokens(length);
}

TaskSample Task::sample(uint64_t seed, std::string_view split, int64_t length,
                        int64_t index) const {
  require<ConfigError>(split == "train" || split == "test", kWhere, "bad_argument: ", canonical_,
                       ": expected the split train or test, got '", split, "'",
                       did_you_mean(split, {"train", "test"}));
  require<ConfigError>(index >= 0, kWhere, "bad_argument: ", canonical_,
                       ": expected a sample of index 0 or more, got ", index);
  const auto n = static_cast<size_t>(tokens_of(length));
  TaskSample sample;
  sample.tokens.reserve(n);
  sample.targets.reserve(n);
  sample.is_answer.reserve(n);
  Draws draws(seed, stream_of(concat("task ", name_, ' ', split, ' ', length, ' ', index)));
  draw(length, split == "train", draws, sample);
  assert(sample.tokens.size() == n && sample.targets.size() == n && sample.is_answer.size() == n);
  assert(sample.is_answer[0] == 0);
  return sample;
}

}  // namespace farfield::data
