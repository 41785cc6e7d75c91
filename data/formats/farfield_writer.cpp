#include <utility>

#include "data/formats/writers.h"
#include "data/manifest.h"
#include "data/token_file.h"
#include "engine/base/file.h"

namespace farfield::data {
namespace {

namespace fs = std::filesystem;

class FarfieldWriter final : public DocumentWriter {
 public:
  FarfieldWriter(const fs::path& folder, TokenizerPtr tokenizer, bool force)
      : DocumentWriter(std::move(tokenizer)), folder_(folder), force_(force) {
    for (size_t i = 0; i < kSplits.size(); ++i)
      writers_[i] = std::make_unique<TokenWriter>(split_path(folder_.folder(), kSplits[i]),
                                                  this->tokenizer().n_vocab());
  }

  void append(size_t split, std::span<const int32_t> ids) override {
    writers_[split]->append(ids);
    counts_[split].tokens += static_cast<int64_t>(ids.size());
    is_open_[split] = is_open_[split] || !ids.empty();
  }

  void end_document(size_t split, bool has_end) override {
    if (!has_end) return;  // it goes on with the next, where there is one
    const int32_t end = tokenizer().end_of_document();
    append(split, {&end, 1});
    ++counts_[split].documents;
    is_open_[split] = false;
  }

  void commit(const WrittenCorpus& corpus) override {
    Manifest manifest;
    manifest.tokenizer = shared_tokenizer();
    manifest.split_rule = corpus.split_rule;
    manifest.sources = corpus.sources;
    manifest.document_tokens = corpus.document_tokens;
    manifest.floor = corpus.floor;
    for (size_t i = 0; i < kSplits.size(); ++i) {
      counts_[i].documents += is_open_[i];
      counts_[i].bytes = corpus.bytes[i];
      writers_[i]->count(counts_[i].documents, counts_[i].bytes);
      manifest.splits[i] = {writers_[i]->counts(), writers_[i]->commit()};
    }
    write_manifest(folder_.folder(), manifest);
    folder_.commit(force_);
  }

 private:
  AtomicFolder folder_;
  bool force_;
  std::array<std::unique_ptr<TokenWriter>, 3> writers_;
  std::array<bool, 3> is_open_ = {};  // tokens behind the last end
};

}  // namespace

std::unique_ptr<DocumentWriter> make_farfield_writer(const fs::path& folder, TokenizerPtr tokenizer,
                                                     bool force) {
  return std::make_unique<FarfieldWriter>(folder, std::move(tokenizer), force);
}

}  // namespace farfield::data
