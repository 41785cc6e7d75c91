#include "data/convert.h"

#include <algorithm>

#include "data/document_split.h"
#include "data/documents.h"
#include "data/formats/writer.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::data {
namespace {

constexpr std::string_view kWhere = "convert";

// Properties of a split's documents that the output cannot hold.
struct Lost {
  int64_t without_end = 0;  // documents that have no end-of-text id, but for the last
  int64_t empty = 0;        // of these, the ones without any token
  int64_t marks = 0;        // end-of-text ids within documents
};

// Takes a corpus from one format to another.
class Job {
 public:
  Job(const Corpus& corpus, DocumentWriter& writer,
      const std::function<void(const ConvertProgress&)>& progress)
      : corpus_(corpus), writer_(writer), progress_(progress) {
    for (const std::string_view split : kSplits)
      if (corpus.has_split(split)) so_far_.tokens_total += corpus.split(split).size();
  }

  void take(size_t i, WrittenCorpus& written) {
    const std::string_view split = kSplits.at(i);
    if (!corpus_.has_split(split)) return;
    const int64_t recorded = corpus_.counts(split).bytes;
    const bool is_counted = recorded == kUnknown && corpus_.tokenizer().has_text();
    const int32_t mark = corpus_.tokenizer().end_of_document();
    int64_t bytes = 0, n_ids = 0;
    bool has_end = true, is_last_empty = false;
    const auto append = [&](std::span<const int32_t> ids) {
      if (is_counted) bytes += static_cast<int64_t>(corpus_.tokenizer().decode(ids).size());
      lost_.marks += std::count(ids.begin(), ids.end(), mark);
      writer_.append(i, ids);
      n_ids += static_cast<int64_t>(ids.size());
      report(static_cast<int64_t>(ids.size()), false);
    };
    each_document(corpus_, split, {append, [&](bool with_end) {
                                     if (!has_end) ++lost_.without_end;
                                     lost_.empty += is_last_empty;
                                     has_end = with_end;
                                     is_last_empty = !with_end && n_ids == 0;
                                     n_ids = 0;
                                     writer_.end_document(i, with_end);
                                     ++so_far_.documents;
                                     report(with_end, false);
                                   }});
    lost_.empty += is_last_empty;
    written.bytes.at(i) = is_counted ? bytes : recorded;
    written.is_cut.at(i) = corpus_.has_index() ? corpus_.is_cut(split) : !has_end;
    counted_ = counted_ || is_counted;
  }

  void report(int64_t tokens, bool is_end) {
    constexpr int64_t kTokens = int64_t{1} << 18;
    so_far_.tokens += tokens;
    if (!progress_ || (!is_end && so_far_.tokens < reported_ + kTokens)) return;
    reported_ = so_far_.tokens;
    progress_(so_far_);
  }

  const Lost& lost() const { return lost_; }
  bool counted_bytes() const { return counted_; }

 private:
  const Corpus& corpus_;
  DocumentWriter& writer_;
  const std::function<void(const ConvertProgress&)>& progress_;
  ConvertProgress so_far_;
  int64_t reported_ = 0;
  Lost lost_;
  bool counted_ = false;
};

// Damaged input would give an output with a valid hash.
void verify_source(const Corpus& corpus,
                   const std::function<void(const ConvertProgress&)>& progress) {
  const ConvertProgress none;
  for (const std::string_view split : kSplits)
    if (corpus.has_split(split) && !corpus.recorded_hash(split).empty())
      corpus.verify(split, [&](int64_t) {
        if (progress) progress(none);  // it may stop
      });
}

// The shares that GPT-NeoX is to be given to cut the documents where they were cut.
std::string split_note(const std::array<TokenCounts, 3>& counts) {
  SplitWeights weights = {};
  std::array<int64_t, 4> cuts = {};
  for (size_t i = 0; i < 3; ++i) {
    weights[i] = static_cast<double>(counts[i].documents);
    cuts[i + 1] = cuts[i] + counts[i].documents;
  }
  const std::string shares =
      concat(counts[0].documents, ',', counts[1].documents, ',', counts[2].documents);
  return concat("a pair holds one row of documents: meta.json says where the splits lie, ",
                split_documents(weights, cuts[3]) == cuts
                    ? concat("GPT-NeoX and Megatron cut there with the split ", shares)
                    : "no split string of GPT-NeoX and Megatron does");
}

void add_notes(const Job& job, const ConvertOptions& options, Conversion& result) {
  const Lost& lost = job.lost();
  const auto note = [&](bool applies, const std::string& text) {
    if (applies) result.notes.push_back(text);
  };
  const bool has_index = options.format == "megatron", is_llmc = options.format == "llm.c";
  note(result.from == "farfield",
       concat("what prepare read and left out is recorded in ", options.input.string(), " alone"));
  note(job.counted_bytes(), "bytes of text were counted by decoding the tokens");
  note(!has_index && lost.empty > 0,
       is_llmc ? concat(lost.empty, " documents are empty and have no end-of-text id; they get one")
               : concat(lost.empty, " documents without any token are left out"));
  note(!has_index && lost.without_end > lost.empty,
       is_llmc ? concat(lost.without_end - lost.empty, " documents had no end-of-text id; ",
                        options.format, " has one before each")
               : concat(lost.without_end - lost.empty,
                        " documents have no end-of-text id behind them: ", options.format,
                        " does not tell them from the next"));
  note(!has_index && lost.marks > 0, concat(lost.marks, " end-of-text ids stand within documents: ",
                                            options.format, " takes them for ends of documents"));
  if (has_index) result.notes.push_back(split_note(result.counts));
  note(options.format == "nanogpt" && result.counts[2].tokens > 0,
       "nanoGPT itself reads train.bin and val.bin alone, not test.bin");
  note(is_llmc && result.counts[2].tokens > 0,
       "llm.c itself knows training and validation shards, not corpus_test_*");
}

}  // namespace

Conversion convert(const ConvertOptions& options,
                   const std::function<void(const ConvertProgress&)>& progress) {
  const Corpus corpus = Corpus::open(options.input, options.corpus);
  require<ConfigError>(corpus.has_split("train"), kWhere, options.input.string(),
                       ": expected tokens to train on, got a train split without any (",
                       corpus.split_rule(), "); choose another --data-split");
  verify_source(corpus, progress);
  const auto writer =
      make_writer(options.format, options.output, corpus.shared_tokenizer(), options.force);
  Conversion result;
  result.from = corpus.format();
  result.notes = corpus.notes();

  WrittenCorpus written;
  written.split_rule = result.split_rule = corpus.split_rule();
  written.document_tokens = corpus.document_tokens();
  written.floor = corpus.floor();
  Job job(corpus, *writer, progress);
  int64_t size_bytes = 0;
  for (size_t i = 0; i < kSplits.size(); ++i) {
    job.take(i, written);
    if (corpus.has_split(kSplits[i]))
      size_bytes += corpus.split(kSplits[i]).size() * size_of(corpus.split(kSplits[i]).type());
  }
  job.report(0, true);
  written.sources = {{options.input.string(), 1, size_bytes, corpus.hash()}};
  writer->commit(written);
  result.counts = writer->counts();
  add_notes(job, options, result);
  if (corpus.document_tokens() > 0 && options.format != "farfield")
    result.notes.push_back(concat(options.format,
                                  " does not record that windows stay within documents: of the "
                                  "result they do not"));
  return result;
}

}  // namespace farfield::data
