#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

#include "apps/run/checkpoint.h"
#include "apps/run/config.h"
#include "apps/run/folder.h"
#include "apps/run/load_run.h"
#include "apps/run/resolved_config.h"
#include "apps/run/settings.h"
#include "apps/run/state.h"
#include "apps/train/training_step.h"
#include "engine/base/file.h"
#include "engine/base/hash.h"
#include "engine/safetensors.h"
#include "posenc/composition.h"
#include "posenc/expression.h"
#include "posenc/finite_start.h"
#include "posenc/registry.h"
#include "tests/fuzz/readers.h"
#include "tests/fuzz/rehashed.h"
#include "tests/fuzz/scratch.h"

namespace farfield::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kState = "state.json";
constexpr const char* kModel = "model.safetensors";
constexpr const char* kOptimizer = "optimizer.safetensors";
constexpr const char* kExpression = "kerple_log(r2=[0.5,1]) + window(w=8)@0..-1";

run::ResolvedConfig small_config() {
  run::RunConfig request;
  request.preset = "smoke";
  request.n_layer = 1;
  request.n_head = 2;
  request.d_model = 4;
  request.train_len = 8;
  request.posenc = kExpression;
  return run::resolve(request);
}

Transformer small_model() {
  const run::ResolvedConfig config = small_config();
  return Transformer(config.model_of(5), config.seed, config.dtype, config.device);
}

// A run that has made no step, with two checkpoints.
struct SoundRun {
  fs::path folder = scratch() / "run", newest;
  run::TrainState state;
  std::map<std::string, std::string> files;  // of the newest checkpoint
};

const SoundRun& sound_run() {
  static const SoundRun sound = [] {
    SoundRun made;
    const run::ResolvedConfig config = small_config();
    const Transformer model = small_model();
    run::NamedTensors weights;
    for (const Parameter& p : model.parameters()) weights.emplace_back(p.name, p.value);
    const AdamW optimizer(model.parameters());
    const auto fill = [&](const fs::path& checkpoints) {
      for (const int64_t step : {3, 6}) {
        made.state = {.step = step,
                      .tokens = step * 8,
                      .optimizer_t = step,
                      .time_s = 1.25,
                      .skipped = {2},
                      .data_hash = std::string(32, 'a'),
                      .config = config.settings,
                      .metrics = {77, std::string(32, 'b')}};
        run::save_checkpoint(checkpoints, made.state, weights, optimizer.state(), {.last = 2});
      }
    };
    run::RunFolder::create(made.folder, {config.settings, "{}\n", "step\n", ""}, fill);
    made.newest = made.folder / "checkpoints" / "step-00000006";
    for (const char* name : {kState, kModel, kOptimizer})
      made.files[name] = read_file(made.newest / name);
    return made;
  }();
  return sound;
}

// The run's newest checkpoint with other bytes in one of its files; state.json records them.
void damage(const char* name, std::string_view bytes) {
  const SoundRun& run = sound_run();
  std::map<std::string, std::string> files = run.files;
  files[name] = bytes;
  if (std::string_view(name) != kState) {
    std::map<std::string, run::FileRecord> records;
    for (const char* tensors : {kModel, kOptimizer})
      records[tensors] = {static_cast<int64_t>(files[tensors].size()), hash_hex(files[tensors])};
    files[kState] = run::train_state_text(run.state, records);
  }
  for (const auto& [file, content] : files) write(run.newest / file, content);
}

void read_checkpoint(std::string_view bytes) {
  for (const std::string& text : {std::string(bytes), rehashed(bytes)}) {
    damage(kState, text);
    refuse([] { run::load_newest_checkpoint(sound_run().folder / "checkpoints"); });
  }
}

void read_checkpoint_model(std::string_view bytes) {
  damage(kModel, bytes);
  refuse([] {
    run::load_run(sound_run().folder.string());
    run::load_run(sound_run().folder.string(), {.posenc = "kerple_log3", .drop_learned = true});
  });
}

void read_checkpoint_optimizer(std::string_view bytes) {
  static train::TrainingStep step(small_model(), {});
  damage(kOptimizer, bytes);
  refuse([] {
    const run::Checkpoint read = run::load_newest_checkpoint(sound_run().folder / "checkpoints");
    step.restore(read.model, read.optimizer, read.state.optimizer_t);
  });
}

void read_state(std::string_view bytes) {
  const fs::path path = scratch() / kState;
  for (const std::string& text : {std::string(bytes), rehashed(bytes)})
    refuse([&] {
      write(path, text);
      const auto [state, files] = run::read_train_state(path);
      run::check_same_config(state, "config.conf", sound_run().state.config, false);
      run::train_state_text(state, files);
    });
}

