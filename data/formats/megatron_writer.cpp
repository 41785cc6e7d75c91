#include <utility>

#include "data/formats/id_file.h"
#include "data/formats/meta.h"
#include "data/formats/writers.h"
#include "engine/base/error.h"
#include "engine/base/file_error.h"
#include "engine/base/temporary.h"
#include "engine/base/write_target.h"

namespace farfield::data {
namespace {

namespace fs = std::filesystem;

// The choice of GPT-NeoX and Megatron for a vocabulary.
IdType type_for(int64_t n_vocab) { return n_vocab < 65500 ? IdType::u16 : IdType::i32; }
uint8_t code_of(IdType type) { return type == IdType::u16 ? 8 : 4; }

template <class T>
void put(AtomicFile& file, T value) {
  file.write(&value, sizeof value);
}

fs::path with_folder(const fs::path& file) {
  make_folder(parent_of(file));
  remove_leftovers(file);
  return file;
}

class MegatronWriter final : public DocumentWriter {
 public:
  MegatronWriter(const fs::path& prefix, TokenizerPtr tokenizer)
      : DocumentWriter(std::move(tokenizer)),
        prefix_(prefix),
        type_(type_for(this->tokenizer().n_vocab())),
        bin_(with_folder(prefix.string() + ".bin"), type_) {}

  void append(size_t split, std::span<const int32_t> ids) override {
    bin_.append(ids, hashers_[split]);
    counts_[split].tokens += static_cast<int64_t>(ids.size());
    in_document_ += static_cast<int64_t>(ids.size());
  }

  void end_document(size_t split, bool has_end) override {
    const int32_t end = tokenizer().end_of_document();
    if (has_end) append(split, {&end, 1});
    require<ConfigError>(in_document_ <= INT32_MAX, "convert", prefix_.string(),
                         ".idx: expected documents of at most ", INT32_MAX, " tokens, got one of ",
                         in_document_, "; choose another --to");
    sizes_.push_back(static_cast<int32_t>(std::exchange(in_document_, 0)));
    ++counts_[split].documents;
  }

  void commit(const WrittenCorpus& corpus) override {
    const fs::path idx = prefix_.string() + ".idx";
    AtomicFile index(with_folder(idx));
    index.write("MMIDIDX\0\0", 9);
    put<uint64_t>(index, 1);
    put<uint8_t>(index, code_of(type_));
    put<uint64_t>(index, sizes_.size());
    put<uint64_t>(index, sizes_.size() + 1);
    index.write(sizes_.data(), sizes_.size() * sizeof(int32_t));
    int64_t pointer = 0;
    for (const int32_t size : sizes_) {
      put<int64_t>(index, pointer);
      pointer += int64_t{size} * size_of(type_);
    }
    for (size_t i = 0; i <= sizes_.size(); ++i) put<int64_t>(index, static_cast<int64_t>(i));

    for (size_t i = 0; i < kSplits.size(); ++i) counts_[i].bytes = corpus.bytes[i];
    bin_.flush();  // a full disk fails here, before anything has changed
    index.flush();
    // An old index must not stand beside new tokens; without an index the pair does not exist.
    std::error_code ignored;
    fs::remove(write_target(idx), ignored);
    try {
      bin_.commit();
      write_meta(meta_beside(prefix_),
                 {record_of(tokenizer()), name_of(type_), corpus.split_rule, counts_, corpus.is_cut,
                  hashes()},
                 tokenizer(), corpus.sources);
      index.commit();
    } catch (...) {
      const MetaPaths paths = meta_beside(prefix_);
      for (const fs::path& left :
           {fs::path(prefix_.string() + ".bin"), paths.meta, paths.tokenizer})
        fs::remove(left, ignored);
      throw;
    }
  }

 private:
  fs::path prefix_;
  IdType type_;
  IdFile bin_;
  std::vector<int32_t> sizes_;
  int64_t in_document_ = 0;  // tokens of the one that is being written
};

}  // namespace

std::unique_ptr<DocumentWriter> make_megatron_writer(const fs::path& prefix,
                                                     TokenizerPtr tokenizer) {
  return std::make_unique<MegatronWriter>(prefix, std::move(tokenizer));
}

}  // namespace farfield::data
