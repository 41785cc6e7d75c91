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
/// loss [] = the mean of nll [n], summed in float64.
void mean_nll(Cpu, const Tensor& nll, Tensor& loss);
void mean_nll(Cuda, const Tensor& nll, Tensor& loss);

}  // namespace farfield
