#pragma once

#include "data/formats/writer.h"

namespace farfield::data {

/// A writer for formats in which a token marks the end of a document, and nothing marks its
/// beginning: tokens behind the last mark of a split are a document too.
class MarkedEndWriter : public DocumentWriter {
 public:
  void append(size_t split, std::span<const int32_t> ids) final {
    if (ids.empty()) return;
    write(split, ids);
    counts_[split].tokens += static_cast<int64_t>(ids.size());
    is_open_[split] = true;
  }

  void end_document(size_t split, bool has_end) final {
    if (!has_end) return;  // it goes on with the next, where there is one
    const int32_t end = tokenizer().end_of_document();
    append(split, {&end, 1});
    ++counts_[split].documents;
    is_open_[split] = false;
  }

 protected:
  using DocumentWriter::DocumentWriter;

  virtual void write(size_t split, std::span<const int32_t> ids) = 0;

  /// Completes counts(), once all documents are written.
  void count(const WrittenCorpus& corpus) {
    for (size_t i = 0; i < counts_.size(); ++i) {
      counts_[i].documents += is_open_[i];
      counts_[i].bytes = corpus.bytes[i];
    }
  }

 private:
  std::array<bool, 3> is_open_ = {};  // tokens behind the last end
};

}  // namespace farfield::data
