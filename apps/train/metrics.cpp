#include "apps/train/metrics.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <vector>

#include "apps/cli/csv.h"
#include "apps/cli/options.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/file_error.h"
#include "engine/base/text.h"

namespace farfield::train {
namespace {

constexpr std::string_view kWhere = "metrics";
constexpr std::string_view kWayOut =
    "; the file is damaged: put a copy of it back, or move it away to continue without these rows";

// The step a row begins with, or -1 for a row cut short by a crash.
int64_t step_of(std::string_view row) {
  int64_t step = -1;
  const auto [end, error] = std::from_chars(row.data(), row.data() + row.size(), step);
  const bool is_complete = error == std::errc() && end != row.data() + row.size() && *end == ',';
  return is_complete && row.back() == '\n' ? step : -1;
}

const std::vector<std::string> kColumns = {
    "step",      "tokens",       "loss",          "valid_loss", "lr",
    "grad_norm", "tokens_per_s", "time_s",        "wait_share", "save_wait_s",
    "save_s",    "save_mib",     "sum_wait_share"};
// Runs that began before there was a column go on without it.
constexpr size_t kFewestColumns = 8;

std::string header_of(size_t n_columns) {
  return cli::csv_row({kColumns.begin(), kColumns.begin() + static_cast<ptrdiff_t>(n_columns)});
}

// The number of columns of a file with this text; 0 for an unknown header.
size_t columns_of(const std::string& text) {
  for (size_t n = kColumns.size(); n >= kFewestColumns; --n)
    if (text.starts_with(header_of(n))) return n;
  return 0;
}

// The header and the rows up to a step.
std::string rows_to(int64_t step, const std::string& file, const std::string& text) {
  const std::string now = MetricsFile::header();
  const size_t n_columns = columns_of(text);
  require<IoError>(n_columns > 0, kWhere, file, ": expected the header ",
                   now.substr(0, now.size() - 1), ", got another", kWayOut);
  const std::string first = header_of(n_columns);
  std::string kept = first;
  for (size_t begin = first.size(); begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    const std::string_view row = std::string_view(text).substr(begin, end - begin);
    if (const int64_t row_step = step_of(row); row_step >= 0 && row_step <= step) kept += row;
    begin = end;
  }
  return kept;
}

// The rows that a checkpoint knows; those behind them are of later steps.
std::string rows_of(const run::FileRecord& recorded, const std::string& file,
                    const std::string& text) {
  const std::string kept = text.substr(0, static_cast<size_t>(recorded.bytes));
  const std::string hash = hash_hex(kept);
  require<IoError>(hash == recorded.hash, kWhere, file, ": expected ", recorded.bytes,
                   " bytes with the hash ", recorded.hash, ", as in the checkpoint, got ",
                   kept.size(), " with ", hash, kWayOut);
  return kept;
}

}  // namespace

std::string MetricsFile::header() { return header_of(kColumns.size()); }

run::FileRecord MetricsFile::empty_record() {
  const std::string text = header();
  return {static_cast<int64_t>(text.size()), hash_hex(text)};
}

MetricsFile::MetricsFile(std::filesystem::path path, int64_t step, const run::FileRecord& recorded)
    : path_(std::move(path)) {
  std::error_code status;
  is_new_ = std::filesystem::symlink_status(path_, status).type() ==
            std::filesystem::file_type::not_found;
  if (is_new_) write_file_atomic(path_, header());
  const std::string text = read_file(path_);
  const std::string kept = recorded.hash.empty() || is_new_
                               ? rows_to(step, path_.string(), text)
                               : rows_of(recorded, path_.string(), text);
  n_columns_ = columns_of(kept);
  if (kept != text) write_file_atomic(path_, kept);
  bytes_ = static_cast<int64_t>(kept.size());
  hasher_.update(kept);
}

void MetricsFile::append(const Metrics& m) {
  std::vector<std::string> fields = {
      std::to_string(m.step),      std::to_string(m.tokens),
      cli::number(m.loss),         m.valid_loss ? cli::number(*m.valid_loss) : "",
      cli::number(m.lr),           cli::number(m.grad_norm),
      cli::number(m.tokens_per_s), cli::number(m.time_s),
      fixed(m.wait_share, 4),      fixed(m.saves.waited_s, 4),
      fixed(m.saves.write_s, 4),   fixed(static_cast<double>(m.saves.bytes) / (1 << 20), 2),
      fixed(m.sum_wait_share, 4)};
  fields.resize(n_columns_);
  const std::string row = cli::csv_row(fields);
  append_file(path_, row);
  bytes_ += static_cast<int64_t>(row.size());
  hasher_.update(row);
}

void MetricsFile::flush(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const bool is_kept = file >= 0 && ::fsync(file) == 0;
  const int reason = errno;
  if (file >= 0) ::close(file);
  errno = reason;
  if (!is_kept) fail_errno(path, "flush to disk");
}

}  // namespace farfield::train
