#include "data/document.h"

#include <algorithm>
#include <utility>

#include "engine/base/utf8.h"

namespace farfield::data {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 20;
constexpr size_t kMostSpools = 4;

}  // namespace

void Document::read(const std::function<void(std::string_view)>& take) const {
  if (in_memory()) return take(text_);
  std::string block;
  size_t waiting = 0;  // bytes of a character that the last block ended in
  for (size_t at = 0; at < size_;) {
    const size_t n = std::min(kBlockBytes, size_ - at);
    block.resize(waiting + n);
    spool_->read(begin_ + static_cast<int64_t>(at), n, block.data() + waiting);
    at += n;
    size_t end = block.size();
    if (at < size_) {
      while ((static_cast<unsigned char>(block[end - 1]) & 0xC0) == 0x80) --end;
      --end;  // what begins there may go on
    }
    take(std::string_view(block).substr(0, end));
    block.erase(0, end);
    waiting = block.size();
  }
}

std::string Document::take_text() {
  if (in_memory()) return std::move(text_);
  std::string text;
  text.reserve(size_);
  read([&](std::string_view block) { text += block; });
  spool_.reset();
  return text;
}

std::shared_ptr<Spool> Spools::one() {
  for (const auto& spool : spools_) {
    if (spool.use_count() > 1) continue;
    if (spool->size() > 0) spool->clear();
    return spool;
  }
  if (spools_.size() < kMostSpools) spools_.push_back(std::make_shared<Spool>(folder_));
  return spools_.back();
}

Document Spools::put(const Document& document) {
  if (!document.in_memory()) return document;
  std::shared_ptr<Spool> spool = one();
  const int64_t begin = spool->size();
  document.read([&](std::string_view text) { spool->append(text); });
  return {std::move(spool), begin, document.size(), document.hash()};
}

void DocumentBuilder::see(std::string_view text) {
  size_ += text.size();
  if (limits_.wants_content) content_.update(text);
}

void DocumentBuilder::append(std::string_view text) {
  const bool was_full = size_ > limits_.most_kept;  // a cut character leaves room that stays empty
  see(text);
  if (was_full) return;
  size_t room = limits_.most_kept - (text_.size() + n_spooled_);
  if (text.size() > room) {
    while (room > 0 && (static_cast<unsigned char>(text[room]) & 0xC0) == 0x80) --room;
    text = text.substr(0, room);
  }
  if (spool_ == nullptr && text_.size() + text.size() <= limits_.most_in_memory) {
    text_ += text;
    return;
  }
  if (spool_ == nullptr) {
    spool_ = spools_->one();
    begin_ = spool_->size();
    text_ += text;
    text = text_;
  }
  spool_->append(text);
  hasher_.update(text);
  n_spooled_ += text.size();
  if (!text_.empty()) text_ = {};
}

void DocumentBuilder::set(std::string text) {
  if (text.size() > limits_.most_in_memory) return append(text);
  see(text);
  cut_utf8(text, limits_.most_kept);
  text_ = std::move(text);
}

void DocumentBuilder::clear() { *this = DocumentBuilder(*spools_, limits_); }

Document DocumentBuilder::finish() {
  if (spool_ == nullptr) return Document(std::move(text_));
  return {std::move(spool_), begin_, n_spooled_, hasher_.value()};
}

}  // namespace farfield::data
