#include <utility>

#include "data/formats/id_file.h"
#include "data/formats/meta.h"
#include "data/formats/writers.h"

namespace farfield::data {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 3> kFiles = {"train.bin", "val.bin", "test.bin"};

class NanogptWriter final : public DocumentWriter {
 public:
  NanogptWriter(const fs::path& folder, TokenizerPtr tokenizer, bool force)
      : DocumentWriter(std::move(tokenizer)), folder_(folder), force_(force) {}

  void append(size_t split, std::span<const int32_t> ids) override {
    if (ids.empty()) return;
    if (files_[split] == nullptr)
      files_[split] = std::make_unique<IdFile>(folder_.folder() / kFiles[split], IdType::u16);
    files_[split]->append(ids);
    counts_[split].tokens += static_cast<int64_t>(ids.size());
    is_open_[split] = true;
  }

  void end_document(size_t split, bool has_end) override {
    if (!has_end) return;  // it goes on with the next, where there is one
    const int32_t end = tokenizer().end_of_document();
    append(split, {&end, 1});
    ++counts_[split].documents;
    is_open_[split] = false;
  }

  void commit(const WrittenCorpus& corpus) override {
    for (size_t i = 0; i < kSplits.size(); ++i) {
      counts_[i].documents += is_open_[i];
      counts_[i].bytes = corpus.bytes[i];
      if (files_[i] != nullptr) files_[i]->commit();
    }
    write_meta(
        meta_in(folder_.folder()),
        {record_of(tokenizer()), name_of(IdType::u16), corpus.split_rule, counts_, corpus.is_cut},
        tokenizer(), corpus.sources);
    folder_.commit(force_);
  }

 private:
  AtomicFolder folder_;
  bool force_;
  std::array<std::unique_ptr<IdFile>, 3> files_;  // of the splits that have tokens
  std::array<bool, 3> is_open_ = {};              // tokens behind the last end
};

}  // namespace

std::unique_ptr<DocumentWriter> make_nanogpt_writer(const fs::path& folder, TokenizerPtr tokenizer,
                                                    bool force) {
  return std::make_unique<NanogptWriter>(folder, std::move(tokenizer), force);
}

}  // namespace farfield::data
