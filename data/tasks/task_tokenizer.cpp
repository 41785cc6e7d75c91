#include "data/tasks/task_tokenizer.h"

#include "engine/base/error.h"

namespace farfield::data {
namespace {

constexpr std::string_view kPrefix = "task:";

}  // namespace

TaskTokenizer::TaskTokenizer(const Task& task)
    : Tokenizer(concat(kPrefix, task.canonical()), concat(kPrefix, task.canonical())),
      words_(task.vocabulary()) {}

TokenizerPtr TaskTokenizer::of_name(std::string_view name) {
  if (!name.starts_with(kPrefix)) return nullptr;
  return std::make_shared<TaskTokenizer>(*make_task(std::string(name.substr(kPrefix.size()))));
}

void TaskTokenizer::encode(std::string_view, std::vector<int32_t>&) const {
  fail<ConfigError>("tokenizer", "expected text for a tokenizer that reads text, got one of ",
                    name());
}

std::string TaskTokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  for (const int32_t id : ids) {
    check_id(id);
    text.append(text.empty() ? "" : " ").append(words_[static_cast<size_t>(id)]);
  }
  return text;
}

size_t TaskTokenizer::cut(std::string_view text, size_t) const { return text.size(); }

}  // namespace farfield::data
