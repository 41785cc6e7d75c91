#include "apps/metrics.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "apps/cli.h"
#include "apps/csv.h"
#include "engine/base/error.h"
#include "engine/base/file.h"

namespace farfield::apps {
namespace {

// The step a row begins with, or -1 for a row cut short by a crash.
int64_t step_of(std::string_view row) {
  int64_t step = -1;
  const auto [end, error] = std::from_chars(row.data(), row.data() + row.size(), step);
  const bool is_complete = error == std::errc() && end != row.data() + row.size() && *end == ',';
  return is_complete && row.back() == '\n' ? step : -1;
}

}  // namespace

std::string MetricsFile::header() {
  return csv_row(
      {"step", "tokens", "loss", "valid_loss", "lr", "grad_norm", "tokens_per_s", "time_s"});
}

MetricsFile::MetricsFile(std::filesystem::path path, int64_t step) : path_(std::move(path)) {
  const std::string text = read_file(path_);
  const std::string first = header();
  require<IoError>(text.compare(0, first.size(), first) == 0, "metrics", path_.string(),
                   ": expected the header ", first.substr(0, first.size() - 1));
  std::string kept = first;
  for (size_t begin = first.size(); begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    const std::string_view row = std::string_view(text).substr(begin, end - begin);
    if (const int64_t row_step = step_of(row); row_step >= 0 && row_step <= step) kept += row;
    begin = end;
  }
  if (kept != text) write_file_atomic(path_, kept);
}

void MetricsFile::append(const Metrics& m) {
  const std::string row = csv_row({std::to_string(m.step), std::to_string(m.tokens), number(m.loss),
                                   m.valid_loss ? number(*m.valid_loss) : "", number(m.lr),
                                   number(m.grad_norm), number(m.tokens_per_s), number(m.time_s)});
  const int file = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  require<IoError>(file >= 0, "metrics", path_.string(), ": cannot open: ", std::strerror(errno));
  const off_t before = ::lseek(file, 0, SEEK_END);
  const ssize_t written = ::write(file, row.data(), row.size());
  const int reason = errno;
  const bool is_whole = written == static_cast<ssize_t>(row.size());
  if (!is_whole && before >= 0) (void)!::ftruncate(file, before);
  ::close(file);
  require<IoError>(is_whole, "metrics", path_.string(),
                   ": cannot write: ", written < 0 ? std::strerror(reason) : "disk full");
}

}  // namespace farfield::apps
