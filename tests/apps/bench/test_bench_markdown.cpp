#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "apps/bench/commands.h"
#include "apps/bench/report.h"
#include "apps/bench/source.h"
#include "apps/cli/csv.h"
#include "apps/cli/options.h"
#include "apps/cli/version.h"
#include "engine/base/file.h"
#include "engine/base/parallel.h"
#include "tests/support/temp_folder.h"

namespace farfield::bench {
BOOST_AUTO_TEST_SUITE(test_bench_markdown)
namespace {

using Words = std::vector<std::string>;

std::string run(const Words& words) {
  std::vector<const char*> argv = {"bench"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  std::ostringstream out;
  const int before = thread_count();
  BOOST_TEST(bench(static_cast<int>(argv.size()), argv.data(), out) == cli::kDone);
  set_thread_count(before);
  return out.str();
}

Words lines_of(const std::string& text) {
  Words lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool is_row(const std::string& line) { return !line.empty() && line[0] == '|'; }

// Bars that end a cell.
size_t n_cell(const std::string& row) {
  size_t n = 0;
  for (size_t i = 1; i < row.size(); ++i) n += row[i] == '|' && row[i - 1] != '\\';
  return n;
}

// A short call of each command.
std::vector<Words> calls(const std::string& text) {
  return {{"attention", "--lengths", "16", "--heads", "2", "--head-dim", "8", "--posenc",
           "kernel(bias=-r1*log(1+r2*d), r1=1, r2=1)"},
          {"bandwidth", "--rows", "8", "--width", "16", "--vocab-size", "11", "--weights", "100"},
          {"forward", "--preset", "smoke", "--lengths", "16"},
          {"generate", "--preset", "smoke", "--prompt", "4", "--tokens", "3"},
          {"matmul", "--preset", "smoke", "--batch", "1"},
          {"roofline", "--batch", "1"},
          {"scaling", "--compute-ms", "43", "--processes", "1,2"},
          {"step", "--preset", "smoke", "--train-len", "16", "--batch", "1"},
          {"tokenize", "--input", text}};
}

BOOST_AUTO_TEST_CASE(every_command_prints_as_many_cells_in_each_row) {
  const TempFolder folder;
  const std::string text = (folder / "text.txt").string(), csv = (folder / "table.csv").string();
  write_file_atomic(text, "some text");
  BOOST_TEST(calls(text).size() == bench_commands().size());
  for (Words words : calls(text)) {
    words.insert(words.end(), {"--markdown", "--csv", csv});
    if (words[0] != "roofline") words.insert(words.end(), {"--rounds", "1"});
    const std::string printed = run(words);
    const Words lines = lines_of(printed);
    const auto first = std::find_if(lines.begin(), lines.end(), is_row);
    const auto last = std::find_if_not(first, lines.end(), is_row);
    const auto n_row = static_cast<size_t>(std::distance(first, last));
    BOOST_TEST_REQUIRE(n_row >= 3, printed);
    BOOST_TEST_REQUIRE(std::distance(last, lines.end()) >= 2, printed);
    for (auto row = first; row != last; ++row)
      BOOST_TEST(n_cell(*row) == n_cell(*first), *row << " in\n" << printed);
    BOOST_TEST((first[1].find_first_not_of("|-") == std::string::npos), first[1]);

    // one line below: machine, date, commit and the command
    BOOST_TEST(*last == "");
    const std::string& source = last[1];
    for (const std::string& part : {std::string("; 20"), "commit " + cli::build_facts()[1].second,
                                    "`bench " + words[0] + ' '})
      BOOST_TEST(source.find(part) != std::string::npos, part << " in " << source);
    BOOST_TEST(source.back() == '`');

    // the file stays as it is without --markdown
    const auto rows = cli::parse_csv(csv, read_file(csv));
    BOOST_TEST(rows.size() == n_row - 1);  // without the line below the heading
    for (const auto& row : rows) BOOST_TEST(row.size() == n_cell(*first));
    BOOST_TEST(read_file(csv).find('|') == std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(no_table_is_markdown_unless_it_is_asked_for) {
  const TempFolder folder;
  const std::string text = (folder / "text.txt").string();
  write_file_atomic(text, "some text");
  for (Words words : calls(text)) {
    if (words[0] != "roofline") words.insert(words.end(), {"--rounds", "1"});
    const std::string printed = run(words);
    for (const char* mark : {"\n|", "```", "commit "})
      BOOST_TEST(printed.find(mark) == std::string::npos, mark << " in\n" << printed);
  }
}

BOOST_AUTO_TEST_CASE(a_bar_and_marks_of_emphasis_stay_in_their_cell) {
  std::ostringstream out;
  cli::Printout page(out, "bench", /*is_json=*/false);
  Report report(page, {"work", {"min", "min, ms"}}, 4, {.is_markdown = true});
  report.add({"a | b*c*d", "1"});
  report.finish("by hand");
  BOOST_TEST(out.str() == "| work | min, ms |\n|---|---|\n| a \\| b\\*c\\*d | 1 |\n\nby hand\n");
}

BOOST_AUTO_TEST_CASE(the_line_below_has_the_command_as_a_shell_takes_it) {
  const char* const words[] = {"step", "--posenc", "alibi, none"};
  const std::string line = source_line("a machine", 3, words);
  BOOST_TEST(line.find("a machine; 20") == 0u);
  BOOST_TEST(line.find("; `bench step --posenc 'alibi, none'`") != std::string::npos, line);
  const int before = thread_count();
  set_thread_count(1);
  BOOST_TEST(machine_here().find(", 1 thread, ") != std::string::npos);
  set_thread_count(2);
  BOOST_TEST(machine_here({}, 4).find(", 4 processes of 2 threads, ") != std::string::npos);
  set_thread_count(before);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::bench
