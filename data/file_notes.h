#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace farfield::data {

/// A note about one file of the inputs.
struct FileNote {
  enum class Kind {
    left_out,  ///< none of it became text
    changed,   ///< some of it is lost or was replaced
    read_as,   ///< it was read in a way that its name does not say
  };
  Kind kind = Kind::read_as;
  std::string file;
  std::string what;  ///< goes on behind the name: "is left out: ..."
};

/// The notes on all files, in reading order: the first kMost of each kind, so that memory stays
/// bounded; the others are only counted.
class FileNotes {
 public:
  static constexpr size_t kMost = 10'000;

  void add(FileNote note) {
    size_t& n = n_of_[static_cast<size_t>(note.kind)];
    if (n++ < kMost)
      notes_.push_back(std::move(note));
    else
      ++n_more_;
  }
  const std::vector<FileNote>& all() const { return notes_; }
  /// Number of notes of a kind, including notes that are not kept.
  size_t count(FileNote::Kind kind) const { return n_of_[static_cast<size_t>(kind)]; }
  /// How many are not kept.
  int64_t n_more() const { return n_more_; }

 private:
  std::vector<FileNote> notes_;
  size_t n_of_[3] = {};
  int64_t n_more_ = 0;
};

}  // namespace farfield::data
