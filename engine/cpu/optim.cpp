#include "engine/kernels/optim.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/base/parallel.h"
#include "engine/cpu/convert.h"
#include "engine/kernels/adamw.h"
#include "engine/kernels/nag.h"

namespace farfield {
namespace {

constexpr int64_t kGrain = int64_t{1} << 14;  // elements of a piece

// Elements begin .. end - 1 of tensor number `index`.
struct Piece {
  size_t index;
  int64_t begin, end;
};

// Cuts a list of tensors into pieces, in order; they depend on the shapes alone. Neighbouring small
// tensors go to one task: tasks[i] .. tasks[i + 1] - 1 are the pieces of task i.
struct Work {
  std::vector<Piece> pieces;
  std::vector<size_t> tasks{0};

  void add(size_t index, int64_t numel) {
    for (int64_t begin = 0; begin < numel; begin += kGrain) {
      const int64_t end = std::min(numel, begin + kGrain);
      pieces.push_back({index, begin, end});
      filled_ += end - begin;
      if (filled_ >= kGrain) close();
    }
  }
  void close() {
    if (tasks.back() != pieces.size()) tasks.push_back(pieces.size());
    filled_ = 0;
  }
  template <class F>
  void run(const F& body) const {
    parallel_for(static_cast<int64_t>(tasks.size()) - 1, [&](int64_t task) {
      for (size_t i = tasks[static_cast<size_t>(task)]; i < tasks[static_cast<size_t>(task) + 1];
           ++i)
        body(i, pieces[i]);
    });
  }

 private:
  int64_t filled_ = 0;
};

// For elements just written, while they are in cache.
template <class T>
void keep_rounded(const Tensor::DataAndRounded<T>& x, int64_t begin, int64_t end) {
  if (x.rounded != nullptr) convert(x.data + begin, end - begin, x.rounded + begin);
}

template <class T>
void update(const AdamWStep& step, double scale, AdamWTarget& target, int64_t begin, int64_t end) {
  const T* const __restrict grad = target.grad.data<T>();
  const auto written = target.param.data_and_rounded<T>();
  T* const __restrict param = written.data;
  T* const __restrict m = target.m.data<T>();
  T* const __restrict v = target.v.data<T>();
  AdamWRule<T> rule(step);
  rule.take(step.rates.data<double>(), target.decay);
  rule.scale = static_cast<T>(scale);
  for (int64_t i = begin; i < end; ++i) rule(grad[i], m[i], v[i], param[i]);
  keep_rounded(written, begin, end);
}

template <class T>
void update(const NagStep& step, double scale, NagTarget& target, int64_t begin, int64_t end) {
  const T* const __restrict grad = target.grad.data<T>();
  const auto written = target.param.data_and_rounded<T>();
  T* const __restrict param = written.data;
  T* const __restrict m = target.m.data<T>();
  NagRule<T> rule;
  rule.take(step.rates.data<double>(), target.decay);
  rule.scale = static_cast<T>(scale);
  for (int64_t i = begin; i < end; ++i) rule(grad[i], m[i], param[i]);
  keep_rounded(written, begin, end);
}

// All of a list, unless the guard forbids it.
template <class Step, class Target>
void update_all(const Step& step, std::span<Target> targets) {
  const double loss = *step.guard.loss.template data<double>(),
               norm = *step.guard.grad_norm.template data<double>();
  if (!may_update(loss, norm)) return;
  const double scale = clip_scale(norm, step.guard.max_norm);
  Work work;
  for (size_t i = 0; i < targets.size(); ++i) work.add(i, targets[i].param.numel());
  work.close();
  work.run([&](size_t, const Piece& piece) {
    Target& target = targets[piece.index];
    if (target.param.dtype() == DType::f64)
      update<double>(step, scale, target, piece.begin, piece.end);
    else
      update<float>(step, scale, target, piece.begin, piece.end);
  });
}

// A sum of squares in a fixed order that fits vector registers, of elements that come bit by bit.
class SquareSum {
 public:
  void add(const Tensor& x, int64_t begin, int64_t n) {
    if (x.dtype() == DType::f64)
      add(x.data<double>() + begin, n);
    else
      add(x.data<float>() + begin, n);
  }
  double total() const {
    return ((lanes_[0] + lanes_[1]) + (lanes_[2] + lanes_[3])) +
           ((lanes_[4] + lanes_[5]) + (lanes_[6] + lanes_[7]));
  }

 private:
  template <class T>
  void add(const T* x, int64_t n) {
    int64_t i = 0;
    for (; i < n && seen_ % 8 != 0; ++i) add_one(x[i]);
    for (; i + 8 <= n; i += 8)
      for (int lane = 0; lane < 8; ++lane) {
        const auto value = static_cast<double>(x[i + lane]);
        lanes_[lane] += value * value;
      }
    for (; i < n; ++i) add_one(x[i]);
  }
  template <class T>
  void add_one(T x) {
    lanes_[seen_++ % 8] += static_cast<double>(x) * static_cast<double>(x);
  }

  double lanes_[8] = {};
  int64_t seen_ = 0;  // number of elements that came outside of groups of eight
};

}  // namespace

void adamw_step(Cpu, const AdamWStep& step, std::span<AdamWTarget> targets) {
  update_all(step, targets);
}

void nag_step(Cpu, const NagStep& step, std::span<NagTarget> targets) { update_all(step, targets); }

void square_sums(Cpu, std::span<const Tensor> tensors, Tensor& sums) {
  std::vector<int64_t> begins;  // of the tensors, behind one another
  int64_t n = 0;
  for (const Tensor& x : tensors) {
    begins.push_back(n);
    n += x.numel();
  }
  parallel_for(sums.numel(), [&](int64_t block) {
    const int64_t end = std::min(n, (block + 1) * kSquareBlock);
    int64_t at = block * kSquareBlock;
    auto i = static_cast<size_t>(std::upper_bound(begins.begin(), begins.end(), at) -
                                 begins.begin() - 1);
    SquareSum sum;
    for (; at < end; ++i) {
      const int64_t part = std::min(end, begins[i] + tensors[i].numel()) - at;
      sum.add(tensors[i], at - begins[i], part);
      at += part;
    }
    sums.data<double>()[block] = sum.total();
  });
}

void global_norm(Cpu cpu, std::span<const Tensor> tensors, Tensor& norm) {
  int64_t n = 0;
  for (const Tensor& x : tensors) n += x.numel();
  Tensor sums = Tensor::empty({(n + kSquareBlock - 1) / kSquareBlock}, DType::f64);
  square_sums(cpu, tensors, sums);
  double total = 0;
  for (int64_t i = 0; i < sums.numel(); ++i) total += sums.data<double>()[i];
  *norm.data<double>() = std::sqrt(total);
}

}  // namespace farfield
