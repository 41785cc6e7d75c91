#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "data/byte_reader.h"

namespace farfield::data {

/// Hands out a string in blocks of at most `most` bytes.
class StringReader final : public ByteReader {
 public:
  StringReader(std::string bytes, size_t most) : bytes_(std::move(bytes)), most_(most) {}
  size_t read(char* out, size_t size) override {
    const size_t n = bytes_.copy(out, std::min(size, most_), at_);
    at_ += n;
    return n;
  }

 private:
  std::string bytes_;
  size_t most_, at_ = 0;
};

/// Hands out the beginning and then the same character for ever; says how much was taken.
class EndlessReader final : public ByteReader {
 public:
  EndlessReader(std::string begin, char then, size_t& taken)
      : begin_(std::move(begin)), then_(then), taken_(taken) {}
  size_t read(char* out, size_t size) override {
    const size_t n = taken_ < begin_.size() ? begin_.copy(out, size, taken_) : size;
    if (taken_ >= begin_.size()) std::fill_n(out, n, then_);
    taken_ += n;
    return n;
  }

 private:
  std::string begin_;
  char then_;
  size_t& taken_;
};

}  // namespace farfield::data
