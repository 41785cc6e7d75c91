#include "engine/ops/cross_entropy.h"

#include <algorithm>
#include <functional>

#include "engine/autograd.h"
#include "engine/kernels.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"

namespace farfield {
namespace {

void check(const Tensor& x, const Tensor& w, const Tensor& targets) {
  require<ShapeError>(x.rank() == 2 && w.rank() == 2 && x.dim(1) == w.dim(1) && w.dim(0) > 0,
                      "cross_entropy", "expected x[n, d] and w[v, d], got x", x.shape(), " and w",
                      w.shape());
  require<ShapeError>(x.dim(0) > 0 && targets.shape() == Shape{x.dim(0)}, "cross_entropy",
                      "expected one target for each row of x", x.shape(), ", got targets",
                      targets.shape());
  require<DTypeError>(targets.dtype() == DType::i32, "cross_entropy",
                      "expected int32 targets, got ", targets.dtype());
  require<DTypeError>(is_float(x.dtype()) && w.dtype() == accumulate_dtype(x.dtype()),
                      "cross_entropy", "expected w in the accumulation type of x, got w in ",
                      w.dtype(), " and x in ", x.dtype());
  require<DeviceError>(x.device() == w.device() && x.device() == targets.device(), "cross_entropy",
                       "expected one device, got ", x.device(), ", ", w.device(), " and ",
                       targets.device());
}

void check(const Tensor& x, const Tensor& w, const Tensor& targets, const VocabularyPart& part) {
  check(x, w, targets);
  require<ShapeError>(part.first >= 0 && part.first + w.dim(0) <= part.vocab_size, "cross_entropy",
                      "expected rows of a vocabulary of ", part.vocab_size, ", got w", w.shape(),
                      " from row ", part.first, " on");
}

// Computes for each row of the logits the nll and, if defined, dlogits, of a loss that is `scale`
// times the sum of the nll.
using RowsWork = std::function<void(Tensor& logits, const Tensor& targets, double scale,
                                    Tensor& nll, Tensor& dlogits)>;

// Fills nll [N] and, where they are defined, dx and dw with the gradients of its mean. `rows` are
// taken at a time, with logits of this type.
void run(const Tensor& x, const Tensor& w, const Tensor& targets, int64_t rows, DType logit_type,
         const RowsWork& work, Tensor& nll, Tensor& dx, Tensor& dw) {
  const int64_t n = x.dim(0), n_logit = w.dim(0);
  const bool with_gradient = dx.defined() || dw.defined();
  const Tensor w_compute = w.to(x.dtype());
  dispatch(x.device(), [&](auto tag) {
    const Tensor logits_all = Tensor::empty({std::min(rows, n), n_logit}, logit_type, x.device());
    const Tensor dlogits_all = !with_gradient ? Tensor()
                               : x.dtype() == logit_type
                                   ? logits_all
                                   : Tensor::empty(logits_all.shape(), x.dtype(), x.device());
    for (int64_t begin = 0; begin < n; begin += rows) {
      const int64_t size = std::min(rows, n - begin);
      const auto part = [&](const Tensor& all) {
        return all.view(all.shape().with(0, size), begin * all.shape().product(1, all.rank()));
      };
      const Tensor x_part = part(x);
      Tensor logits = logits_all.view({size, n_logit});
      Tensor dlogits = with_gradient ? dlogits_all.view({size, n_logit}) : Tensor();
      Tensor nll_part = part(nll);
      gemm(tag, product_of({x_part}, {w_compute, true}, logits));
      work(logits, part(targets), 1.0 / static_cast<double>(n), nll_part, dlogits);
      if (dx.defined()) {
        Tensor dx_part = part(dx);
        gemm(tag, product_of({dlogits}, {w_compute}, dx_part));
      }
      if (dw.defined()) {
        Gemm p = product_of({dlogits, true}, {x_part}, dw);
        p.accumulate = begin > 0;
        gemm(tag, p);
      }
    }
  });
}

// With all of the vocabulary here.
void run(const Tensor& x, const Tensor& w, const Tensor& targets, DType logit_type, Tensor& nll,
         Tensor& dx, Tensor& dw) {
  const int64_t rows = cross_entropy_chunk(x.dim(0), w.dim(0), x.device().kind, logit_type);
  run(
      x, w, targets, rows, logit_type,
      [](Tensor& logits, const Tensor& of_rows, double scale, Tensor& to, Tensor& dlogits) {
        dispatch(logits.device(),
                 [&](auto tag) { cross_entropy_rows(tag, logits, of_rows, scale, to, dlogits); });
      },
      nll, dx, dw);
}

// With rows of the vocabulary. The sum over the group has each process's numbers in a place of
// their own, beside zeros: no order of adding them and no maximum matters. dx is in the type of w.
void run(const Tensor& x, const Tensor& w, const Tensor& targets, const VocabularyPart& part,
         Tensor& nll, Tensor& dx, Tensor& dw) {
  const Group& group = part.group;
  const int64_t n_process = group.size(), rank = group.rank();
  // As many in all processes, whose parts may differ by a row.
  const int64_t rows =
      cross_entropy_chunk(x.dim(0), (part.vocab_size + n_process - 1) / n_process, x.device().kind);
  run(
      x, w, targets, rows, w.dtype(),
      [&](Tensor& logits, const Tensor& of_rows, double scale, Tensor& to, Tensor& dlogits) {
        const NoGrad no_grad;
        const int64_t n = logits.dim(0);
        Tensor told = Tensor::zeros({2, n_process, n}, logits.dtype(), logits.device());
        Tensor log_sum = told.view({n}, rank * n),
               at_target = told.view({n}, (n_process + rank) * n);
        dispatch(logits.device(), [&](auto tag) {
          cross_entropy_part(tag, logits, part.first, part.vocab_size, of_rows, log_sum, at_target);
        });
        group.sum(told);
        const Tensor log_sum_of_all = logsumexp(told.view({n_process, n}), 0);
        to.assign(log_sum_of_all - sum(told.view({n_process, n}, n_process * n), 0));
        if (!dlogits.defined()) return;
        dispatch(logits.device(), [&](auto tag) {
          cross_entropy_part_backward(tag, logits, part.first, of_rows, log_sum_of_all, scale,
                                      dlogits);
        });
      },
      nll, dx, dw);
  if (dx.defined()) group.sum(dx);
}

// The mean of nll, with gradients that have been computed for it.
Tensor mean_of(const Tensor& nll, const Tensor& x, const Tensor& w, const Tensor& dx,
               const Tensor& dw) {
  Tensor loss = Tensor::empty({}, w.dtype(), x.device());
  dispatch(x.device(), [&](auto tag) { mean_nll(tag, nll, loss); });
  record("cross_entropy", loss, {x, w}, [dx, dw](const Tensor& dloss) {
    Grads grads{dx, dw};  // for a dloss of 1
    for (Tensor& grad : grads)
      if (grad.defined())
        dispatch(grad.device(), [&](auto tag) { scale_in_place(tag, dloss, grad); });
    return grads;
  });
  return loss;
}

}  // namespace

int64_t cross_entropy_chunk(int64_t n_token, int64_t vocab_size, Device::Kind device,
                            DType logits) {
  // 8 MiB of float32 logits, but enough tokens that reading w and adding to dw cost little beside
  // the products, which a device is faster at, more than at reading memory. Rounded logits take a
  // third of the memory of others, whose gradient has its own.
  constexpr int64_t kLogits = int64_t{1} << 21;
  const int64_t least_rows = device == Device::Kind::cpu ? 512
                             : logits == DType::bf16     ? 8192
                                                         : 2048;
  const int64_t most = std::max(least_rows, kLogits / vocab_size);
  const int64_t n_chunk = (n_token + most - 1) / most;
  return ((n_token + n_chunk - 1) / n_chunk + 15) / 16 * 16;
}

Tensor linear_cross_entropy(const Tensor& x, const Tensor& w, const Tensor& targets,
                            std::optional<DType> logits) {
  check(x, w, targets);
  const DType logit_type = logits.value_or(w.dtype());
  require<DTypeError>(
      logit_type == w.dtype() || (logit_type == DType::bf16 && x.dtype() == logit_type),
      "cross_entropy", "expected logits in ", w.dtype(),
      x.dtype() == DType::bf16 ? " or bfloat16" : "", ", got ", logit_type);
  const bool recording = will_record({x, w});
  Tensor nll = Tensor::empty({x.dim(0)}, w.dtype(), w.device());
  Tensor dx = recording && x.needs_grad() ? empty_like(x) : Tensor();
  Tensor dw = recording && w.needs_grad() ? empty_like(w) : Tensor();
  run(x, w, targets, logit_type, nll, dx, dw);
  return mean_of(nll, x, w, dx, dw);
}

Tensor linear_cross_entropy(const Tensor& x, const Tensor& w, const Tensor& targets,
                            const VocabularyPart& part, std::optional<DType> logits) {
  if (part.group.is_alone()) return linear_cross_entropy(x, w, targets, logits);
  check(x, w, targets, part);
  const DType logit_type = logits.value_or(w.dtype());
  require<DTypeError>(logit_type == w.dtype(), "cross_entropy", "expected logits in ", w.dtype(),
                      " of processes that have the vocabulary together, got ", logit_type);
  const bool recording = will_record({x, w});
  Tensor nll = Tensor::empty({x.dim(0)}, w.dtype(), w.device());
  // Not rounded before it is summed.
  Tensor dx =
      recording && x.needs_grad() ? Tensor::empty(x.shape(), w.dtype(), w.device()) : Tensor();
  Tensor dw = recording && w.needs_grad() ? empty_like(w) : Tensor();
  run(x, w, targets, part, nll, dx, dw);
  if (dx.defined()) {
    const NoGrad no_grad;
    dx = cast(dx, x.dtype());
  }
  return mean_of(nll, x, w, dx, dw);
}

Tensor linear_nll(const Tensor& x, const Tensor& w, const Tensor& targets) {
  check(x, w, targets);
  Tensor nll = Tensor::empty({x.dim(0)}, w.dtype(), w.device());
  Tensor none;
  run(x, w, targets, w.dtype(), nll, none, none);
  return nll;
}

Tensor linear_nll(const Tensor& x, const Tensor& w, const Tensor& targets,
                  const VocabularyPart& part) {
  if (part.group.is_alone()) return linear_nll(x, w, targets);
  check(x, w, targets, part);
  Tensor nll = Tensor::empty({x.dim(0)}, w.dtype(), w.device());
  Tensor none;
  run(x, w, targets, part, nll, none, none);
  return nll;
}

Tensor nll_in_place(Tensor& logits, const Tensor& targets) {
  Tensor nll = Tensor::empty({logits.dim(0)}, accumulate_dtype(logits.dtype()), logits.device());
  dispatch(logits.device(),
           [&](auto tag) { cross_entropy_rows(tag, logits, targets, 1, nll, logits); });
  return nll;
}

}  // namespace farfield
