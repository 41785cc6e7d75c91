#include "apps/plot/palette.h"

#include "apps/plot/plot.h"
#include "engine/base/error.h"

namespace farfield::plot {

std::string palette_command() {
  constexpr size_t kShades = 9;
  std::string command = "set palette defined (";
  for (size_t i = 0; i < kShades; ++i)
    command += concat(i == 0 ? "" : ", ", i, " '", ramp_colour(i, kShades), '\'');
  return command + ")\n";
}

}  // namespace farfield::plot