void read_weights(std::string_view bytes) {
  const fs::path path = scratch() / "x.safetensors";
  write(path, bytes);
  refuse([&] {
    const SafetensorsFile file = read_safetensors(path);
    run::NamedTensors tensors;
    for (const auto& [name, tensor] : file.tensors) {
      tensor.to_vector();
      tensors.emplace_back(name, tensor);
    }
    write_safetensors(scratch() / "again.safetensors", tensors, file.metadata);
  });
}

std::string sound_weights() {
  const fs::path path = scratch() / "sound.safetensors";
  write_safetensors(path,
                    {{"w", Tensor::from({1, 2, 3, 4, 5, 6}, {2, 3})},
                     {"b", Tensor::from({1, 2}, {2}, DType::bf16)},
                     {"d", Tensor::from({1}, {}, DType::f64)},
                     {"ids", Tensor::from({7, 8}, {1, 2}, DType::i32)},
                     {"none", Tensor::zeros({0, 3})}},
                    {{"format", "pt"}});
  return read_file(path);
}

// Tables are as large as an expression asks: one that asks for much is only parsed.
bool is_small(std::string_view expression) {
  constexpr double kMost = 4096;
  for (const posenc::ParsedTerm& term : posenc::parse_expression(expression, posenc::form_of)) {
    const posenc::Row* row = posenc::find(term.name);
    if (row == nullptr) continue;
    for (const posenc::ParsedArgument& argument : term.arguments)
      for (const posenc::ArgumentSpec& spec : row->arguments) {
        const bool is_it =
            argument.name.empty() ? &spec == row->arguments.data() : spec.name == argument.name;
        if (is_it && spec.kind == posenc::ArgumentSpec::Kind::integer &&
            std::abs(argument.value.number) > kMost)
          return false;
      }
  }
  return true;
}

// So is a model.
bool is_small(const run::RunConfig& c) {
  return c.n_layer.value_or(1) <= 64 && c.n_head.value_or(1) <= 64 &&
         c.d_model.value_or(1) <= 2048 && c.train_len.value_or(1) <= 512 && is_small(c.posenc);
}

void read_config(std::string_view bytes) {
  refuse([&] {  // as train --config reads it
    run::RunConfig config;
    cli::Options options("train", "");
    run::add_options(options, config);
    options.read_config("x.conf", bytes);
    if (is_small(config)) run::resolve(config);
  });
  refuse([&] {  // as it is kept
    const run::Settings settings = run::parse_settings("config.conf", bytes);
    if (is_small(run::to_run_config("config.conf", settings)))
      run::config_of_file("config.conf", settings);
    run::identity(settings);
  });
}

void use_expression(std::string_view text) {
  if (!is_small(text)) return;
  const posenc::Config model{
      .n_head = 2, .head_dim = 4, .d_model = 8, .n_layer = 3, .train_len = 8};
  const posenc::Composition encoding(text, model);
  const std::string& canonical = encoding.canonical();
  if (posenc::Composition(canonical, model).canonical() != canonical)
    throw std::logic_error("expected an expression that parses to itself, got " + canonical);
  for (const auto phase : {posenc::Phase::train, posenc::Phase::eval})
    refuse([&] { encoding.plan(9, 12, phase); });
  posenc::require_finite_start(encoding);
}

void read_expression(std::string_view bytes) {
  refuse([&] { posenc::parse_expression(bytes); });
  refuse([&] { use_expression(bytes); });
}

std::vector<std::string> example_expressions() {
  std::vector<std::string> all;
  for (const posenc::Row& row : posenc::registry()) all.push_back(posenc::example_of(row));
  return all;
}

}  // namespace

const std::vector<FuzzedReader>& run_readers() {
  constexpr size_t kFew = 8;
  static const std::vector<FuzzedReader> all = {
      {"checkpoint", read_checkpoint, [] { return sound_run().files.at(kState); }, nullptr, kFew},
      {"checkpoint_model", read_checkpoint_model, [] { return sound_run().files.at(kModel); },
       nullptr, kFew},
      {"checkpoint_optimizer", read_checkpoint_optimizer,
       [] { return sound_run().files.at(kOptimizer); }, nullptr, kFew},
      {"config", read_config, [] { return run::config_text(small_config().settings); }},
      {"expression", read_expression, [] { return std::string(kExpression); }, example_expressions},
      {"safetensors", read_weights, sound_weights},
      {"state", read_state, [] { return sound_run().files.at(kState); }},
  };
  return all;
}

}  // namespace farfield::test
