// Folders that are damaged, forged, or ask for what is not implemented.

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <limits>
#include <sstream>

#include "apps/hub/import.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/safetensors.h"
#include "tests/support/messages.h"
#include "tests/support/source_dir.h"
#include "tests/support/temp_folder.h"

namespace farfield::hub {
BOOST_AUTO_TEST_SUITE(test_import_errors)  // ctest: sanitize
namespace {

namespace fs = std::filesystem;

// A copy of a golden folder, to damage.
class Copy {
 public:
  explicit Copy(const char* name) : folder_(temp_ / "model"), out_(temp_ / "run") {
    fs::copy(source_dir() / "tests/golden/hub" / name, folder_);
  }
  const fs::path& folder() const { return folder_; }

  void replace(const std::string& file, const std::string& from, const std::string& to) {
    std::string text = read_file(folder_ / file);
    const size_t at = text.find(from);
    BOOST_REQUIRE_MESSAGE(at != std::string::npos, from << " is not in " << file);
    write_file_atomic(folder_ / file, text.replace(at, from.size(), to));
  }
  void config(const std::string& from, const std::string& to) { replace("config.json", from, to); }

  // An IoError with these words, and nothing is left.
  template <class... Words>
  void is_refused(const Words&... words) {
    std::ostringstream said;
    BOOST_CHECK_EXCEPTION(import_model({folder_.string(), out_.string(), {}, {}}, said), IoError,
                          says(words...));
    BOOST_TEST(!fs::exists(out_));
    BOOST_TEST(temp_.entries() == 1);
  }

 private:
  TempFolder temp_;
  fs::path folder_, out_;
};

void config_is_refused(const char* name, const std::string& from, const std::string& to,
                       const std::string& key, const std::string& expected) {
  Copy copy(name);
  copy.config(from, to);
  copy.is_refused("config.json: " + key, expected);
}

BOOST_AUTO_TEST_CASE(what_is_not_implemented_is_refused_by_its_key) {
  config_is_refused("llama", R"("model_type": "llama")", R"("model_type": "phi3")", "model_type",
                    "expected gpt_neox, llama");
  config_is_refused("llama", R"("hidden_act": "silu")", R"("hidden_act": "gelu")", "hidden_act",
                    "expected silu");
  config_is_refused("llama", R"("use_cache": true)", R"("qk_norm": true)", "qk_norm",
                    "expected no such setting");
  config_is_refused("llama", R"("rope_type": "linear")", R"("rope_type": "axial")",
                    "rope_scaling.rope_type", "others are not implemented");
  config_is_refused("llama", R"("rope_type": "linear")",
                    R"("rope_type": "linear", "short_factor": [1])", "rope_scaling.short_factor",
                    "expected no such setting");
  config_is_refused("llama_yarn", R"("rope_type": "yarn")",
                    R"("rope_type": "yarn", "attention_factor": 3)",
                    "rope_parameters.attention_factor", "not implemented");
  config_is_refused("llama_longrope", R"("long_factor": [)", R"("long_factor": ["1", )",
                    "rope_parameters.long_factor", "expected a list of numbers");
  config_is_refused("llama_longrope", R"("long_factor": [)", R"("long_factor": [1.0, )",
                    "the settings of its rotation", "expected a number or a list of 8");
  config_is_refused("llama_yarn", R"("factor": 4.0)", R"("factor": -4.0)",
                    "the settings of its rotation", "rope_yarn(scale): expected auto or a number");
  config_is_refused("llama", R"("use_cache": true)", R"("quantization_config": {"bits": 4})",
                    "quantization_config", "expected null");
  config_is_refused("bloom", R"("apply_residual_connection_post_layernorm": false)",
                    R"("apply_residual_connection_post_layernorm": true)",
                    "apply_residual_connection_post_layernorm", "expected false");
}

BOOST_AUTO_TEST_CASE(values_of_a_wrong_type_or_size_are_refused_by_their_key) {
  for (const char* value :
       {"\"32\"", "32.5", "-32", "0", "[32]", "null", "1e3", "18446744073709551615", "9999999999"})
    config_is_refused("llama", R"("hidden_size": 32)", std::string(R"("hidden_size": )") + value,
                      "hidden_size", "expected a");
  config_is_refused("llama", R"("rms_norm_eps": 1e-05)", R"("rms_norm_eps": 0)", "rms_norm_eps",
                    "above 0");
  config_is_refused("llama", R"("tie_word_embeddings": true)", R"("tie_word_embeddings": 1)",
                    "tie_word_embeddings", "true or false");
  config_is_refused("llama", R"("num_key_value_heads": 2)", R"("num_key_value_heads": 3)",
                    "num_key_value_heads", "a divisor");
  config_is_refused("smollm3", R"("no_rope_layers": [)", R"("no_rope_layers": [1, )",
                    "no_rope_layers", "one for each layer");
  Copy cut("llama");
  cut.config("\"architectures\"", "architectures");
  cut.is_refused("config.json");
}

BOOST_AUTO_TEST_CASE(shapes_have_to_be_those_of_the_config) {
  Copy wide("llama");
  wide.config(R"("intermediate_size": 40)", R"("intermediate_size": 48)");
  wide.is_refused("expected 'model.layers.0.mlp.gate_proj.weight' of shape [48, 32]", "[40, 32]");
  Copy more("llama");
  more.config(R"("num_hidden_layers": 2)", R"("num_hidden_layers": 3)");
  more.is_refused("expected a tensor 'model.layers.2.input_layernorm.weight', got none");
  Copy fewer("llama");
  fewer.config(R"("num_hidden_layers": 2)", R"("num_hidden_layers": 1)");
  fewer.is_refused("got 'model.layers.1.", "for which the model has no place");
  Copy vocabulary("llama");
  vocabulary.config(R"("vocab_size": 64)", R"("vocab_size": 4000000)");
  vocabulary.is_refused("expected 'model.embed_tokens.weight' of shape [4000000, 32]");
  Copy untied("llama");
  untied.config(R"("tie_word_embeddings": true)", R"("tie_word_embeddings": false)");
  untied.is_refused("expected a tensor 'lm_head.weight', got none");
}

BOOST_AUTO_TEST_CASE(numbers_that_are_not_finite_are_refused) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Copy copy("llama");
    const fs::path file = copy.folder() / "model.safetensors";
    SafetensorsFile weights = read_safetensors(file);
    weights.tensors.at("model.layers.1.mlp.up_proj.weight").data<float>()[7] = bad;
    write_safetensors(file, {weights.tensors.begin(), weights.tensors.end()});
    copy.is_refused("expected finite numbers in 'model.layers.1.mlp.up_proj.weight'", "at 7");
  }
}

