// run_main() of options.h.

#include <csignal>
#include <iostream>
#include <new>
#include <string_view>

#include "apps/cli/completion_script.h"
#include "apps/cli/man_page.h"
#include "apps/cli/options.h"
#include "apps/cli/output.h"
#include "apps/cli/printable.h"
#include "engine/base/error.h"

namespace farfield::cli {
namespace {

int exit_code_of(std::string_view program, const std::function<int()>& fn) {
  try {
    return fn();
  } catch (const ConfigError& error) {
    std::cerr << program << ": " << printable(error.what()) << '\n';
    return kUsage;
  } catch (const IoError& error) {
    std::cerr << program << ": " << printable(error.what()) << '\n';
    return kBadData;
  } catch (const std::bad_alloc&) {
    std::cerr << program << ": out of memory\n";
    return kFailed;
  } catch (const std::exception& error) {
    std::cerr << program << ": " << printable(error.what()) << '\n';
    return kFailed;
  }
}

// `PROGRAM --completion SHELL` prints a script and `PROGRAM --man` a page, both made of what the
// program says of its options.
int run_or_describe(const std::string& program, int argc, char** argv, const Program& fn) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  if (word == "--completion" && !asks_for_words(argc, argv)) {
    require<ConfigError>(argc == 3, "config", "--completion: expected one word, bash or zsh, got ",
                         argc - 2);
    std::cout << completion_script(argv[2], program, completion_tables(program, fn));
    return kDone;
  }
  if (word == "--man" && !asks_for_man_section(argc, argv)) {
    require<ConfigError>(argc == 2, "config", "--man: expected nothing behind it, got '", argv[2],
                         "'");
    std::cout << man_page(program, fn);
    return kDone;
  }
  return fn(argc, argv);
}

}  // namespace

int run_main(int argc, char** argv, const std::function<int(int argc, char** argv)>& fn) {
  open_standard_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows too large is an error of its writer
  const std::string_view path = argc > 0 ? argv[0] : "farfield";
  const std::string_view program = path.substr(path.find_last_of('/') + 1);
  const int code =
      exit_code_of(program, [&] { return run_or_describe(std::string(program), argc, argv, fn); });
  const std::string problem = output_problem();
  if (problem.empty()) return code;
  std::cerr << program << ": " << problem << '\n';
  return code == kDone ? kBadData : code;
}

}  // namespace farfield::cli
