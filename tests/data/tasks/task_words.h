#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/tasks/task.h"

namespace farfield::data {

/// The texts of the tokens of a sample.
inline std::vector<std::string> words_of(const Task& task, const TaskSample& sample) {
  const std::vector<std::string> vocabulary = task.vocabulary();
  std::vector<std::string> words;
  for (const int32_t token : sample.tokens)
    words.push_back(vocabulary.at(static_cast<size_t>(token)));
  return words;
}

/// The same in one line, answers in brackets.
inline std::string line_of(const Task& task, const TaskSample& sample) {
  const std::vector<std::string> words = words_of(task, sample);
  std::string line;
  for (size_t i = 0; i < words.size(); ++i)
    line += (i == 0 ? "" : " ") + (sample.is_answer[i] != 0 ? '[' + words[i] + ']' : words[i]);
  return line;
}

/// A sample of a task that is made for this.
inline std::string line_of(const std::string& task, int64_t length, int64_t index = 0,
                           const std::string& split = "test") {
  const std::unique_ptr<const Task> made = make_task(task);
  return line_of(*made, made->sample(1, split, length, index));
}

}  // namespace farfield::data
