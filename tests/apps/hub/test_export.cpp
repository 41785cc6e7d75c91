// Runs become folders of Hugging Face, from which the same runs are made again.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <filesystem>
#include <map>
#include <sstream>
#include <vector>

#include "apps/hub/export.h"
#include "apps/hub/export_weights.h"
#include "apps/hub/import.h"
#include "apps/hub/weight_names.h"
#include "apps/run/architecture.h"
#include "apps/run/load_run.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/safetensors.h"
#include "tests/support/messages.h"
#include "tests/support/source_dir.h"
#include "tests/support/temp_folder.h"

namespace farfield::hub {
BOOST_AUTO_TEST_SUITE(test_export)  // ctest: sanitize
namespace {

namespace fs = std::filesystem;

void import_from(const fs::path& folder, const fs::path& run) {
  std::ostringstream said;
  import_model({folder.string(), run.string(), {}, {}}, said);
}

std::string export_to(const fs::path& run, const fs::path& folder, DType dtype = DType::f32) {
  std::ostringstream said;
  export_model(
      {.run = run.string(), .out = folder.string(), .dtype = dtype, .choice = ClassChoice::stock},
      said);
  return said.str();
}

std::map<std::string, Tensor> weights_of_run(const fs::path& run) {
  return read_safetensors(run / "checkpoints/step-00000000/model.safetensors").tensors;
}

bool same_bits(const std::map<std::string, Tensor>& a, const std::map<std::string, Tensor>& b) {
  if (a.size() != b.size()) return false;
  return std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.shape() == y.second.shape() &&
           std::memcmp(x.second.raw_data(), y.second.raw_data(),
                       static_cast<size_t>(x.second.size_bytes())) == 0;
  });
}

Json config_of(const fs::path& folder) {
  const std::string file = (folder / "config.json").string();
  const std::string text = read_file(file);
  return read_json({"test", file, text});
}

fs::path golden(const std::string& name) {
  return fs::path(source_dir()) / "tests" / "golden" / "hub" / name;
}

BOOST_AUTO_TEST_CASE(every_family_comes_back_with_the_same_bits) {
  const TempFolder temp;
  int n_folder = 0;
  for (const auto& entry : fs::directory_iterator(golden(""))) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_directory() || name == "mpt_bias_max") continue;
    ++n_folder;
    BOOST_TEST_CONTEXT(name) {
      const fs::path first = temp / (name + "-run"), again = temp / (name + "-again"),
                     folder = temp / name;
      import_from(golden(name), first);
      export_to(first, folder);
      import_from(folder, again);
      BOOST_TEST(same_bits(weights_of_run(first), weights_of_run(again)));
      const run::ResolvedConfig want = run::load_run(first.string()).config,
                                got = run::load_run(again.string()).config;
      BOOST_TEST(got.posenc() == want.posenc());
      BOOST_TEST(got.train_len() == want.train_len());
      BOOST_TEST(run::architecture_of(got.model) == run::architecture_of(want.model));
      BOOST_TEST(config_of(folder)["model_type"] == config_of(golden(name))["model_type"]);
      BOOST_TEST(read_safetensors(folder / "model.safetensors").metadata.at("format") == "pt");
    }
  }
  BOOST_TEST(n_folder >= 12);
}

// The library's class has the usual slopes whatever alibi_bias_max says.
BOOST_AUTO_TEST_CASE(slopes_that_no_class_has_are_refused) {
  const TempFolder temp;
  import_from(golden("mpt_bias_max"), temp / "run");
  BOOST_CHECK_EXCEPTION(export_to(temp / "run", temp / "out"), ConfigError,
                        says("no class of transformers has alibi with slopes of its own"));
  BOOST_TEST(temp.entries() == 1);
}

BOOST_AUTO_TEST_CASE(bf16_rounds_each_weight_and_says_so) {
  const TempFolder temp;
  import_from(golden("gpt2"), temp / "run");
  export_to(temp / "run", temp / "fp32");
  const std::string said = export_to(temp / "run", temp / "bf16", DType::bf16);
  BOOST_TEST(said.find("in bfloat16") != said.npos, said);
  for (const char* key : {"dtype", "torch_dtype"}) {
    BOOST_TEST(config_of(temp / "fp32")[key] == "float32");
    BOOST_TEST(config_of(temp / "bf16")[key] == "bfloat16");
  }
  std::map<std::string, Tensor> want =
      read_safetensors(temp / "fp32" / "model.safetensors").tensors;
  for (auto& item : want) item.second = item.second.to(DType::bf16);
  BOOST_TEST(same_bits(read_safetensors(temp / "bf16" / "model.safetensors").tensors, want));
  import_from(temp / "bf16", temp / "again");
}

