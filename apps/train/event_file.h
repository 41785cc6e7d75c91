#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace farfield::train {

/// An event file of TensorBoard: records of a length, its CRC-32C, an Event message in the wire
/// form of protocol buffers, and its CRC-32C. Each call writes one record to the file at once, so
/// that a reader sees it; a reader ignores a record that was cut short.
/// Source    tensorflow/core/util/event.proto, tensorflow/core/framework/summary.proto
class EventFile {
 public:
  using Scalars = std::vector<std::pair<std::string, float>>;  ///< tags and values

  /// A new file events.out.tfevents.SECONDS.HOST.PROCESS.N in the folder, with the record of its
  /// version, and the start of a session: TensorBoard drops records of `first_step` and later ones
  /// that older files have. `seconds`: the time since 1970, of these records.
  /// Throws    IoError
  EventFile(const std::filesystem::path& folder, int64_t first_step, double seconds);

  /// IoError if a record cannot be written whole; what the file had before stays.
  void add_scalars(int64_t step, double seconds, const Scalars& scalars);
  /// `png`: the bytes of a PNG file.
  void add_image(int64_t step, double seconds, const std::string& tag, const std::string& png);

  const std::filesystem::path& path() const { return path_; }
  /// Whether a folder has such a file.
  static bool is_in(const std::filesystem::path& folder);

 private:
  std::filesystem::path path_;
};

}  // namespace farfield::train
