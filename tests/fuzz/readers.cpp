#include "tests/fuzz/readers.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <memory>

#include "data/corpus.h"
#include "data/gzip_reader.h"
#include "data/json_text.h"
#include "data/jsonl.h"
#include "data/manifest.h"
#include "data/text_file.h"
#include "data/token_file.h"
#include "data/tokenizers/make.h"
#include "data/zstd_reader.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/utf8.h"
#include "tests/support/string_reader.h"
#include "tests/support/temp_folder.h"

namespace farfield::test {
namespace {

namespace fs = std::filesystem;
using data::Corpus;

// A folder in memory where there is one: a fuzzer writes some thousand files a second.
const fs::path& scratch() {
  static const TempFolder folder;
  return folder.path();
}

void write(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

template <class F>
void refuse(const F& read) {
  try {
    read();
  } catch (const Error&) {
  }
}

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

void read_tokenizer(std::string_view bytes) {
  const fs::path path = scratch() / "tokenizer";
  write(path, bytes);
  for (const char* pattern : {"gpt2", "cl100k_base"})
    refuse([&] {
      data::TokenizerOptions options;
      options.pattern = pattern;
      const data::TokenizerPtr tokenizer = data::make_tokenizer(path.string(), options);
      std::vector<int32_t> ids;
      refuse([&] { tokenizer->encode("Hello, world's \xC3\xA9!\n\n  x1234 <|endoftext|>", ids); });
      for (int64_t id = 0; id < std::min<int64_t>(tokenizer->n_vocab(), 1000); ++id)
        ids.push_back(static_cast<int32_t>(id));
      tokenizer->decode(ids);
    });
}

std::string sound_json_tokenizer() {
  Json vocab, json;
  int id = 0;
  const auto add = [&](uint32_t code_point) {
    std::string character;
    append_utf8(code_point, character);
    vocab[character] = id++;
  };
  for (uint32_t byte = 0, other = 0x100; byte < 256; ++byte) {
    const bool prints =
        (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    add(prints ? byte : other++);
  }
  vocab["he"] = id++;
  vocab["ll"] = id++;
  vocab["hell"] = id++;
  json["added_tokens"] = {
      {{"id", id}, {"content", "<|endoftext|>"}, {"special", true}, {"normalized", false}}};
  json["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
  json["model"] = {{"type", "BPE"}, {"vocab", vocab}, {"merges", {"h e", "l l", "he ll"}}};
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

const std::vector<FuzzedReader>& fuzzed_readers() {
  static const std::vector<FuzzedReader> all = {
      {"corpus_manifest", [](std::string_view b) { read_corpus_file("manifest.json", b); },
       [] { return read_back(sound_corpus() / "manifest.json"); }},
      {"corpus_tokens", [](std::string_view b) { read_corpus_file("valid.tokens", b); },
       [] { return read_back(sound_corpus() / "valid.tokens"); }},
      {"gzip",
       [](std::string_view b) {
         refuse([&] {
           data::GzipReader reader(reader_of(b), "x.gz");
           drain(reader);
         });
       },
       [] { return gzip_of(kText); }},
      {"jsonl", read_jsonl, [] { return std::string(kText) + "{\"text\": [\"a\", \"b\"]}\n"; }},
      {"token_file", read_token_file, [] { return read_back(sound_corpus() / "train.tokens"); }},
      {"tokenizer", read_tokenizer, sound_json_tokenizer},
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
