#include <algorithm>
#include <array>
#include <memory>

#include "apps/bench/commands.h"
#include "apps/bench/copy_rate.h"
#include "apps/bench/encodings.h"
#include "apps/bench/options.h"
#include "apps/bench/products.h"
#include "apps/bench/report.h"
#include "apps/bench/source.h"
#include "apps/bench/step_parts.h"
#include "apps/run/processes.h"
#include "apps/train/step_flop.h"
#include "apps/train/timed_step.h"
#include "engine/base/parallel.h"
#include "engine/step_graph.h"
#include "layers/config.h"

namespace farfield::bench {
namespace {

std::string how_given(const StepGraph& graph) {
  return graph.is_recorded() ? concat("one CUDA graph of ", graph.n_nodes(), " kernels and copies")
                             : concat("kernel by kernel: ", graph.why_not());
}

// Medians of the parts of a step: ": forward 3.1, backward 6.2, update 0.9". If processes share the
// batch, the means of the first process, since their parts are not separate.
std::string parts_of(train::TimedStep& timed, int64_t rounds) {
  if (const train::StepTimes times = timed.times(); times.computed_s > 0) {
    const auto mean = [n = static_cast<double>(timed.n_run())](double all_s) {
      return milliseconds(all_s / n);
    };
    return concat(": forward and backward ", mean(times.computed_s), ", sums of gradients ",
                  mean(times.reduced_s), ", of which ", mean(times.waited_s),
                  " behind backward, update and new weights ", mean(times.updated_s));
  }
  std::array<analysis::Samples, 3> parts;
  for (int64_t round = 0; round < rounds; ++round) {
    const auto times = timed.run_parts();
    for (size_t i = 0; i < times.size(); ++i) parts[i].add(times[i]);
  }
  return concat(": forward ", milliseconds(parts[0].median()), ", backward ",
                milliseconds(parts[1].median()), ", update ", milliseconds(parts[2].median()));
}

int step(int argc, const char* const* argv, run::Processes& processes, std::ostream& to) {
  BenchOptions common;
  ModelOptions model;
  std::vector<std::string> posenc = {"alibi"};
  bool checkpointing = false;
  std::string cuda_graph = "auto";
  bool has_parts = false;
  std::string logits = "fp32", tune = "off";
  int64_t tensor_parallel = 1;
  cli::Options options(
      "bench step",
      "Times training steps: forward, backward, clipping, AdamW. Shares are of the rate of the "
      "model's own matrix products, measured first. Where `none` is among the encodings, each of "
      "the others takes turns with it; `against none` is the median over rounds of the ratio of "
      "two neighbours, so that slow drifts of the machine do not count. Processes started by "
      "mpirun, srun or torchrun share the batch.");
  model.add_to(options);
  options.add("posenc", posenc, "EXPR,...", "positional encodings, or all; may be repeated")
      .add("checkpoint", checkpointing, "keep block inputs only and compute blocks again")
      .add("cuda-graph", cuda_graph, "auto|off",
           "on CUDA, record a step once and repeat it by one call, as `train` does")
      .add("logits", logits, "fp32|bf16", "of the head, as with `train`")
      .add("tune", tune, "off|on",
           "on CUDA, measure the algorithms of each matrix product first, as `train` does")
      .add(
          "parts", has_parts,
          "on the CPU, show where the time goes: kernels by kind, in forward, backward and update, "
          "beside what their flop at the peak and their bytes at the rate of a copy allow")
      .add("tensor-parallel", tensor_parallel, "N",
           "of several processes, so many have each model together, as with `train`");
  common.add_to(options);
  if (!options.parse(argc, argv, to)) return cli::kDone;
  common.meet(processes, argc, argv);
  const ProcessGrid grid = ProcessGrid::of(processes.group(), tensor_parallel);
  const auto n_process = static_cast<double>(grid.all.size());
  require<ConfigError>(cuda_graph == "auto" || cuda_graph == "off", "config",
                       "--cuda-graph: expected auto or off, got '", cuda_graph, "'");
  require<ConfigError>(tune == "off" || tune == "on", "config", "--tune: expected off or on, got '",
                       tune, "'");
  require<ConfigError>(tune == "off" || common.where().kind == Device::Kind::cuda, "config",
                       "--tune on: expected --device cuda, got ", common.where());
  require<ConfigError>(!has_parts || common.where().kind == Device::Kind::cpu, "config",
                       "--parts: expected --device cpu, got ", common.where(),
                       "; bench roofline has the parts of a step on a card");
  require<ConfigError>(!has_parts || grid.all.is_alone(), "config",
                       "--parts: expected one process, got ", grid.all.size());
  const bool rounds_logits = rounds_logits_of(logits);

  ModelConfig config = model.config();
  const int64_t batch_size = model.batch_size();
  const int64_t n_token = batch_size * config.train_len;
  ProductRunner products(
      step_products(config, n_token, checkpointing, common.dtype(), common.where().kind,
                    rounds_logits ? std::optional(DType::bf16) : std::nullopt),
      common.where());

  Peak peak = common.peak();
  peak.gflops *= n_process;
  cli::Printout page(to, "bench step", common.table.is_json);
  std::ostream& out = page.text();
  out << common.table.fence() << model.preset << ", "
      << fixed(static_cast<double>(parameter_count(config)) * 1e-6, 1) << "M parameters, "
      << batch_size << " x " << config.train_len << " tokens, vocabulary " << config.vocab_size
      << ", " << *common.precision << (checkpointing ? ", checkpointing" : "")
      << (rounds_logits ? ", logits in bf16" : "") << "; " << peak.line << '\n';
  if (!grid.all.is_alone()) {
    out << processes.description() << "; rates and peaks are those of all, memory of the first";
    if (tensor_parallel > 1) out << "; " << tensor_parallel << " have each model together";
    out << '\n';
  }
  analysis::Samples product_s;
  for (int64_t round = -1; round < common.rounds; ++round) {  // one to warm up
    const double time = products.run_all();
    if (round >= 0) product_s.add(time);
  }

  const double product_rate = n_process * products.gflop() / product_s.median();
  const double gflop = train::step_gflop(config, batch_size);
  out << "its matrix products alone: " << milliseconds(product_s.median()) << " ms, "
      << fixed(product_rate, 1) << " GFLOP/s";
  if (peak.gflops > 0) out << " (" << peak.share(product_rate) << " of the peak)";
  out << "\nMFU = " << fixed(gflop, 1) << " GFLOP of a step / (time x peak); flop: 6 tokens "
      << "(weights without the embedding + layers x length x width)\n"
      << common.table.fence() << '\n';
  Report report(page,
                {"encoding",
                 "ms/step",
                 {"min", "min, ms", "ms"},
                 {"max", "max, ms", "ms"},
                 "tokens/s",
                 "GFLOP/s",
                 {"of products", "of products", "share of 1"},
                 {"MFU", "MFU", "share of 1"},
                 "against none",
                 "peak MiB"},
                24, common.table);
  std::vector<std::string> chosen;
  const auto make = [&](const std::string& expression) {
    config.posenc = expression;
    auto step = std::make_unique<train::TimedStep>(
        config,
        train::StepShape{.batch_size = batch_size,
                         .checkpointing = checkpointing,
                         .deterministic_reduce = common.where().kind == Device::Kind::cpu,
                         .rounds_logits = rounds_logits},
        common.dtype(), common.where(), cuda_graph == "auto", grid);
    if (tune == "on") chosen.push_back(expression + ": " + summary(step->tune_products()));
    return step;
  };
  std::vector<std::string> parts, given;
  cli::Table kinds = parts_table();
  const auto add_kinds = [&](const std::string& expression, train::TimedStep& timed) {
    const double copy_s = copy_rate(kBeyondCaches, Device{});
    const StepTimeline timeline = timeline_of(timed, common.rounds);
    std::vector<double> least_s;
    for (const StepPartTime& part : timeline.parts)
      least_s.push_back(least_time_of(part.name, config, batch_size, common.dtype(),
                                      products.gflop(), peak.gflops, copy_s));
    add_parts(kinds, expression, timeline, least_s);
    parts.push_back(concat(expression, ": ", threads_text(timeline, thread_count())));
  };
  const LeftOut left_out =
      measure_in_turn(bench_encodings(posenc), /*warm_up=*/2, common.rounds, make,
                      [&](const Contender<train::TimedStep>& one) {
                        const double time = one.time_s.median();
                        report.add({one.posenc, milliseconds(time), milliseconds(one.time_s.min()),
                                    milliseconds(one.time_s.max()),
                                    cli::fixed_cell(static_cast<double>(n_token) / time, 0),
                                    cli::fixed_cell(gflop / time, 1),
                                    percent(gflop / time / product_rate), peak.share(gflop / time),
                                    ratio(one.against_none), mebibytes(one.subject->peak_bytes())});
                        given.push_back(one.posenc + ": " + how_given(one.subject->graph()));
                        parts.push_back(one.posenc + parts_of(*one.subject, common.rounds));
                        if (has_parts) add_kinds(one.posenc, *one.subject);
                      });
  report.finish(source_line(machine_here(common.where(), grid.all.size()), argc, argv));
  out << common.table.fence();
  for (const std::string& line : left_out.lines) out << "left out: " << line << '\n';
  if (common.where().kind != Device::Kind::cpu) {
    out << "\nhow the device is given a step:\n";
    for (const std::string& line : given) out << line << '\n';
    if (!chosen.empty()) out << "\nits products:\n";
    for (const std::string& line : chosen) out << line << '\n';
  }
  out << (grid.data.is_alone() ? "\nparts, each waited for, ms:\n" : "\nparts, ms:\n");
  for (const std::string& line : parts) out << line << '\n';
  if (has_parts) {
    out << "\nkernels by kind:\n";
    page.add(kinds);
  }
  out << common.table.fence();
  report.print_memory();
  page.finish();
  left_out.rethrow();
  return cli::kDone;
}

}  // namespace

int bench_step(int argc, const char* const* argv, std::ostream& out) {
  return run::run_as_job(out, [&](run::Processes& processes, std::ostream& to) {
    return step(argc, argv, processes, to);
  });
}

}  // namespace farfield::bench
