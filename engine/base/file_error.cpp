#include "engine/base/file_error.h"

#include <cerrno>
#include <cstring>

namespace farfield {

void fail_errno(const std::filesystem::path& path, std::string_view what) {
  const int code = errno;
  if (code == EACCES || code == EPERM)
    fail<PermissionError>("file", path.string(), ": cannot ", what, ": ", std::strerror(code),
                          "; choose another place or change its permissions");
  const char* hint = code == ENOSPC || code == EDQUOT ? "; free some space and run again"
                     : code == EFBIG ? "; the limit on the size of a file is reached"
                     : code == EROFS ? "; choose another place"
                                     : "";
  fail<IoError>("file", path.string(), ": cannot ", what, ": ", std::strerror(code), hint);
}

}  // namespace farfield
