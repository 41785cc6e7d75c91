#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <utility>

#include "data/corpus.h"
#include "data/formats/meta.h"
#include "data/gzip_reader.h"
#include "data/json_kind.h"
#include "data/json_text.h"
#include "data/jsonl.h"
#include "data/manifest.h"
#include "data/text_file.h"
#include "data/token_file.h"
#include "data/tokenizers/bpe_definition.h"
#include "data/tokenizers/byte_alphabet.h"
#include "data/tokenizers/make.h"
#include "data/tokenizers/words_json.h"
#include "data/zstd_reader.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/utf8.h"
#include "tests/fuzz/readers.h"
#include "tests/fuzz/scratch.h"
#include "tests/support/string_reader.h"

namespace farfield::test {
namespace {

namespace fs = std::filesystem;
using data::Corpus;

// Opens the corpus and uses all of what it says of itself.
void use_corpus(const fs::path& path, const data::CorpusOptions& options = {}) {
  const Corpus corpus = Corpus::open(path, options);
  for (const auto split : data::kSplits)
    if (corpus.has_split(split)) {
      const data::Tokens& tokens = corpus.split(split);
      const auto n = std::min<int64_t>(tokens.size(), 1000);
      std::vector<int32_t> ids(static_cast<size_t>(n));
      refuse([&] { tokens.copy(tokens.size() - n, n, ids.data()); });
      refuse([&] { corpus.document_begins(split); });
    }
  corpus.verify();
}

// Reads until the end, or 16 MiB of text.
void drain(data::ByteReader& reader) {
  std::string block(1 << 16, '\0');
  for (size_t n = 0; n < size_t{16} << 20;) {
    const size_t got = reader.read(block.data(), block.size());
    if (got == 0) return;
    n += got;
  }
}

std::unique_ptr<data::StringReader> reader_of(std::string_view bytes) {
  return std::make_unique<data::StringReader>(std::string(bytes), 4096);
}

// A corpus folder of the byte tokenizer.
fs::path sound_corpus() {
  const fs::path folder = scratch() / "corpus";
  fs::create_directories(folder);
  data::Manifest manifest;
  manifest.tokenizer = data::make_tokenizer("bytes");
  for (size_t i = 0; i < 3; ++i) {
    data::TokenWriter writer(data::split_path(folder, data::kSplits[i]), 257);
    writer.append(std::vector<int32_t>{104, 105, 256, 33, 256});
    writer.count_document(2);
    writer.count_document(1);
    manifest.splits[i] = {writer.counts(), writer.commit()};
  }
  data::write_manifest(folder, manifest);
  return folder;
}

void read_corpus_file(const char* name, std::string_view bytes) {
  static const fs::path folder = sound_corpus();
  write(folder / name, bytes);
  refuse([&] { use_corpus(folder); });
}

void read_token_file(std::string_view bytes) {
  const fs::path path = scratch() / "x.tokens";
  write(path, bytes);
  refuse([&] {
    const data::Split split = data::open_token_file(path);
    refuse([&] { data::document_begins(split.tokens, 256); });
    data::verify(split);
  });
}

void read_jsonl(std::string_view bytes) {
  for (const bool is_strict : {false, true})
    refuse([&] {
      data::JsonlOptions options;
      options.is_strict = is_strict;
      options.skip_bad_lines = !is_strict;
      options.max_line_bytes = 1 << 20;
      data::JsonlReader lines(reader_of(bytes), "x.jsonl", options);
      data::Skipped skipped;
      std::string text;
      while (lines.next(text, skipped))
        require<Error>(find_invalid_utf8(text) == text.npos, "", "");
      data::missing_text_hint(skipped, "text");
    });
}

void use_tokenizer(const fs::path& path) {
  for (const char* pattern : {"gpt2", "cl100k_base"})
    refuse([&] {
      data::TokenizerOptions options;
      options.pattern = pattern;
      const data::TokenizerPtr tokenizer = data::make_tokenizer(path.string(), options);
      data::read_tokenizer("again", "again", tokenizer->file());
      std::vector<int32_t> ids;
      refuse([&] { tokenizer->encode("Hello, world's \xC3\xA9!\n\n  x1234 <|endoftext|>", ids); });
      for (int64_t id = 0; id < std::min<int64_t>(tokenizer->n_vocab(), 1000); ++id)
        ids.push_back(static_cast<int32_t>(id));
      tokenizer->decode(ids);
      tokenizer->decode_within(ids);
      tokenizer->cut("Hello, world </s> x  <s>y \xE2\x96\x81 z", 0);
    });
}

void read_tokenizer(std::string_view bytes) {
  const fs::path path = scratch() / "tokenizer";
  write(path, bytes);
  use_tokenizer(path);
}

// The 256 bytes, and three tokens of two merges more.
Json sound_vocabulary() {
  Json vocab;
  int id = 0;
  for (int byte = 0; byte < 256; ++byte)
    vocab[data::bytes_to_characters(std::string(1, static_cast<char>(byte)))] = id++;
  for (const char* token : {"he", "ll", "hell", "<|endoftext|>"}) vocab[token] = id++;
  return vocab;
}

constexpr const char* kMerges = "#version: 0.2\nh e\nl l\nhe ll\n";

// GPT-2's two files, one of which is damaged.
void read_vocab_merges(const char* name, std::string_view bytes) {
  static const fs::path folder = [] {
    const fs::path path = scratch() / "vocab_merges";
    fs::create_directories(path);
    return path;
  }();
  write(folder / "vocab.json", sound_vocabulary().dump());
  write(folder / "merges.txt", kMerges);
  write(folder / name, bytes);
  use_tokenizer(folder);
  if (!std::string_view(name).ends_with(".txt")) fs::remove(folder / name);  // a sibling goes
}

std::string sound_tiktoken() {
  std::string text;
  for (int byte = 0; byte < 256; ++byte) {  // base64 of one byte
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const auto high = static_cast<size_t>(byte >> 2), low = static_cast<size_t>((byte & 3) << 4);
    text += concat(kDigits[high], kDigits[low], "== ", byte, '\n');
  }
  return text + "aGU= 256\nbGw= 257\naGVsbA== 258\n";
}

// A corpus of the byte tokenizer's ids in a format of others, of which one file is damaged.
void read_foreign(const char* name, std::string_view bytes,
                  const std::vector<std::pair<const char*, std::string>>& sound) {
  static const fs::path folder = [] {
    const fs::path path = scratch() / "foreign";
    fs::create_directories(path);
    return path;
  }();
  for (const auto& entry : fs::directory_iterator(folder)) fs::remove(entry);
  for (const auto& [file, content] : sound) write(folder / file, content);
  write(folder / name, bytes);
  data::CorpusOptions options;
  options.tokenizer = "bytes";
  options.split = "2,1,1";
  refuse([&] {
    use_corpus(sound.size() > 1 ? folder / name : folder / sound.front().first, options);
  });
  options.id_type = "u16";
  refuse([&] { use_corpus(folder, options); });
}

template <class T>
void append(std::string& bytes, std::initializer_list<T> values) {
  for (const T value : values) bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Four documents of two ids of u16.
std::string sound_idx() {
  std::string idx("MMIDIDX\0\0", 9);
  append<uint64_t>(idx, {1});
  idx += '\x08';
  append<uint64_t>(idx, {4, 5});
  append<int32_t>(idx, {2, 2, 2, 2});
  append<int64_t>(idx, {0, 4, 8, 12});
  append<int64_t>(idx, {0, 1, 2, 3, 4});
  return idx;
}

std::string sound_ids() {
  std::string ids;
  append<uint16_t>(ids, {104, 256, 105, 256, 106, 256, 107, 256});
  return ids;
}

std::string sound_shard() {
  std::string shard;
  append<int32_t>(shard, {20240520, 1, 8});
  shard.resize(1024);
  return shard + sound_ids();
}

std::string sound_meta() {
  static const std::string text = [] {
    const fs::path folder = scratch() / "meta";
    fs::create_directories(folder);
    data::CorpusMeta meta;
    meta.tokenizer = data::record_of(*data::make_tokenizer("bytes"));
    meta.id_type = "u16";
    meta.split_rule = "in order";
    meta.counts = {data::TokenCounts{8, 4, 4}, {8, 4, 4}, {0, 0, 0}};
    data::write_meta(data::meta_in(folder), meta, *data::make_tokenizer("bytes"), {});
    return read_file(data::meta_in(folder).meta);
  }();
  return text;
}

std::string sound_json_tokenizer() {
  Json vocab = sound_vocabulary(), json;
  const int id = vocab["<|endoftext|>"].get<int>();
  vocab.erase("<|endoftext|>");
  json["added_tokens"] = {
      {{"id", id}, {"content", "<|endoftext|>"}, {"special", true}, {"normalized", false}}};
  json["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
  json["model"] = {{"type", "BPE"}, {"vocab", vocab}, {"merges", {"h e", "l l", "he ll"}}};
  return json.dump();
}

// As Llama 2 has it: characters, or else bytes, and a template.
std::string sound_character_tokenizer() {
  Json vocab;
  int id = 0;
  for (const char* token : {"<unk>", "<s>", "</s>", "\xE2\x96\x81", "l", "\xE2\x96\x81l"})
    vocab[token] = id++;
  for (int byte = 0; byte < 256; ++byte)
    vocab[data::byte_token(static_cast<unsigned char>(byte))] = id++;
  Json head = Json::parse(R"({
    "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "\u2581"},
      {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]},
    "post_processor": {"type": "TemplateProcessing",
      "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}],
      "special_tokens": {"<s>": {"ids": [1]}}},
    "decoder": {"type": "Sequence", "decoders": [
      {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
      {"type": "ByteFallback"}, {"type": "Fuse"},
      {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
    "added_tokens": [{"id": 1, "content": "<s>", "special": true, "lstrip": true},
                     {"id": 2, "content": "</s>", "single_word": true, "rstrip": true}],
    "model": {"type": "BPE", "byte_fallback": true, "fuse_unk": true, "unk_token": "<unk>",
              "merges": ["\u2581 l"]}})");
  head["model"]["vocab"] = vocab;
  return head.dump();
}

std::string sound_metaspace_tokenizer() {
  Json json = Json::parse(sound_character_tokenizer());
  json["normalizer"] = nullptr;
  json["pre_tokenizer"] = json["decoder"] = {
      {"type", "Metaspace"}, {"replacement", "\xE2\x96\x81"}, {"prepend_scheme", "first"}};
  return json.dump();
}

std::string read_back(const fs::path& path) { return read_file(path); }

std::string gzip_of(const std::string& text) {
  std::string out(text.size() + 100, '\0');
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd_of(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

constexpr const char* kText =
    "{\"text\": \"hello\\u00e9\", \"meta\": {\"pile_set_name\": \"ArXiv\"}}\n";

}  // namespace

const std::vector<FuzzedReader>& data_readers() {
  static const std::vector<FuzzedReader> all = {
      {"added_tokens", [](std::string_view b) { read_vocab_merges("added_tokens.json", b); },
       [] { return std::string(R"({"<x>": 300, "<y>": 301})"); }},
      {"character_tokenizer", read_tokenizer, sound_character_tokenizer},
      {"corpus_manifest", [](std::string_view b) { read_corpus_file("manifest.json", b); },
       [] { return read_back(sound_corpus() / "manifest.json"); }},
      {"corpus_tokens", [](std::string_view b) { read_corpus_file("valid.tokens", b); },
       [] { return read_back(sound_corpus() / "valid.tokens"); }},
      {"corpus_meta",
       [](std::string_view b) {
         read_foreign("meta.json", b, {{"train.bin", sound_ids()}, {"val.bin", sound_ids()}});
       },
       sound_meta},
      {"gzip",
       [](std::string_view b) {
         refuse([&] {
           data::GzipReader reader(reader_of(b), "x.gz");
           drain(reader);
         });
       },
       [] { return gzip_of(kText); }},
      {"json_kind",
       [](std::string_view b) {
         data::PeekReader reader(reader_of(b));
         data::is_json_lines(reader, "text");
         data::plain_text_remark("x.json", reader.peek(4096));
         drain(reader);
       },
       [] { return std::string(kText) + kText; }},
      {"jsonl", read_jsonl, [] { return std::string(kText) + "{\"text\": [\"a\", \"b\"]}\n"; }},
      {"llmc_shard",
       [](std::string_view b) {
         read_foreign("x_train_000001.bin", b, {{"x_train_000001.bin", sound_shard()}});
       },
       sound_shard},
      {"megatron_idx",
       [](std::string_view b) {
         read_foreign("x.idx", b, {{"x.idx", sound_idx()}, {"x.bin", sound_ids()}});
       },
       sound_idx},
      {"merges", [](std::string_view b) { read_vocab_merges("merges.txt", b); },
       [] { return std::string(kMerges); }},
      {"metaspace_tokenizer", read_tokenizer, sound_metaspace_tokenizer},
      {"nanogpt_bin",
       [](std::string_view b) {
         read_foreign("train.bin", b, {{"train.bin", sound_ids()}});
       },
       sound_ids},
      {"special_tokens_map",
       [](std::string_view b) { read_vocab_merges("special_tokens_map.json", b); },
       [] {
         return std::string(R"({"eos_token": {"content": "hell", "lstrip": false},
                                   "additional_special_tokens": ["ll"]})");
       }},
      {"tiktoken", read_tokenizer, sound_tiktoken},
      {"token_file", read_token_file, [] { return read_back(sound_corpus() / "train.tokens"); }},
      {"tokenizer", read_tokenizer, sound_json_tokenizer},
      {"tokenizer_config",
       [](std::string_view b) { read_vocab_merges("tokenizer_config.json", b); },
       [] {
         return std::string(R"({"added_tokens_decoder": {"300": {"content": "<x>"}},
                                   "tokenizer_class": "GPT2Tokenizer", "bos_token": "he"})");
       }},
      {"vocabulary", [](std::string_view b) { read_vocab_merges("vocab.json", b); },
       [] { return sound_vocabulary().dump(); }},
      {"words", read_tokenizer,
       [] {
         return data::words_json_text({"<s>", "<pad>", "</s>", "<unk>", "the", "of"});
       }},
      {"zstd",
       [](std::string_view b) {
         refuse([&] {
           data::ZstdReader reader(reader_of(b), "x.zst");
           drain(reader);
         });
       },
       [] { return zstd_of(kText); }},
  };
  return all;
}

}  // namespace farfield::test
