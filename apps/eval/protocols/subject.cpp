#include "apps/eval/protocols/subject.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "apps/analysis/spread.h"
#include "apps/eval/batch_memory.h"
#include "apps/eval/protocols/codes.h"
#include "engine/base/error.h"
#include "posenc/encoding.h"

namespace farfield::eval {
namespace {

// Kernels took a mask for a failure once. They are measured in no time, so such a cell is not
// taken.
bool is_outdated(const LengthResult& cell) { return cell.failure == "nonfinite_kernel"; }

// Whether another attempt would end the same way: scores that are not finite are a property of the
// model, and a seed that diverged must not go missing. Memory may suffice the next time.
bool is_final(const LengthResult& cell) {
  return cell.failure.empty() || cell.failure.find("nonfinite_") == 0;
}

}  // namespace

const Transformer& model_of(const Subject& subject, std::string_view protocol) {
  require<ConfigError>(subject.model != nullptr, concat("eval:", protocol),
                       "bad_argument: expected a model to look into, got its scores alone");
  return *subject.model;
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
    failed("OOM", error.what());
  } catch (const posenc::PositionError& error) {
    failed("position_out_of_range", error.what());
  } catch (const ConfigError& error) {
    rethrow_with_code(error, concat("eval:", protocol));
  }
  if (!result.failure.empty() || result.items.empty()) return;
  if (!result.has_perplexity()) result.mean_nll = analysis::mean_of(result.items);
  result.nll_error = analysis::standard_error_of(result.items);
}

void measure_lengths(ProtocolResult& result, const Subject& subject,
                     const std::vector<int64_t>& lengths,
                     const std::function<void(LengthResult&)>& score) {
  for (const int64_t length : lengths) {
    LengthResult cell;
    cell.length = length;  // what find() looks for
    if (!subject.cells.find || !subject.cells.find(subject, result, cell) || is_outdated(cell)) {
      cell = {};
      cell.length = length;
      measure_cell(cell, result.protocol, score);
      if (subject.cells.keep && is_final(cell)) subject.cells.keep(subject, result, cell);
    }
    if (subject.cells.finished) subject.cells.finished(cell);
    result.lengths.push_back(std::move(cell));
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
