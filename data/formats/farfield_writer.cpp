#include <utility>

#include "data/formats/marked_end_writer.h"
#include "data/formats/writers.h"
#include "data/manifest.h"
#include "data/token_file.h"
#include "engine/base/file.h"

namespace farfield::data {
namespace {

namespace fs = std::filesystem;

class FarfieldWriter final : public MarkedEndWriter {
 public:
  FarfieldWriter(const fs::path& folder, TokenizerPtr tokenizer, bool force)
      : MarkedEndWriter(std::move(tokenizer)), folder_(folder), force_(force) {
    for (size_t i = 0; i < kSplits.size(); ++i)
      writers_[i] = std::make_unique<TokenWriter>(split_path(folder_.folder(), kSplits[i]),
                                                  this->tokenizer().n_vocab());
  }

  void commit(const WrittenCorpus& corpus) override {
    Manifest manifest;
    manifest.tokenizer = shared_tokenizer();
    manifest.split_rule = corpus.split_rule;
    manifest.sources = corpus.sources;
    manifest.document_tokens = corpus.document_tokens;
    manifest.floor = corpus.floor;
    count(corpus);
    for (size_t i = 0; i < kSplits.size(); ++i) {
      writers_[i]->count(counts_[i].documents, counts_[i].bytes);
      manifest.splits[i] = {writers_[i]->counts(), writers_[i]->commit()};
    }
    write_manifest(folder_.folder(), manifest);
    folder_.commit(force_);
  }

 private:
  void write(size_t split, std::span<const int32_t> ids) override { writers_[split]->append(ids); }

  AtomicFolder folder_;
  bool force_;
  std::array<std::unique_ptr<TokenWriter>, 3> writers_;
};

}  // namespace

std::unique_ptr<DocumentWriter> make_farfield_writer(const fs::path& folder, TokenizerPtr tokenizer,
                                                     bool force) {
  return std::make_unique<FarfieldWriter>(folder, std::move(tokenizer), force);
}

}  // namespace farfield::data
