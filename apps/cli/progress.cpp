#include "apps/cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>

#include "apps/cli/duration.h"
#include "apps/cli/printable.h"

namespace farfield::cli {
namespace {

// As long as the process, like the stream that they are of.
bool has_no_remarks = false, is_behind_first = false;

}  // namespace

void set_quiet(bool is_quiet) { has_no_remarks = is_quiet; }

void leave_remarks_to_first() { is_behind_first = true; }

std::ostream& remarks() {
  static std::ostream nowhere(nullptr);
  return has_no_remarks || is_behind_first ? nowhere : std::cerr;
}

Progress::Progress(std::ostream& out, bool is_terminal)
    : out_(out), is_terminal_(is_terminal), start_(Clock::now()) {}

Progress Progress::on_stderr() { return {remarks(), ::isatty(STDERR_FILENO) == 1}; }

Progress::~Progress() {
  if (shown_ > 0) out_ << '\n';
  out_.flush();
}

void Progress::update(int64_t done, int64_t total, const std::string& text, bool keep) {
  const Clock::time_point now = Clock::now();
  if (first_ < 0) {
    first_ = done;
    start_ = now;
  }
  if (is_terminal_ ? now - latest_ < std::chrono::milliseconds(100) && done < total : !keep) return;
  latest_ = now;
  std::string line = printable(text);
  if (done > first_ && done < total) {
    const double seconds = std::chrono::duration<double>(now - start_).count();
    const double left =
        seconds / static_cast<double>(done - first_) * static_cast<double>(total - done);
    line += ", " + duration(left) + " left";
  }
  if (is_terminal_) {
    erase();
    out_ << line << std::flush;
    shown_ = line.size();
  } else {
    out_ << line << std::endl;
  }
}

void Progress::say(const std::string& line) {
  erase();
  out_ << printable(line) << std::endl;
}

void Progress::erase() {
  if (shown_ > 0) out_ << "\r\x1b[K" << std::flush;
  shown_ = 0;
}

}  // namespace farfield::cli
