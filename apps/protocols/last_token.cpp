#include "apps/protocols/last_token.h"

#include <algorithm>
#include <unordered_map>

#include "engine/base/error.h"
#include "engine/base/random.h"

namespace farfield::apps {
namespace {

constexpr std::string_view kName = "last-token";
constexpr std::string_view kWhere = "eval:last-token";

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

std::vector<int64_t> draw_segments(int64_t size, int64_t span, int64_t n, uint64_t seed,
                                   bool allow_fewer) {
  require<ConfigError>(n >= 1, kWhere, "bad_argument: expected segments >= 1, got ", n);
  const int64_t n_slots = size / span, n_starts = size - span + 1;
  require<IoError>(n_starts >= 1, kWhere, "not_enough_data: expected at least ", span,
                   " tokens for one segment, got ", size);
  require<IoError>(n_starts >= n || allow_fewer, kWhere, "not_enough_data: expected ", n,
                   " segments of ", span, " tokens, got ", n_starts, " in ", size,
                   " tokens; --allow-fewer takes those");
  if (n_slots < n) return draw_without_replacement(n_starts, std::min(n, n_starts), seed);
  std::vector<int64_t> starts = draw_without_replacement(n_slots, n, seed);
  for (int64_t& start : starts) start *= span;
  return starts;
}

ProtocolResult last_token(const Scorer& model, const TokenStream& text,
                          const LastTokenOptions& options) {
  check_lengths(kName, options.lengths);
  require<ConfigError>(options.batch_tokens >= 1, kWhere,
                       "bad_argument: expected batch-tokens >= 1, got ", options.batch_tokens);
  const int64_t longest = *std::max_element(options.lengths.begin(), options.lengths.end());
  const int64_t span = longest + (options.full_context ? 1 : 0);

  ProtocolResult result;
  result.protocol = kName;
  result.starts =
      draw_segments(text.size, span, options.n_segments, options.seed, options.allow_fewer);
  const auto n = static_cast<int64_t>(result.starts.size());
  result.parameters = concat("segments=", n, " seed=", options.seed, " longest=", longest,
                             " context=", options.full_context ? "L" : "L-1");

  std::vector<int32_t> tokens(static_cast<size_t>(n * span));  // [n, span]
  for (int64_t i = 0; i < n; ++i)
    read_tokens(kName, text, model.vocab_size, result.starts[static_cast<size_t>(i)], span,
                tokens.data() + i * span);

  for (const int64_t length : options.lengths) {
    const int64_t n_inputs = options.full_context ? length : length - 1;
    const int64_t most = std::max<int64_t>(1, options.batch_tokens / n_inputs);
    LengthResult& cell = result.lengths.emplace_back();
    cell.length = length;
    measure(cell, kName, [&](LengthResult& to) {
      for (int64_t first = 0; first < n; first += most) {
        const int64_t batch = std::min(most, n - first);
        Scorer::Ids ids, targets;
        for (int64_t i = first; i < first + batch; ++i) {
          const int32_t* const end = tokens.data() + (i + 1) * span;
          ids.insert(ids.end(), end - 1 - n_inputs, end - 1);
          targets.push_back(end[-1]);
        }
        for (const double nll : model.last(ids, targets, batch)) {
          const size_t item = to.items.size();
          if (note_nonfinite(to, kName, nll,
                             concat("segment ", item, " (tokens ", result.starts[item], " to ",
                                    result.starts[item] + span - 1, ")")))
            return;
          to.items.push_back(nll);
        }
      }
      to.n_scored = n;
    });
  }
  return result;
}

}  // namespace farfield::apps
