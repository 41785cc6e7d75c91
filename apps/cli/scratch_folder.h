#pragma once

#include <filesystem>
#include <string>

namespace farfield::cli {

/// A new empty folder, removed with everything in it at the end: in TMPDIR, or where that cannot be
/// written to, in /tmp or /var/tmp.
class ScratchFolder {
 public:
  /// IoError when it can be made nowhere; `where` is the place in the message.
  explicit ScratchFolder(std::string_view where);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace farfield::cli
