#include "apps/bench/roofline_model.h"

#include <algorithm>
#include <cmath>

#include "apps/bench/card.h"
#include "apps/bench/kernel_work.h"
#include "apps/bench/tiles.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "engine/ops/cross_entropy.h"

namespace farfield::bench {
namespace {

// bytes_each: bytes that each of n elements moves. work: a name of kKernelWork.
void add(StepPart& part, double n, double bytes_each, std::string_view work) {
  part.bytes += n * bytes_each;
  bool is_known = false;
  for (const KernelWork& row : kKernelWork) {
    if (row.name != work) continue;
    is_known = true;
    part.instructions += n / row.n_element * row.instructions;
    part.fp32 += n / row.n_element * row.fp32;
    constexpr double kWarp = 32;
    part.shared += n / (kWarp * row.n_element) * row.shared;
  }
  require<Error>(is_known, "bench", "expected a name of kKernelWork, got ", work);
}

// The products of y = x w^T and of its gradients, of n rows in n_chunk parts: x, w, dy and dx in
// bfloat16, dw in float32 and read again for each further part, y in bytes_y.
void add_products(StepPart& part, double count, double n, double n_in, double n_out,
                  double bytes_y = 2, double n_chunk = 1) {
  part.tensor_flop += count * 6 * n * n_in * n_out;
  const double x = 2 * n * n_in, dy = 2 * n * n_out, w = 2 * n_in * n_out;
  const double forward = x + n_chunk * w + bytes_y * n * n_out;
  const double to_x = dy + n_chunk * w + x, to_w = dy + x + (2 * n_chunk - 1) * 2 * w;
  part.bytes += count * (forward + to_x + to_w);
}

StepPart head(double n, double d, double v, bool rounds_logits) {
  StepPart part = {.name = "head products"};
  const DType logits = rounds_logits ? DType::bf16 : DType::f32;
  const auto rows = static_cast<double>(cross_entropy_chunk(
      static_cast<int64_t>(n), static_cast<int64_t>(v), Device::Kind::cuda, logits));
  add_products(part, 1, n, d, v, static_cast<double>(size_of(logits)), std::max(1.0, n / rows));
  return part;
}

// Logits are read again for their gradient if a row fits neither into registers nor into the shared
// memory that the kernel leaves free.
StepPart cross_entropy(double n, double v, double shared_bytes, bool rounds_logits) {
  StepPart part = {.name = "cross entropy"};
  constexpr double kMostInRegisters = 512 * 16, kOwnBytes = 128;
  const double bytes = rounds_logits ? 2 : 4;
  const bool is_long = v > kMostInRegisters, is_kept = v * bytes + kOwnBytes <= shared_bytes;
  const std::string way = is_long && is_kept ? "kept cross entropy" : "cross entropy";
  add(part, n * v, (is_long && !is_kept ? 2 : 1) * bytes + 2,
      rounds_logits ? way + " of bfloat16" : way);
  return part;
}

// Adds the work of a pass with a row bias.
void add_row_bias(StepPart& part, const PartLoad& load, const std::string& pass) {
  add(part, load.one, 0, pass + " and a row bias");
  add(part, load.several, 0, pass + " and a row bias of several segments");
  add(part, load.first, 0, pass + ", first knot");
  add(part, load.further, 0, pass + ", further knot");
}

std::vector<StepPart> attention(double n, double d, double n_layer, const AttentionLoad& load,
                                double head_dim, bool by_warpgroups) {
  const double pairs = load.score_pairs;
  StepPart forward = {.name = "attention forward"}, backward = {.name = "attention backward"};
  // Kernels for heads of 128 count as kernels for heads of 64.
  const bool has_their_kernels = by_warpgroups && (head_dim == 64 || head_dim == 128);
  const auto of_pass = [&](const char* pass) {
    return std::string("attention ") + pass + (has_their_kernels ? " by warpgroups" : "");
  };
  const std::string in_forward = of_pass("forward"), in_backward = of_pass("backward");
  // q k^T and the sum of v; of the gradients q k^T and dy v^T twice, once over keys, which gives dk
  // and dv, and once over queries, which gives dq.
  forward.tensor_flop = 2 * 2 * head_dim * pairs;
  backward.tensor_flop = 7 * 2 * head_dim * pairs;
  const double with_weight = load.pairs_of_weight;
  const double others = pairs - with_weight - load.pairs_of_row_bias;
  add(forward, others, 0, in_forward);
  add(forward, with_weight, 0, in_forward + ", a bias and a weight");
  // The pass over keys uses another kernel for gradients of tables. The slices of these gradients,
  // up to 1 MB per layer and table, stay in the cache.
  add(backward, others - load.pairs_of_bias, 0, in_backward + ", keys");
  add(backward, load.pairs_of_bias, 0, in_backward + ", keys and a bias");
  add(backward, with_weight, 0, in_backward + ", keys, a bias and a weight");
  add(backward, others, 0, in_backward + ", queries");
  add(backward, with_weight, 0, in_backward + ", queries, a bias and a weight");
  add_row_bias(forward, load.segments.forward, "attention forward");
  add_row_bias(backward, load.segments.keys, "attention backward, keys");
  add_row_bias(backward, load.segments.queries, "attention backward, queries");
  constexpr double kWarp = 32;
  add(backward, load.segments.flushes * kWarp, 0, "sums of a segment");
  // dq and dk, on their way from shared memory
  add(backward, load.n_turned_layer * 2 * n * d, 0, "heads turned back");
  forward.bytes = n_layer * 2 * n * d * 4;                 // q, k, v, out
  backward.bytes = n_layer * 2 * n * d * (2 + 2 * 4 + 3);  // sums of out dy; q, k, v, dy; gradients
  // The sums of their columns, for biases, out and in: of the rows of a warp.
  const double rows_of_warp = has_their_kernels ? 16 : 32;
  backward.bytes += n_layer * n / rows_of_warp * 3 * d * (4 + 4);
  return {forward, backward};
}

}  // namespace

const std::vector<CardSheet>& card_sheets() {
  const auto bf16 = [](const char* name) { return 1e12 * card_tflops(name, DType::bf16); };
  constexpr double kKiB = 1024;
  // NVIDIA's data sheets and architecture papers: H100 and H200 SXM, A100 SXM of 80 GB. Shared
  // memory by compute capability: CUDA C++ Programming Guide, technical specifications.
  static const std::vector<CardSheet> all = {
      {"H100", 132, 1.83e9, bf16("H100"), 3.35e12, 128, 227 * kKiB, true},
      {"H200", 132, 1.83e9, bf16("H200"), 4.8e12, 128, 227 * kKiB, true},
      {"A100", 108, 1.41e9, bf16("A100"), 2.039e12, 64, 163 * kKiB, false},
      {"RTX4090", 128, 2.52e9, bf16("RTX 4090"), 1.008e12, 128, 99 * kKiB, false},
  };
  return all;
}

const CardSheet& card_sheet(std::string_view name) {
  std::vector<std::string> known;
  for (const CardSheet& card : card_sheets()) {
    if (card.name == name) return card;
    known.push_back(card.name);
  }
  fail<ConfigError>("config", "--card: expected ", listed(known, " or "), ", got '", name, "'",
                    did_you_mean(name, known));
}

double PartTime::total() const { return std::max({memory_s, tensor_s, issue_s, fp32_s, shared_s}); }

std::string PartTime::bound() const {
  const double most = total();
  return most == memory_s   ? "memory"
         : most == tensor_s ? "tensor"
         : most == issue_s  ? "issue"
         : most == fp32_s   ? "fp32"
                            : "shared";
}

PartTime time_of(const StepPart& part, const CardSheet& card, double efficiency) {
  return {.memory_s = part.bytes / card.bytes_per_s,
          .tensor_s = part.tensor_flop / (card.bf16_flop_per_s * efficiency),
          .issue_s = part.instructions / card.issue_per_s(),
          .fp32_s = part.fp32 / card.fp32_per_s(),
          .shared_s = part.shared / card.shared_per_s()};
}

std::vector<StepPart> step_parts(const ModelConfig& config, int64_t batch_size,
                                 const AttentionLoad& load, const CardSheet& card,
                                 bool rounds_logits) {
  const auto n = static_cast<double>(batch_size * config.train_len);
  const auto d = static_cast<double>(config.d_model), f = static_cast<double>(config.d_ff);
  const auto v = static_cast<double>(config.vocab_size);
  const auto n_layer = static_cast<double>(config.n_layer);
  const auto n_parameter = static_cast<double>(parameter_count(config));

  StepPart layers = {.name = "layer products"};
  add_products(layers, n_layer, n, d, 3 * d);
  add_products(layers, n_layer, n, d, d);
  add_products(layers, n_layer, n, d, f);
  add_products(layers, n_layer, n, f, d);
  StepPart turn = {.name = "turned heads"};  // q and k, in and out where they lie
  add(turn, load.n_turned_layer * n * d, 2 * 4, turn.name);
  StepPart gelu = {.name = "GELU"};  // u and y; u, dy and du, with the gradient of that bias
  add(gelu, n_layer * n * f, 4 + 6, gelu.name);
  StepPart norm = {.name = "LayerNorm"};  // x, branch, sum, y; sum, dy, dsum, dx
  add(norm, (2 * n_layer + (config.has_final_norm ? 1 : 0)) * n * d, 8 + 8, norm.name);
  // Gradient, weight, m, v in and the last three out; factors of products, and their biases, once
  // more in bfloat16.
  StepPart adamw = {.name = "AdamW"};
  add(adamw, n_parameter, 28, adamw.name);
  adamw.bytes += 2 * (n_layer * (4 * d * d + 2 * d * f + 5 * d + f) + v * d);
  add(adamw, n_parameter, 4, "squares");  // the norm of the gradient
  StepPart embedding = {.name =
                            "embedding"};  // and its gradient: zeros, then rows of ids that came
  add(embedding, n * d, 4 + 2, embedding.name);
  add(embedding, n * d, 2, "gradients of an id");
  add(embedding, std::min(n, v) * d, 4, "row of an id");
  embedding.bytes += 4 * v * d;
  const double n_chunk = std::ceil(n / 1024);  // positions_of_ids()
  add(embedding, n * std::min(n, 1024.0), 0, "pairs of ids");
  embedding.bytes += 3 * 4 * v * n_chunk;  // counts: zeros, sums

  std::vector<StepPart> parts = {head(n, d, v, rounds_logits),
                                 cross_entropy(n, v, card.shared_bytes, rounds_logits), layers};
  for (StepPart& part :
       attention(n, d, n_layer, load, static_cast<double>(config.head_dim()), card.has_warpgroups))
    parts.push_back(std::move(part));
  for (StepPart* part : {&turn, &gelu, &norm, &adamw, &embedding})
    parts.push_back(std::move(*part));
  return parts;
}

double tile_pairs(int64_t n, int64_t window, int64_t sinks) {
  int64_t count = 0;
  for_each_tile(n, window, sinks, [&](int64_t, int64_t) { ++count; });
  return static_cast<double>(count * kTileRows * kTileRows);
}

}  // namespace farfield::bench
