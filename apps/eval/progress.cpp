#include "apps/eval/progress.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/base/error.h"

namespace farfield::eval {

std::vector<CellWork> work_of(const std::string& name, const EvalOptions& eval,
                              const WorkSubject& subject) {
  const Protocol& protocol = protocol_named(name);
  std::vector<int64_t> lengths;
  if (protocol.lengths != nullptr)
    lengths = protocol.lengths(eval);
  else if (protocol.has_lengths)
    lengths = eval.common.lengths;
  if (lengths.empty() || protocol.has_training) lengths.insert(lengths.begin(), 0);
  std::vector<CellWork> cells;
  for (int64_t draw = 0; draw < subject.n_draws; ++draw)
    for (const int64_t length : lengths)
      cells.push_back(
          {length, protocol.work == nullptr ? 0 : protocol.work(eval, subject, length)});
  return cells;
}

EvalProgress::EvalProgress(cli::Progress& progress, const EvalOptions& eval, int64_t n_subjects)
    : progress_(progress), eval_(eval), n_subjects_left_(n_subjects) {}

void EvalProgress::begin(const WorkSubject& subject) {
  --n_subjects_left_;
  cells_.clear();
  subject_tokens_ = 0;
  for (const std::string& protocol : eval_.protocols) {
    cells_.push_back({protocol, work_of(protocol, eval_, subject)});
    for (const CellWork& cell : cells_.back().left) subject_tokens_ += cell.tokens;
  }
}

void EvalProgress::begin(const std::string& protocol, const std::string& what) {
  const auto found = std::find_if(cells_.begin(), cells_.end(),
                                  [&](const Cells& cells) { return cells.protocol == protocol; });
  at_ = static_cast<size_t>(found - cells_.begin());
  what_ = what;
  cell_tokens_ = pass_tokens_ = 0;
}

void EvalProgress::pass(int64_t n_tokens) {
  if (tokens_ == 0) begin_ = Clock::now();
  tokens_ += n_tokens;
  cell_tokens_ += n_tokens;
  pass_tokens_ = n_tokens;
  const std::vector<CellWork>& left = cells_.at(at_).left;
  const std::string length =
      left.empty() ? "" : length_name(cells_[at_].protocol, left.front().length);
  const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  const auto done = static_cast<double>(tokens_ - n_tokens);
  show(concat(what_, length.empty() ? "" : " at " + length, ": ", cell_tokens_ - n_tokens,
              " tokens, ", static_cast<int64_t>(done / std::max(seconds, 1e-3)), " tokens/s"),
       /*keep=*/false);
}

void EvalProgress::finish(int64_t length) {
  std::vector<CellWork>& left = cells_.at(at_).left;
  const auto done = std::find_if(left.begin(), left.end(),
                                 [&](const CellWork& cell) { return cell.length == length; });
  if (done != left.end()) left.erase(done);
  const int64_t n = std::exchange(cell_tokens_, 0);
  pass_tokens_ = 0;
  if (n == 0) return;  // kept from an earlier call, or a look at tables
  const std::string name = length_name(cells_[at_].protocol, length);
  show(concat(what_, name.empty() ? "" : " at " + name, ": ", n, " tokens"), /*keep=*/true);
}

double EvalProgress::tokens_left() const {
  double left = static_cast<double>(n_subjects_left_) * subject_tokens_;
  for (const Cells& cells : cells_)
    for (const CellWork& cell : cells.left) left += cell.tokens;
  if (at_ < cells_.size() && !cells_[at_].left.empty()) {
    const auto begun = static_cast<double>(cell_tokens_ - pass_tokens_);
    left -= std::min(begun, cells_[at_].left.front().tokens);
  }
  return left;
}

void EvalProgress::show(const std::string& text, bool keep) {
  const int64_t done = tokens_ - pass_tokens_;
  progress_.update(done, done + std::llround(tokens_left()), text, keep);
}

}  // namespace farfield::eval
