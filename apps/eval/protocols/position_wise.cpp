#include "apps/eval/protocols/position_wise.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "apps/analysis/curve.h"
#include "apps/analysis/spread.h"
#include "apps/eval/protocol.h"
#include "apps/eval/sequences.h"
#include "engine/base/error.h"

namespace farfield::eval {
namespace {

constexpr std::string_view kProtocol = "position-wise";
constexpr std::string_view kWhere = "eval:position-wise";

using Rows = std::vector<std::vector<double>>;  // nll of each sequence and measured position

int64_t count_sequences(const TokenStream& text, int64_t length, const CommonOptions& common,
                        const PositionWiseOptions& own) {
  const int64_t available = windows_of(text, text.size, length).size();
  require<IoError>(available >= 1, kWhere, "not_enough_data: expected at least ", length + 1,
                   " tokens for one sequence of ", length, ", got ", size_text(text));
  require<IoError>(available >= own.sequences || common.allow_fewer, kWhere,
                   "not_enough_data: expected ", own.sequences, " sequences of ", length,
                   " tokens, got ", available, "; --allow-fewer takes those");
  return std::min(available, own.sequences);
}

// The nll of the sequences that begin at these tokens at positions every, 2 every, ... alone, a
// pass for each.
Rows score_positions(LengthResult& to, const Subject& subject, const std::vector<int64_t>& starts,
                     int64_t every) {
  const int64_t length = to.length, span = length + 1;
  const auto n = static_cast<int64_t>(starts.size());
  std::vector<int32_t> tokens(static_cast<size_t>(n * span));
  for (int64_t row = 0; row < n; ++row)
    read_tokens(kProtocol, subject.text, subject.model.scorer.vocab_size,
                starts[static_cast<size_t>(row)], span, tokens.data() + row * span);
  Rows rows(static_cast<size_t>(n));
  for (int64_t t = every; t <= length; t += every) {
    Scorer::Ids ids, targets;
    for (int64_t row = 0; row < n; ++row) {
      const auto begin = tokens.begin() + row * span;
      ids.insert(ids.end(), begin, begin + t);
      targets.push_back(begin[t]);
    }
    const std::vector<double> nll = subject.model.scorer.score(ids, targets, n);
    for (int64_t row = 0; row < n; ++row) {
      const double value = nll[static_cast<size_t>(row)];
      if (note_nonfinite(to, kProtocol, value, concat("sequence ", row, " at position ", t)))
        return rows;
      rows[static_cast<size_t>(row)].push_back(value);
    }
  }
  return rows;
}

// At positions `every` times the given ones.
Series series_of(const char* name, const analysis::PositionCurve& curve,
                 std::span<const int64_t> at, int64_t every) {
  Series series;
  series.name = name;
  series.axis = "position (tokens)";
  series.is_log_x = true;
  series.y = analysis::perplexities_of(curve.mean_nll);
  for (const int64_t t : at) series.x.push_back(static_cast<double>(t * every));
  if (curve.n.front() < 2) return series;
  analysis::Band band = analysis::confidence_band(curve);
  series.low = std::move(band.low);
  series.high = std::move(band.high);
  return series;
}

// The curve as a picture with a logarithmic axis shows it. The smoothed series, over as many
// positions everywhere, would show its steep beginning as flat as the rest.
Series picture_of(const Rows& rows, int64_t every) {
  const std::vector<int64_t> at =
      analysis::drawn_positions(static_cast<int64_t>(rows.front().size()));
  Rows smooth;
  for (const std::vector<double>& row : rows) smooth.push_back(analysis::log_smoothed(row, at));
  Series series = series_of("smoothed perplexity", analysis::position_curve(smooth), at, every);
  series.axis = concat("position (tokens); nll averaged over positions within ",
                       std::lround(100 * (analysis::kDrawnWithin - 1)), " %");
  series.is_drawn_alone = true;
  return series;
}

void add_quantities(LengthResult& to, const analysis::PositionCurve& curve, const Subject& subject,
                    const std::vector<int64_t>& starts, int64_t every) {
  const int64_t train_len = subject.model.train_len;
  const auto n = static_cast<int64_t>(curve.mean_nll.size());
  const auto add = [&](std::string name, double value) {
    to.quantities.push_back({std::move(name), value});
  };
  const auto add_at = [&](const std::string& place, int64_t q) {
    const double perplexity = analysis::perplexity_at(curve.mean_nll, q);
    add("perplexity@" + place, perplexity);
    const TokenSet tokens = tokens_at(starts, q);
    if (const double bytes = tokens.bytes_per_token(subject.text); bytes > 0)
      add("bits_per_byte@" + place, analysis::bits_per_byte_of(std::log(perplexity), bytes));
    add("scored_tokens@" + place, static_cast<double>(tokens.size()));
  };
  if (every > 1) {
    add("positions", static_cast<double>(n));
  } else {
    constexpr int64_t n_around = analysis::kPositionsAt, n_after = n_around / 2;
    if (train_len >= n_around - n_after && train_len + n_after <= n)
      add_at(std::to_string(train_len), train_len);
    if (n >= n_around) add_at("last", n - n_after);
  }
  if (n < 6) return;  // a slope with an interval takes three points
  const analysis::LateTrend trend = analysis::late_trend(curve.mean_nll, every);
  add("late_slope", trend.fit.slope);
  add("late_slope_low", trend.slope.low);
  add("late_slope_high", trend.slope.high);
  add("still_falling", trend.is_falling ? 1 : 0);
}

}  // namespace

void add_options(cli::Options& options, PositionWiseOptions& own) {
  options.group("Perplexity by position")
      .add("sequences", own.sequences, "N", "sequences of each length")
      .add("smoothing", own.smoothing, "N",
           "positions on each side that the smoothed curve averages over")
      .add("truncated-every", own.truncated_every, "N",
           "with --baseline truncated@W, which takes a pass for each position: measure only "
           "positions N, 2 N, ...");
}

void check(const PositionWiseOptions& own) {
  check_positive(kProtocol, "sequences", own.sequences);
  check_positive(kProtocol, "truncated-every", own.truncated_every);
  require<ConfigError>(own.smoothing >= 0, kWhere, "bad_argument: expected smoothing >= 0, got ",
                       own.smoothing);
}

ProtocolResult position_wise(const Subject& subject, const CommonOptions& common,
                             const PositionWiseOptions& own) {
  const TokenStream& text = subject.text;
  const int64_t every = subject.model.is_truncated() ? own.truncated_every : 1;
  const auto count_at = [&](int64_t length) { return count_sequences(text, length, common, own); };
  int64_t n_read = 0;
  for (const int64_t length : common.lengths) {
    n_read =
        std::max(n_read, windows_of(text, text.size, length)[count_at(length) - 1] + length + 1);
    require<ConfigError>(every <= length, kWhere, "bad_argument: expected truncated-every of at ",
                         "most the length ", length, ", got ", every);
  }
  check_tokens(kProtocol, text, subject.model.scorer.vocab_size, 0, n_read);

  ProtocolResult result;
  result.protocol = kProtocol;
  result.parameters =
      concat("sequences=", counts_text(common.lengths, count_at), " smoothing=", own.smoothing);
  if (every > 1) result.parameters += concat(" every=", every);
  result.parameters += documents_text(text);

  const auto score_length = [&](LengthResult& to) {
    const int64_t length = to.length, n = count_at(length);
    const data::Grid sequences = windows_of(text, text.size, length);
    TokenSet predicted;
    std::vector<int64_t> starts;
    for (int64_t row = 0; row < n; ++row) {
      starts.push_back(sequences[row]);
      if (every == 1) predicted.add(sequences[row] + 1, length);
      for (int64_t t = every; every > 1 && t <= length; t += every)
        predicted.add(sequences[row] + t, 1);
    }
    set_predicted(to, predicted, text);
    Rows rows = every > 1 ? score_positions(to, subject, starts, every)
                          : score_sequences(kProtocol, subject, common, starts, length, to);
    if (!to.failure.empty()) return;
    const analysis::PositionCurve curve = analysis::position_curve(rows);
    std::vector<int64_t> all(curve.mean_nll.size());
    std::iota(all.begin(), all.end(), 1);
    Series picture = picture_of(rows, every);
    for (std::vector<double>& row : rows) {
      to.items.push_back(analysis::mean_of(row));
      to.n_scored += static_cast<int64_t>(row.size());
      row = analysis::smoothed(row, own.smoothing / every);
    }
    to.mean_nll = analysis::mean_nll_of(curve);
    to.series = {series_of("perplexity", curve, all, every),
                 series_of("smoothed perplexity", analysis::position_curve(rows), all, every),
                 std::move(picture)};
    add_quantities(to, curve, subject, starts, every);
  };
  measure_lengths(result, subject, common.lengths, score_length, predicted_by_chunk);
  return result;
}

Protocol position_wise_row() {
  return {.place = 4,
          .name = std::string(kProtocol),
          .help =
              "perplexity by position in a sequence of L tokens, with bands, and whether it still "
              "falls",
          .source = "KERPLE (arXiv:2205.09921) 5.5, A.6",
          .synonyms = {"position", "by-position"},
          .has_lengths = true,
          .has_text = true,
          .has_perplexity = true,
          .is_shared = true,
          .amounts = {{"sequences", Amount::sequences}},
          .add_options = add_own<PositionWiseOptions>,
          .check = check_own<PositionWiseOptions>,
          .run =
              [](const Subject& subject, const EvalOptions& eval) {
                return position_wise(subject, eval.common, eval.own<PositionWiseOptions>());
              },
          .work =
              [](const EvalOptions& eval, const WorkSubject& subject, int64_t length) {
                const auto& own = eval.own<PositionWiseOptions>();
                const int64_t n_scored = std::max<int64_t>(1, length / own.truncated_every);
                return subject.tokens_of_rows(
                    subject.n_chunks(subject.text_size, length, own.sequences), length, n_scored);
              },
          .conventions = conventions_of_chunks};
}

}  // namespace farfield::eval
