#include "apps/protocols/protocol.h"

#include <new>

#include "engine/base/error.h"

namespace farfield::apps {

void check_lengths(std::string_view protocol, const std::vector<int64_t>& lengths) {
  const std::string where = concat("eval:", protocol);
  require<ConfigError>(!lengths.empty(), where, "bad_argument: expected lengths, got none");
  for (const int64_t length : lengths)
    require<ConfigError>(length >= 2, where, "length_too_short: expected lengths from 2 on, got ",
                         length,
                         "; a length counts the predicted token and there is no begin token");
}

void read_tokens(std::string_view protocol, const TokenStream& text, int64_t vocab_size,
                 int64_t begin, int64_t n, int32_t* out) {
  text.copy(begin, n, out);
  for (int64_t i = 0; i < n; ++i)
    require<IoError>(out[i] >= 0 && out[i] < vocab_size, concat("eval:", protocol),
                     "bad_token: expected ids below ", vocab_size, ", got ", out[i], " at token ",
                     begin + i);
}

void measure(LengthResult& result, std::string_view protocol,
             const std::function<void(LengthResult&)>& score) {
  const auto failed = [&](const char* code, const std::string& message) {
    result.failure = code;
    result.message = concat("[eval:", protocol, "] ", code, ": ", message);
    result.items.clear();
    result.n_scored = 0;
    result.mean_nll = std::nan("");
  };
  try {
    score(result);
  } catch (const std::bad_alloc&) {
    failed("OOM", concat("length ", result.length));
  } catch (const BackendError& error) {
    if (std::string_view(error.what()).find("[memory]") == std::string_view::npos) throw;
    failed("OOM", error.what());
  } catch (const ConfigError& error) {
    failed("position_out_of_range", error.what());
  }
  const auto n = static_cast<double>(result.items.size());
  if (!result.failure.empty() || result.items.empty()) return;
  double mean = 0, squares = 0;  // two passes, in float64
  for (const double nll : result.items) mean += nll;
  mean /= n;
  for (const double nll : result.items) squares += (nll - mean) * (nll - mean);
  if (std::isnan(result.mean_nll)) result.mean_nll = mean;
  if (n > 1) result.nll_error = std::sqrt(squares / (n - 1) / n);
}

bool note_nonfinite(LengthResult& result, std::string_view protocol, double nll,
                    const std::string& item) {
  if (std::isfinite(nll)) return false;
  result.failure = "nonfinite_logits";
  result.message = concat("[eval:", protocol, "] nonfinite_logits: expected finite scores for ",
                          item, " at length ", result.length, ", got ", nll);
  result.items.clear();
  result.n_scored = 0;
  return true;
}

}  // namespace farfield::apps
