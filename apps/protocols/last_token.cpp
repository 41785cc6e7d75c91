#include "apps/protocols/last_token.h"

#include <algorithm>
#include <unordered_map>

#include "engine/base/error.h"
#include "engine/base/random.h"

namespace farfield::apps {
namespace {

constexpr std::string_view kName = "last-token";

// n different numbers below `size`, uniform, in the order drawn: a shuffle that stores only the
// places it has touched.
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

std::vector<int64_t> draw_segments(std::string_view protocol, int64_t size, int64_t span, int64_t n,
                                   uint64_t seed, bool allow_fewer) {
  check_positive(protocol, "segments", n);
  const std::string where = concat("eval:", protocol);
  const int64_t n_slots = size / span, n_starts = size - span + 1;
  require<IoError>(n_starts >= 1, where, "not_enough_data: expected at least ", span,
                   " tokens for one segment, got ", size);
  require<IoError>(n_starts >= n || allow_fewer, where, "not_enough_data: expected ", n,
                   " segments of ", span, " tokens, got ", n_starts, " in ", size,
                   " tokens; --allow-fewer takes those");
  if (n_slots < n) return draw_without_replacement(n_starts, std::min(n, n_starts), seed);
  std::vector<int64_t> starts = draw_without_replacement(n_slots, n, seed);
  for (int64_t& start : starts) start *= span;
  return starts;
}

void add_options(Options& options, LastTokenOptions& own) {
  options.group("Last-token perplexity")
      .add("segments", own.segments, "N", "predicted tokens, the same at every length")
      .add("segment-set", own.segment_set, "per-seed|common",
           "whether runs with other seeds draw other segments")
      .add("context", own.context, "L-1|L", "tokens before the predicted one at length L");
}

void check(const LastTokenOptions& own) {
  check_word("segment-set", own.segment_set, {"per-seed", "common"});
  check_word("context", own.context, {"L-1", "L"});
}

ProtocolResult last_token(const Subject& subject, const CommonOptions& common,
                          const LastTokenOptions& own) {
  check_common(kName, common);
  const TokenStream& text = subject.text;
  const bool is_full = own.context == "L";
  const int64_t longest = *std::max_element(common.lengths.begin(), common.lengths.end());
  const int64_t span = longest + (is_full ? 1 : 0);

  ProtocolResult result;
  result.protocol = kName;
  result.starts = draw_segments(kName, text.size, span, own.segments,
                                own.segment_set == "common" ? 0 : subject.seed, common.allow_fewer);
  const auto n = static_cast<int64_t>(result.starts.size());
  result.parameters = concat("segments=", n, " set=", own.segment_set, " longest=", longest,
                             " context=", own.context);

  std::vector<int32_t> tokens(static_cast<size_t>(n * span));  // [n, span]
  TokenSet predicted;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t start = result.starts[static_cast<size_t>(i)];
    read_tokens(kName, text, subject.scorer.vocab_size, start, span, tokens.data() + i * span);
    predicted.add(start + span - 1, 1);
  }

  measure_lengths(result, subject, common.lengths, [&](LengthResult& to) {
    to.tokens = predicted.name(text);
    const int64_t n_inputs = is_full ? to.length : to.length - 1;
    in_batches(n, n_inputs, common, [&](int64_t first, int64_t batch) {
      if (!to.failure.empty()) return;
      Scorer::Ids ids, targets;
      for (int64_t i = first; i < first + batch; ++i) {
        const int32_t* const end = tokens.data() + (i + 1) * span;
        ids.insert(ids.end(), end - 1 - n_inputs, end - 1);
        targets.push_back(end[-1]);
      }
      for (const double nll : subject.scorer.score(ids, targets, batch)) {
        const size_t item = to.items.size();
        if (note_nonfinite(to, kName, nll,
                           concat("segment ", item, " (tokens ", result.starts[item], " to ",
                                  result.starts[item] + span - 1, ")")))
          return;
        to.items.push_back(nll);
      }
    });
    to.n_scored = static_cast<int64_t>(to.items.size());
  });
  return result;
}

}  // namespace farfield::apps
