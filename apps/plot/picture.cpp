#include "apps/plot/picture.h"

#include <cmath>

#include "apps/cli/options.h"
#include "apps/plot/gnuplot.h"
#include "apps/plot/palette.h"
#include "apps/plot/svg.h"
#include "engine/base/error.h"

namespace farfield::plot {

std::string draw_svg(const Picture& picture) {
  const auto n = static_cast<size_t>(picture.n);
  require<ConfigError>(n > 0 && picture.values.size() == n * n, "plot", "expected ", n, " x ", n,
                       " values, got ", picture.values.size());
  std::string script = "set tics nomirror out\nunset key\nset size ratio 1\n";
  script += "set title " + quoted(picture.title) + " noenhanced font ',16'\n";
  script += "set xlabel " + quoted(picture.x_label) + " noenhanced\n";
  script += "set ylabel " + quoted(picture.y_label) + " noenhanced\n";
  script += palette_command();
  const double first = -0.5 * picture.step, last = (static_cast<double>(n) - 0.5) * picture.step;
  script += concat("set xrange [", cli::number(first), ':', cli::number(last), "]\nset yrange [",
                   cli::number(last), ':', cli::number(first), "]\n$values << END_OF_VALUES\n");
  for (size_t row = 0; row < n; ++row) {
    for (size_t column = 0; column < n; ++column) {
      const double value = picture.values[row * n + column];
      script += std::isfinite(value) ? cli::number(value) : "NaN";
      script += column + 1 < n ? ' ' : '\n';
    }
  }
  const std::string step = cli::number(picture.step);
  script += concat("END_OF_VALUES\nplot $values matrix using ($1*", step, "):($2*", step,
                   "):3 with image\n");
  return finished_svg(run_gnuplot(script, 640, 560),
                      {picture.title,
                       concat(picture.y_label, " by ", picture.x_label, ", ", n, " by ", n,
                              " values; the darker the lower"),
                       true});
}

}  // namespace farfield::plot
