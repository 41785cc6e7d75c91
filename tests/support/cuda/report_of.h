#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace farfield {

/// The sanitizer's report when it stops f, which runs in a separate process; "" if f returns.
template <class F>
std::string report_of(const F& f) {
  int ends[2] = {};
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    f();
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char part[4096];
  for (ssize_t n = 0; (n = read(ends[0], part, sizeof part)) > 0;)
    text.append(part, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "" : text;
}

}  // namespace farfield
