#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/synthetic/draws.h"
#include "data/tasks/arguments.h"
#include "data/tasks/task.h"

namespace farfield::data {

/// An option of a task.
struct TaskArgument {
  std::string name = {};
  std::string fallback = {};  ///< the default, as it is written
  std::string meaning = {};
};

/// One task: its name, its description and its factory. Each file rows/<file>.cpp has
/// `std::vector<TaskRow> <file>_rows()`.
struct TaskRow {
  int place = 0;  ///< order in the list: smaller places come first
  std::string name = {};
  std::string help = {};    ///< the sequence, in one line
  std::string length = {};  ///< what a length counts
  std::string source = {};  ///< paper
  std::vector<TaskArgument> arguments = {};
  std::function<std::unique_ptr<Task>(TaskArguments&)> make = {};
};

/// The small split of most tasks: train on 1 to 20, test 21, 25, ..., 57.
LengthSplit small_lengths();

/// "0", "1", ...
std::vector<std::string> numerals(int64_t n);

}  // namespace farfield::data
