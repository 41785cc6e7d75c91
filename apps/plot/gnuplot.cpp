#include "apps/plot/gnuplot.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include "apps/cli/process.h"
#include "apps/cli/scratch_folder.h"
#include "apps/plot/svg.h"
#include "engine/base/error.h"
#include "engine/base/file.h"

namespace fs = std::filesystem;

namespace farfield::plot {
namespace {

constexpr std::string_view kWhere = "plot";

// Runs gnuplot with these arguments, both outputs into `log`; its exit status, or -1 when there is
// no such program. Without --default-settings it would begin with the user's ~/.gnuplot, which may
// change any plot.
int run(std::vector<std::string> arguments, const std::string& log) {
  arguments.insert(arguments.begin(), {"gnuplot", "--default-settings"});
  try {
    return cli::Process(arguments, log).wait();
  } catch (const IoError&) {
    return -1;
  }
}

// A path may be any bytes.
std::string in_quotes(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') result += '\'';
    result += c == '\n' ? ' ' : c;
  }
  return result + "'";
}

}  // namespace

bool can_plot() {
  static const bool is_there = run({"--version"}, "/dev/null") == 0;
  return is_there;
}

std::string quoted(const std::string& text) { return in_quotes(xml_text(text)); }

std::string run_gnuplot(const std::string& commands, int width, int height, int font) {
  const cli::ScratchFolder scratch(kWhere);
  const std::string script = scratch / "plot.gp", output = scratch / "plot.svg",
                    log = scratch / "log";
  write_file_atomic(
      script, concat("set terminal svg size ", width, ',', height,
                     " dynamic enhanced background rgb 'white' font "
                     "'Helvetica,Arial,sans-serif,",
                     font, "'\nset encoding utf8\nset output ", in_quotes(output), '\n', commands));
  const int status = run({script}, log);
  require<BackendError>(status >= 0, kWhere,
                        "expected gnuplot to draw with, got no such program; install gnuplot-nox");
  std::error_code ignored;
  require<BackendError>(status == 0 && fs::exists(output, ignored), kWhere, "gnuplot failed: ",
                        fs::exists(log, ignored) ? read_file(log) : "no output");
  return read_file(output);
}

}  // namespace farfield::plot
