#include "apps/hub/gguf_architecture.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "apps/hub/class_fit.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::hub {
namespace {

double rotary_number(const ExportedEncoding& encoding, const char* name) {
  return encoding.numbers.at(name);
}

// Rotation of these kinds, without a window.
void needs_rotary(ClassFit& fit, const std::vector<std::string>& kinds) {
  const ExportedEncoding& e = fit.encoding;
  fit.needs(e.window == 0, "a window");
  const bool is_known = e.kind == ExportedEncoding::Kind::rotary &&
                        std::find(kinds.begin(), kinds.end(), e.rotary) != kinds.end();
  if (!fit.needs(is_known, e.kind == ExportedEncoding::Kind::rotary ? e.rotary : e.text)) return;
  if (e.rotary == "rope_yarn") {  // llama.cpp does not read other ones for these architectures
    fit.needs(rotary_number(e, "beta_fast") == 32, "a beta_fast other than 32");
    fit.needs(rotary_number(e, "beta_slow") == 1, "a beta_slow other than 1");
    const double length = rotary_number(e, "original_length");
    fit.needs(length == std::floor(length), "an original_length that is not whole");
  }
}

void needs_whole_rotation(ClassFit& fit) {
  if (fit.encoding.kind == ExportedEncoding::Kind::rotary)
    fit.needs(rotary_number(fit.encoding, "rotary_pct") == 1, "a rotary_pct below 1");
}

void fit_gguf_qwen2(ClassFit& fit) {
  fit.needs_llama_blocks();
  fit.needs_rotation_everywhere();
  needs_rotary(fit, {"rope", "rope_linear", "rope_yarn"});
  needs_whole_rotation(fit);
  fit.needs(fit.model.head_dim() * fit.model.n_head == fit.model.d_model, "a head_dim of its own");
  fit.needs_biases(true, false, false);
}

void fit_gguf_llama(ClassFit& fit) {
  fit.needs_llama_blocks();
  fit.needs_rotation_everywhere();
  needs_rotary(fit, {"rope", "rope_linear", "rope_yarn", "rope_llama3"});
  needs_whole_rotation(fit);
}

void fit_gguf_smollm3(ClassFit& fit) {
  fit.needs_llama_blocks();
  needs_rotary(fit, {"rope", "rope_linear", "rope_yarn"});
  needs_whole_rotation(fit);
  std::vector<bool> usual;
  for (int64_t i = 0; i < fit.model.n_layer; ++i) usual.push_back((i + 1) % 4 != 0);
  fit.needs(fit.encoding.rotates == usual, "rotation on other layers than three of four");
  fit.needs_biases(fit.model.has_qkv_bias, false, false);
}

void fit_gguf_gptneox(ClassFit& fit) {
  fit.needs_layer_norm(true);
  fit.needs_activation({MlpActivation::gelu, MlpActivation::gelu_tanh});
  fit.needs_plain_heads();
  fit.needs_embedding_norm(false);
  fit.needs_biases(true, true, true);
  fit.needs_rotation_everywhere();
  needs_rotary(fit, {"rope", "rope_linear", "rope_yarn"});
}

struct KnownArchitecture {
  GgufArchitecture is;
  void (*fit)(ClassFit&);
};
// The first that fits is taken.
const std::vector<KnownArchitecture>& known_architectures() {
  static const std::vector<KnownArchitecture> known = {
      {{.name = "qwen2"}, fit_gguf_qwen2},
      {{.name = "llama", .turns_neighbours = true}, fit_gguf_llama},
      {{.name = "smollm3", .turns_neighbours = true}, fit_gguf_smollm3},
      {{.name = "gptneox", .has_head = true}, fit_gguf_gptneox}};
  return known;
}

void require_known_parts(const ModelConfig& m) {
  const auto refuse_if = [](bool has, const char* what) {
    require<ConfigError>(!has, "hub", "no architecture of llama.cpp has ", what,
                         " in these blocks: expected a model that one of them computes");
  };
  refuse_if(m.sees_later, "attention to later tokens (an encoder)");
  refuse_if(m.is_adaptive(), "an adaptive input and softmax");
  refuse_if(!m.has_final_norm, "no norm before the head");
  refuse_if(m.scales_embedding, "embeddings times sqrt(d_model)");
}

}  // namespace

GgufArchitecture gguf_architecture(const ModelConfig& model, const ExportedEncoding& encoding) {
  require_known_parts(model);
  std::multimap<size_t, std::string> lines;  // the nearest first
  for (const KnownArchitecture& known : known_architectures()) {
    ClassFit fit{model, encoding};
    known.fit(fit);
    if (fit.obstacles.empty()) return known.is;
    lines.emplace(fit.obstacles.size(), concat("\n  ", known.is.name, ": ", joined(fit.obstacles)));
  }
  std::string text;
  for (const auto& line : lines) text += line.second;
  fail<ConfigError>(
      "hub", "no architecture of llama.cpp computes this model. What it has otherwise than", text);
}

void add_gguf_model(const GgufArchitecture& architecture, const ModelConfig& model,
                    const ExportedEncoding& encoding, GgufMetadata& to) {
  const auto key = [&](const char* name) { return concat(architecture.name, '.', name); };
  const auto number = [&](const char* name) { return rotary_number(encoding, name); };
  const int64_t head_dim = model.head_dim();
  to.add_count(key("vocab_size"), model.vocab_size);
  to.add_count(key("context_length"), context_length(model, encoding));
  to.add_count(key("embedding_length"), model.d_model);
  to.add_count(key("block_count"), model.n_layer);
  to.add_count(key("feed_forward_length"), model.d_ff);
  to.add_count(key("attention.head_count"), model.n_head);
  to.add_count(key("attention.head_count_kv"), model.heads().n_kv_head);
  to.add_count(key("attention.key_length"), head_dim);
  to.add_count(key("attention.value_length"), head_dim);
  if (model.norm == NormKind::rms) {
    to.add_number(key("attention.layer_norm_rms_epsilon"), model.ln_eps);
  } else {
    to.add_number(key("attention.layer_norm_epsilon"), model.ln_eps);
    to.add_flag(key("use_parallel_residual"), model.is_parallel);
  }
  to.add_count(key("rope.dimension_count"), rotated(head_dim, number("rotary_pct")));
  to.add_number(key("rope.freq_base"), number("base"));
  const std::string& rotary = encoding.rotary;
  if (rotary == "rope_linear" || rotary == "rope_yarn") {
    to.add_text(key("rope.scaling.type"), rotary == "rope_linear" ? "linear" : "yarn");
    to.add_number(key("rope.scaling.factor"), number("scale"));
  }
  if (rotary == "rope_yarn")
    to.add_count(key("rope.scaling.original_context_length"),
                 std::lround(number("original_length")));
}

}  // namespace farfield::hub
