#include "data/formats/megatron.h"

#include <cstring>
#include <memory>
#include <utility>

#include "data/document_split.h"
#include "data/formats/meta.h"
#include "data/formats/sampled_hash.h"
#include "engine/base/error.h"
#include "engine/base/file.h"

namespace farfield::data {
namespace {

using namespace std::string_view_literals;
namespace fs = std::filesystem;

constexpr std::string_view kWhere = "corpus";
constexpr std::string_view kMagic = "MMIDIDX\0\0"sv;
constexpr std::string_view kOldMagic = "TNTIDX\0\0"sv;
constexpr uint64_t kHeaderBytes = 34;

// Arrays behind the header are not aligned.
template <class T>
T at(const std::byte* array, int64_t i) {
  T value;
  std::memcpy(&value, array + i * static_cast<int64_t>(sizeof value), sizeof value);
  return value;
}

IdType id_type(uint8_t code, const std::string& file) {
  switch (code) {
    case 1:
      return IdType::u8;
    case 2:
      return IdType::i8;
    case 3:
      return IdType::i16;
    case 4:
      return IdType::i32;
    case 5:
      return IdType::i64;
    case 8:
      return IdType::u16;
    case 6:
    case 7:
      fail<IoError>(kWhere, file, ": expected ids that are whole numbers, got the type code ",
                    int{code}, ", floating point");
    default:
      fail<IoError>(kWhere, file, ": expected a type code from 1 to 5 or 8, got ", int{code});
  }
}

// A mapped .idx.
class Index {
 public:
  explicit Index(const fs::path& path) : file_(path), name_(path.string()) {
    const std::span<const std::byte> bytes = file_.bytes();
    const auto begins_with = [&](std::string_view magic) {
      return bytes.size() >= magic.size() &&
             std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
    };
    require<IoError>(!begins_with(kOldMagic), kWhere, name_,
                     ": expected an index of the layout MMIDIDX, got the older TNTIDX; write it "
                     "again with the preprocessing of GPT-NeoX or Megatron (--dataset-impl mmap)");
    require<IoError>(bytes.size() >= kHeaderBytes && begins_with(kMagic), kWhere, name_,
                     ": expected an index that begins with MMIDIDX and has at least ", kHeaderBytes,
                     " bytes, got ", bytes.size(), " bytes",
                     begins_with(kMagic) ? "; it is cut short" : " of something else");
    const auto version = at<uint64_t>(bytes.data() + 9, 0);
    require<IoError>(version == 1, kWhere, name_, ": expected version 1, got ", version);
    type_ = id_type(at<uint8_t>(bytes.data() + 17, 0), name_);
    const auto n = at<uint64_t>(bytes.data() + 18, 0), d = at<uint64_t>(bytes.data() + 26, 0);
    uint64_t size = 0, of_sizes = 0, of_documents = 0;
    require<IoError>(!__builtin_mul_overflow(n, uint64_t{12}, &of_sizes) &&
                         !__builtin_mul_overflow(d, uint64_t{8}, &of_documents) &&
                         !__builtin_add_overflow(of_sizes, of_documents, &size) &&
                         !__builtin_add_overflow(size, kHeaderBytes, &size),
                     kWhere, name_, ": the size of ", n, " sequences and ", d,
                     " entries of documents overflows 64 bits");
    // Megatron's corpora of several kinds of data add a byte for each sequence.
    require<IoError>(size == bytes.size() || (bytes.size() > size && bytes.size() - size == n),
                     kWhere, name_, ": expected ", size, " bytes for ", n, " sequences and ", d,
                     " entries of documents, got ", bytes.size(),
                     size > bytes.size() ? "; the file is cut short" : "");
    n_ = static_cast<int64_t>(n);
    d_ = static_cast<int64_t>(d);
    sizes_ = bytes.data() + kHeaderBytes;
    pointers_ = sizes_ + 4 * n_;
    documents_ = pointers_ + 8 * n_;
  }

  IdType type() const { return type_; }
  int64_t n() const { return n_; }
  std::span<const std::byte> sizes() const { return {sizes_, static_cast<size_t>(4 * n_)}; }
  /// The first token of sequence i, or the end of all.
  int64_t begin(int64_t i) const {
    return i == n_ ? tokens_ : at<int64_t>(pointers_, i) / size_of(type_);
  }

  // Each sequence begins where the one before ends.
  void check_sequences(uint64_t bin_bytes, const std::string& bin) {
    const int64_t width = size_of(type_);
    int64_t end = 0;
    for (int64_t i = 0; i < n_; ++i) {
      const int64_t size = at<int32_t>(sizes_, i), begin = at<int64_t>(pointers_, i);
      require<IoError>(size >= 0, kWhere, name_, ": expected sequence ", i,
                       " to have at least 0 tokens, got ", size);
      require<IoError>(begin == end, kWhere, name_, ": expected sequence ", i, " at byte ", end,
                       " of the .bin, where the one before ends, got ", begin,
                       begin < 0 ? "; the tool that wrote it could not count beyond 2 GiB"
                                 : "; the file is damaged",
                       ", make it again");
      require<IoError>(!__builtin_add_overflow(end, size * width, &end) &&
                           static_cast<uint64_t>(end) <= bin_bytes,
                       kWhere, bin, ": expected at least ", end, " bytes for the ", i + 1,
                       " first sequences of ", name_, ", got ", bin_bytes,
                       "; it is cut short, or of another corpus");
    }
    tokens_ = end / width;
  }

