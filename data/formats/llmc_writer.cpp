#include <algorithm>
#include <cstdio>
#include <utility>

#include "data/formats/id_file.h"
#include "data/formats/llmc_header.h"
#include "data/formats/meta.h"
#include "data/formats/writers.h"

namespace farfield::data {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 3> kNames = {"train", "val", "test"};  // as llm.c's tools say

class LlmcWriter final : public DocumentWriter {
 public:
  LlmcWriter(const fs::path& folder, TokenizerPtr tokenizer, bool force, int64_t shard_tokens)
      : DocumentWriter(std::move(tokenizer)),
        folder_(folder),
        force_(force),
        type_(this->tokenizer().n_vocab() <= 65536 ? IdType::u16 : IdType::u32),
        shard_tokens_(shard_tokens) {}

  void append(size_t split, std::span<const int32_t> ids) override {
    begin(split);
    add(split, ids);
  }

  void end_document(size_t split, bool) override {
    begin(split);
    in_document_ = false;
    ++counts_[split].documents;
  }

  void commit(const WrittenCorpus& corpus) override {
    end_shard();
    for (size_t i = 0; i < kSplits.size(); ++i) counts_[i].bytes = corpus.bytes[i];
    write_meta(meta_in(folder_.folder()),
               {record_of(tokenizer()), name_of(type_), corpus.split_rule, counts_, corpus.is_cut,
                hashes()},
               tokenizer(), corpus.sources);
    folder_.commit(force_);
  }

 private:
  void begin(size_t split) {
    if (std::exchange(in_document_, true)) return;
    const int32_t mark = tokenizer().end_of_document();
    add(split, {&mark, 1});
  }

  void add(size_t split, std::span<const int32_t> ids) {
    while (!ids.empty()) {
      if (shard_ == nullptr || split != split_ || shard_->tokens() == shard_tokens_)
        begin_shard(split);
      const auto n = static_cast<size_t>(
          std::min(static_cast<int64_t>(ids.size()), shard_tokens_ - shard_->tokens()));
      shard_->append(ids.first(n), hashers_[split]);
      counts_[split].tokens += static_cast<int64_t>(n);
      ids = ids.subspan(n);
    }
  }

  void begin_shard(size_t split) {
    end_shard();
    n_shards_ = split == split_ ? n_shards_ + 1 : 1;
    split_ = split;
    char name[64];
    std::snprintf(name, sizeof name, "corpus_%s_%06d.bin", kNames[split], n_shards_);
    shard_ = std::make_unique<IdFile>(folder_.folder() / name, type_);
    const LlmcHeader placeholder{};
    shard_->write_header(&placeholder, sizeof placeholder);
  }

  void end_shard() {
    if (shard_ == nullptr) return;
    LlmcHeader header{};
    header[0] = type_ == IdType::u16 ? kLlmcMagic16 : kLlmcMagic32;
    header[1] = type_ == IdType::u16 ? kLlmcVersion16 : kLlmcVersion32;
    header[2] = static_cast<int32_t>(shard_->tokens());
    shard_->rewrite_header(&header, sizeof header);
    shard_->commit();
    shard_.reset();
  }

  AtomicFolder folder_;
  bool force_;
  IdType type_;
  int64_t shard_tokens_;
  std::unique_ptr<IdFile> shard_;
  size_t split_ = 0;  // of the shard
  int n_shards_ = 0;  // of its split
  bool in_document_ = false;
};

}  // namespace

std::unique_ptr<DocumentWriter> make_llmc_writer(const fs::path& folder, TokenizerPtr tokenizer,
                                                 bool force, int64_t shard_tokens) {
  return std::make_unique<LlmcWriter>(folder, std::move(tokenizer), force, shard_tokens);
}

}  // namespace farfield::data
