#include <utility>

#include "data/formats/id_file.h"
#include "data/formats/marked_end_writer.h"
#include "data/formats/meta.h"
#include "data/formats/nanogpt.h"
#include "data/formats/writers.h"

namespace farfield::data {
namespace {

namespace fs = std::filesystem;

class NanogptWriter final : public MarkedEndWriter {
 public:
  NanogptWriter(const fs::path& folder, TokenizerPtr tokenizer, bool force)
      : MarkedEndWriter(std::move(tokenizer)), folder_(folder), force_(force) {}

  void commit(const WrittenCorpus& corpus) override {
    count(corpus);
    for (const auto& file : files_)
      if (file != nullptr) file->commit();
    write_meta(meta_in(folder_.folder()),
               {record_of(tokenizer()), name_of(IdType::u16), corpus.split_rule, counts_,
                corpus.is_cut, hashes()},
               tokenizer(), corpus.sources);
    folder_.commit(force_);
  }

 private:
  void write(size_t split, std::span<const int32_t> ids) override {
    if (files_[split] == nullptr)
      files_[split] =
          std::make_unique<IdFile>(folder_.folder() / kNanogptFiles[split], IdType::u16);
    files_[split]->append(ids, hashers_[split]);
  }

  AtomicFolder folder_;
  bool force_;
  std::array<std::unique_ptr<IdFile>, 3> files_;  // of the splits that have tokens
};

}  // namespace

std::unique_ptr<DocumentWriter> make_nanogpt_writer(const fs::path& folder, TokenizerPtr tokenizer,
                                                    bool force) {
  return std::make_unique<NanogptWriter>(folder, std::move(tokenizer), force);
}

}  // namespace farfield::data
