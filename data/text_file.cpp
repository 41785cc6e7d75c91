#include "data/text_file.h"

#include <algorithm>
#include <vector>

#include "data/binary.h"
#include "engine/base/error.h"

namespace farfield::data {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 18;
constexpr size_t kLongest = 4;  // sequence of UTF-8

// Hands text out up to a limit, and cuts there between characters: the last few bytes wait until
// what follows says where.
class LimitedText {
 public:
  LimitedText(size_t wanted, const std::function<void(std::string_view)>& take)
      : wanted_(std::min(wanted, SIZE_MAX - 2 * kLongest)), take_(take) {}

  void add(std::string_view piece) {
    piece = piece.substr(0, wanted_ + 2 * kLongest - size());
    std::string joined;
    if (!waiting_.empty()) piece = joined = waiting_.append(piece);
    waiting_.clear();
    if (handed_out_ + piece.size() == wanted_ + 2 * kLongest) {
      is_full_ = true;
      return hand_out(piece);
    }
    const size_t n_ready = piece.size() - std::min(piece.size(), kMostWaiting);
    waiting_ = piece.substr(n_ready);
    hand_out(piece.substr(0, n_ready));
  }
  void finish() {
    hand_out(waiting_);
    waiting_.clear();
  }
  bool is_full() const { return is_full_; }
  size_t size() const { return handed_out_ + waiting_.size(); }

 private:
  static constexpr size_t kMostWaiting = 3 * kLongest;

  void hand_out(std::string_view text) {
    const size_t room = wanted_ + kLongest - handed_out_;
    if (text.size() > room) text = text.substr(0, begin_of_character(text, room));
    handed_out_ += text.size();
    if (!text.empty()) take_(text);
  }

  // Where the character begins that the byte belongs to.
  static size_t begin_of_character(std::string_view text, size_t at) {
    for (size_t back = 0; back < std::min(kLongest, at); ++back)
      if ((static_cast<unsigned char>(text[at - back]) & 0xC0) != 0x80) return at - back;
    return at;
  }

  size_t wanted_;
  const std::function<void(std::string_view)>& take_;
  std::string waiting_;
  size_t handed_out_ = 0;
  bool is_full_ = false;
};

}  // namespace

FileText read_text(ByteReader& reader, const std::string& file, const Tally& tally,
                   const TextLimits& limits, const std::function<void(std::string_view)>& take) {
  std::string binary;
  LimitedText text(limits.wanted, take);
  const int64_t stored_before = tally.size_bytes;
  std::vector<char> block(kBlockBytes);
  bool is_first = true;
  while (const size_t got = reader.read(block.data(), block.size())) {
    const std::string_view piece(block.data(), got);
    if (!limits.allow_binary && binary.empty()) {
      if (is_first) binary = known_binary(piece);
      if (binary.empty() && piece.find('\0') != std::string_view::npos)
        binary = found_with_nul(piece);
    }
    is_first = false;
    if (binary.empty() && !text.is_full()) text.add(piece);
    const int64_t stored = tally.size_bytes - stored_before;
    const auto size = static_cast<int64_t>(text.size());
    require<IoError>(limits.max_expanded_bytes == 0 || size <= limits.max_expanded_bytes ||
                         size / kMaxExpansion <= stored,
                     "data", file, ": expected text, got a file that grows to more than ",
                     limits.max_expanded_bytes, " bytes from ", stored,
                     "; --max-line 0 reads it all the same, if the disk has room");
    if (!limits.to_the_end && (!binary.empty() || text.is_full())) break;
  }
  text.finish();
  return {text.size(), std::move(binary)};
}

}  // namespace farfield::data
