#include "apps/cli/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "engine/base/error.h"

namespace farfield::cli {

void open_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest number that is free is this one. Output is opened for reading: each write fails,
    // as it does on a descriptor that is closed.
    (void)!::open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
  }
}

std::string output_problem() {
  const bool was_good = std::cout.good() && std::ferror(stdout) == 0;
  std::cout.clear();
  errno = 0;
  std::cout.flush();  // after a failure this tries the rest again, which gives the reason
  int reason = std::cout.good() ? 0 : errno;
  if (was_good && std::cout.good()) {
    // A network file system may know only when the file is closed.
    const int copy = ::dup(STDOUT_FILENO);
    if (copy >= 0 && ::close(copy) == 0) return "";
    reason = errno;
  }
  // If stdio has dropped data that it could not write, writing the end of the cut line gives the
  // reason.
  if (reason == 0 && ::write(STDOUT_FILENO, "\n", 1) < 0) reason = errno;
  const char* const way_out =
      reason == EBADF   ? "; it is closed; send it to /dev/null to do without it"
      : reason == EPIPE ? "; its reader has gone"
                        : "; the output is not complete; free some space or print elsewhere";
  return concat("[output] standard output: cannot write",
                reason == 0 ? "" : concat(": ", std::strerror(reason)), way_out);
}

}  // namespace farfield::cli
