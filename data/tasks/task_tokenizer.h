#pragma once

#include <memory>
#include <string_view>

#include "data/tasks/task.h"
#include "data/tokenizer.h"

namespace farfield::data {

/// The ids of a task and the text of each. The name is the definition: "task:parity(form=plain,
/// zeros=all)". No token ends documents.
class TaskTokenizer final : public Tokenizer {
 public:
  explicit TaskTokenizer(const Task& task);
  /// The one of such a name; null for another. ConfigError as make_task().
  static TokenizerPtr of_name(std::string_view name);

  int64_t n_vocab() const override { return static_cast<int64_t>(words_.size()); }
  int32_t end_of_document() const override { return kNone; }
  /// ConfigError: samples come from the task, not from text.
  void encode(std::string_view text, std::vector<int32_t>& ids) const override;
  /// The words of the ids, with a blank between them.
  std::string decode(std::span<const int32_t> ids) const override;
  size_t cut(std::string_view text, size_t from) const override;

 private:
  std::vector<std::string> words_;
};

}  // namespace farfield::data
