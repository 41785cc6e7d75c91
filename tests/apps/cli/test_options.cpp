#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>

#include "apps/cli/option.h"
#include "apps/cli/options.h"
#include "apps/cli/progress.h"
#include "apps/cli/verbose.h"
#include "engine/base/error.h"
#include "tests/support/temp_folder.h"

BOOST_AUTO_TEST_SUITE(test_options)  // ctest: sanitize

using namespace farfield;
using namespace farfield::cli;

namespace {

// A program with one option of each kind.
struct Program {
  std::string posenc = "none";
  int64_t steps = 100;
  uint64_t seed = 1;
  double lr = 1e-3;
  bool again = false;
  std::optional<int64_t> batch;
  std::vector<int64_t> lengths = {128, 256};
  std::vector<std::string> run, texts;
  std::string input;
  Options options{"train", "Trains."};
  std::ostringstream out;

  Program() {
    options.group("Model").add("posenc", posenc, "EXPR", "positional encoding");
    options.group("Training")
        .add("steps", steps, "N", "optimizer steps")
        .add("seed", seed, "N", "seed")
        .add("lr", lr, "X", "peak rate")
        .add("again", again, "once more")
        .add("batch", batch, "N", "sequences per step (default: from the preset)")
        .add("lengths", lengths, "N,...", "lengths")
        .add("run", run, "NAME", "runs")
        .add_paths("text", texts, "PATH", "texts");
    options.add_positional("INPUT", input, "text to read");
  }
  bool parse(std::vector<const char*> words) {
    words.insert(words.begin(), "train");
    return options.parse(static_cast<int>(words.size()), words.data(), out);
  }
  std::string error(std::vector<const char*> words) {
    try {
      parse(std::move(words));
    } catch (const ConfigError& e) {
      return e.what();
    }
    return "no error";
  }
};

struct ConfigFile {
  TempFolder folder;
  std::string path = (folder / "x.conf").string();
  explicit ConfigFile(const std::string& text) { std::ofstream(path) << text; }
};

}  // namespace

BOOST_AUTO_TEST_CASE(options_of_every_kind_are_read) {
  Program p;
  BOOST_TEST(p.parse({"--posenc", "rope@0..-2 + log_n@-1", "--steps=-3", "--seed",
                      "18446744073709551615", "--lr", "2.5e-4", "--batch", "8", "--lengths",
                      "1, 2,3", "--run", "a,b", "--run", "c", "--again", "text.txt"}));
  BOOST_TEST(p.posenc == "rope@0..-2 + log_n@-1");
  BOOST_TEST(p.steps == -3);
  BOOST_TEST(p.seed == std::numeric_limits<uint64_t>::max());
  BOOST_TEST(p.lr == 2.5e-4);
  BOOST_TEST(p.again);
  BOOST_TEST(p.batch.value() == 8);
  BOOST_TEST(p.lengths == (std::vector<int64_t>{1, 2, 3}), boost::test_tools::per_element());
  BOOST_TEST(p.run == (std::vector<std::string>{"a", "b", "c"}), boost::test_tools::per_element());
  BOOST_TEST(p.input == "text.txt");
  BOOST_TEST(p.options.given("lr"));
}

