#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/cli/config_file.h"

namespace farfield::cli {

/// Exit codes of every program.
enum ExitCode : int {
  kDone = 0,
  kFailed = 1,    ///< anything that has no code of its own
  kUsage = 2,     ///< a usage error
  kBadData = 3,   ///< bad data, a damaged file, a full disk
  kStopped = 75,  ///< stopped on request; can be resumed
};

/// The options of one program: in groups, with defaults shown by --help, from the command line and
/// from a file of `key = value` lines (--config FILE, config_file.h); the command line wins. No
/// name is guessed from its beginning; an unknown one is refused with the nearest that is known and
/// takes the value. --quiet, which every program has, is set_quiet() of progress.h; --verbose is
/// set_verbose() of verbose.h.
///
/// Each option writes to a variable of the caller, whose value beforehand is the default:
///
///     int64_t steps = 1000;
///     Options options("train", "Trains a model.");
///     options.group("Training").add("steps", steps, "N", "optimizer steps");
///     if (!options.parse(argc, argv, std::cout)) return kDone;
class Options {
 public:
  Options(std::string program, std::string summary);
  ~Options();
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  /// Options added from here on stand under this title in --help.
  Options& group(std::string title);

  /// An option --name VALUE. A std::optional stays empty unless given, and its help has to say what
  /// happens then; a bool is a flag (`--name`, `name = false`); a list is what split_list() makes
  /// of it, and may also be given by repeating the option.
  Options& add(const std::string& name, std::string& value, const std::string& placeholder,
               const std::string& help);
  Options& add(const std::string& name, int64_t& value, const std::string& placeholder,
               const std::string& help);
  Options& add(const std::string& name, uint64_t& value, const std::string& placeholder,
               const std::string& help);
  Options& add(const std::string& name, double& value, const std::string& placeholder,
               const std::string& help);
  Options& add(const std::string& name, bool& value, const std::string& help);
  Options& add(const std::string& name, std::optional<std::string>& value,
               const std::string& placeholder, const std::string& help);
  Options& add(const std::string& name, std::optional<int64_t>& value,
               const std::string& placeholder, const std::string& help);
  Options& add(const std::string& name, std::optional<double>& value,
               const std::string& placeholder, const std::string& help);
  Options& add(const std::string& name, std::optional<bool>& value, const std::string& help);
  Options& add(const std::string& name, std::vector<int64_t>& value, const std::string& placeholder,
               const std::string& help);
  Options& add(const std::string& name, std::vector<std::string>& value,
               const std::string& placeholder, const std::string& help);
  /// Paths, each taken as it is, commas included; several are given by repeating the option, on the
  /// command line and in a file.
  Options& add_paths(const std::string& name, std::vector<std::string>& values,
                     const std::string& placeholder, const std::string& help);
  /// A command of this program, for those who write it as an option: `usage` shows a call of it.
  Options& add_command(const std::string& name, const std::string& usage);
  /// An argument without a name, in the order of these calls; it may be left out.
  Options& add_positional(const std::string& name, std::string& value, const std::string& help);
  /// All arguments without a name that are left, each as it is; after the others.
  Options& add_positional(const std::string& name, std::vector<std::string>& values,
                          const std::string& help);
  /// The same for paths. A word that follows the values of a list option is refused unless there is
  /// something of that name.
  Options& add_positional_paths(const std::string& name, std::vector<std::string>& values,
                                const std::string& help);

  /// Reads the command line and the file it names. False when --help, --version or the words for a
  /// shell's completion (completion_words.h) were asked for and have been written to `out`: nothing
  /// is left to do. ConfigError names the option at fault.
  bool parse(int argc, const char* const* argv, std::ostream& out);
  /// Reads `key = value` lines for options that the command line did not give. `name` is used in
  /// messages. parse() calls it for --config; a resumed run calls it with its own file.
  void read_config(const std::string& name, std::string_view text);
  /// The same of lines that were read already. `prefix` stands before each key in the file, and in
  /// messages.
  void read_config(const std::string& name, const std::vector<ConfigLine>& lines,
                   const std::string& prefix = "");
  /// The same of keys and values that are of no file.
  void read_config(const std::string& name,
                   const std::vector<std::pair<std::string, std::string>>& settings);

  /// Whether the command line or a file gave this option.
  bool given(const std::string& name) const;
  /// `key = value` lines of every option that has a value, in order of declaration, without those
  /// named. Reading them back gives the same values, whatever bytes they have.
  std::string resolved(const std::vector<std::string>& without = {}) const;
  void print_help(std::ostream& out) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The shortest text that reads back as the same number; "inf", "-inf" and "nan" for the rest.
std::string number(double value);

/// Runs fn and turns what it throws into one line on stderr and an exit code: 2 ConfigError, 3
/// IoError or output that is lost (output.h), 1 anything else. `--completion bash` (or zsh) prints
/// a completion script of the program instead, `--man` its manual page.
int run_main(int argc, char** argv, const std::function<int(int argc, char** argv)>& fn);

}  // namespace farfield::cli
