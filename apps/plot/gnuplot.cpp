#include "apps/plot/gnuplot.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <vector>

#include "apps/cli/scratch_folder.h"
#include "engine/base/error.h"
#include "engine/base/file.h"

extern char** environ;

namespace fs = std::filesystem;

namespace farfield::plot {
namespace {

constexpr std::string_view kWhere = "plot";

// Runs gnuplot with these arguments, both outputs into `log`; its exit status, or -1 when there is
// no such program.
int run(std::vector<std::string> arguments, const std::string& log) {
  arguments.insert(arguments.begin(), "gnuplot");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, "gnuplot", &files, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  if (error != 0) return -1;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

bool can_plot() {
  static const bool is_there = run({"--version"}, "/dev/null") == 0;
  return is_there;
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') result += '\'';
    result += c == '\n' ? ' ' : c;
  }
  return result + "'";
}

std::string run_gnuplot(const std::string& commands, int width, int height, int font) {
  const cli::ScratchFolder scratch(kWhere);
  const std::string script = scratch / "plot.gp", output = scratch / "plot.svg",
                    log = scratch / "log";
  write_file_atomic(
      script, concat("set terminal svg size ", width, ',', height,
                     " dynamic enhanced background rgb 'white' font "
                     "'Helvetica,Arial,sans-serif,",
                     font, "'\nset encoding utf8\nset output ", quoted(output), '\n', commands));
  const int status = run({script}, log);
  require<BackendError>(status >= 0, kWhere,
                        "expected gnuplot to draw with, got no such program; install gnuplot-nox");
  require<BackendError>(status == 0 && fs::exists(output), kWhere,
                        "gnuplot failed: ", fs::exists(log) ? read_file(log) : "no output");
  return read_file(output);
}

}  // namespace farfield::plot
