#include "apps/run/peft.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "apps/run/architecture.h"
#include "apps/run/config.h"
#include "apps/run/lora.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/ops/matmul.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/view.h"
#include "layers/attention.h"
#include "layers/low_rank.h"

namespace farfield::run {
namespace {

constexpr std::string_view kWhere = "checkpoint";
constexpr std::string_view kPrefix = "base_model.model.";
constexpr std::string_view kDown = ".lora_A", kUp = ".lora_B", kWeight = ".weight";
constexpr std::string_view kMagnitude = ".lora_magnitude_vector";
constexpr std::string_view kQkv = ".query_key_value";
const std::vector<std::string> kParts = {"q", "k", "v"};

AdapterConfig adapters_of(const Settings& config) { return parse_lora(value_of(config, "lora")); }

// Rows of q, k and v in a group of the QKV projection of a run.
std::vector<int64_t> part_rows_of(const Settings& config) {
  const RunConfig run = to_run_config("config", config);
  constexpr int64_t kMost = int64_t{1} << 20;
  require<IoError>(run.d_model && run.n_head && *run.n_head > 0 && *run.d_model >= *run.n_head &&
                       *run.d_model <= kMost,
                   kWhere, "expected d-model and n-head of a run with adapters");
  ModelConfig model = preset(run.preset);
  model.d_model = *run.d_model;
  model.n_head = *run.n_head;
  if (run.architecture) set_architecture(*run.architecture, model);
  return qkv_part_rows(model.heads(), model.head_dim());
}

// The modules of transformers that a target is, and the kinds of other trained tensors.
std::string module_of(const std::string& target) {
  static const std::map<std::string, std::string> modules = {
      {"q", "query_key_value"},  {"k", "query_key_value"}, {"v", "query_key_value"},
      {"dense", "dense"},        {"gate", "gate"},         {"up", "dense_h_to_4h"},
      {"down", "dense_4h_to_h"}, {"head", "embed_out"}};
  return modules.at(target);
}

// "gpt_neox.layers.0.attention.dense" of "gpt_neox.layers.0.attention.dense.lora_A"; "" of others.
std::string layer_of(const std::string& name) {
  const size_t at = name.find(kDown);
  return at == std::string::npos ? "" : name.substr(0, at);
}

bool is_adapter(const std::string& name) {
  return name.find(kDown) != std::string::npos || name.find(kUp) != std::string::npos ||
         name.ends_with(kMagnitude);
}

const Tensor& find(const std::map<std::string, Tensor>& tensors, const std::string& name) {
  const auto found = tensors.find(name);
  require<IoError>(found != tensors.end(), kWhere, "expected a tensor '", name,
                   "', got none of that name");
  return found->second;
}

// The adapter of a layer from its tensors by their own names.
LowRank adapter_of(const std::map<std::string, Tensor>& tensors, const std::string& layer,
                   const AdapterConfig& config, const std::vector<int64_t>& part_rows) {
  LowRank adapter;
  adapter.scale = config.scale();
  if (config.has_magnitudes) adapter.magnitude = find(tensors, concat(layer, kMagnitude));
  if (!layer.ends_with(kQkv)) {
    adapter.parts = {
        {"", 0, find(tensors, concat(layer, kDown)), find(tensors, concat(layer, kUp))}};
    return adapter;
  }
  adapter.part_rows = part_rows;
  for (size_t i = 0; i < kParts.size(); ++i)
    if (config.has_target(kParts[i]))
      adapter.parts.push_back({kParts[i], static_cast<int64_t>(i),
                               find(tensors, concat(layer, kDown, '.', kParts[i])),
                               find(tensors, concat(layer, kUp, '.', kParts[i]))});
  return adapter;
}

std::map<std::string, Tensor> on_host(const NamedTensors& tensors) {
  std::map<std::string, Tensor> host;
  for (const auto& [name, x] : tensors) host.emplace(name, x.detach().to(Device{}));
  return host;
}

// Rows of part `index` of every group, and the columns of its adapter.
Tensor part_of_up(const Tensor& up, size_t index, const std::vector<int64_t>& part_rows,
                  int64_t first, int64_t rank) {
  const auto at = part_rows.begin() + static_cast<int64_t>(index);
  const int64_t n_row = std::accumulate(part_rows.begin(), part_rows.end(), int64_t{0}),
                n_group = up.dim(0) / n_row,
                begin = std::accumulate(part_rows.begin(), at, int64_t{0});
  const Tensor groups = reshape(up, {n_group, n_row, up.dim(1)});
  return reshape(slice(slice(groups, 1, begin, begin + *at), 2, first, first + rank),
                 {n_group * *at, rank});
}

}  // namespace

NamedTensors to_peft(const NamedTensors& tensors, const Settings& settings) {
  const AdapterConfig config = adapters_of(settings);
  const std::vector<int64_t> part_rows = part_rows_of(settings);
  const std::map<std::string, Tensor> host = on_host(tensors);
  NamedTensors peft;
  std::string done;
  for (const auto& [name, x] : host) {
    if (!is_adapter(name)) {
      peft.emplace_back(concat(kPrefix, name), x);
      continue;
    }
    const std::string layer = layer_of(name);
    if (layer.empty() || layer == done) continue;
    done = layer;
    const LowRank adapter = adapter_of(host, layer, config, part_rows);
    peft.emplace_back(concat(kPrefix, layer, kDown, kWeight), adapter.down());
    peft.emplace_back(concat(kPrefix, layer, kUp, kWeight), adapter.up());
    if (adapter.magnitude.defined())
      peft.emplace_back(concat(kPrefix, layer, kMagnitude), adapter.magnitude);
  }
  return peft;
}

std::map<std::string, Tensor> from_peft(const std::map<std::string, Tensor>& tensors,
                                        const Settings& settings) {
  const AdapterConfig config = adapters_of(settings);
  const std::vector<int64_t> part_rows = part_rows_of(settings);
  const int64_t n_row = std::accumulate(part_rows.begin(), part_rows.end(), int64_t{0});
  const std::string down_end = concat(kDown, kWeight), up_end = concat(kUp, kWeight);
  std::map<std::string, Tensor> own;
  for (const auto& [name, x] : tensors) {
    require<IoError>(name.starts_with(kPrefix), kWhere, "expected tensors of adapters, '", kPrefix,
                     "...', got '", name, "'");
    const std::string plain = name.substr(kPrefix.size());
    if (!is_adapter(plain) || plain.ends_with(kMagnitude)) {
      own.emplace(plain, x);
      continue;
    }
    const bool is_down = plain.ends_with(down_end);
    require<IoError>(is_down || plain.ends_with(up_end), kWhere, "expected '", down_end, "' or '",
                     up_end, "' at the end of '", name, "'");
    const std::string end = std::string(is_down ? kDown : kUp),
                      layer = plain.substr(0, plain.size() - (is_down ? down_end : up_end).size());
    if (!layer.ends_with(kQkv)) {
      own.emplace(layer + end, x);
      continue;
    }
    const auto n_part = static_cast<int64_t>(
        std::count_if(kParts.begin(), kParts.end(),
                      [&](const std::string& part) { return config.has_target(part); }));
    require<IoError>(x.rank() == 2 && x.dim(is_down ? 0 : 1) == n_part * config.rank &&
                         (is_down || x.dim(0) % n_row == 0),
                     kWhere, "expected ", n_part, " parts of rank ", config.rank, " in '", name,
                     "', got ", x.shape());
    int64_t first = 0;
    for (size_t i = 0; i < kParts.size(); ++i) {
      if (!config.has_target(kParts[i])) continue;
      own.emplace(concat(layer, end, '.', kParts[i]),
                  is_down ? slice(x, 0, first, first + config.rank)
                          : part_of_up(x, i, part_rows, first, config.rank));
      first += config.rank;
    }
  }
  return own;
}

std::string adapter_config_text(const Settings& settings) {
  const AdapterConfig config = adapters_of(settings);
  const RunConfig run = to_run_config("config", settings);
  std::vector<std::string> modules, also;
  int64_t n_part = 0;
  for (const std::string& target : config.targets) {
    const std::string module = module_of(target);
    n_part += module == kQkv.substr(1) ? 1 : 0;
    if (std::find(modules.begin(), modules.end(), module) == modules.end())
      modules.push_back(module);
  }
  for (const std::string& kind : run.train_also) {
    if (kind == "norms")
      also.insert(also.end(), {"input_layernorm", "post_attention_layernorm", "final_layer_norm"});
    if (kind == "embedding") also.emplace_back("embed_in");
    if (kind == "head") also.emplace_back("embed_out");
  }
  Json json = {{"peft_type", "LORA"},
               {"task_type", "CAUSAL_LM"},
               {"base_model_name_or_path", Json()},  // a run of ours is no folder of theirs
               {"r", config.rank},
               {"lora_alpha", config.alpha},
               {"lora_dropout", config.dropout},
               {"use_rslora", config.is_rank_stabilized},
               {"use_dora", config.has_magnitudes},
               {"target_modules", modules},
               {"modules_to_save", also.empty() ? Json() : Json(also)},
               {"rank_pattern", Json::object()},
               {"alpha_pattern", Json::object()},
               {"bias", "none"},
               {"fan_in_fan_out", false},
               {"init_lora_weights", true},
               {"inference_mode", true}};
  if (n_part > 1) {  // the joined adapter has the scale of each
    const std::string module(kQkv.substr(1));
    const auto n = static_cast<double>(n_part);
    json["rank_pattern"][module] = n_part * config.rank;
    json["alpha_pattern"][module] = config.alpha * (config.is_rank_stabilized ? std::sqrt(n) : n);
  }
  return write_json(json, 2) + "\n";
}

void merge_adapters(const std::map<std::string, Tensor>& tensors, const Settings& settings,
                    std::map<std::string, Tensor>& weights) {
  const AdapterConfig config = adapters_of(settings);
  const std::vector<int64_t> part_rows = part_rows_of(settings);
  std::string done;
  for (const auto& [name, x] : tensors) {
    if (!is_adapter(name)) {
      weights[name] = x;
      continue;
    }
    const std::string layer = layer_of(name);
    if (layer.empty() || layer == done) continue;
    done = layer;
    const LowRank adapter = adapter_of(tensors, layer, config, part_rows);
    const std::string of = concat(layer, kWeight);
    const Tensor& weight = find(weights, of);
    const Tensor down = adapter.down(), up = adapter.up();
    require<IoError>(weight.rank() == 2 && up.dim(0) == weight.dim(0) &&
                         down.dim(1) == weight.dim(1) && weight.dtype() == up.dtype(),
                     kWhere, "'", of, "': expected adapters of shape ", weight.shape(), ", got ",
                     up.dim(0), " x ", down.dim(1));
    require<IoError>(
        !adapter.magnitude.defined() || adapter.magnitude.shape() == Shape{weight.dim(0)}, kWhere,
        "'", of, "': expected ", weight.dim(0), " magnitudes");
    weights[of] = adapter.adapted(weight);
  }
}

}  // namespace farfield::run
