#pragma once

#include "engine/device.h"
#include "engine/tensor.h"

namespace farfield {

/// Indices into the lists UnaryFunctors and BinaryFunctors at the end of kernels/functors.h.
enum class UnaryOp : int {};
enum class BinaryOp : int {};

/// x[...] = value
void fill(Cpu, double value, Tensor& x);
void fill(Cuda, double value, Tensor& x);
/// y = x, byte for byte; same shape and dtype. The Cuda overload also copies between host and
/// device.
void copy_bytes(Cpu, const Tensor& x, Tensor& y);
void copy_bytes(Cuda, const Tensor& x, Tensor& y);
/// y = x converted to the dtype of y; same number of elements.
void cast(Cpu, const Tensor& x, Tensor& y);
void cast(Cuda, const Tensor& x, Tensor& y);
/// y += x; same shape and dtype.
void add_in_place(Cpu, const Tensor& x, Tensor& y);
void add_in_place(Cuda, const Tensor& x, Tensor& y);
/// x *= factor
void scale_in_place(Cpu, double factor, Tensor& x);
void scale_in_place(Cuda, double factor, Tensor& x);
/// x *= factor, [] in acc on the same device; x is left alone when that is 1.
void scale_in_place(Cpu, const Tensor& factor, Tensor& x);
void scale_in_place(Cuda, const Tensor& factor, Tensor& x);

/// y = f(x)
void unary_forward(Cpu, UnaryOp op, const Tensor& x, Tensor& y);
void unary_forward(Cuda, UnaryOp op, const Tensor& x, Tensor& y);
/// dx = dy f'(x), from input and output
void unary_backward(Cpu, UnaryOp op, const Tensor& x, const Tensor& y, const Tensor& dy,
                    Tensor& dx);
void unary_backward(Cuda, UnaryOp op, const Tensor& x, const Tensor& y, const Tensor& dy,
                    Tensor& dx);
/// An operand of a binary function: a tensor of the result's dtype and device, or a number on the
/// host.
struct Operand {
  Tensor tensor;      ///< undefined: a number
  double number = 0;  ///< rounded to the accumulation type

  Operand(const Tensor& x) : tensor(x) {}
  Operand(double x) : number(x) {}

  bool is_number() const { return !tensor.defined(); }
  Shape shape() const { return is_number() ? Shape{} : tensor.shape(); }
};
/// y = f(a, b), broadcast to the shape of y.
void binary_forward(Cpu, BinaryOp op, const Operand& a, const Operand& b, Tensor& y);
void binary_forward(Cuda, BinaryOp op, const Operand& a, const Operand& b, Tensor& y);
/// da = dy df/da and db = dy df/db, in the broadcast shape of y, before summing back; one of them
/// may be undefined.
void binary_backward(Cpu, BinaryOp op, const Operand& a, const Operand& b, const Tensor& dy,
                     Tensor& da, Tensor& db);
void binary_backward(Cuda, BinaryOp op, const Operand& a, const Operand& b, const Tensor& dy,
                     Tensor& da, Tensor& db);

}  // namespace farfield
