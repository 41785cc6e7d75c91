#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "apps/eval/scorer.h"
#include "engine/comm/communicator.h"

namespace farfield::eval {

/// The passes of one cell, shared by the processes of a job: each computes every P-th of them, and
/// all get the values of all. Passes are those that one process makes, so numbers are the same to
/// the bit.
///
/// The work of the cell is done twice: first each process computes its passes and makes up the
/// values of the others', then all have all values, and nothing is left to compute. What the work
/// asks for only then, since it depends on values, each process computes for itself.
class Sharing {
 public:
  explicit Sharing(comm::Communicator& processes) : processes_(processes) {}

  comm::Communicator& processes() const { return processes_; }
  /// The first time through, in all processes together; `work` must leave nothing behind, and what
  /// it throws is left to the second time, which the caller makes. Interrupted in all when it is in
  /// one.
  void share(const std::function<void()>& work);
  /// The n values of a pass over these rows of ids, in which `compute` may look back. `pass` is
  /// told of the tokens of passes of others.
  std::vector<double> values(const Scorer::Ids& ids, const Scorer::Ids& targets, int64_t batch,
                             size_t n, const std::function<std::vector<double>()>& compute,
                             const std::function<void(int64_t n_tokens)>& pass);

 private:
  void exchange();

  comm::Communicator& processes_;
  bool is_first_time_ = false;
  int64_t n_asked_ = 0;                                   // passes, the first time
  std::map<std::string, std::vector<double>> own_, all_;  // by what a pass reads
};

/// A scorer whose passes are shared.
Scorer shared(const Scorer& model, Sharing& sharing,
              const std::function<void(int64_t n_tokens)>& pass);

}  // namespace farfield::eval
