#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "apps/analysis/timing.h"
#include "apps/bench/commands.h"
#include "apps/bench/options.h"
#include "apps/bench/report.h"
#include "apps/bench/scaling_model.h"
#include "apps/bench/source.h"
#include "apps/run/processes.h"
#include "apps/run/together.h"
#include "apps/train/timed_step.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/distributed/flat_layout.h"

namespace farfield::bench {
namespace {

struct Request {
  BenchOptions common;
  ModelOptions model;
  std::vector<int64_t> processes = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
  std::optional<double> compute_ms;
  double update_ms = 0;
  double bandwidth = 1, latency = 50;                  // GB/s, us
  std::optional<double> node_bandwidth, node_latency;  // empty: the same
  int64_t per_node = 1;
  bool is_weak = false;
};

Cluster cluster_of(const Request& r) {
  const Link between = {r.latency * 1e-6, r.bandwidth * 1e9};
  return {.inside = {r.node_latency.value_or(r.latency) * 1e-6,
                     r.node_bandwidth.value_or(r.bandwidth) * 1e9},
          .between = between,
          .per_node = r.per_node};
}

double n_bucket_of(int64_t n_parameter) {
  const int64_t bucket = FlatLayout::bucket_of(n_parameter);
  return static_cast<double>((n_parameter + bucket - 1) / bucket);
}

void print_formula(const SharedStep& step, const Cluster& c, std::ostream& out) {
  out << "step = compute / P + exposed + update / P + gather\n"
         "reduce = gather = buckets x messages x latency + (P - 1) / P x 4 bytes x parameters / "
         "bandwidth\nmessages = log2 P (tree) or P - 1 (ring)";
  if (c.per_node > 1)
    out << "; first among the " << c.per_node << " of a node, then a " << c.per_node
        << "th of the bytes between nodes";
  out << "\nexposed = "
      << (step.overlaps
              ? "what of reduce is not behind backward (2/3 of compute), at least a bucket"
              : "reduce: the processes have no processor left to hide it on")
      << "\ncompute " << milliseconds(step.compute_s) << " ms, update "
      << milliseconds(step.update_s) << " ms, " << fixed(step.n_parameter * 1e-6, 1)
      << "M parameters in " << step.n_bucket << " buckets; "
      << fixed(c.between.bytes_per_s * 1e-9, 2) << " GB/s and "
      << fixed(c.between.latency_s * 1e6, 1) << " us between processes";
  if (c.per_node > 1)
    out << " of other nodes, " << fixed(c.inside.bytes_per_s * 1e-9, 2) << " GB/s and "
        << fixed(c.inside.latency_s * 1e6, 1) << " us within";
  out << '\n';
}

void print_table(const Request& request, const SharedStep& step, double n_token,
                 const std::string& source, cli::Printout& page) {
  std::ostream& out = page.text();
  const Cluster cluster = cluster_of(request);
  Report report(page,
                {"processes",
                 "pattern",
                 "compute ms",
                 "reduce ms",
                 "exposed ms",
                 "gather ms",
                 "step ms",
                 "tokens/s",
                 {"efficiency", "efficiency", "share of 1"}},
                10, request.common.table);
  int64_t half = 0, left_out = 0;
  for (const int64_t n : request.processes) {
    SharedStep own = step;
    const double growth = request.is_weak ? static_cast<double>(n) : 1;
    own.compute_s *= growth;
    if (!request.is_weak && request.model.batch_size() % n != 0) {
      if (left_out == 0) left_out = n;
      continue;
    }
    for (const Pattern pattern : {Pattern::tree, Pattern::ring}) {
      const SharedTime time = predict(own, n, cluster, pattern);
      const double efficiency =
          growth * (step.compute_s + step.update_s) / time.total() / static_cast<double>(n);
      if (pattern == Pattern::tree && efficiency < 0.5 && half == 0) half = n;
      report.add({n, pattern == Pattern::tree ? "tree" : "ring", milliseconds(time.compute),
                  milliseconds(time.reduce), milliseconds(time.exposed), milliseconds(time.gather),
                  milliseconds(time.total()), cli::fixed_cell(growth * n_token / time.total(), 0),
                  percent(efficiency)});
    }
  }
  report.finish(source);
  if (left_out > 0)
    out << "\nleft out: " << left_out << " processes and others that cannot share a batch of "
        << request.model.batch_size() << " evenly; --weak lets it grow with them\n";
  if (half > 0)
    out << "\nless than half of the processes' time is computing from " << half
        << " on (tree): a larger batch, or fewer of them\n";
}

// The largest value of any process.
double most(comm::Communicator& processes, double here) {
  double all = here;
  for (const std::string& text : processes.gather(shortest(here)))
    all = std::max(all, std::stod(text));
  return all;
}

// Seconds of a reduce-scatter and an all-gather of n float32 values.
double sum_s(const Group& group, int64_t n, int64_t rounds) {
  const Tensor values = Tensor::zeros({n});
  analysis::Samples time_s;
  for (int64_t i = 0; i < rounds; ++i) {
    group.communicator().wait_for_all();
    time_s.add(analysis::seconds([&] {
      group.reduce_scatter(values, FlatLayout::unit());
      group.all_gather(values, FlatLayout::unit());
    }));
  }
  return most(group.communicator(), time_s.median());
}

train::StepShape shape_of(const Request& request) {
  return {.batch_size = request.model.batch_size(), .deterministic_reduce = true};
}

double median_s(train::TimedStep& step, int64_t rounds, comm::Communicator& processes) {
  analysis::Samples time_s;
  step.run();
  for (int64_t i = 0; i < rounds; ++i) {
    processes.wait_for_all();
    time_s.add(step.run());
  }
  return most(processes, time_s.median());
}

// Compares the formula, fed with the times of this call's processes, with their measured step.
void measure_here(const Request& request, const run::Processes& processes,
                  const std::string& source, cli::Printout& page) {
  std::ostream& out = page.text();
  const Group& group = processes.group();
  comm::Communicator& all = group.communicator();
  const ModelConfig config = request.model.config();
  const int64_t rounds = request.common.rounds, n = group.size();
  const train::StepShape shape = shape_of(request);
  const train::OwnPieces own = train::OwnPieces::of(shape, group.rank(), group.size());
  SharedStep step = {.n_parameter = static_cast<double>(parameter_count(config))};
  step.n_bucket = n_bucket_of(parameter_count(config));
  {
    train::TimedStep alone(config, {.batch_size = own.batch_size(), .accumulate = own.n},
                           request.common.dtype(), request.common.where());
    const double whole_s = median_s(alone, rounds, all);
    analysis::Samples update_s;
    for (int64_t i = 0; i < rounds; ++i) update_s.add(alone.run_parts()[2]);
    step.update_s = most(all, update_s.median());
    step.compute_s = (whole_s - step.update_s) * static_cast<double>(n);
  }
  const int64_t bucket =
      std::min(FlatLayout::bucket_of(parameter_count(config)), parameter_count(config));
  constexpr int64_t kMany = 20;
  const double small_s = sum_s(group, 1, kMany), large_s = sum_s(group, bucket, kMany);
  const double share = static_cast<double>(n - 1) / static_cast<double>(n);
  const Link link = {
      small_s / 2 / std::log2(static_cast<double>(n)),
      2 * share * 4 * static_cast<double>(bucket) / std::max(1e-9, large_s - small_s)};
  // If every processor computes, sums take time from computing.
  const int64_t n_processor = std::max(1u, std::thread::hardware_concurrency());
  step.overlaps = n * thread_count() < n_processor;
  const Cluster cluster = {.inside = link, .between = link, .per_node = 1};
  const double predicted_s = predict(step, n, cluster, Pattern::tree).total();
  train::TimedStep together(config, shape, request.common.dtype(), request.common.where(),
                            /*uses_graph=*/true, ProcessGrid::of(group, 1));
  const double measured_s = median_s(together, rounds, all);
  const TableOptions& table = request.common.table;
  out << table.fence() << processes.description() << '\n';
  print_formula(step, cluster, out);
  out << '\n';
  const cli::Cell reduced = percent(together.times().reduced_s / together.run_s()),
                  waited = percent(together.times().waited_s / together.run_s());
  out << "a step of " << n << " processes: predicted " << milliseconds(predicted_s)
      << " ms, measured " << milliseconds(measured_s) << " ms, "
      << fixed(measured_s / predicted_s, 3)
      << " of it; in the measured steps sums of gradients took " << reduced
      << " of the time, and were waited for in " << waited << '\n'
      << table.fence();
  if (!table.is_markdown && !table.is_json && table.csv.empty()) return;
  out << '\n';
  Report report(page,
                {"processes",
                 "predicted ms",
                 "measured ms",
                 "measured / predicted",
                 {"sums of gradients", "sums of gradients, of the step", "share of 1"},
                 {"waited for", "waited for, of the step", "share of 1"}},
                10, table);
  report.add({n, milliseconds(predicted_s), milliseconds(measured_s),
              cli::fixed_cell(measured_s / predicted_s, 3), reduced, waited});
  report.finish(source);
}

int scaling(int argc, const char* const* argv, run::Processes& processes, std::ostream& to) {
  Request request;
  cli::Options options(
      "bench scaling",
      "Predicts what a step of data-parallel training takes for any number of processes or GPUs, "
      "from the time of one, the size of the model, and bandwidth and latency between them, and "
      "prints the formula. Started by mpirun, srun or torchrun it measures these "
      "times and holds a step of those processes against the prediction. The batch stays the same: "
      "strong scaling, unless --weak.");
  request.model.add_to(options);
  options.group("Prediction")
      .add("processes", request.processes, "N,...", "for how many")
      .add("weak", request.is_weak,
           "the batch grows with the processes: --batch is of each (default: they share it)")
      .add("compute-ms", request.compute_ms, "X",
           "forward and backward of the whole batch on one (default: measured here)")
      .add("update-ms", request.update_ms, "X", "with --compute-ms: the optimizer's time on one")
      .add("bandwidth", request.bandwidth, "GB/S", "of each process, to one other at a time")
      .add("latency", request.latency, "US", "of a message")
      .add("per-node", request.per_node, "N", "processes of a node, which have links of their own")
      .add("node-bandwidth", request.node_bandwidth, "GB/S",
           "of these links (default: as --bandwidth)")
      .add("node-latency", request.node_latency, "US", "of these links (default: as --latency)");
  request.common.add_to(options);
  if (!options.parse(argc, argv, to)) return cli::kDone;
  const auto check = [](bool ok, const char* name, double value) {
    require<ConfigError>(ok && std::isfinite(value), "config", "--", name,
                         ": expected a number above 0, got ", value);
  };
  check(request.bandwidth > 0, "bandwidth", request.bandwidth);
  check(request.latency > 0, "latency", request.latency);
  check(request.per_node > 0, "per-node", static_cast<double>(request.per_node));
  for (const auto& [name, value] : {std::pair("node-bandwidth", request.node_bandwidth),
                                    std::pair("node-latency", request.node_latency)})
    if (value) check(*value > 0, name, *value);
  check(request.update_ms >= 0, "update-ms", request.update_ms);
  if (request.compute_ms) check(*request.compute_ms > 0, "compute-ms", *request.compute_ms);
  check_lengths(request.processes);
  request.common.meet(processes, argc, argv);
  cli::Printout page(to, "bench scaling", request.common.table.is_json);
  std::ostream& out = page.text();
  if (!processes.group().is_alone()) {
    const std::string machine = machine_here(request.common.where(), processes.group().size());
    measure_here(request, processes, source_line(machine, argc, argv), page);
    page.finish();
    return cli::kDone;
  }
  const ModelConfig config = request.model.config();
  SharedStep step = {.compute_s = request.compute_ms.value_or(0) * 1e-3,
                     .update_s = request.update_ms * 1e-3,
                     .n_parameter = static_cast<double>(parameter_count(config)),
                     .n_bucket = n_bucket_of(parameter_count(config))};
  if (!request.compute_ms) {
    train::TimedStep alone(config, shape_of(request), request.common.dtype(),
                           request.common.where());
    const double whole_s = median_s(alone, request.common.rounds, processes.group().communicator());
    step.update_s = alone.run_parts()[2];
    step.compute_s = whole_s - step.update_s;
  }
  const double n_token = static_cast<double>(request.model.batch_size() * config.train_len);
  const TableOptions& table = request.common.table;
  out << table.fence() << request.model.preset << ", batch of " << request.model.batch_size()
      << " x " << config.train_len << " tokens\n";
  print_formula(step, cluster_of(request), out);
  out << table.fence() << '\n';
  const std::string one = request.compute_ms
                              ? "times that are given"
                              : "a step measured on " + machine_here(request.common.where());
  print_table(request, step, n_token, source_line("predicted from " + one, argc, argv), page);
  page.finish();
  return cli::kDone;
}

}  // namespace

int bench_scaling(int argc, const char* const* argv, std::ostream& out) {
  return run::run_as_job(out, [&](run::Processes& processes, std::ostream& to) {
    return scaling(argc, argv, processes, to);
  });
}

}  // namespace farfield::bench
