#include "data/split_writer.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace farfield::data {

SplitWriter::SplitWriter(const std::filesystem::path& folder, const Tokenizer& tokenizer,
                         int64_t most_uncut)
    : encoder_(
          tokenizer, kSplits.size(),
          [this](size_t split, std::span<const int32_t> ids) { writers_[split]->append(ids); },
          most_uncut) {
  for (const std::string_view split : kSplits)
    writers_.push_back(
        std::make_unique<TokenWriter>(split_path(folder, split), tokenizer.n_vocab()));
}

void SplitWriter::add(size_t split, std::string_view text, Encoder::End end) {
  encoder_.add(split, text, end);
  size_ += static_cast<int64_t>(text.size());
  int64_t& piece = pieces_.at(split);
  piece += static_cast<int64_t>(text.size());
  if (end == Encoder::End::none) return;
  writers_[split]->count_document(piece);
  piece = 0;
}

void SplitWriter::commit(Manifest& manifest) {
  for (size_t i = 0; i < writers_.size(); ++i)
    manifest.splits[i] = {writers_[i]->counts(), writers_[i]->commit()};
}

int64_t SplitWriter::tokens() const {
  return std::accumulate(writers_.begin(), writers_.end(), int64_t{0},
                         [](int64_t n, const auto& w) { return n + w->counts().tokens; });
}

void OrderedSplit::add(std::string_view text, bool is_last) {
  for (size_t at = 0; at < text.size();) {
    while (split_ < 2 && ends_[split_] <= before_ + at) ++split_;
    size_t end = split_ < 2 ? std::min(ends_[split_] - before_, text.size()) : text.size();
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
    const bool is_cut = split_ < 2 && ends_[split_] <= before_ + end;
    writer_.add(split_, text.substr(at, end - at),
                is_last && end == text.size() ? Encoder::End::document
                : is_cut                      ? Encoder::End::part
                                              : Encoder::End::none);
    at = end;
  }
  before_ += text.size();
}

}  // namespace farfield::data
