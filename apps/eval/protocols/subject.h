#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/eval/protocols/protocol.h"
#include "apps/eval/protocols/result.h"
#include "apps/train/step_shape.h"
#include "engine/device.h"

namespace farfield {
class Transformer;
}

namespace farfield::eval {

struct Subject;

/// Draws of an evaluation count from here: beyond the batches of any training, so that it does not
/// repeat what training drew.
inline constexpr uint64_t kFirstDraw = uint64_t{1} << 40;

/// Where finished cells are kept, so that an evaluation that was interrupted goes on where it
/// stopped. Each may be empty.
struct Cells {
  /// Fills in a cell of this length that was finished before; false when there is none.
  std::function<bool(const Subject&, const ProtocolResult& of, LengthResult&)> find;
  std::function<void(const Subject&, const ProtocolResult& of, const LengthResult&)> keep;
  /// Told of each cell that is there, found or measured, failed ones too.
  std::function<void(const LengthResult&)> finished = {};
};

/// What is measured: a model, and the text it is measured on.
struct Subject {
  Scorer scorer;
  TokenStream text;
  uint64_t seed = 0;      ///< of the training; decides which segments are drawn
  int64_t train_len = 0;  ///< tokens; 0: not known
  train::StepShape step;  ///< of the training
  uint64_t draw = 0;      ///< number of the draw, for an encoding that draws positions
  /// The number that a model is given for it.
  uint64_t model_draw() const { return kFirstDraw + draw; }
  /// The scorer of another draw; empty for a stand-in that draws nothing.
  std::function<Scorer(uint64_t draw)> make_scorer;
  bool is_random = false;  ///< another draw gives other numbers
  /// For protocols that look inside; null for what has scores alone: a stand-in, and a truncated
  /// model, of which there is not one look at the text but many. Both outlive this.
  const Transformer* model = nullptr;
  Device device = {};
  /// "masked@512", "truncated@512", or "" for the model as it is.
  std::string baseline;
  bool is_truncated() const { return baseline.rfind("truncated@", 0) == 0; }
  Cells cells;
  /// Told of work outside the scorer, in tokens; throws to stop. May be empty.
  std::function<void(int64_t n_tokens)> watch;
};

/// The model of a subject, for protocols that look inside: ConfigError [eval:<protocol>]
/// bad_argument for a stand-in.
const Transformer& model_of(const Subject& subject, std::string_view protocol);

/// Appends a result for each length: the one that was kept, or what `score` makes of an empty one.
/// `score` fills in items and n_scored (and mean_nll unless that is the mean of the items), or
/// quantities and series. What must not end a whole table becomes a failure of its cell: OOM, and
/// position_out_of_range for posenc::PositionError, of an encoding that has no values at this
/// length. Another ConfigError ends it, with a code (rethrow_with_code()). To be called when
/// protocol and parameters are set.
void measure_lengths(ProtocolResult& result, const Subject& subject,
                     const std::vector<int64_t>& lengths,
                     const std::function<void(LengthResult&)>& score);

/// Says of a cell which tokens are predicted.
void set_predicted(LengthResult& cell, const TokenSet& predicted, const TokenStream& text);

/// Runs `score` on one cell as measure_lengths() does, without asking for a kept one.
void measure_cell(LengthResult& result, std::string_view protocol,
                  const std::function<void(LengthResult&)>& score);

/// Calls pass(first, n) for items 0 .. n_items - 1 in batches of as many as common.batch_tokens
/// allow, at least one. A batch that memory does not suffice for is halved and tried again, so
/// `pass` must leave nothing behind when it throws.
void in_batches(int64_t n_items, int64_t tokens_per_item, const CommonOptions& common,
                const std::function<void(int64_t first, int64_t n)>& pass);

/// Marks the result as nonfinite_logits if nll is not finite; `item` names it. True when it was.
bool note_nonfinite(LengthResult& result, std::string_view protocol, double nll,
                    const std::string& item);

}  // namespace farfield::eval
