#include "apps/protocols/non_overlapping.h"

#include <algorithm>

#include "engine/base/error.h"

namespace farfield::apps {
namespace {

constexpr std::string_view kName = "non-overlapping";
constexpr std::string_view kWhere = "eval:non-overlapping";

// Chunks of one length, all of them or as many as the budget allows.
int64_t count_chunks(int64_t size, int64_t length, const NonOverlappingOptions& options) {
  const int64_t available = (size - 1) / length;
  require<IoError>(available >= 1, kWhere, "not_enough_data: expected at least ", length + 1,
                   " tokens for one chunk of ", length, ", got ", size);
  if (options.budget == NonOverlappingOptions::Budget::same_text) return available;
  require<IoError>(available >= options.n_chunks || options.allow_fewer, kWhere,
                   "not_enough_data: expected ", options.n_chunks, " chunks of ", length,
                   " tokens, got ", available, "; --allow-fewer takes those");
  return std::min(available, options.n_chunks);
}

}  // namespace

ProtocolResult non_overlapping(const Scorer& model, const TokenStream& text,
                               const NonOverlappingOptions& options) {
  check_lengths(kName, options.lengths);
  const auto positive = [](const char* name, int64_t value) {
    require<ConfigError>(value >= 1, kWhere, "bad_argument: expected ", name, " >= 1, got ", value);
  };
  positive("chunks", options.n_chunks);
  positive("batch-tokens", options.batch_tokens);
  require<ConfigError>(options.max_tokens >= 0, kWhere,
                       "bad_argument: expected max-tokens >= 0, got ", options.max_tokens);
  const bool same_text = options.budget == NonOverlappingOptions::Budget::same_text;
  const int64_t size =
      same_text && options.max_tokens > 0 ? std::min(options.max_tokens, text.size) : text.size;
  for (const int64_t length : options.lengths) count_chunks(size, length, options);

  ProtocolResult result;
  result.protocol = kName;
  result.parameters = same_text ? concat("budget=same-text tokens=", size,
                                         " tail=", options.keep_tail ? "scored" : "dropped")
                                : concat("budget=same-chunks count=", options.n_chunks);

  for (const int64_t length : options.lengths) {
    const int64_t n_whole = count_chunks(size, length, options);
    const int64_t tail = same_text && options.keep_tail ? size - 1 - n_whole * length : 0;
    const int64_t most = std::max<int64_t>(1, options.batch_tokens / length);
    LengthResult& cell = result.lengths.emplace_back();
    cell.length = length;
    measure(cell, kName, [&](LengthResult& to) {
      double total = 0;
      // Scores `batch` chunks of n tokens from token `begin` on; false when one was not finite.
      const auto score = [&](int64_t begin, int64_t batch, int64_t n) {
        Scorer::Ids window(static_cast<size_t>(batch * n + 1));
        read_tokens(kName, text, model.vocab_size, begin, batch * n + 1, window.data());
        const Scorer::Ids ids(window.begin(), window.end() - 1);
        const Scorer::Ids targets(window.begin() + 1, window.end());
        const std::vector<double> nll = model.all(ids, targets, batch);
        for (int64_t chunk = 0; chunk < batch; ++chunk) {
          double sum = 0;
          for (int64_t t = 0; t < n; ++t) sum += nll[static_cast<size_t>(chunk * n + t)];
          if (note_nonfinite(
                  to, kName, sum,
                  concat("chunk ", to.items.size(), " (from token ", begin + chunk * n, ")")))
            return false;
          to.items.push_back(sum / static_cast<double>(n));
          total += sum;
        }
        to.n_scored += batch * n;
        return true;
      };
      for (int64_t first = 0; first < n_whole; first += most)
        if (!score(first * length, std::min(most, n_whole - first), length)) return;
      if (tail > 0 && !score(n_whole * length, 1, tail)) return;
      to.mean_nll = total / static_cast<double>(to.n_scored);
    });
  }
  return result;
}

}  // namespace farfield::apps
