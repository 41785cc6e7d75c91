#include <cmath>

#include "apps/bench/commands.h"
#include "apps/bench/options.h"
#include "apps/bench/report.h"
#include "apps/bench/roofline_model.h"
#include "apps/bench/source.h"
#include "apps/train/step_flop.h"
#include "engine/base/error.h"
#include "posenc/composition.h"

namespace farfield::bench {
namespace {

// The work of attention in all layers. Tables by distance or a row bias alone have known kernels.
// Other scores run other kernels, whose instructions the model does not have.
AttentionLoad attention_load(const ModelConfig& config, int64_t batch_size) {
  const posenc::Composition encoding(config.posenc, {.n_head = config.n_head,
                                                     .head_dim = config.head_dim(),
                                                     .d_model = config.d_model,
                                                     .n_layer = config.n_layer,
                                                     .train_len = config.train_len});
  const int64_t n = config.train_len;
  const auto n_head = static_cast<double>(batch_size * config.n_head);
  AttentionLoad load;
  for (const posenc::Composition::Layer& layer : encoding.plan(n, n, posenc::Phase::train).layers) {
    const posenc::ScoreRule& rule = layer.rule;
    const bool has_row_bias = rule.row_bias.feature.defined();
    const bool has_table = rule.bias.defined() || rule.weight.defined();
    require<ConfigError>(!(has_row_bias && has_table) && !rule.ids.defined() &&
                             !rule.far_ids_q.defined() && !layer.rotation.far.cos_q.defined() &&
                             rule.normalizer.kind == Normalizer::Kind::softmax,
                         "bench",
                         "roofline: expected an encoding of rotations, input embeddings "
                         "and tables by distance or a row bias alone, whose attention the model "
                         "has, got ",
                         encoding.canonical());
    const double pairs = n_head * tile_pairs(n, rule.window, rule.sinks);
    load.score_pairs += pairs;
    if (has_row_bias) {
      load.pairs_of_row_bias += pairs;
      load.segments.add(segment_load(rule.row_bias, n, rule.window, rule.sinks), n_head);
    } else if (rule.weight.defined()) {
      load.pairs_of_weight += pairs;
    } else if (rule.bias.needs_grad()) {
      load.pairs_of_bias += pairs;
    }
    load.n_turned_layer += layer.rotation.cos.defined();
  }
  return load;
}

void print_formula(const CardSheet& card, double efficiency, std::ostream& out) {
  out << "a model, not a measurement: the step is the sum of its parts, a part the longest of\n"
         "  memory = bytes / bandwidth\n  tensor = flop of tensor cores / (peak x "
      << shortest(efficiency)
      << ")\n  issue = instructions of threads / (SMs x 4 x 32 x clock)\n"
         "  fp32 = float32 instructions / (SMs x lanes x clock)\n"
         "  shared = accesses of shared memory, of 128 bytes, in attention / (SMs x clock)\n"
         "bytes: each array once for each kernel that reads or writes it. Instructions: elements x "
         "the count for one, by the\nmachine code for sm_90: of attention on the way of a tile "
         "with a "
         "bias and no hidden pair, of a\nrow bias by the segments that its first parameters make, "
         "in "
         "kernels for warps on every card,\nelsewhere with branches not taken, at most. Starts, "
         "ends and waits of kernels are not in it.\n"
      << card.name << ": " << card.n_sm << " SMs, " << fixed(card.clock_hz * 1e-9, 2)
      << " GHz, bf16 peak " << fixed(card.bf16_flop_per_s * 1e-12, 1) << " TFLOP/s, "
      << fixed(card.bytes_per_s * 1e-9, 0) << " GB/s, " << card.fp32_lanes
      << " float32 lanes of an SM\n";
}

}  // namespace

int bench_roofline(int argc, const char* const* argv, std::ostream& to) {
  ModelOptions model;
  model.preset = "neox-162m";
  model.batch = 32;
  std::string posenc = "alibi", logits = "fp32", card_name = "H100";
  TableOptions table;
  double efficiency = 0.6;
  cli::Options options(
      "bench roofline",
      "Predicts what each part of a training step in bfloat16 takes on a card, from bytes, "
      "operations of tensor cores and instructions, and prints the formula. Nothing is measured.");
  model.add_to(options, "tokens of a sequence (default: the preset's)", "sequences of a step");
  options.add("posenc", posenc, "EXPR", "positional encoding")
      .add("logits", logits, "fp32|bf16", "of the head, as with `train`")
      .group("Prediction")
      .add("card", card_name, "NAME", "H100, H200, A100 or RTX4090, by its data sheet")
      .add("efficiency", efficiency, "X", "share of the tensor cores' peak that products reach");
  table.add_to(options);
  if (!options.parse(argc, argv, to)) return cli::kDone;
  require<ConfigError>(efficiency > 0 && efficiency <= 1, "config",
                       "--efficiency: expected a number above 0, at most 1, got ", efficiency);
  const bool rounds_logits = rounds_logits_of(logits);
  const CardSheet& card = card_sheet(card_name);
  ModelConfig config = model.config();
  config.posenc = posenc;
  require<ConfigError>(!config.is_adaptive(), "bench", "roofline: expected a model with one head, ",
                       model.preset, " has an adaptive softmax");
  require<ConfigError>(
      !config.is_gated() && !config.heads().is_grouped() && config.norm == NormKind::layer, "bench",
      "roofline: expected a model with the parts of GPT-NeoX, whose "
      "kernels it counts, got ",
      model.preset);
  table.check();
  const int64_t batch_size = model.batch_size(), n_token = batch_size * config.train_len;
  const auto parts =
      step_parts(config, batch_size, attention_load(config, batch_size), card, rounds_logits);

  cli::Printout page(to, "bench roofline", table.is_json);
  std::ostream& out = page.text();
  out << table.fence() << model.preset << ", "
      << fixed(static_cast<double>(parameter_count(config)) * 1e-6, 1) << "M parameters, "
      << batch_size << " x " << config.train_len << " tokens, vocabulary " << config.vocab_size
      << ", bf16, " << (rounds_logits ? "logits in bf16, " : "") << config.posenc << '\n';
  print_formula(card, efficiency, out);
  out << table.fence() << '\n';
  double total_s = 0;
  for (const StepPart& part : parts) total_s += time_of(part, card, efficiency).total();
  Report report(page,
                {"part",
                 "ms",
                 {"share", "share of the step", "share of 1"},
                 "bound by",
                 "GB",
                 "tensor TFLOP",
                 "G instructions"},
                20, table);
  for (const StepPart& part : parts) {
    const PartTime time = time_of(part, card, efficiency);
    report.add({part.name, milliseconds(time.total()), percent(time.total() / total_s),
                time.bound(), cli::fixed_cell(part.bytes * 1e-9, 2),
                cli::fixed_cell(part.tensor_flop * 1e-12, 2),
                cli::fixed_cell(part.instructions * 1e-9, 1)});
  }
  report.finish(source_line("predicted for " + card.name + " by its data sheet", argc, argv));
  const double gflop = train::step_gflop(config, batch_size);
  out << "\nstep " << milliseconds(total_s) << " ms, "
      << fixed(static_cast<double>(n_token) / total_s, 0) << " tokens/s, MFU "
      << percent(gflop * 1e9 / total_s / card.bf16_flop_per_s) << " = " << fixed(gflop, 1)
      << " GFLOP of a step / (time x peak), counted as by `bench step`\n";
  page.finish();
  return cli::kDone;
}

}  // namespace farfield::bench
