#include "apps/eval/protocols/non_overlapping.h"

#include <algorithm>

#include "apps/eval/protocol.h"
#include "engine/base/error.h"

namespace farfield::eval {
namespace {

constexpr std::string_view kProtocol = "non-overlapping";
constexpr std::string_view kWhere = "eval:non-overlapping";

bool is_same_text(const NonOverlappingOptions& own) { return own.budget == "same-text"; }

// Chunks of one length, all of them or as many as the budget allows.
int64_t count_chunks(const TokenStream& text, int64_t size, int64_t length,
                     const CommonOptions& common, const NonOverlappingOptions& own) {
  const int64_t available = windows_of(text, size, length).size();
  require<IoError>(available >= 1, kWhere, "not_enough_data: expected at least ", length + 1,
                   " tokens for one chunk of ", length, ", got ",
                   size < text.size ? std::to_string(size) : size_text(text));
  if (is_same_text(own)) return available;
  require<IoError>(available >= own.chunks || common.allow_fewer, kWhere,
                   "not_enough_data: expected ", own.chunks, " chunks of ", length, " tokens, got ",
                   available, "; --allow-fewer takes those");
  return std::min(available, own.chunks);
}

}  // namespace

void add_options(cli::Options& options, NonOverlappingOptions& own) {
  options.group("Non-overlapping perplexity")
      .add("budget", own.budget, "same-text|same-chunks",
           "equal at every length: the text, or the number of chunks")
      .add("chunks", own.chunks, "N", "with same-chunks: how many")
      .add("keep-tail", own.keep_tail,
           "with same-text: score the remaining tokens as a short last chunk");
}

void check(const NonOverlappingOptions& own) {
  check_word("budget", own.budget, {"same-text", "same-chunks"});
  check_positive(kProtocol, "chunks", own.chunks);
}

ProtocolResult non_overlapping(const Subject& subject, const CommonOptions& common,
                               const NonOverlappingOptions& own) {
  const TokenStream& text = subject.text;
  const int64_t size = is_same_text(own) ? whole_text(text.size, common) : text.size;
  const auto n_whole_at = [&](int64_t length) {
    return count_chunks(text, size, length, common, own);
  };
  require<ConfigError>(text.document_tokens == 0 || !own.keep_tail, kWhere,
                       "bad_argument: expected no --keep-tail where chunks stay within documents, "
                       "each of which has a tail of its own");
  const auto tail_at = [&](int64_t length) {
    return is_same_text(own) && own.keep_tail ? (size - 1) % length : 0;
  };
  int64_t n_read = 0;
  for (const int64_t length : common.lengths)
    n_read = std::max(n_read, windows_of(text, size, length)[n_whole_at(length) - 1] + length +
                                  tail_at(length) + 1);
  check_tokens(kProtocol, text, subject.model.scorer.vocab_size, 0, n_read);

  ProtocolResult result;
  result.protocol = kProtocol;
  result.parameters =
      is_same_text(own)
          ? concat("budget=same-text tokens=", size, " tail=", own.keep_tail ? "scored" : "dropped")
          : concat("budget=same-chunks count=", counts_text(common.lengths, n_whole_at));
  result.parameters += documents_text(text);

  const auto score_length = [&](LengthResult& to) {
    const int64_t length = to.length, n_whole = n_whole_at(length), tail = tail_at(length);
    const data::Grid chunks = windows_of(text, size, length);
    TokenSet predicted;
    for (int64_t chunk = 0; chunk < n_whole; ++chunk) predicted.add(chunks[chunk] + 1, length);
    if (tail > 0) predicted.add(n_whole * length + 1, tail);
    set_predicted(to, predicted, text);
    double total = 0;
    // Scores `batch` chunks of n tokens from chunk `first` on.
    const auto score = [&](int64_t first, int64_t batch, int64_t n) {
      if (!to.failure.empty()) return;
      const auto begin_of = [&](int64_t chunk) {
        return first + chunk < n_whole ? chunks[first + chunk] : n_whole * length;
      };
      Scorer::Ids window(static_cast<size_t>(n + 1)), ids, targets;
      for (int64_t chunk = 0; chunk < batch; ++chunk) {
        read_tokens(kProtocol, text, subject.model.scorer.vocab_size, begin_of(chunk), n + 1,
                    window.data());
        ids.insert(ids.end(), window.begin(), window.end() - 1);
        targets.insert(targets.end(), window.begin() + 1, window.end());
      }
      const std::vector<double> nll = subject.model.scorer.score(ids, targets, batch);
      for (int64_t chunk = 0; chunk < batch; ++chunk) {
        double sum = 0;
        for (int64_t t = 0; t < n; ++t) sum += nll[static_cast<size_t>(chunk * n + t)];
        if (note_nonfinite(
                to, kProtocol, sum,
                concat("chunk ", to.items.size(), " (from token ", begin_of(chunk), ")")))
          return;
        to.items.push_back(sum / static_cast<double>(n));
        total += sum;
      }
      to.n_scored += batch * n;
    };
    in_batches(n_whole, length, common,
               [&](int64_t first, int64_t batch) { score(first, batch, length); });
    if (tail > 0) score(n_whole, 1, tail);
    if (to.failure.empty()) to.mean_nll = total / static_cast<double>(to.n_scored);
  };
  measure_lengths(result, subject, common.lengths, score_length, predicted_by_chunk);
  return result;
}

Protocol non_overlapping_row() {
  return {.place = 2,
          .name = std::string(kProtocol),
          .help =
              "perplexity of a text cut into chunks of L; falls with L even where distant tokens "
              "are of no use, since early tokens of a chunk have little context",
          .source = "KERPLE (arXiv:2205.09921) 5.2",
          .synonyms = {"nonoverlapping", "chunks"},
          .has_lengths = true,
          .has_text = true,
          .has_perplexity = true,
          .is_shared = true,
          .amounts = {{"max-tokens", Amount::text_tokens}},
          .add_options = add_own<NonOverlappingOptions>,
          .check = check_own<NonOverlappingOptions>,
          .run =
              [](const Subject& subject, const EvalOptions& eval) {
                return non_overlapping(subject, eval.common, eval.own<NonOverlappingOptions>());
              },
          .work =
              [](const EvalOptions& eval, const WorkSubject& subject, int64_t length) {
                const auto& own = eval.own<NonOverlappingOptions>();
                const int64_t size = subject.text_size, whole = whole_text(size, eval.common);
                const double n_row = is_same_text(own) ? subject.n_chunks(whole, length, whole)
                                                       : subject.n_chunks(size, length, own.chunks);
                return subject.tokens_of_rows(n_row, length, length);
              },
          .conventions = conventions_of_chunks};
}

}  // namespace farfield::eval
