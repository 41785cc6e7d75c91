#include "apps/cli/completion_words.h"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::cli {
namespace {

constexpr char kBetween = '\t';

std::string on_one_line(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == kBetween) c = ' ';
  return text;
}

// The inverse of print_words().
std::vector<CompletionWord> parse_words(const std::string& text) {
  std::vector<CompletionWord> words;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(kBetween);
    const size_t second = first == line.npos ? line.npos : line.find(kBetween, first + 1);
    require<BackendError>(second != line.npos, "completion", "expected words, got '", line, "'");
    words.push_back({line.substr(0, first), line.substr(first + 1, second - first - 1),
                     line.substr(second + 1)});
  }
  return words;
}

}  // namespace

bool asks_for_words(int argc, const char* const* argv) {
  return argc == 3 && std::string_view(argv[1]) == "--completion" &&
         std::string_view(argv[2]) == "words";
}

void print_words(const std::vector<CompletionWord>& words, std::ostream& out) {
  for (const CompletionWord& one : words)
    out << one.word << kBetween << on_one_line(one.placeholder) << kBetween << on_one_line(one.help)
        << '\n';
}

std::vector<CompletionTable> completion_tables(const std::string& program, const Program& fn) {
  std::vector<CompletionTable> tables;
  std::vector<std::vector<std::string>> open = {{}};  // commands to ask
  for (size_t i = 0; i < open.size(); ++i) {
    std::vector<std::string> call = {program};
    call.insert(call.end(), open[i].begin(), open[i].end());
    call.insert(call.end(), {"--completion", "words"});
    CompletionTable table = {joined(open[i], " "), parse_words(own_output(fn, call))};
    for (const CompletionWord& one : table.words) {
      if (one.is_option()) continue;
      open.push_back(open[i]);
      open.back().push_back(one.word);
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace farfield::cli
