#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "apps/eval/scorer.h"
#include "engine/comm/communicator.h"

namespace farfield::eval {

/// The passes of one cell, shared by the processes of a job: each process computes every P-th pass,
/// and all processes get all values. The passes are the same as in one process, so numbers are the
/// same to the bit.
///
/// The work of the cell runs twice. The first time, each process computes its own passes and makes
/// up the values of the other passes. The second time, all processes have all values. Only passes
/// that depend on values are new then, and each process computes them for itself.
class Sharing {
 public:
  explicit Sharing(comm::Communicator& processes) : processes_(processes) {}

  comm::Communicator& processes() const { return processes_; }
  /// The first run of `work`, in all processes together. `work` must leave nothing behind. An
  /// exception here is dropped: it comes again in the second run, which the caller makes. An
  /// interruption in one process interrupts all.
  void share(const std::function<void()>& work);
  /// The n values of a pass over these rows of ids, in which `compute` may look back. `pass` gets
  /// the tokens of the other processes' passes.
  std::vector<double> values(const Scorer::Ids& ids, const Scorer::Ids& targets, int64_t batch,
                             size_t n, const std::function<std::vector<double>()>& compute,
                             const std::function<void(int64_t n_tokens)>& pass);

 private:
  void exchange();

  comm::Communicator& processes_;
  bool is_first_time_ = false;
  int64_t n_asked_ = 0;                                   // passes, the first time
  std::map<std::string, std::vector<double>> own_, all_;  // by the inputs of a pass
};

/// A scorer whose passes are shared.
Scorer shared(const Scorer& model, Sharing& sharing,
              const std::function<void(int64_t n_tokens)>& pass);

}  // namespace farfield::eval
