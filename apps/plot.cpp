#include "apps/plot.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include "apps/cli.h"
#include "engine/base/error.h"
#include "engine/base/file.h"

extern char** environ;

namespace fs = std::filesystem;

namespace farfield::apps {
namespace {

constexpr std::string_view kWhere = "plot";

// A folder for the files that gnuplot reads and writes.
class Scratch {
 public:
  Scratch() {
    std::string name = (fs::temp_directory_path() / "farfield-plot-XXXXXX").string();
    require<IoError>(::mkdtemp(name.data()) != nullptr, kWhere, name,
                     ": cannot make a folder for the plot");
    path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string operator/(const char* name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

// Runs gnuplot with these arguments, both outputs into `log`; its exit status, or -1 when there is
// no such program.
int run_gnuplot(std::vector<std::string> arguments, const std::string& log) {
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

// A gnuplot string in single quotes: nothing in it is a command or an escape.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') result += '\'';
    result += c == '\n' ? ' ' : c;
  }
  return result + "'";
}

struct Range {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
  void add(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
};

// Colours that stay apart for the colour-blind (Okabe and Ito 2008), dark first.
constexpr const char* kColours[] = {"#000000", "#d55e00", "#0072b2", "#009e73",
                                    "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f"};
constexpr int kMarkers[] = {7, 9, 5, 13, 6, 8, 4, 12};
constexpr const char* kDashes[] = {"1",     "(10,4)", "(3,3)", "(12,3,3,3)",
                                   "(6,6)", "(16,4)", "(2,5)", "(8,3,2,3,2,3)"};

// The lines that declare the data of each curve and the plot command.
std::string script_of(const Plot& plot, const std::string& output) {
  Range x, y;
  for (const Curve& curve : plot.curves) {
    for (const PlotPoint& point : curve.points) {
      if (!std::isfinite(point.y)) continue;
      x.add(point.x);
      y.add(point.y);
    }
  }
  require<ConfigError>(x.least > 0 && x.most > 0 && std::isfinite(x.most), kWhere,
                       "expected at least one point with a finite value and x > 0");
  const bool log_y = y.least > 0 && y.most > 8 * y.least;

  std::string script =
      "set terminal svg size 860,480 dynamic enhanced background rgb 'white' font "
      "'Helvetica,Arial,sans-serif,14'\n"
      "set encoding utf8\n"
      "set output " +
      quoted(output) +
      "\n"
      "set border 3 linewidth 1 linecolor rgb '#444444'\n"
      "set tics nomirror out\n"
      "set grid ytics linecolor rgb '#dddddd' linetype 1 linewidth 1\n"
      "set logscale x 2\nset format x '%.0f'\n"
      "set key noenhanced outside right center Left reverse spacing 1.6 samplen 4\n"
      "set datafile missing '?'\n";
  script += "set title " + quoted(plot.title) + " noenhanced font ',16'\n";
  script += "set xlabel " + quoted(plot.x_label) + " noenhanced\n";
  script += "set ylabel " + quoted(plot.y_label) + " noenhanced\n";
  script += concat("set xrange [", number(x.least * 0.9), ":", number(x.most * 1.1), "]\n");
  std::string ticks;
  for (double tick = std::exp2(std::ceil(std::log2(x.least))); tick <= x.most; tick *= 2)
    ticks.append(ticks.empty() ? "" : ", ").append(number(tick));
  script += "set xtics (" + ticks + ")\n";
  if (log_y) {
    script += concat("set logscale y 10\nset format y '%g'\nset yrange [", number(y.least / 1.3),
                     ":", number(y.most * 1.3), "]\n");
    std::string labels;  // 1, 2, 5, 10, ...; over more than three decades the powers alone
    for (double power = std::pow(10, std::floor(std::log10(y.least / 1.3))); power < y.most * 1.3;
         power *= 10) {
      for (const double first : {1.0, 2.0, 5.0}) {
        if (first > 1 && y.most > 1000 * y.least) continue;
        labels.append(labels.empty() ? "" : ", ").append(number(first * power));
      }
    }
    script += "set ytics (" + labels + ")\n";
  } else {
    const double room = std::max(0.08 * (y.most - y.least), 0.02 * std::abs(y.most) + 1e-9);
    script += concat("set yrange [", number(y.least - room), ":", number(y.most + room), "]\n");
  }
  if (plot.marked_x > 0) {
    script +=
        concat("set arrow from first ", number(plot.marked_x), ", graph 0 to first ",
               number(plot.marked_x),
               ", graph 1 nohead dashtype (2,4) linecolor rgb '#666666' linewidth 1.5 back\n");
    script +=
        concat("set label ", quoted(plot.marked_label), " at first ", number(plot.marked_x * 1.04),
               ", graph 0.96 left noenhanced textcolor rgb '#444444' font ',12'\n");
  }

  std::string command = "plot ";
  for (size_t i = 0; i < plot.curves.size(); ++i) {
    const Curve& curve = plot.curves[i];
    const std::string block = concat("$curve", i);
    script += block + " << END_OF_CURVE\n";
    bool has_errors = false;
    for (const PlotPoint& point : curve.points) {
      if (!std::isfinite(point.y)) {
        script += "\n";  // an empty line breaks the curve
        continue;
      }
      const double error = std::isfinite(point.error) ? point.error : 0;
      has_errors = has_errors || error > 0;
      const double low = log_y ? std::max(point.y - error, point.y * 1e-3) : point.y - error;
      script += concat(number(point.x), ' ', number(point.y), ' ', number(low), ' ',
                       number(point.y + error), '\n');
    }
    script += "END_OF_CURVE\n";
    const size_t style = i % std::size(kMarkers);
    if (i > 0) command += ", \\\n  ";
    if (has_errors)
      command += concat(block, " using 1:2:3:4 with yerrorbars pointtype 0 linecolor rgb '",
                        kColours[style], "' linewidth 1 notitle, \\\n  ");
    command += concat(block, " using 1:2 with linespoints linecolor rgb '", kColours[style],
                      "' dashtype ", kDashes[style], " pointtype ", kMarkers[style],
                      " pointsize 0.8 linewidth 2 title ", quoted(curve.label));
  }
  return script + command + "\n";
}

}  // namespace

bool can_plot() {
  static const bool is_there = run_gnuplot({"--version"}, "/dev/null") == 0;
  return is_there;
}

bool has_points(const Plot& plot) {
  for (const Curve& curve : plot.curves)
    for (const PlotPoint& point : curve.points)
      if (std::isfinite(point.y)) return true;
  return false;
}

std::string draw_svg(const Plot& plot) {
  const Scratch scratch;
  const std::string script = scratch / "plot.gp", output = scratch / "plot.svg",
                    log = scratch / "log";
  write_file_atomic(script, script_of(plot, output));
  const int status = run_gnuplot({script}, log);
  require<BackendError>(status >= 0, kWhere,
                        "expected gnuplot to draw with, got no such program; install gnuplot-nox");
  require<BackendError>(status == 0 && fs::exists(output), kWhere,
                        "gnuplot failed: ", fs::exists(log) ? read_file(log) : "no output");
  return read_file(output);
}

}  // namespace farfield::apps
