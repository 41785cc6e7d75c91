#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/cli/progress.h"
#include "apps/eval/protocol.h"

namespace farfield::eval {

/// One cell of a table, to be measured.
struct CellWork {
  int64_t length = 0;
  double tokens = 0;  ///< approximate number of tokens that Session::watch will report
};

/// The cells that a protocol measures, in their order, draw by draw.
std::vector<CellWork> work_of(const std::string& protocol, const EvalOptions& eval,
                              const WorkSubject& subject);

/// The progress of an evaluation over all its models, protocols and lengths, with the time left, as
/// Progress shows it: one rewritten line on a terminal, elsewhere one line for each finished cell.
/// Time left is estimated by tokens. Each later model counts as many tokens as the current model,
/// and cells that an earlier call finished count nothing.
class EvalProgress {
 public:
  /// Of n_subjects models, each with every protocol of `eval`.
  EvalProgress(cli::Progress& progress, const EvalOptions& eval, int64_t n_subjects);

  /// The next model.
  void begin(const WorkSubject& subject);
  /// The model's next protocol; lines begin with `what`: "rope, last-token".
  void begin(const std::string& protocol, const std::string& what);
  /// A pass over n tokens is about to begin.
  void pass(int64_t n_tokens);
  /// A cell is finished, now or by an earlier call.
  void finish(int64_t length);

  /// Approximate number of tokens left.
  double tokens_left() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Cells {
    std::string protocol;
    std::vector<CellWork> left;  // in order
  };
  void show(const std::string& text, bool keep);

  cli::Progress& progress_;
  EvalOptions eval_;
  int64_t n_subjects_left_;
  double subject_tokens_ = 0;  // of a whole model
  std::vector<Cells> cells_;   // of the model at hand
  size_t at_ = 0;              // protocol
  std::string what_;
  int64_t tokens_ = 0;       // of all passes begun
  int64_t cell_tokens_ = 0;  // of the passes of this cell
  int64_t pass_tokens_ = 0;  // of the unfinished pass
  Clock::time_point begin_{};
};

}  // namespace farfield::eval
