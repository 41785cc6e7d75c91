#include "apps/eval/protocols/sliding.h"

#include <algorithm>

#include "apps/eval/protocol.h"
#include "engine/base/error.h"

namespace farfield::eval {
namespace {

constexpr std::string_view kProtocol = "sliding";
constexpr std::string_view kWhere = "eval:sliding";

int64_t stride_of(const SlidingOptions& own, int64_t length) {
  return own.stride.value_or(std::max<int64_t>(1, length / 4));
}

// A range of tokens with its own sliding windows.
struct Stretch {
  int64_t begin, size;
};

// The whole text. If no window may leave a document, the part of each document that non-overlapping
// windows of this length cover.
std::vector<Stretch> stretches_of(const TokenStream& text, int64_t size, int64_t length) {
  if (text.document_tokens == 0) return {{0, size}};
  const data::Grid windows = windows_of(text, size, length);
  std::vector<Stretch> stretches;
  for (int64_t i = 0; i < windows.size(); ++i) {
    if (i > 0 && windows[i] == windows[i - 1] + length)
      stretches.back().size += length;
    else
      stretches.push_back({windows[i], length + 1});
  }
  return stretches;
}

// The approximate number of windows.
double count_windows(const WorkSubject& text, int64_t size, int64_t length, int64_t stride) {
  const auto in = [&](int64_t n) {
    return static_cast<double>(std::max<int64_t>(0, n - 1 - length) / stride + 1);
  };
  if (text.document_tokens == 0) return in(size);
  const int64_t n_chunk = (text.document_tokens - 1) / length;
  const int64_t n_document = size / (text.document_tokens + 1);
  return n_chunk == 0 ? 0 : static_cast<double>(n_document) * in(n_chunk * length + 1);
}

}  // namespace

void add_options(cli::Options& options, SlidingOptions& own) {
  options.group("Sliding-window perplexity")
      .add("stride", own.stride, "N",
           "tokens from a window to the next; 1 gives the most context and takes L times as long "
           "as non-overlapping (default: a quarter of each length)");
}

void check(const SlidingOptions& own) {
  if (own.stride) check_positive(kProtocol, "stride", *own.stride);
}

ProtocolResult sliding(const Subject& subject, const CommonOptions& common,
                       const SlidingOptions& own) {
  const TokenStream& text = subject.text;
  const int64_t size = whole_text(text.size, common);
  for (const int64_t length : common.lengths) {
    require<ConfigError>(stride_of(own, length) <= length, kWhere,
                         "bad_stride: expected a stride of at most the length ", length,
                         ", or targets are left out, got ", stride_of(own, length));
    require<IoError>(windows_of(text, size, length).size() > 0, kWhere,
                     "not_enough_data: expected at least ", length + 1,
                     " tokens for one window of ", length, ", got ",
                     size < text.size ? std::to_string(size) : size_text(text));
  }
  check_tokens(kProtocol, text, subject.model.scorer.vocab_size, 0, size);

  ProtocolResult result;
  result.protocol = kProtocol;
  result.parameters = concat("stride=", own.stride ? std::to_string(*own.stride) : "L/4",
                             " tokens=", size, documents_text(text));

  const auto score_length = [&](LengthResult& to) {
    const int64_t length = to.length, stride = stride_of(own, length);
    const std::vector<Stretch> stretches = stretches_of(text, size, length);
    TokenSet predicted;
    for (const Stretch& s : stretches) predicted.add(s.begin + 1, s.size - 1);
    set_predicted(to, predicted, text);
    double total = 0, part = 0;  // of all targets, and of the targets of the unfinished item
    const auto take = [&](double nll) {
      total += nll;
      part += nll;
      if (++to.n_scored % length != 0) return;
      to.items.push_back(part / static_cast<double>(length));
      part = 0;
    };
    // Scores the last n targets of `batch` windows from token `begin` on, n apart.
    const auto score = [&](int64_t begin, int64_t batch, int64_t n) {
      if (!to.failure.empty()) return;
      const int64_t span = (batch - 1) * n + length + 1;
      Scorer::Ids tokens(static_cast<size_t>(span)), ids, targets;
      read_tokens(kProtocol, text, subject.model.scorer.vocab_size, begin, span, tokens.data());
      for (int64_t window = 0; window < batch; ++window) {
        const auto first = tokens.begin() + window * n;
        ids.insert(ids.end(), first, first + length);
        targets.insert(targets.end(), first + length + 1 - n, first + length + 1);
      }
      const std::vector<double> nll = subject.model.scorer.score(ids, targets, batch);
      for (size_t i = 0; i < nll.size(); ++i) {
        if (note_nonfinite(
                to, kProtocol, nll[i],
                concat("the window from token ", begin + static_cast<int64_t>(i) / n * n)))
          return;
        take(nll[i]);
      }
    };
    for (const Stretch& s : stretches) {
      score(s.begin, 1, length);
      const int64_t last = s.size - 1 - length;  // where the last window begins
      const int64_t n_later = last / stride, rest = last % stride;
      in_batches(n_later, length, common, [&](int64_t first, int64_t batch) {
        score(s.begin + (first + 1) * stride, batch, stride);
      });
      if (rest > 0) score(s.begin + last, 1, rest);
    }
    if (!to.failure.empty()) return;
    const int64_t n_left = to.n_scored % length;
    if (n_left > 0) to.items.push_back(part / static_cast<double>(n_left));
    to.mean_nll = total / static_cast<double>(to.n_scored);
    to.quantities.push_back({"stride", static_cast<double>(stride)});
  };
  measure_lengths(result, subject, common.lengths, score_length, predicted_by_chunk);
  return result;
}

Protocol sliding_row() {
  return {.place = 3,
          .name = std::string(kProtocol),
          .help =
              "perplexity of a text by windows of L that overlap by L - stride: every token "
              "has much context",
          .source = "ALiBi (arXiv:2108.12409) appendix B",
          .synonyms = {"strided", "sliding-window"},
          .has_lengths = true,
          .has_text = true,
          .has_perplexity = true,
          .is_shared = true,
          .amounts = {{"max-tokens", Amount::text_tokens}},
          .add_options = add_own<SlidingOptions>,
          .check = check_own<SlidingOptions>,
          .run =
              [](const Subject& subject, const EvalOptions& eval) {
                return sliding(subject, eval.common, eval.own<SlidingOptions>());
              },
          .work =
              [](const EvalOptions& eval, const WorkSubject& subject, int64_t length) {
                const int64_t stride = stride_of(eval.own<SlidingOptions>(), length);
                const int64_t size = whole_text(subject.text_size, eval.common);
                const double n_window = count_windows(subject, size, length, stride);
                return subject.tokens_of_rows(n_window, length, stride);
              },
          .conventions =
              [](const ProtocolResult&, int64_t length) {
                return concat(first_token_is("the token before the first that the item predicts"),
                              "; the ", length_text(length), " tokens behind it are predicted");
              }};
}

}  // namespace farfield::eval
