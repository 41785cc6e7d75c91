#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/eval/baseline.h"
#include "apps/eval/cells.h"
#include "apps/eval/items.h"
#include "apps/eval/options.h"
#include "apps/eval/remembering.h"
#include "apps/eval/result.h"
#include "apps/eval/scorer.h"
#include "apps/eval/sharing.h"
#include "apps/eval/text.h"
#include "apps/train/step_shape.h"

namespace farfield::eval {

/// The measured model: its scores, and facts about its training.
struct Model {
  Scorer scorer;  ///< of this draw, under this baseline
  /// Of a trained model, which must outlive this; null for a stand-in that has scores alone.
  const Transformer* transformer = nullptr;
  Device device = {};
  Baseline baseline = {};  ///< masked: the transformer has its window already
  uint64_t draw = 0;       ///< number of the draw, for an encoding that draws positions
  uint64_t seed = 0;       ///< of the training; decides which segments are drawn
  int64_t train_len = 0;   ///< tokens; 0: not known
  train::StepShape step;   ///< of the training
  std::string task = {};   ///< that it was trained on; empty: on text
  std::optional<int32_t> mask_token = {};  ///< of an encoder that was trained on masked text

  bool is_truncated() const { return baseline.kind == Baseline::Kind::truncated; }
  /// Whether another draw gives different numbers.
  bool is_random() const;
  /// The number that a transformer is given for the draw.
  uint64_t transformer_draw() const { return kFirstDraw + draw; }
  /// For protocols that look inside: ConfigError [eval:<protocol>] bad_argument for a stand-in, and
  /// for a truncated model, which makes many passes over the text instead of one.
  const Transformer& inside(std::string_view protocol) const;
};

/// The measuring call: the store for its results, and the functions that follow its progress.
struct Session {
  std::optional<CellFiles> cells;  ///< finished cells, to continue in a later call; empty: not kept
  RowMemory* rows = nullptr;       ///< rows that several protocols read; null: none
  Sharing* sharing = nullptr;      ///< with other processes; null: one process
  /// Told of work in tokens before it is done; throws to stop. May be empty.
  std::function<void(int64_t n_tokens)> watch;
  /// Told of each available cell, found or measured, even a failed one. May be empty.
  std::function<void(const LengthResult&)> finished;

  void pass(int64_t n_tokens) const {
    if (watch) watch(n_tokens);
  }
};

/// The measured model, its text and its session.
struct Subject {
  Model model;
  TokenStream text;
  Session session;
};

/// A trained model on a text, with the scorer of draw 0. The model must outlive the result.
Subject subject_of(const Transformer& model, const Device& device, const TokenStream& text,
                   uint64_t seed, const std::function<void(int64_t n_tokens)>& watch = {});

/// Appends a result for each length: a kept result, or an empty result that `score` fills. `score`
/// fills in items and n_scored (and mean_nll unless it is the mean of the items), or quantities and
/// series; `predicted` gives the tokens of an item. An error that must not end a whole table
/// becomes a failure of its cell: OOM, and position_out_of_range for posenc::PositionError, if the
/// encoding has no values at this length. Another ConfigError ends the table, with a code
/// (rethrow_with_code()). Protocol and parameters must be set before the call.
void measure_lengths(ProtocolResult& result, const Subject& subject,
                     const std::vector<int64_t>& lengths,
                     const std::function<void(LengthResult&)>& score,
                     PredictedBy* predicted = nullptr);

/// Fills in the predicted tokens of a cell.
void set_predicted(LengthResult& cell, const TokenSet& predicted, const TokenStream& text);

/// Runs `score` on one cell as measure_lengths() does, without asking for a kept one.
void measure_cell(LengthResult& result, std::string_view protocol,
                  const std::function<void(LengthResult&)>& score);

/// Calls pass(first, n) for items 0 .. n_items - 1 in batches of as many as common.batch_tokens
/// allow, at least one. If memory does not suffice for a batch, the batch is halved and tried
/// again, so `pass` must leave nothing behind when it throws.
void in_batches(int64_t n_items, int64_t tokens_per_item, const CommonOptions& common,
                const std::function<void(int64_t first, int64_t n)>& pass);

/// Marks the result as nonfinite_logits if nll is not finite; `item` names it. True when it was.
bool note_nonfinite(LengthResult& result, std::string_view protocol, double nll,
                    const std::string& item);

}  // namespace farfield::eval
