#pragma once

#include "engine/device.h"
#include "engine/tensor.h"

namespace farfield {

/// nll[i] = logsumexp(logits[i, :]) - logits[i, target[i]], in acc; when dlogits? is defined (it
/// may be logits itself), dlogits[i, :] = scale (softmax(logits[i, :]) - onehot(target[i])).
/// A target outside of the row: ShapeError on the CPU; on cuda, where reading them back would stall
/// the device, NaN as nll.
void cross_entropy_rows(Cpu, const Tensor& logits, const Tensor& targets, double scale, Tensor& nll,
                        Tensor& dlogits);
void cross_entropy_rows(Cuda, const Tensor& logits, const Tensor& targets, double scale,
                        Tensor& nll, Tensor& dlogits);
/// For logits of the ids first .. first + V - 1 out of vocab_size: log_sum[i] = logsumexp(logits[i,
/// :]) and at_target[i] = the logit of target[i], 0 if another process has it, both [n] in acc. A
/// target outside of the vocabulary as above.
void cross_entropy_part(Cpu, const Tensor& logits, int64_t first, int64_t vocab_size,
                        const Tensor& targets, Tensor& log_sum, Tensor& at_target);
void cross_entropy_part(Cuda, const Tensor& logits, int64_t first, int64_t vocab_size,
                        const Tensor& targets, Tensor& log_sum, Tensor& at_target);
/// dlogits, which may be logits itself, of such a part, with the log_sum of all: scale (exp(logits
/// - log_sum) - onehot(target)).
void cross_entropy_part_backward(Cpu, const Tensor& logits, int64_t first, const Tensor& targets,
                                 const Tensor& log_sum, double scale, Tensor& dlogits);
void cross_entropy_part_backward(Cuda, const Tensor& logits, int64_t first, const Tensor& targets,
                                 const Tensor& log_sum, double scale, Tensor& dlogits);
/// loss [] = the mean of nll [n], summed in float64.
void mean_nll(Cpu, const Tensor& nll, Tensor& loss);
void mean_nll(Cuda, const Tensor& nll, Tensor& loss);

}  // namespace farfield