BOOST_AUTO_TEST_CASE(a_list_is_split_outside_brackets_and_quotes) {
  const std::vector<std::string> want = {"rope(base=1, scale=2) + window(3)", "alibi(slopes=[1,2])",
                                         "\"a,b\""};
  BOOST_TEST(split_list("rope(base=1, scale=2) + window(3), alibi(slopes=[1,2]) ,\"a,b\"") == want,
             boost::test_tools::per_element());
  BOOST_TEST(split_list(") a, b").size() == 2u);  // what follows reports the bracket
  Program p;
  BOOST_TEST(p.parse({"--run", "alibi(slopes=[1,2]), rope", "--run", "none"}));
  BOOST_TEST(p.run == (std::vector<std::string>{"alibi(slopes=[1,2])", "rope", "none"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_path_is_taken_whole_and_repeated_for_several) {
  const std::vector<std::string> want = {"runs/a, b", " c(1", "d"};
  Program p;
  BOOST_TEST(p.parse({"--text", "runs/a, b", "--text", " c(1", "--text=d"}));
  BOOST_TEST(p.texts == want, boost::test_tools::per_element());
  BOOST_TEST(Program().error({"--text", ""}) == "[config] --text: expected a path, got nothing");
  const ConfigFile file("text = runs/a, b\ntext = d\n");
  Program q;
  BOOST_TEST(q.parse({"--config", file.path.c_str()}));
  BOOST_TEST(q.texts == (std::vector<std::string>{"runs/a, b", "d"}),
             boost::test_tools::per_element());
  Program r;
  const std::string resolved = q.options.resolved();
  BOOST_TEST(resolved.find("text = runs/a, b\ntext = d\n") != std::string::npos, resolved);
  r.options.read_config("text", resolved);
  BOOST_TEST(r.texts == q.texts, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(all_arguments_that_are_left_may_go_to_a_list) {
  std::string first;
  std::vector<std::string> others = {"default"};
  bool flag = false;
  Options options("inspect", "Shows.");
  options.add("flag", flag, "flag");
  options.add_positional("FIRST", first, "one").add_positional("OTHERS", others, "many");
  const auto parse = [&](std::vector<const char*> words) {
    std::ostringstream out;
    words.insert(words.begin(), "inspect");
    options.parse(static_cast<int>(words.size()), words.data(), out);
    return out.str();
  };
  parse({"a"});
  BOOST_TEST(others.size() == 1u);
  parse({"a", "alibi(slopes=[1,2])", "--flag", "c"});
  BOOST_TEST(first == "a");
  BOOST_TEST(others == (std::vector<std::string>{"alibi(slopes=[1,2])", "c"}),
             boost::test_tools::per_element());
  BOOST_TEST(parse({"--help"}).find("[FIRST] [OTHERS...] [options]") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(defaults_stay_when_nothing_is_given) {
  Program p;
  BOOST_TEST(p.parse({}));
  BOOST_TEST(p.steps == 100);
  BOOST_TEST(!p.batch.has_value());
  BOOST_TEST(p.lengths.size() == 2);
  BOOST_TEST(!p.options.given("steps"));
}

BOOST_AUTO_TEST_CASE(a_negative_number_may_follow_its_option) {
  Program p;
  BOOST_TEST(p.parse({"--lr", "-1"}));
  BOOST_TEST(p.lr == -1);
}

BOOST_AUTO_TEST_CASE(an_unknown_key_is_refused_with_the_nearest_known) {
  BOOST_TEST(Program().error({"--postenc", "rope"}) ==
             "[config] unknown option '--postenc'; did you mean '--posenc'?");
  BOOST_TEST(Program().error({"--postenc=rope"}) ==
             "[config] unknown option '--postenc'; did you mean '--posenc'?");
  BOOST_TEST(Program().error({"--LR", "1"}) ==
             "[config] unknown option '--LR'; did you mean '--lr'?");
  BOOST_TEST(Program().error({"--learning-rate=1"}) ==
             "[config] unknown option '--learning-rate'; did you mean '--lr'?");
  BOOST_TEST(Program().error({"--learning_rate", "1"}) ==
             "[config] unknown option '--learning_rate'; did you mean '--lr'?");
  BOOST_TEST(Program().error({"--xyzzy-frob", "1"}) ==
             "[config] unknown option '--xyzzy-frob'; see train --help");
}

BOOST_AUTO_TEST_CASE(an_option_with_another_dash_is_told_the_usual_one) {
  for (const char* word : {"-steps", "-steps=3", "–steps", "—steps"})
    BOOST_TEST(Program().error({word, "3"}) ==
               "[config] unknown option '" + std::string(word) + "'; did you mean '--steps'?");
  BOOST_TEST(Program().error({"-x"}) == "no error");  // an argument
}

BOOST_AUTO_TEST_CASE(a_suggestion_takes_the_value_that_was_given) {
  for (const std::vector<const char*>& words :
       {std::vector<const char*>{"--step", "int main"}, {"--step=int main"}})
    BOOST_TEST(Program().error(words) == "[config] unknown option '--step'; see train --help");
  BOOST_TEST(Program().error({"--step", "--lr", "1"}) ==
             "[config] unknown option '--step'; did you mean '--steps'?");  // no value
  BOOST_TEST(Program().error({"--length", "1,2"}) ==
             "[config] unknown option '--length'; did you mean '--lengths'?");
}

BOOST_AUTO_TEST_CASE(a_command_that_is_written_as_an_option_is_shown) {
  Program p;
  p.options.add_command("compare", "eval compare RUN...");
  BOOST_TEST(p.error({"--compare", "a"}) ==
             "[config] unknown option '--compare'; it is a command: eval compare RUN...");
}

BOOST_AUTO_TEST_CASE(a_list_with_blanks_is_told_how_it_is_written) {
  BOOST_TEST(Program().error({"in", "--lengths", "64", "128", "256"}) ==
             "[config] unexpected argument '128'; values of --lengths are joined by commas: "
             "--lengths 64,128,256");
  BOOST_TEST(
      Program().error({"--lengths=64", "128"}) ==
      "[config] expected INPUT, got '128'; values of --lengths are joined by commas: --lengths "
      "64,128");
  BOOST_TEST(Program().error({"--lengths", "64", "text.txt"}) == "no error");
  BOOST_TEST(Program().error({"--lengths", "64", "--steps", "1", "a", "b"}) ==
             "[config] unexpected argument 'b'; see train --help");
  const TempFolder folder;
  const auto error = [&](std::vector<std::string> words) {
    std::vector<std::string> runs, protocols;
    std::vector<int64_t> lengths;
    Options options("eval", "");
    options.add_positional_paths("RUN", runs, "runs")
        .add("protocol", protocols, "NAME,...", "protocols")
        .add("lengths", lengths, "N,...", "lengths");
    std::vector<const char*> argv = {"eval"};
    for (const std::string& word : words) argv.push_back(word.c_str());
    std::ostringstream out;
    try {
      options.parse(static_cast<int>(argv.size()), argv.data(), out);
    } catch (const ConfigError& e) {
      return std::string(e.what());
    }
    return "runs: " + std::to_string(runs.size());
  };
  const std::string run = folder.path().string();
  BOOST_TEST(
      error({run, "--protocol", "last-token", "sliding"}) ==
      "[config] expected RUN, got 'sliding'; values of --protocol are joined by commas: --protocol "
      "last-token,sliding");
  BOOST_TEST(error({"--protocol", "last-token", run, run}) == "runs: 2");
  BOOST_TEST(error({"--lengths", "64", run + "/gone"}) == "runs: 1");  // no length: a wrong path
}

BOOST_AUTO_TEST_CASE(a_count_is_refused_where_arithmetic_with_it_might_overflow) {
  BOOST_TEST(Program().error({"--steps", "9007199254740992"}) == "no error");
  for (const char* value : {"9223372036854775807", "9007199254740993"})
    BOOST_TEST(Program().error({"--steps", value}) ==
               std::string("[config] --steps: expected a whole number of at most 2^53, got ") +
                   value);
  BOOST_TEST(Program().error({"--lengths", "2,-9223372036854775808"}) ==
             "[config] --lengths: expected a whole number of at most 2^53, got "
             "-9223372036854775808");
}

BOOST_AUTO_TEST_CASE(quiet_leaves_out_remarks_of_the_call_that_asks_for_it) {
  BOOST_TEST(Program().parse({"--quiet"}));
  BOOST_TEST(remarks().rdbuf() == nullptr);
  BOOST_TEST(Program().parse({}));
  BOOST_TEST(&remarks() == &std::cerr);
}

BOOST_AUTO_TEST_CASE(verbose_is_of_the_call_that_asks_for_it) {
  BOOST_TEST(Program().parse({"--verbose", "--quiet"}));
  BOOST_TEST(is_verbose());
  BOOST_TEST(remarks().rdbuf() == nullptr);
  BOOST_TEST(Program().parse({}));
  BOOST_TEST(!is_verbose());
}

BOOST_AUTO_TEST_CASE(a_shortened_name_is_not_guessed) {
  BOOST_TEST(Program().error({"--step", "3"}) ==
             "[config] unknown option '--step'; did you mean '--steps'?");
}

BOOST_AUTO_TEST_CASE(an_ill_typed_value_is_named) {
  BOOST_TEST(Program().error({"--steps", "many"}) ==
             "[config] --steps: expected a whole number, got 'many'");
  BOOST_TEST(Program().error({"--steps", "3x"}) ==
             "[config] --steps: expected a whole number, got '3x'");
  for (const auto& [text, meant] : {std::pair("1e3", "1000"), std::pair("10MB", "10000000"),
                                    std::pair("2Ki", "2048"), std::pair("1.5k", "1500")})
    BOOST_TEST(
        Program().error({"--steps", text}) ==
        concat("[config] --steps: expected a whole number, got '", text, "'; write ", meant));
  BOOST_TEST(Program().error({"--steps", "1.5"}) ==
             "[config] --steps: expected a whole number, got '1.5'");
  BOOST_TEST(Program().error({"--steps", "99999999999999999999"}) ==
             "[config] --steps: expected a whole number of at most 2^53, got 99999999999999999999");
  BOOST_TEST(Program().error({"--seed", "-1"}) ==
             "[config] --seed: expected a whole number from 0 on, got '-1'");
  BOOST_TEST(Program().error({"--lr", "fast"}) == "[config] --lr: expected a number, got 'fast'");
  BOOST_TEST(Program().error({"--again=maybe"}) ==
             "[config] --again: expected true or false, got 'maybe'");
  BOOST_TEST(Program().error({"--lengths", "1,,2"}) ==
             "[config] --lengths: expected values between commas, got '1,,2'");
}

BOOST_AUTO_TEST_CASE(a_missing_value_a_repetition_and_a_stray_word_are_refused) {
  BOOST_TEST(Program().error({"--steps"}).find("steps") != std::string::npos);
  BOOST_TEST(Program().error({"--steps", "1", "--steps", "2"}) ==
             "[config] --steps: expected one value, got 2");
  BOOST_TEST(Program().error({"a", "b"}) == "[config] unexpected argument 'b'; see train --help");
}

BOOST_AUTO_TEST_CASE(a_config_file_is_read_and_the_command_line_wins) {
  const ConfigFile file("# a comment\nsteps = 7\nlr = 0.5\nagain = true\nrun = a\nrun = b\n");
  Program p;
  BOOST_TEST(p.parse({"--steps", "9", "--config", file.path.c_str()}));
  BOOST_TEST(p.steps == 9);
  BOOST_TEST(p.lr == 0.5);
  BOOST_TEST(p.again);
  BOOST_TEST(p.run.size() == 2);
}

BOOST_AUTO_TEST_CASE(errors_in_a_config_file_name_file_and_line) {
  const ConfigFile unknown("postenc = rope\n");
  BOOST_TEST(Program().error({"--config", unknown.path.c_str()}) ==
             "[config] " + unknown.path +
                 ": line 1: unknown option 'postenc'; did you mean 'posenc'?");
  const ConfigFile typed("lr = 1\nsteps = many\n");
  BOOST_TEST(Program().error({"--config", typed.path.c_str()}) ==
             "[config] " + typed.path + ": line 2: steps: expected a whole number, got 'many'");
  const ConfigFile twice("steps = 1\nsteps = 2\n");
  BOOST_TEST(Program().error({"--config", twice.path.c_str()}) ==
             "[config] " + twice.path + ": line 2: option 'steps' is given twice");
  for (const std::string name : {"quiet", "verbose", "help", "version", "config"}) {
    const ConfigFile general(name + " = true\n");
    BOOST_TEST(Program().error({"--config", general.path.c_str()}) ==
               "[config] " + general.path + ": line 1: option '" + name +
                   "' is given on the command line alone, as --" + name);
  }
  const ConfigFile other("steps = 1\nlr: 3\n");
  BOOST_TEST(Program().error({"--config", other.path.c_str()}) ==
             "[config] " + other.path +
                 ": line 2: expected key = value, got 'lr: 3'; write lr = 3");
  BOOST_CHECK_THROW(Program().parse({"--config", "no/such/file"}), IoError);
}

BOOST_AUTO_TEST_CASE(a_config_file_has_to_be_one_file_or_pipe) {
  const TempFolder folder;
  const std::string there = folder.path().string();
  try {
    Program().parse({"--config", there.c_str()});
    BOOST_TEST(false, there);
  } catch (const IoError& error) {
    BOOST_TEST(std::string(error.what()).find(there + ": expected a regular file") !=
               std::string::npos);
  }
  BOOST_TEST(Program().error({"--config", ""}) ==
             "[config] --config: expected a file, got nothing");
  const ConfigFile file("steps = 7\n");
  BOOST_TEST(Program().error({"--config", file.path.c_str(), "--config", file.path.c_str()}) ==
             "[config] --config: expected one file, got 2");
}

BOOST_AUTO_TEST_CASE(the_resolved_configuration_reads_back) {
  Program p;
  p.parse({"--posenc", "sandwich(bar_d=128)", "--lr", "0.1", "--again", "--lengths", "5,6"});
  const std::string text = p.options.resolved({"seed"});
  BOOST_TEST(text ==
             "posenc = sandwich(bar_d=128)\nsteps = 100\nlr = 0.1\nagain = true\nlengths = 5,6\n");
  Program q;
  q.options.read_config("text", text);
  BOOST_TEST(q.options.resolved({"seed"}) == text);
}

BOOST_AUTO_TEST_CASE(help_is_grouped_and_shows_defaults) {
  Program p;
  BOOST_TEST(!p.parse({"--help"}));
  const std::string help = p.out.str();
  for (const char* part : {"usage: train [INPUT] [options]", "Model:", "Training:", "--steps N",
                           "(default: 100)", "(default: 128,256)", "--config FILE", "General:"})
    BOOST_TEST(help.find(part) != std::string::npos, part << " is missing in\n" << help);
}

BOOST_AUTO_TEST_CASE(version_names_compiler_and_commit) {
  Program p;
  BOOST_TEST(!p.parse({"--version"}));
  for (const char* part : {"train (farfield ", "commit: ", "compiler: ", "gemm: ", "build_type: ",
                           "instruction_set: ", "bf16_products: "})
    BOOST_TEST(p.out.str().find(part) != std::string::npos, part);
}

BOOST_AUTO_TEST_CASE(numbers_are_written_in_their_shortest_form) {
  BOOST_TEST(number(0.1) == "0.1");
  BOOST_TEST(number(3) == "3");
  BOOST_TEST(number(1.0 / 3) == "0.3333333333333333");
  BOOST_TEST(number(INFINITY) == "inf");
}

BOOST_AUTO_TEST_CASE(errors_become_exit_codes) {
  char name[] = "bin/train";
  char* argv[] = {name};
  const auto code = [&](const std::function<int(int, char**)>& fn) {
    return run_main(1, argv, fn);
  };
  BOOST_TEST(code([](int, char**) { return 75; }) == 75);
  BOOST_TEST(code([](int, char**) -> int { fail<ConfigError>("x", "y"); }) == 2);
  BOOST_TEST(code([](int, char**) -> int { fail<IoError>("x", "y"); }) == 3);
  BOOST_TEST(code([](int, char**) -> int { fail<ShapeError>("x", "y"); }) == 1);
  BOOST_TEST(code([](int, char**) -> int { throw std::bad_alloc(); }) == 1);
}

BOOST_AUTO_TEST_SUITE_END()
