#include "data/tasks/task.h"

#include "apps/cli/options.h"
#include "apps/cli/printout.h"
#include "apps/prepare/program.h"
#include "data/tasks/row.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

namespace farfield::prepare {
namespace {

constexpr std::string_view kWhere = "prepare";

// Answers in brackets. If a sample asks for other tokens than the next ones, each target stands in
// parentheses before the token at its place.
std::string marked(const data::TaskSample& sample, const std::vector<std::string>& words) {
  const bool has_others = sample.targets != sample.tokens;
  std::vector<std::string> shown;
  for (size_t i = 0; i < sample.tokens.size(); ++i) {
    const std::string& token = words[static_cast<size_t>(sample.tokens[i])];
    const std::string& target = words[static_cast<size_t>(sample.targets[i])];
    if (sample.is_answer[i] != 0 && has_others) shown.push_back('(' + target + ')');
    shown.push_back(sample.is_answer[i] != 0 && !has_others ? '[' + token + ']' : token);
  }
  return joined(shown, " ");
}

std::string json_line(const data::TaskSample& sample, const std::vector<std::string>& words,
                      int64_t length, int64_t index) {
  Json object;
  object["length"] = length;
  object["index"] = index;
  if (sample.place >= 0) object["place"] = sample.place;
  object["tokens"] = sample.tokens;
  if (sample.targets != sample.tokens) object["targets"] = sample.targets;
  object["is_answer"] = sample.is_answer;
  object["text"] =
      joined(sample.tokens, " ", [&](int32_t token) { return words[static_cast<size_t>(token)]; });
  return write_json(object);
}

void list_for_programs(std::ostream& out) {
  cli::Table tasks = {"tasks", {"task", "sequence", "length", "source"}};
  cli::Table options = {"options", {"task", "option", "default", "meaning"}};
  for (const data::TaskRow& row : data::tasks()) {
    tasks.rows.push_back({row.name, row.help, row.length, row.source});
    for (const data::TaskArgument& argument : row.arguments)
      options.rows.push_back({row.name, argument.name, argument.fallback, argument.meaning});
  }
  cli::Printout page(out, "prepare task", /*is_json=*/true);
  page.add(tasks);
  page.add(options);
  page.finish();
}

}  // namespace

int prepare_task(int argc, const char* const* argv, std::ostream& out) {
  std::string name, split = "train", format = "text";
  std::vector<int64_t> lengths;
  int64_t n_sample = 1;
  uint64_t seed = 0;
  bool is_list = false, is_markdown = false, json = false;
  cli::Options options("prepare task",
                       "Prints samples of a synthetic task for length generalisation, one a line, "
                       "the scored tokens in brackets.");
  options.group("Task")
      .add_positional("task", name,
                      "name, with options in parentheses: \"copy(alphabet=8, eos=token)\"")
      .add("list", is_list, "explain all tasks and their options")
      .add("markdown", is_markdown, "with --list: as tables in Markdown");
  add_json_option(options, json);
  options.group("Samples")
      .add("length", lengths, "N,...", "lengths (default: all lengths of the task's small split)")
      .add("split", split, "SPLIT", "train or test: independent samples")
      .add("samples", n_sample, "N", "samples of each length")
      .add("seed", seed, "N", "seed of the samples, which are the same on every machine")
      .add("format", format, "FORMAT",
           "text; ids: the same with numbers; jsonl: tokens, is_answer and text of each sample, "
           "targets where a sample asks for other tokens than the next ones");
  if (!options.parse(argc, argv, out)) return cli::kDone;
  require<ConfigError>(!is_markdown || is_list, kWhere,
                       "--markdown: expected --list with it, got none");
  if (is_list) {
    require<ConfigError>(name.empty(), kWhere, "--list: expected no task beside it, got '", name,
                         "'");
    require<ConfigError>(!json || !is_markdown, kWhere, "--json: expected it without --markdown");
    if (json)
      list_for_programs(out);
    else
      out << (is_markdown ? data::tasks_markdown() : data::tasks_text()) << std::flush;
    return cli::kDone;
  }
  require<ConfigError>(!json, kWhere,
                       "--json: expected --list with it; samples have --format jsonl");
  require<ConfigError>(!name.empty(), kWhere,
                       "expected a task, got none; `prepare task --list` explains all");
  require<ConfigError>(split == "train" || split == "test", kWhere,
                       "--split: expected train or test, got '", split, "'",
                       did_you_mean(split, {"train", "test"}));
  require<ConfigError>(format == "text" || format == "ids" || format == "jsonl", kWhere,
                       "--format: expected text, ids or jsonl, got '", format, "'",
                       did_you_mean(format, {"text", "ids", "jsonl"}));
  require<ConfigError>(n_sample >= 1, kWhere, "--samples: expected 1 or more, got ", n_sample);

  const std::unique_ptr<const data::Task> task = data::make_task(name);
  std::vector<std::string> words = task->vocabulary();
  if (format == "ids")
    for (size_t id = 0; id < words.size(); ++id) words[id] = std::to_string(id);
  if (lengths.empty()) lengths = split == "train" ? task->lengths().train : task->lengths().test;
  for (const int64_t length : lengths)
    task->tokens_of(length);  // refuses all before the first line
  for (const int64_t length : lengths) {
    for (int64_t index = 0; index < n_sample; ++index) {
      const data::TaskSample sample = task->sample(seed, split, length, index);
      out << (format == "jsonl" ? json_line(sample, words, length, index) : marked(sample, words))
          << '\n';
    }
  }
  out << std::flush;
  return cli::kDone;
}

}  // namespace farfield::prepare
