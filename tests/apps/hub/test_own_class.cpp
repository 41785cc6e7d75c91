// Folders with the code of our own class: what is written, and that the same runs are made of it.
// What the code computes is tested by own_class.sh.

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <filesystem>
#include <set>
#include <sstream>

#include "apps/hub/export.h"
#include "apps/hub/import.h"
#include "apps/hub/own_class.h"
#include "apps/run/architecture.h"
#include "apps/run/load_run.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/safetensors.h"
#include "tests/apps/hub/own_class_cases.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield::hub {
BOOST_AUTO_TEST_SUITE(test_own_class)  // ctest: sanitize
namespace {

namespace fs = std::filesystem;

OwnModel own(const ModelConfig& model, OwnClassRequest request = {}) {
  return own_class(model, random_weights(model), request);
}

Json config_of(const OwnModel& model) { return read_json({"test", "config.json", model.config}); }

std::map<std::string, Tensor> by_name(const run::NamedTensors& tensors) {
  return {tensors.begin(), tensors.end()};
}

void write_folder(const fs::path& folder, const OwnModel& model) {
  fs::create_directory(folder);
  write_file_atomic(folder / "config.json", model.config);
  write_safetensors(folder / "model.safetensors", model.tensors);
}

// A run of a model.
fs::path run_of(const TempFolder& temp, const std::string& name, const OwnModel& model) {
  const fs::path folder = temp / (name + "-own"), run = temp / name;
  write_folder(folder, model);
  std::ostringstream said;
  import_model({folder.string(), run.string(), {}, {}}, said);
  return run;
}

std::string export_to(ExportRequest request) {
  std::ostringstream said;
  export_model(request, said);
  return said.str();
}

BOOST_AUTO_TEST_CASE(every_encoding_and_every_part_come_back_with_the_same_bits) {
  const TempFolder temp;
  for (const OwnClassCase& one : own_class_cases()) BOOST_TEST_CONTEXT(one.name) {
      const OwnModel first = own(one.model);
      const fs::path run = run_of(temp, one.name, first), folder = temp / (one.name + "-again");
      export_to({.run = run.string(), .out = folder.string(), .choice = ClassChoice::own});
      BOOST_TEST(read_file(folder / "config.json") == first.config);
      const auto got = read_safetensors(folder / "model.safetensors").tensors;
      BOOST_TEST(got.size() == first.tensors.size());
      for (const auto& [name, tensor] : first.tensors)
        BOOST_TEST(got.at(name).to_vector() == tensor.to_vector(), name);
      const ModelConfig made = run::load_run(run.string()).model.config();
      BOOST_TEST(run::architecture_of(made) == run::architecture_of(one.model));
      BOOST_TEST(made.cutoffs == one.model.cutoffs);
      BOOST_TEST(made.posenc == encoding_of(one.model).canonical());
    }
}

BOOST_AUTO_TEST_CASE(the_folder_has_the_code_and_its_map) {
  const TempFolder temp;
  const fs::path run = run_of(temp, "run", own(small_model("kerple_log")));
  const std::string said =
      export_to({.run = run.string(), .out = (temp / "out").string(), .length = 40});
  BOOST_TEST(said.find("FarfieldForCausalLM") != said.npos, said);
  BOOST_TEST(said.find("kerple_log, tables for 40 tokens") != said.npos, said);
  std::set<std::string> files;
  for (const auto& entry : fs::directory_iterator(temp / "out"))
    files.insert(entry.path().filename().string());
  const std::set<std::string> want = {"config.json", "configuration_farfield.py",
                                      "generation_config.json", "model.safetensors",
                                      "modeling_farfield.py"};
  BOOST_TEST(files == want);
  const std::string code = read_file(temp / "out" / "modeling_farfield.py");
  BOOST_TEST(code.find("class FarfieldForCausalLM(") != code.npos);
  const std::string file = (temp / "out" / "config.json").string(), text = read_file(file);
  const Json config = read_json({"test", file, text});
  BOOST_TEST(config["model_type"] == "farfield");
  BOOST_TEST(config["architectures"][0] == "FarfieldForCausalLM");
  BOOST_TEST(config["auto_map"]["AutoModelForCausalLM"] == "modeling_farfield.FarfieldForCausalLM");
  BOOST_TEST(config["max_position_embeddings"] == 40);
  BOOST_TEST(config["train_length"] == 16);
  BOOST_TEST(config["posenc"] == "kerple_log");
}

BOOST_AUTO_TEST_CASE(a_table_has_the_numbers_of_the_formula) {
  const OwnModel made = own(small_model("alibi(slopes=[0.5,0.25,2,1]) + window(7, sinks=2)@1"));
  const Json encoding = config_of(made)["encoding"];
  const Tensor bias = by_name(made.tensors).at("gpt_neox.encoding.bias_0");
  BOOST_TEST(bias.shape() == (Shape{4, 64}));
  BOOST_TEST(bias.dtype() == DType::f32);
  const std::vector<double> slopes = {0.5, 0.25, 2, 1}, values = bias.to_vector();
  for (size_t h = 0; h < 4; ++h)
    for (size_t d = 0; d < 64; ++d)
      BOOST_TEST(values[h * 64 + d] == -slopes[h] * static_cast<double>(d));
  BOOST_TEST(encoding["layers"] == Json({0, 1, 0}));
  BOOST_TEST(encoding["rules"].size() == 2U);
  BOOST_TEST(encoding["rules"][0]["window"] == 0);
  BOOST_TEST(encoding["rules"][1]["window"] == 7);
  BOOST_TEST(encoding["rules"][1]["sinks"] == 2);
  for (const Json& rule : encoding["rules"]) BOOST_TEST(rule["tables"]["bias"] == "bias_0");
}

BOOST_AUTO_TEST_CASE(a_table_is_written_once_however_many_layers_read_it) {
  const auto n_table = [](const std::string& posenc) {
    return config_of(own(small_model(posenc)))["encoding"]["tables"].size();
  };
  BOOST_TEST(n_table("none") == 0U);
  BOOST_TEST(n_table("kerple_log") == 1U);
  BOOST_TEST(n_table("kerple_log(share=layer)") == 3U);
  BOOST_TEST(n_table("kerple_log@0 + alibi@1..2") == 2U);
  BOOST_TEST(n_table("rope@0 + rope@2 + alibi@1") == 3U);
  BOOST_TEST(n_table("sinusoidal") == 1U);
}

BOOST_AUTO_TEST_CASE(learned_values_stay_unrounded_and_the_tables_are_of_them) {
  const ModelConfig model = small_model("kerple_log");
  const std::map<std::string, Tensor> weights = random_weights(model);
  const OwnModel made = own(model, {.notes = {.dtype = DType::bf16}});
  const auto tensors = by_name(made.tensors);
  for (const char* name : {"r1", "r2"}) {
    const std::string full = concat("gpt_neox.position_bias.kerple_log.", name);
    BOOST_TEST(tensors.at(full).dtype() == DType::f32);
    BOOST_TEST(tensors.at(full).to_vector() == weights.at(full).to_vector());
  }
  BOOST_TEST(tensors.at("embed_out.weight").dtype() == DType::bf16);
  const Tensor bias = tensors.at("gpt_neox.encoding.bias_0");
  BOOST_TEST(bias.dtype() == DType::f32);
  const double r1 = weights.at("gpt_neox.position_bias.kerple_log.r1").to_vector()[0],
               r2 = weights.at("gpt_neox.position_bias.kerple_log.r2").to_vector()[0];
  BOOST_TEST(std::abs(bias.to_vector()[5] + r1 * std::log1p(5 * r2)) < 1e-6);
}

BOOST_AUTO_TEST_CASE(the_length_is_as_asked_or_four_training_lengths_or_as_far_as_it_goes) {
  const auto length = [](const std::string& posenc, std::optional<int64_t> asked = {}) {
    return own(small_model(posenc), {.length = asked}).length;
  };
  BOOST_TEST(length("alibi") == 64);
  BOOST_TEST(length("alibi", 100) == 100);
  BOOST_TEST(length("alibi", 3) == 3);
  BOOST_TEST(length("learned_abs") == 16);
  BOOST_TEST(length("learned_abs(max_positions=37)") == 37);
  BOOST_CHECK_EXCEPTION(length("learned_abs", 17), ConfigError,
                        says("expected positions below the 16 rows of learned_abs, got 16"));
}

BOOST_AUTO_TEST_CASE(tables_that_depend_on_the_length_are_remarked_on) {
  const auto remarks = [](const std::string& posenc, std::optional<int64_t> length = {}) {
    const OwnModel made = own(small_model(posenc), {.length = length});
    return made.remarks.empty() ? std::string() : made.remarks.at(0);
  };
  for (const char* posenc :
       {"rope_dynamic_ntk(factor=2)", "rope_yarn(scale=auto)", "rope_linear(scale=auto)",
        "log_n(mode=raw)", "xpos", "interpolation(scale=auto) + alibi", "self_extend"})
    BOOST_TEST(remarks(posenc).find("depends on the length of the input: the tables are those of "
                                    "64 tokens") != std::string::npos,
               posenc);
  // Within the original length they do not.
  for (const char* posenc : {"rope_dynamic_ntk(factor=2)", "rope_yarn(scale=auto)", "self_extend"})
    BOOST_TEST(remarks(posenc, 16) == "", posenc);
  for (const char* posenc : {"rope", "kerple_log", "log_n", "fire", "rerope", "landmark(block=3)",
                             "self_extend(group=2, window=4)", "sinusoidal", "block_repeat"})
    BOOST_TEST(remarks(posenc) == "", posenc);
  BOOST_TEST(remarks("randomized").find("draws positions at random") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_class_of_the_library_is_taken_where_it_fits) {
  const TempFolder temp;
  const fs::path rope = run_of(temp, "rope", own(small_model("rope"))),
                 kerple = run_of(temp, "kerple", own(small_model("kerple_log")));
  const auto said = [&](const fs::path& run, ClassChoice choice, std::optional<int64_t> length) {
    static int n = 0;
    return export_to({.run = run.string(),
                      .out = (temp / concat("out", n++)).string(),
                      .choice = choice,
                      .length = length});
  };
  BOOST_TEST(said(rope, ClassChoice::first_fit, {}).find("GPTNeoXForCausalLM") !=
             std::string::npos);
  BOOST_TEST(said(rope, ClassChoice::own, {}).find(kOwnClass) != std::string::npos);
  BOOST_TEST(said(kerple, ClassChoice::first_fit, {}).find(kOwnClass) != std::string::npos);
  const int before = temp.entries();
  BOOST_CHECK_EXCEPTION(said(kerple, ClassChoice::stock, {}), ConfigError,
                        says("no class of transformers has kerple_log"));
  BOOST_CHECK_EXCEPTION(said(rope, ClassChoice::first_fit, 20), ConfigError,
                        says("--length: expected none for a class of the library"));
  BOOST_TEST(temp.entries() == before);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_exported_leaves_nothing) {
  const TempFolder temp;
  const fs::path run = run_of(temp, "run", own(small_model("learned_abs + alibi")));
  const int before = temp.entries();
  BOOST_CHECK_EXCEPTION(
      export_to({.run = run.string(), .out = (temp / "out").string(), .length = 17}), ConfigError,
      says("learned_abs"));
  BOOST_TEST(temp.entries() == before);
  ModelConfig encoder = small_model("rope");
  encoder.sees_later = true;
  BOOST_CHECK_EXCEPTION(require_own_class(encoder, {}), ConfigError,
                        says("expected a causal model, got an encoder"));
}

BOOST_AUTO_TEST_CASE(a_damaged_folder_is_refused_by_the_key_or_the_tensor) {
  const TempFolder temp;
  const OwnModel good = own(small_model("kerple_log"));
  int n = 0;
  const auto refuse = [&](const std::string& want, const auto& damage) {
    OwnModel bad = good;
    Json config = config_of(good);
    damage(config, bad.tensors);
    bad.config = write_json(config);
    const int before = temp.entries();
    BOOST_CHECK_EXCEPTION(run_of(temp, concat("bad", n++), bad), IoError, says(want));
    BOOST_TEST(temp.entries() == before + 1);  // the damaged folder
  };
  using Tensors = run::NamedTensors;
  refuse("norm: expected layer or rms", [](Json& c, Tensors&) { c["norm"] = "batch"; });
  refuse("hidden_act: expected gelu", [](Json& c, Tensors&) { c["hidden_act"] = "tanh"; });
  refuse("hidden_size: expected", [](Json& c, Tensors&) { c.erase("hidden_size"); });
  refuse("no such setting", [](Json& c, Tensors&) { c["mixture"] = 3; });
  refuse("expected an encoding", [](Json& c, Tensors&) { c["posenc"] = "kerple_lag"; });
  for (const char* expression : {"fire(params=@/etc/passwd)", "t5@0 + fire( params = @x.csv )"})
    refuse("posenc: expected an expression without @file",
           [expression](Json& c, Tensors&) { c["posenc"] = expression; });
  refuse("expected a tensor 'gpt_neox.position_bias.kerple_log.r1'", [](Json&, Tensors& tensors) {
    std::erase_if(tensors, [](const auto& item) { return item.first.ends_with(".r1"); });
  });
  refuse("tensors of this architecture alone, got 'gpt_neox.more'", [](Json&, Tensors& tensors) {
    tensors.emplace_back("gpt_neox.more", Tensor::zeros({2}));
  });
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::hub