BOOST_AUTO_TEST_CASE(ids_around_a_text_are_those_of_the_tokenizer) {
  const TempFolder temp;
  import_from(golden("llama"), temp / "run");
  export_to(temp / "run", temp / "out");
  BOOST_TEST(config_of(temp / "out")["eos_token_id"] == 2);
  BOOST_TEST(config_of(temp / "out")["bos_token_id"].is_null());
  const std::string file = (temp / "out" / "generation_config.json").string();
  const std::string text = read_file(file);
  BOOST_TEST(read_json({"test", file, text})["eos_token_id"] == 2);
  BOOST_TEST(!read_json({"test", file, text}).contains("suppress_tokens"));
  BOOST_TEST(!fs::exists(temp / "out" / "tokenizer.json"));
}

BOOST_AUTO_TEST_CASE(what_is_there_stays) {
  const TempFolder temp;
  import_from(golden("gpt_neox"), temp / "run");
  fs::create_directory(temp / "out");
  BOOST_CHECK_EXCEPTION(export_to(temp / "run", temp / "out"), ConfigError,
                        says("expected a folder that is not there yet"));
  BOOST_TEST(fs::is_empty(temp / "out"));
}

BOOST_AUTO_TEST_CASE(a_step_without_checkpoint_is_refused) {
  const TempFolder temp;
  import_from(golden("gpt_neox"), temp / "run");
  std::ostringstream said;
  BOOST_CHECK_THROW(export_model({.run = (temp / "run").string(),
                                  .out = (temp / "out").string(),
                                  .dtype = DType::f32,
                                  .step = 7},
                                 said),
                    IoError);
  BOOST_TEST(temp.entries() == 1);
}

BOOST_AUTO_TEST_CASE(the_command_line_names_what_it_lacks) {
  std::ostringstream said;
  const char* none[] = {"export"};
  BOOST_CHECK_EXCEPTION(export_command(1, none, said), ConfigError,
                        says("expected model export RUN --out FOLDER"));
  const char* no_out[] = {"export", "run"};
  BOOST_CHECK_EXCEPTION(export_command(2, no_out, said), ConfigError,
                        says("expected --out FOLDER"));
  const char* half[] = {"export", "run", "--out", "folder", "--dtype", "fp16"};
  BOOST_CHECK_EXCEPTION(export_command(6, half, said), ConfigError,
                        says("--dtype: expected fp32 or bf16, got 'fp16'"));
  const char* other[] = {"export", "run", "--out", "folder", "--class", "mine"};
  BOOST_CHECK_EXCEPTION(export_command(6, other, said), ConfigError,
                        says("--class: expected auto, stock or own, got 'mine'"));
  const char* empty[] = {"export", "run", "--out", "folder", "--length", "0"};
  BOOST_CHECK_EXCEPTION(export_command(6, empty, said), ConfigError,
                        says("--length: expected at least 1 token, got 0"));
}

BOOST_AUTO_TEST_CASE(no_tensor_is_lost_and_none_is_made_up) {
  const TempFolder temp;
  import_from(golden("gpt_neox"), temp / "run");
  const ModelConfig model = run::load_run((temp / "run").string()).model.config();
  const std::map<std::string, Tensor> whole = weights_of_run(temp / "run");
  const auto exported = [&](std::map<std::string, Tensor> weights) {
    return export_weights(model, weight_names("gpt_neox"), std::move(weights),
                          {.dtype = DType::f32, .n_position = 0, .where = "the run"});
  };
  BOOST_TEST(exported(whole).size() == whole.size());
  std::map<std::string, Tensor> damaged = whole;
  damaged.erase("embed_out.weight");
  BOOST_CHECK_EXCEPTION(exported(damaged), IoError,
                        says("the run: expected a tensor 'embed_out.weight', got none"));
  damaged = whole;
  damaged["gpt_neox.position_bias.r1"] = Tensor::empty({4}, DType::f32);
  BOOST_CHECK_EXCEPTION(exported(damaged), IoError,
                        says("expected the tensors of its model alone", "position_bias.r1"));
  damaged = whole;
  damaged["embed_out.weight"] = Tensor::empty({4}, DType::f32);
  BOOST_CHECK_EXCEPTION(exported(damaged), IoError,
                        says("expected 'embed_out.weight' of shape", "got [4]"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::hub
