#include <algorithm>

#include "data/tasks/row.h"
#include "engine/base/error.h"
#include "engine/base/markdown.h"
#include "engine/base/text.h"

namespace farfield::data {

std::vector<TaskRow> task_rows();  // made by CMake, of the files in rows/

namespace {

constexpr std::string_view kWhere = "task";

struct ParsedTask {
  std::string name;
  TaskArguments::Given arguments;
};

// The place of the first comma outside brackets; npos: there is none.
size_t first_comma(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') ++depth;
    if (text[i] == ']') --depth;
    if (text[i] == ',' && depth <= 0) return i;
  }
  return text.npos;
}

// name [ "(" [ name "=" value { "," name "=" value } ] ")" ]
ParsedTask parse_task(const std::string& whole) {
  const std::string_view text = trimmed(whole);
  const size_t open = text.find('(');
  ParsedTask task;
  task.name = trimmed(text.substr(0, open));
  if (open == text.npos) return task;
  require<ConfigError>(text.back() == ')', kWhere, "bad_argument: expected ')' at the end, got '",
                       whole, "'");
  std::string_view rest = text.substr(open + 1, text.size() - open - 2);
  while (!trimmed(rest).empty() || !task.arguments.empty()) {
    const size_t comma = first_comma(rest);
    const std::string_view argument = trimmed(rest.substr(0, comma));
    const size_t equals = argument.find('=');
    require<ConfigError>(equals != argument.npos, kWhere, "bad_argument: ", task.name,
                         ": expected OPTION=VALUE, got '", argument, "'");
    task.arguments.emplace_back(trimmed(argument.substr(0, equals)),
                                trimmed(argument.substr(equals + 1)));
    if (comma == rest.npos) break;
    rest = rest.substr(comma + 1);
  }
  return task;
}

const TaskRow& row_named(const std::string& name) {
  std::vector<std::string> names;
  for (const TaskRow& row : tasks()) {
    if (row.name == name) return row;
    names.push_back(row.name);
  }
  fail<ConfigError>(kWhere, "bad_argument: expected a task out of ", joined(names), ", got '", name,
                    "'", did_you_mean(name, names));
}

// "1 .. 20", "21, 25 .. 57", "64, 128, 256"
std::string spans(const std::vector<int64_t>& numbers) {
  const size_t n = numbers.size();
  bool is_even = n > 3;
  for (size_t i = 2; is_even && i < n; ++i)
    is_even = numbers[i] - numbers[i - 1] == numbers[1] - numbers[0];
  if (!is_even) return joined(numbers);
  if (numbers[1] == numbers[0] + 1) return concat(numbers[0], " .. ", numbers[n - 1]);
  return concat(numbers[0], ", ", numbers[1], " .. ", numbers[n - 1]);
}

}  // namespace

const std::vector<TaskRow>& tasks() {
  static const std::vector<TaskRow> all = [] {
    std::vector<TaskRow> rows = task_rows();
    std::sort(rows.begin(), rows.end(),
              [](const TaskRow& a, const TaskRow& b) { return a.place < b.place; });
    return rows;
  }();
  return all;
}

std::unique_ptr<const Task> make_task(const std::string& text) {
  const ParsedTask parsed = parse_task(text);
  const TaskRow& row = row_named(parsed.name);
  TaskArguments arguments(row, parsed.arguments);
  std::unique_ptr<Task> task = row.make(arguments);
  arguments.refuse_unread();
  task->name_ = row.name;
  task->canonical_ = arguments.canonical();
  return task;
}

LengthSplit small_lengths() {
  LengthSplit split;
  for (int64_t n = 1; n <= 20; ++n) split.train.push_back(n);
  for (int64_t n = 21; n <= 60; n += 4) split.test.push_back(n);
  split.n_test = 128;
  return split;
}

std::vector<std::string> numerals(int64_t n) {
  std::vector<std::string> texts;
  for (int64_t i = 0; i < n; ++i) texts.push_back(std::to_string(i));
  return texts;
}

std::string tasks_text() {
  std::string text;
  for (const TaskRow& row : tasks()) {
    const LengthSplit lengths = make_task(row.name)->lengths();
    text += concat(row.name, ": ", row.help, "\n    length: ", row.length, "; train ",
                   spans(lengths.train), "; test ", spans(lengths.test), '\n');
    for (const TaskArgument& argument : row.arguments)
      text += concat("    ", argument.name, '=', argument.fallback, ": ", argument.meaning, '\n');
    text += concat("    ", row.source, '\n');
  }
  return text;
}

std::string tasks_markdown() {
  std::string text = markdown_head({"task", "sequence", "length", "train; test", "source"});
  std::string options = markdown_head({"task", "option", "meaning"});
  for (const TaskRow& row : tasks()) {
    const LengthSplit lengths = make_task(row.name)->lengths();
    text +=
        markdown_row({markdown_code(row.name), markdown_text(row.help), markdown_text(row.length),
                      concat(spans(lengths.train), "; ", spans(lengths.test)), row.source});
    for (const TaskArgument& argument : row.arguments)
      options += markdown_row({markdown_code(row.name),
                               markdown_code(argument.name + '=' + argument.fallback),
                               markdown_text(argument.meaning)});
  }
  return text + '\n' + options;
}

}  // namespace farfield::data
