#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace farfield::data {

struct TaskRow;  // row.h

/// The values of a task's options. A task reads those that it uses: the others must not be given,
/// and are no part of the canonical text.
/// Throws    ConfigError [task] bad_argument, with the option and what it may be
class TaskArguments {
 public:
  using Given = std::vector<std::pair<std::string, std::string>>;  ///< names and values, as written

  /// Refuses names that the row lacks, and a name given twice.
  TaskArguments(const TaskRow& row, const Given& given);

  /// One of these words.
  std::string word(const std::string& name, const std::vector<std::string>& words);
  int64_t integer(const std::string& name, int64_t least, int64_t most);
  /// The same, or `none`, which is nullopt.
  std::optional<int64_t> integer_or(const std::string& none, const std::string& name, int64_t least,
                                    int64_t most);
  /// The same without the word: `none`, the default, is no part of the canonical text, which stays
  /// that of the task without the option.
  std::optional<int64_t> integer_if_given(const std::string& name, int64_t least, int64_t most);
  /// A number in 0 ... 1, or a list of such numbers in brackets.
  std::vector<double> probabilities(const std::string& name);

  /// The options that were read and that it holds, in the order of the row: "parity(form=plain,
  /// zeros=all)".
  std::string canonical() const;
  /// Refuses options that were given and not read.
  void refuse_unread() const;

 private:
  const std::string& value(const std::string& name) const;
  [[noreturn]] void refuse(const std::string& name, const std::string& expected,
                           const std::string& hint = "") const;

  const TaskRow& row_;
  std::map<std::string, std::string> given_, read_;
};

}  // namespace farfield::data
