#include "layers/generate.h"

#include <optional>

#include "apps/bench/commands.h"
#include "apps/bench/copy_rate.h"
#include "apps/bench/options.h"
#include "apps/bench/peer.h"
#include "apps/bench/report.h"
#include "apps/bench/source.h"
#include "apps/bench/weights_read.h"
#include "apps/run/load_run.h"
#include "apps/train/timed_step.h"
#include "engine/device_info.h"

namespace farfield::bench {
namespace {

struct GenerateBenchRequest {
  std::optional<std::string> run;
  std::string peer;
  int64_t prompt = 512, tokens = 128;
};

// Seconds of one continuation.
struct GenerateTimes {
  double prompt = 0;  // to the first new token
  double others = 0;  // all new tokens but the first
};

Transformer model_for(const GenerateBenchRequest& request, const ModelOptions& model,
                      const BenchOptions& common) {
  if (!request.run) return {model.config(), /*seed=*/1, common.dtype(), common.where()};
  return run::load_run(*request.run, {.device = common.device, .precision = common.precision})
      .model;
}

GenerateTimes generate_once(const Transformer& model, const GenerateBenchRequest& request,
                            const Device& device) {
  const std::vector<int32_t> ids = train::made_up_tokens(request.prompt, model.config().vocab_size);
  const auto start = std::chrono::steady_clock::now();
  GenerateTimes times;
  generate(model, Tensor::from(ids, {1, request.prompt}, device),
           {.n_new = request.tokens, .on_tokens = [&](std::span<const int32_t>) {
              if (times.prompt == 0) times.prompt = seconds_since(start);
              times.others = seconds_since(start) - times.prompt;
              return true;
            }});
  return times;
}

struct SpeedSamples {
  analysis::Samples prompt, others;
  void add(const GenerateTimes& times) {
    prompt.add(times.prompt);
    others.add(times.others);
  }
};

}  // namespace

int bench_generate(int argc, const char* const* argv, std::ostream& to) {
  BenchOptions common;
  ModelOptions model_options;
  GenerateBenchRequest request;
  cli::Options options(
      "bench generate",
      "Times the continuation of one sequence: the prompt in one pass, then tokens one by one from "
      "the cache of keys and values. A token reads every weight once, so `of copy` is the share of "
      "the bandwidth that a copy of as many bytes reaches in the same round.");
  options.group("Model")
      .add("preset", model_options.preset, "NAME", "a model with initial weights")
      .add("run", request.run, "RUN", "or the model of a run");
  options.group("Work")
      .add("prompt", request.prompt, "N", "tokens of the prompt")
      .add("tokens", request.tokens, "N", "new tokens")
      .add("peer", request.peer, "COMMAND",
           "another program to compare with, run in each round as COMMAND PROMPT TOKENS: it "
           "prints the seconds of the prompt, to the first new token, and of the other new tokens");
  common.add_to(options);
  if (!options.parse(argc, argv, to)) return cli::kDone;
  common.apply();
  require<ConfigError>(request.prompt >= 1 && request.tokens >= 2, "bench",
                       "expected a prompt of a token or more and 2 new ones or more, got ",
                       request.prompt, " and ", request.tokens);

  Transformer model = model_for(request, model_options, common);
  model.pack_weights();
  const Device device = common.where();
  const int64_t n_bytes = weight_bytes_read(model);
  const Tensor memory = Tensor::zeros({n_bytes / 4}, DType::f32, device);
  cli::Printout page(to, "bench generate", common.table.is_json);
  std::ostream& out = page.text();
  const std::string peak_line = common.peak().line;
  out << request.run.value_or(model_options.preset) << ", " << model.config().posenc << ", "
      << fixed(1e-6 * static_cast<double>(n_bytes), 1) << " MB of weights for each token, "
      << *common.precision << "; " << peak_line << "\n\n";

  SpeedSamples own, of_peer;
  analysis::Samples copies, shares;
  for (int64_t round = -1; round < common.rounds; ++round) {  // one to warm up
    const double copy = copy_rate(memory);
    const GenerateTimes times = generate_once(model, request, device);
    GenerateTimes of_other;
    if (!request.peer.empty()) {
      const std::vector<double> seconds =
          numbers_of_peer(concat(request.peer, ' ', request.prompt, ' ', request.tokens), 2);
      of_other = {seconds[0], seconds[1]};
    }
    if (round < 0) continue;
    copies.add(copy);
    own.add(times);
    shares.add(static_cast<double>((request.tokens - 1) * n_bytes) / times.others / copy);
    if (!request.peer.empty()) of_peer.add(of_other);
  }
  Report report(page,
                {"work",
                 "tokens",
                 "tokens/s",
                 {"min", "min, tokens/s", "tokens/s"},
                 {"max", "max, tokens/s", "tokens/s"},
                 "GB/s",
                 {"of copy", "of copy", "share of 1"},
                 "x peer"},
                12, common.table);
  const auto rate = [](int64_t n, double time_s) {
    return cli::fixed_cell(static_cast<double>(n) / time_s, 1);
  };
  const auto add = [&](const std::string& what, int64_t n, const analysis::Samples& time_s,
                       const analysis::Samples& peer_s) {
    report.add({what,
                n,
                rate(n, time_s.median()),
                rate(n, time_s.max()),
                rate(n, time_s.min()),
                {},
                {},
                ratio(peer_s.empty() ? 0 : peer_s.median() / time_s.median())});
  };
  const int64_t n_others = request.tokens - 1;
  const auto bandwidth = [](double bytes_s) { return cli::fixed_cell(1e-9 * bytes_s, 1); };
  report.add({"copy", {}, {}, {}, {}, bandwidth(copies.median()), {}, {}});
  add("prompt", request.prompt, own.prompt, of_peer.prompt);
  report.add({"new", n_others, rate(n_others, own.others.median()),
              rate(n_others, own.others.max()), rate(n_others, own.others.min()),
              bandwidth(static_cast<double>(n_others * n_bytes) / own.others.median()),
              percent(shares.median()),
              ratio(of_peer.others.empty() ? 0 : of_peer.others.median() / own.others.median())});
  if (!of_peer.prompt.empty()) {
    add("peer, prompt", request.prompt, of_peer.prompt, {});
    add("peer, new", n_others, of_peer.others, {});
  }
  report.finish(source_line(machine_here(device), argc, argv));
  report.print_memory();
  page.finish();
  return cli::kDone;
}

}  // namespace farfield::bench
