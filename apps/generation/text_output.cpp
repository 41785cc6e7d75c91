#include "apps/generation/text_output.h"

#include <algorithm>
#include <utility>

namespace farfield::generation {
namespace {

// Bytes at the end of the text that a stop may begin with.
size_t size_of_begun_stop(std::string_view text, const std::vector<std::string>& stops) {
  size_t most = 0;
  for (const std::string& stop : stops)
    for (size_t n = std::min(stop.size() - 1, text.size()); n > most; --n)
      if (text.ends_with(std::string_view(stop).substr(0, n))) most = n;
  return most;
}

}  // namespace

std::string TextOutput::append(std::string_view bytes) {
  if (is_stopped_) return "";
  characters_.append(bytes, waiting_);
  find_stop();
  return release(is_stopped_ ? 0 : size_of_begun_stop(waiting_, stops_));
}

std::string TextOutput::finish() {
  if (is_stopped_) return "";
  characters_.finish(waiting_);
  find_stop();
  return release(0);
}

void TextOutput::find_stop() {
  size_t begin = std::string::npos, end = std::string::npos;
  for (const std::string& stop : stops_) {
    const size_t at = waiting_.find(stop);
    if (at == std::string::npos) continue;
    if (at + stop.size() < end || (at + stop.size() == end && at < begin)) {
      begin = at;
      end = at + stop.size();
    }
  }
  if (begin == std::string::npos) return;
  is_stopped_ = true;
  waiting_.resize(begin);
}

std::string TextOutput::release(size_t held) {
  std::string text = waiting_.substr(0, waiting_.size() - held);
  waiting_.erase(0, text.size());
  return text;
}

}  // namespace farfield::generation
