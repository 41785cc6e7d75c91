#include "apps/run/sequence_options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <system_error>

#include "apps/run/option_words.h"
#include "data/masking.h"
#include "data/tasks/task.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "layers/config.h"

namespace farfield::run {
namespace {

// "8", or "1..20" for all from 1 to 20.
std::vector<int64_t> parse_task_lengths(const std::vector<std::string>& texts) {
  std::vector<int64_t> lengths;
  for (const std::string& text : texts) {
    int64_t first = 0, last = 0;
    const char* const end = text.data() + text.size();
    const auto begin = std::from_chars(text.data(), end, first);
    bool is_good = begin.ec == std::errc();
    if (is_good && begin.ptr == end) {
      last = first;
    } else if (is_good) {
      is_good = std::string_view(begin.ptr, end).starts_with("..");
      const auto rest = is_good ? std::from_chars(begin.ptr + 2, end, last) : begin;
      is_good = is_good && rest.ec == std::errc() && rest.ptr == end;
    }
    constexpr int64_t kMost = 1'000'000;
    require<ConfigError>(is_good && first >= 1 && first <= last && last <= kMost, kConfig,
                         "--task-lengths: expected lengths N or ranges A..B from 1 to ", kMost,
                         ", got '", text, "'");
    for (int64_t length = first; length <= last; ++length) lengths.push_back(length);
  }
  return lengths;
}

}  // namespace

std::vector<StepLength> parse_lengths(const std::vector<std::string>& texts) {
  std::vector<StepLength> lengths;
  for (const std::string& text : texts) {
    StepLength one;
    const char* const end = text.data() + text.size();
    const auto share = std::from_chars(text.data(), end, one.share);
    const bool is_share = share.ec == std::errc() && share.ptr < end && *share.ptr == ':';
    const auto length =
        is_share ? std::from_chars(share.ptr + 1, end, one.length) : std::from_chars_result{};
    require<ConfigError>(is_share && length.ec == std::errc() && length.ptr == end &&
                             std::isfinite(one.share) && one.share > 0 && one.length > 0,
                         kConfig, "--lengths: expected SHARE:TOKENS, such as 0.5:2048, got '", text,
                         "'");
    for (const StepLength& other : lengths)
      require<ConfigError>(other.length != one.length, kConfig, "--lengths: expected ", one.length,
                           " tokens once, got them twice");
    lengths.push_back(one);
  }
  return lengths;
}

void fill_task(RunConfig& from, ResolvedConfig& c, bool is_train_len_given) {
  require<ConfigError>(from.task || from.task_lengths.empty(), kConfig,
                       "--task-lengths: expected --task beside it");
  if (!from.task) return;
  const std::unique_ptr<const data::Task> task = data::make_task(*from.task);
  c.task = task->canonical();
  from.task = c.task;
  c.task_lengths =
      from.task_lengths.empty() ? task->lengths().train : parse_task_lengths(from.task_lengths);
  int64_t longest = 1;
  for (const int64_t length : c.task_lengths)
    longest = std::max(longest, task->tokens_of(length) - 1);
  require<ConfigError>(!is_train_len_given || *from.train_len == longest, kConfig,
                       "--train-len: expected ", longest, ", the longest input of ", c.task,
                       ", got ", from.train_len.value_or(0), "; leave it out");
  from.train_len = longest;
  const auto refuse = [&](const char* name, bool is_given) {
    require<ConfigError>(!is_given, kConfig, name, ": expected none with --task");
  };
  refuse("--data", !from.data.empty());
  refuse("--lengths", !from.lengths.empty());
  refuse("--order", from.order.has_value());
  refuse("--tokenizer", from.tokenizer.has_value());
  refuse("--vocab-size", from.vocab_size.has_value());
  refuse("--end-of-text", from.end_of_text.has_value());
  refuse("--data-type", from.data_type.has_value());
  refuse("--data-split", from.data_split.has_value());
  const bool has_cutoffs =
      from.cutoffs ? *from.cutoffs != "none" : preset(from.preset).is_adaptive();
  require<ConfigError>(!has_cutoffs, kConfig, "--cutoffs: expected none with --task, got ",
                       from.cutoffs.value_or(concat("those of ", from.preset)));
}

void fill_mask(RunConfig& from, ResolvedConfig& c) {
  c.model.sees_later = value_of_word<bool>("--mask", from.mask.value_or("causal"),
                                           {{"causal", false}, {"none", true}});
  if (!c.model.sees_later) from.mask.reset();
  const bool is_masked = c.model.sees_later && c.task.empty();
  require<ConfigError>(is_masked || !from.masked, kConfig, "--masked: expected ",
                       c.task.empty() ? "--mask none beside it, since a causal model is asked for "
                                        "all next tokens"
                                      : "none with --task, which hides its answers");
  if (!is_masked) return;
  c.masked = from.masked.value_or(data::Masking::kUsualShare);
  from.masked = c.masked;
  require<ConfigError>(c.masked > 0 && c.masked < 1, kConfig,
                       "--masked: expected a share above 0 and below 1, got ", c.masked);
  require<ConfigError>(!c.model.is_adaptive(), kConfig,
                       "--cutoffs: expected none with --mask none, got ",
                       joined(c.model.cutoffs, ","));
}

}  // namespace farfield::run
