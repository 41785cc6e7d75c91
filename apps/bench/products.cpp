#include "apps/bench/products.h"

#include <algorithm>

#include "apps/bench/random_tensor.h"
#include "apps/bench/repeated.h"
#include "engine/ops/cross_entropy.h"
#include "engine/ops/matmul.h"

namespace farfield::bench {

std::vector<ProductShape> step_products(const ModelConfig& config, int64_t n_token,
                                        bool checkpointing, DType dtype, Device::Kind device,
                                        std::optional<DType> logits) {
  using Kind = ProductShape::Kind;
  std::vector<ProductShape> products;
  const DType wide = accumulate_dtype(dtype);  // of weights and their gradients
  const DType logit = logits.value_or(wide);
  // A layer y[N, O] = x[N, I] w[O, I]^T in three products, each made `count` times; the forward
  // product twice with activation checkpointing.
  const auto layer = [&](const std::string& name, int64_t n, int64_t n_in, int64_t n_out,
                         double count, double count_forward, DType y) {
    products.push_back({name + " y", Kind::forward, n, n_out, n_in, count_forward, dtype, y});
    products.push_back({name + " dx", Kind::input_gradient, n, n_in, n_out, count, dtype, dtype});
    products.push_back({name + " dw", Kind::weight_gradient, n_out, n_in, n, count, dtype, wide});
  };
  const int64_t d = config.d_model;
  const auto blocks = static_cast<double>(config.n_layer);
  const double again = checkpointing ? 2 : 1;
  const int64_t head_dim = config.head_dim(), d_qkv = config.heads().n_part() * head_dim;
  layer("qkv", n_token, d, d_qkv, blocks, again * blocks, dtype);
  layer("attention out", n_token, config.n_head * head_dim, d, blocks, again * blocks, dtype);
  if (config.is_gated()) layer("mlp gate", n_token, d, config.d_ff, blocks, again * blocks, dtype);
  layer("mlp in", n_token, d, config.d_ff, blocks, again * blocks, dtype);
  layer("mlp out", n_token, config.d_ff, d, blocks, again * blocks, dtype);
  const int64_t rows =
      std::min(n_token, cross_entropy_chunk(n_token, config.vocab_size, device, logit));
  const double chunks = static_cast<double>(n_token) / static_cast<double>(rows);
  layer("head", rows, d, config.vocab_size, chunks, chunks, logit);
  return products;
}

ProductRunner::ProductRunner(const std::vector<ProductShape>& products, const Device& device)
    : products_(products) {
  require<ShapeError>(!products.empty(), "bench", "expected products, got none");
  int64_t a = 0, b = 0, c = 0;
  for (const ProductShape& p : products) {
    a = std::max(a, p.m * p.k);
    b = std::max(b, p.k * p.n);
    c = std::max(c, p.m * p.n);
  }
  const DType dtype = products[0].in;
  a_ = random_tensor({a}, "a", dtype, device);
  b_ = random_tensor({b}, "b", dtype, device);
  c_ = Tensor::zeros({c}, accumulate_dtype(dtype), device);
}

double ProductRunner::run(const ProductShape& product, const std::string& library) {
  Gemm p;
  p.m = product.m;
  p.n = product.n;
  p.k = product.k;
  p.transpose_a = product.kind == ProductShape::Kind::weight_gradient;
  p.transpose_b = product.kind == ProductShape::Kind::forward;
  p.a = a_.raw_data();
  p.b = b_.raw_data();
  p.c = c_.raw_data();
  p.lda = p.transpose_a ? p.m : p.k;
  p.ldb = p.transpose_b ? p.k : p.n;
  p.ldc = p.n;
  p.in = product.in;
  p.out = product.out;
  const Device& device = a_.device();
  return seconds_each(device, [&] {
    if (library.empty())
      gemm(device, p);
    else
      gemm_by(library, p);
  });
}

double ProductRunner::run_all() {
  double total = 0;
  for (const ProductShape& product : products_) total += product.count * run(product);
  return total;
}

double ProductRunner::gflop() const {
  double total = 0;
  for (const ProductShape& product : products_) total += product.count * product.gflop();
  return total;
}

}  // namespace farfield::bench