  // A note about the index's documents, if any; they are not used, see open_megatron().
  std::string check_documents() const {
    if (d_ == 1 && n_ > 0 && at<int64_t>(documents_, 0) == 0)
      return concat(name_,
                    " does not say which sequences are one document, as merged corpora do "
                    "not; each is taken as a document");
    int64_t before = 0;
    for (int64_t i = 0; i < d_; ++i) {
      const auto first = at<int64_t>(documents_, i);
      require<IoError>(first >= before && first <= n_ && (i > 0 || first == 0), kWhere, name_,
                       ": expected documents that rise from sequence 0 to ", n_,
                       ", got one that begins at ", first, " behind ", before);
      before = first;
    }
    require<IoError>(d_ > 0 && before == n_, kWhere, name_, ": expected the last document to end ",
                     "behind sequence ", n_ - 1, ", got ", before);
    return d_ - 1 == n_ ? ""
                        : concat(name_, " joins ", n_, " sequences to ", d_ - 1,
                                 " documents; each sequence is taken as a document, as GPT-NeoX "
                                 "does");
  }

 private:
  MappedFile file_;
  std::string name_;
  IdType type_ = IdType::u16;
  int64_t n_ = 0, d_ = 0, tokens_ = 0;
  const std::byte *sizes_ = nullptr, *pointers_ = nullptr, *documents_ = nullptr;
};

// Where meta.json says that the splits lie.
std::array<int64_t, 4> recorded_cuts(const CorpusMeta& meta, int64_t n, const fs::path& file) {
  std::array<int64_t, 4> cuts = {};
  for (size_t i = 0; i < 3; ++i) {
    const int64_t documents = meta.counts[i].documents;
    require<IoError>(documents >= 0 && documents <= n - cuts[i], kWhere, file.string(),
                     ": expected splits of together ", n, " documents as in the index, got ",
                     documents, " behind ", cuts[i], "; one of the two is of another corpus");
    cuts[i + 1] = cuts[i] + documents;
  }
  require<IoError>(cuts[3] == n, kWhere, file.string(), ": expected splits of together ", n,
                   " documents as in the index, got ", cuts[3],
                   "; one of the two is of another corpus");
  return cuts;
}

}  // namespace

CorpusParts open_megatron(const fs::path& prefix, const CorpusOptions& options) {
  const fs::path bin = prefix.string() + ".bin", idx = prefix.string() + ".idx";
  require<ConfigError>(options.id_type.empty(), kWhere, idx.string(),
                       ": expected no --data-type, got '", options.id_type,
                       "': the index says how ids are stored; leave --data-type out");
  auto file = std::make_shared<const MappedFile>(bin);
  auto index = std::make_shared<Index>(idx);
  index->check_sequences(file->bytes().size(), bin.string());

  CorpusParts parts;
  parts.format = "megatron";
  if (std::string note = index->check_documents(); !note.empty())
    parts.notes.push_back(std::move(note));
  const MetaPaths paths = meta_beside(prefix);
  const std::optional<CorpusMeta> meta = read_meta(paths.meta);
  parts.tokenizer = tokenizer_of(prefix.string(), paths, meta, options);

  const bool is_recorded = meta.has_value() && options.split.empty();
  const std::string shares = options.split.empty() ? kDefaultSplit : options.split;
  const std::array<int64_t, 4> cuts = is_recorded
                                          ? recorded_cuts(*meta, index->n(), paths.meta)
                                          : split_documents(read_split_weights(shares), index->n());
  const int64_t n_tokens = index->begin(index->n());
  const Tokens all({{file, bin.string(), 0, n_tokens}}, index->type(), parts.tokenizer->n_vocab());
  for (size_t i = 0; i < 3; ++i) {
    const int64_t begin = index->begin(cuts[i]), n = index->begin(cuts[i + 1]) - begin;
    parts.splits[i] = {all.slice(begin, n), {n, cuts[i + 1] - cuts[i], kUnknown}, ""};
  }
  parts.split_rule = concat("in order, ", shares, " of the documents");
  if (is_recorded) take_counts(parts, *meta, paths.meta);
  const size_t unused =
      file->bytes().size() - static_cast<size_t>(n_tokens * size_of(index->type()));
  if (unused > 0)
    parts.notes.push_back(
        concat(bin.string(), " ends with ", unused, " bytes that are in no sequence of its index"));

  Hasher hasher;
  hasher.update(parts.format + parts.tokenizer->hash());
  hasher.update(cuts.data(), sizeof cuts);
  const IdType type = index->type();
  hasher.update(&type, sizeof type);
  hasher.update(index->sizes().data(), index->sizes().size());  // the rest of it follows from them
  add_sample(hasher, bin);
  parts.hash = hasher.hex();

  parts.document_begins = [index, cuts, is_cut = parts.is_cut](size_t split) {
    const int64_t base = index->begin(cuts.at(split));
    // The end of the last is left off where it has none.
    const int64_t last = cuts.at(split + 1) - (is_cut.at(split) ? 1 : 0);
    std::vector<int64_t> begins;
    begins.reserve(static_cast<size_t>(last - cuts.at(split) + 1));
    for (int64_t i = cuts.at(split); i <= last; ++i) begins.push_back(index->begin(i) - base);
    return begins;
  };
  return parts;
}

}  // namespace farfield::data
