#include "apps/cli/size_text.h"

#include <array>

#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::cli {

std::string size_text(int64_t bytes) {
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return concat(bytes, " B");
  double size = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  // 1023.95 would be printed as 1024.0
  for (; size >= 1023.95 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  return concat(fixed(size, 1), ' ', kUnits[unit]);
}

}  // namespace farfield::cli
