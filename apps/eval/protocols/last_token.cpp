#include "apps/eval/protocols/last_token.h"

#include <algorithm>
#include <unordered_map>

#include "apps/eval/protocol.h"
#include "engine/base/error.h"
#include "engine/base/random.h"

namespace farfield::eval {
namespace {

constexpr std::string_view kProtocol = "last-token";

// n different numbers below `size`, uniform, in the order of the draws: a shuffle that stores only
// the places that it has touched.
std::vector<int64_t> draw_without_replacement(int64_t size, int64_t n, uint64_t seed) {
  const Random random{seed, stream_of("eval.segments")};
  std::unordered_map<int64_t, int64_t> moved;
  const auto at = [&](int64_t i) {
    const auto found = moved.find(i);
    return found == moved.end() ? i : found->second;
  };
  std::vector<int64_t> drawn;
  for (int64_t i = 0; i < n; ++i) {
    const auto pick = i + static_cast<int64_t>(random.below(static_cast<uint64_t>(i),
                                                            static_cast<uint64_t>(size - i)));
    drawn.push_back(at(pick));
    moved[pick] = at(i);
  }
  return drawn;
}

}  // namespace

std::vector<int64_t> draw_segments(std::string_view protocol, const TokenStream& text, int64_t span,
                                   int64_t n, uint64_t seed, bool allow_fewer) {
  const std::string where = concat("eval:", protocol);
  const data::Grid slots(text.size, text.document_tokens, span, span);
  const data::Grid places(text.size, text.document_tokens, span, 1);
  require<IoError>(places.size() >= 1, where, "not_enough_data: expected at least ", span,
                   " tokens for one segment, got ", size_text(text));
  require<IoError>(places.size() >= n || allow_fewer, where, "not_enough_data: expected ", n,
                   " segments of ", span, " tokens, got ", places.size(), " in ", size_text(text),
                   " tokens; --allow-fewer takes those");
  const data::Grid& grid = slots.size() < n ? places : slots;
  std::vector<int64_t> starts =
      draw_without_replacement(grid.size(), std::min(n, grid.size()), seed);
  for (int64_t& start : starts) start = grid[start];
  return starts;
}

void add_options(cli::Options& options, LastTokenOptions& own) {
  options.group("Last-token perplexity")
      .add("segments", own.segments, "N", "predicted tokens, the same at every length")
      .add("segment-set", own.segment_set, "per-seed|common",
           "each seed draws segments of its own, so that a spread over seeds holds the difference "
           "between texts too, or all draw the same places of the text (of one text with "
           "--document-order file)")
      .add("context", own.context, "L-1|L", "tokens before the predicted one at length L");
}

void check(const LastTokenOptions& own) {
  check_positive(kProtocol, "segments", own.segments);
  check_word("segment-set", own.segment_set, {"per-seed", "common"});
  check_word("context", own.context, {"L-1", "L"});
}

Scorer::Ids Segments::ids(int64_t first, int64_t batch, int64_t n) const {
  Scorer::Ids ids;
  for (int64_t i = first; i < first + batch; ++i) {
    const int32_t* const end = tokens.data() + (i + 1) * span;
    ids.insert(ids.end(), end - 1 - n, end - 1);
  }
  return ids;
}

Scorer::Ids Segments::targets(int64_t first, int64_t batch) const {
  Scorer::Ids targets;
  for (int64_t i = first; i < first + batch; ++i)
    targets.push_back(tokens[static_cast<size_t>((i + 1) * span - 1)]);
  return targets;
}

std::string Segments::name(size_t item) const {
  return concat("segment ", item, " (tokens ", starts[item], " to ", starts[item] + span - 1, ")");
}

Segments read_segments(std::string_view protocol, const Subject& subject,
                       const CommonOptions& common, const LastTokenOptions& own) {
  const TokenStream& text = subject.text;
  const int64_t longest = *std::max_element(common.lengths.begin(), common.lengths.end());
  Segments segments;
  segments.n_short = own.context == "L" ? 0 : 1;
  segments.span = segments.n_inputs(longest) + 1;
  segments.starts =
      draw_segments(protocol, text, segments.span, own.segments,
                    own.segment_set == "common" ? 0 : subject.model.seed, common.allow_fewer);
  const auto n = static_cast<int64_t>(segments.starts.size());
  segments.parameters = concat("segments=", n, " set=", own.segment_set, " longest=", longest,
                               " context=", own.context, documents_text(text));
  segments.tokens.resize(static_cast<size_t>(n * segments.span));
  for (int64_t i = 0; i < n; ++i) {
    const int64_t start = segments.starts[static_cast<size_t>(i)];
    read_tokens(protocol, text, subject.model.scorer.vocab_size, start, segments.span,
                segments.tokens.data() + i * segments.span);
    segments.predicted.add(start + segments.span - 1, 1);
  }
  return segments;
}

ProtocolResult last_token(const Subject& subject, const CommonOptions& common,
                          const LastTokenOptions& own) {
  const Segments segments = read_segments(kProtocol, subject, common, own);
  ProtocolResult result;
  result.protocol = kProtocol;
  result.starts = segments.starts;
  result.parameters = segments.parameters;
  const auto n = static_cast<int64_t>(segments.starts.size());

  const auto score_length = [&](LengthResult& to) {
    set_predicted(to, segments.predicted, subject.text);
    const int64_t n_inputs = segments.n_inputs(to.length);
    in_batches(n, n_inputs, common, [&](int64_t first, int64_t batch) {
      if (!to.failure.empty()) return;
      for (const double nll : subject.model.scorer.score(segments.ids(first, batch, n_inputs),
                                                         segments.targets(first, batch), batch)) {
        if (note_nonfinite(to, kProtocol, nll, segments.name(to.items.size()))) return;
        to.items.push_back(nll);
      }
    });
    to.n_scored = static_cast<int64_t>(to.items.size());
  };
  measure_lengths(result, subject, common.lengths, score_length, predicted_by_segment);
  return result;
}

Protocol last_token_row() {
  return {.place = 1,
          .name = std::string(kProtocol),
          .help =
              "perplexity of a fixed set of tokens, each after the L - 1 tokens before it: only "
              "the context changes with L",
          .source = "Sandwich (arXiv:2212.10356) 3.4",
          .synonyms = {"perplexity", "ppl"},
          .has_lengths = true,
          .has_text = true,
          .has_perplexity = true,
          .is_shared = true,
          .amounts = {{"segments", Amount::predictions}},
          .add_options = add_own<LastTokenOptions>,
          .check = check_own<LastTokenOptions>,
          .run =
              [](const Subject& subject, const EvalOptions& eval) {
                return last_token(subject, eval.common, eval.own<LastTokenOptions>());
              },
          .work =
              [](const EvalOptions& eval, const WorkSubject& subject, int64_t length) {
                const auto n = static_cast<double>(eval.own<LastTokenOptions>().segments);
                return subject.tokens_of_rows(n, length, 1);
              },
          .conventions = conventions_of_segments};
}

}  // namespace farfield::eval
