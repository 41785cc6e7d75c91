#include "apps/eval/subject.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "apps/analysis/spread.h"
#include "apps/eval/batch_memory.h"
#include "apps/run/together.h"
#include "engine/base/error.h"
#include "layers/transformer.h"
#include "posenc/encoding.h"

namespace farfield::eval {
bool Model::is_random() const {
  return transformer != nullptr && transformer->encoding().is_random(posenc::Phase::eval);
}

const Transformer& Model::inside(std::string_view protocol) const {
  require<ConfigError>(transformer != nullptr && !is_truncated(), concat("eval:", protocol),
                       "bad_argument: expected a model to look inside, got ",
                       is_truncated() ? baseline.label() : "its scores alone");
  return *transformer;
}

Subject subject_of(const Transformer& model, const Device& device, const TokenStream& text,
                   uint64_t seed, const std::function<void(int64_t)>& watch) {
  Subject subject;
  subject.model.scorer = scorer_of(model, device, 0, watch);
  subject.model.transformer = &model;
  subject.model.device = device;
  subject.model.seed = seed;
  subject.model.train_len = model.config().train_len;
  subject.text = text;
  subject.session.watch = watch;
  return subject;
}

void measure_cell(LengthResult& result, std::string_view protocol,
                  const std::function<void(LengthResult&)>& score) {
  const auto failed = [&](const char* code, const std::string& message) {
    set_failure(result, code, concat("[eval:", protocol, "] ", code, ": ", message));
  };
  try {
    score(result);
  } catch (const std::bad_alloc&) {
    failed("OOM", concat("length ", result.length));
  } catch (const BackendError& error) {
    if (!is_out_of_memory(error)) throw;
    failed("OOM", without_brackets(error.what()));
  } catch (const posenc::PositionError& error) {
    failed("position_out_of_range", without_brackets(error.what()));
  } catch (const ConfigError& error) {
    rethrow_with_code(error, concat("eval:", protocol));
  }
  if (!result.failure.empty() || result.items.empty()) return;
  if (!result.has_perplexity()) result.mean_nll = analysis::mean_of(result.items);
  result.nll_error = analysis::standard_error_of(result.items);
}

void measure_lengths(ProtocolResult& result, const Subject& subject,
                     const std::vector<int64_t>& lengths,
                     const std::function<void(LengthResult&)>& score, PredictedBy* predicted) {
  const Session& session = subject.session;
  const uint64_t draw = subject.model.draw;
  for (const int64_t length : lengths) {
    std::optional<LengthResult> kept;
    if (session.cells) kept = session.cells->find(draw, result, length);
    if (session.sharing != nullptr) {
      if (run::in_any(session.sharing->processes(), !kept)) kept.reset();
      if (!kept)
        session.sharing->share([&] {
          LengthResult once;
          once.length = length;
          measure_cell(once, result.protocol, score);
        });
    }
    LengthResult& cell = result.lengths.emplace_back(kept ? std::move(*kept) : LengthResult());
    cell.length = length;
    if (!kept) measure_cell(cell, result.protocol, score);
    // A later reader of a kept cell may not have the text at hand.
    if (predicted != nullptr) set_places(cell, result, subject.text, predicted);
    if (!kept && session.cells) session.cells->keep(draw, result, cell);
    if (session.finished) session.finished(cell);
  }
}

void set_predicted(LengthResult& cell, const TokenSet& predicted, const TokenStream& text) {
  cell.tokens = predicted.name(text);
  cell.bytes_per_token = predicted.bytes_per_token(text);
}

void in_batches(int64_t n_items, int64_t tokens_per_item, const CommonOptions& common,
                const std::function<void(int64_t first, int64_t n)>& pass) {
  const int64_t batch_tokens = common.batch_tokens > 0 ? common.batch_tokens : kMostBatchTokens;
  int64_t most = std::max<int64_t>(1, batch_tokens / tokens_per_item);
  for (int64_t first = 0; first < n_items;) {
    const int64_t n = std::min(most, n_items - first);
    try {
      pass(first, n);
      first += n;
    } catch (const std::exception& error) {
      if (n == 1 || !is_out_of_memory(error)) throw;
      most = n / 2;
    }
  }
}

bool note_nonfinite(LengthResult& result, std::string_view protocol, double nll,
                    const std::string& item) {
  if (std::isfinite(nll)) return false;
  set_failure(result, "nonfinite_logits",
              concat("[eval:", protocol, "] nonfinite_logits: expected finite scores for ", item,
                     result.length > 0 ? concat(" at length ", result.length) : "", ", got ", nll));
  return true;
}

}  // namespace farfield::eval
