#pragma once

#include <unistd.h>

namespace farfield {

/// While it lives, file permissions bind this process: a superuser's process acts as the user
/// `nobody`.
class Unprivileged {
 public:
  Unprivileged() : before_(::geteuid()) {
    if (before_ == 0 && ::seteuid(65534) != 0) before_ = 1;  // then there is nothing to go back to
  }
  ~Unprivileged() {
    if (before_ == 0 && ::seteuid(0) != 0) ::_exit(1);
  }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;

 private:
  uid_t before_;
};

}  // namespace farfield