BOOST_AUTO_TEST_CASE(a_tied_head_has_to_be_the_embedding) {
  Copy copy("llama");
  const fs::path file = copy.folder() / "model.safetensors";
  SafetensorsFile weights = read_safetensors(file);
  Tensor head = weights.tensors.at("model.embed_tokens.weight").clone();
  head.data<float>()[5] += 1;
  weights.tensors.emplace("lm_head.weight", head);
  write_safetensors(file, {weights.tensors.begin(), weights.tensors.end()});
  copy.is_refused("expected 'lm_head.weight' to be the embedding");
}

BOOST_AUTO_TEST_CASE(forged_and_damaged_indexes_are_refused) {
  const std::string index = "model.safetensors.index.json";
  const std::string shard = "\"model-00001-of-00003.safetensors\"";
  for (const char* name : {"\"../model.safetensors\"", "\"/etc/passwd\"", "\".hidden.safetensors\"",
                           "\"a\\\\b.safetensors\"", "\"pytorch_model.bin\"", "\"\"", "7"}) {
    Copy copy("mistral");
    copy.replace(index, shard, name);
    copy.is_refused(index, "expected");
  }
  Copy missing("mistral");
  fs::remove(missing.folder() / "model-00002-of-00003.safetensors");
  missing.is_refused(index, "expected the shard model-00002-of-00003.safetensors, got none");
  Copy moved("mistral");
  moved.replace(index, shard, "\"model-00002-of-00003.safetensors\"");
  moved.is_refused(index, "in another shard");
  Copy twice("mistral");
  fs::copy_file(twice.folder() / "model-00001-of-00003.safetensors",
                twice.folder() / "model-00002-of-00003.safetensors",
                fs::copy_options::overwrite_existing);
  twice.is_refused("expected each tensor in one shard");
  Copy cut("mistral");
  fs::resize_file(cut.folder() / "model-00003-of-00003.safetensors", 1000);
  cut.is_refused("model-00003-of-00003.safetensors", "cut short");
}

BOOST_AUTO_TEST_CASE(other_formats_are_refused_by_name_with_a_way_out) {
  for (const char* name : {"pytorch_model.bin", "consolidated.00.pth", "model.gguf"}) {
    Copy copy("llama");
    fs::rename(copy.folder() / "model.safetensors", copy.folder() / name);
    copy.is_refused(name, "save_pretrained()");
  }
  Copy without("llama");
  fs::remove(without.folder() / "config.json");
  without.is_refused("expected config.json");
  Copy nothing("llama");
  fs::remove(nothing.folder() / "model.safetensors");
  nothing.is_refused("expected model.safetensors");
}

BOOST_AUTO_TEST_CASE(a_tokenizer_fits_the_embedding) {
  Copy copy("llama");
  std::ostringstream said;
  BOOST_CHECK_EXCEPTION(
      import_model({copy.folder().string(), (copy.folder() / "run").string(), "bytes", {}}, said),
      IoError, says("expected a tokenizer of at most the 64 ids of the embedding, got 257"));
}

BOOST_AUTO_TEST_CASE(a_run_that_is_there_is_left_alone) {
  const TempFolder temp;
  std::ostringstream said;
  BOOST_CHECK_EXCEPTION(import_model({"nowhere", temp.path().string(), {}, {}}, said), ConfigError,
                        says("--out", "expected a folder that is not there yet"));
  BOOST_TEST(temp.entries() == 0);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::hub
