#include "apps/plot/gnuplot.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "apps/cli/process.h"
#include "apps/cli/scratch_folder.h"
#include "apps/plot/svg.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/parallel.h"

namespace fs = std::filesystem;

namespace farfield::plot {
namespace {

constexpr std::string_view kWhere = "plot";

// Without --default-settings gnuplot would begin with the user's ~/.gnuplot, which may change any
// plot.
std::vector<std::string> gnuplot(const std::string& argument) {
  return {"gnuplot", "--default-settings", argument};
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

// A process that makes drawings first, first + step, ... of them.
class Run {
 public:
  Run(const std::vector<Drawing>& drawings, const cli::ScratchFolder& scratch, size_t first,
      size_t step)
      : log_(scratch / concat(first, ".log")) {
    std::string text = "set encoding utf8\n";
    for (size_t i = first; i < drawings.size(); i += step) {
      const Drawing& d = drawings[i];
      const bool is_svg = d.form == Drawing::Form::svg;
      text += concat(i == first ? "" : "reset\n", "set terminal ",
                     is_svg ? "svg size " : "pngcairo size ", d.width, ',', d.height,
                     is_svg ? " dynamic" : "",
                     " enhanced background rgb 'white' font 'Helvetica,Arial,sans-serif,", d.font,
                     "'\nset output ", in_quotes(scratch / concat(i)), '\n', d.commands);
    }
    const std::string script = scratch / concat(first, ".gp");
    write_file_atomic(script, text);
    try {
      process_.emplace(gnuplot(script), log_);
    } catch (const IoError&) {
      fail<BackendError>(kWhere,
                         "expected gnuplot to draw with, got no such program; install gnuplot-nox");
    }
  }
  void wait() {
    const int status = process_->wait();
    std::error_code ignored;
    require<BackendError>(status == 0, kWhere, "gnuplot failed: ",
                          fs::exists(log_, ignored) ? read_file(log_) : "no output");
  }

 private:
  std::string log_;
  std::optional<cli::Process> process_;
};

}  // namespace

bool can_plot() {
  static const bool is_there = [] {
    try {
      return cli::Process(gnuplot("--version"), "/dev/null").wait() == 0;
    } catch (const IoError&) {
      return false;
    }
  }();
  return is_there;
}

std::string quoted(const std::string& text) { return in_quotes(xml_text(text)); }

std::vector<std::string> run_gnuplot(const std::vector<Drawing>& drawings) {
  const cli::ScratchFolder scratch(kWhere);
  const size_t n = std::min(drawings.size(), static_cast<size_t>(n_allowed_processor()));
  std::vector<Run> runs;
  for (size_t i = 0; i < n; ++i) runs.emplace_back(drawings, scratch, i, n);
  for (Run& run : runs) run.wait();
  std::vector<std::string> pictures;
  for (size_t i = 0; i < drawings.size(); ++i) {
    const std::string file = scratch / concat(i);
    std::error_code ignored;
    require<BackendError>(fs::exists(file, ignored), kWhere, "gnuplot failed: no output");
    pictures.push_back(read_file(file));
  }
  return pictures;
}

std::string run_gnuplot(const std::string& commands, int width, int height, int font) {
  return run_gnuplot({{commands, width, height, font}}).front();
}

}  // namespace farfield::plot
