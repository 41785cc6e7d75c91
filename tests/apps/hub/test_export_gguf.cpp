// Runs become GGUF files: which models and tokenizers do, and what is refused. What llama.cpp
// computes from the files is held by llama_cpp.sh.

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <sstream>

#include "apps/hub/export_gguf.h"
#include "apps/hub/exported_encoding.h"
#include "apps/hub/gguf_architecture.h"
#include "apps/hub/gguf_tokenizer.h"
#include "apps/hub/gguf_weights.h"
#include "apps/hub/import.h"
#include "apps/run/architecture.h"
#include "data/tokenizers/bpe.h"
#include "data/tokenizers/bytes.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/support/messages.h"
#include "tests/support/source_dir.h"
#include "tests/support/temp_folder.h"

namespace farfield::hub {
BOOST_AUTO_TEST_SUITE(test_export_gguf)  // ctest: sanitize
namespace {

namespace fs = std::filesystem;

ModelConfig model_with(const std::string& architecture, const std::string& posenc) {
  ModelConfig model;
  model.n_layer = 4;
  model.posenc = posenc;
  run::set_architecture(architecture, model);
  return model;
}

std::string architecture_of(const std::string& parts, const std::string& posenc) {
  const ModelConfig model = model_with(parts, posenc);
  return gguf_architecture(model, exported_encoding(model, kGgufArchitectures)).name;
}

BOOST_AUTO_TEST_CASE(an_architecture_is_found_by_its_parts) {
  BOOST_TEST(architecture_of("llama", "rope") == "llama");
  BOOST_TEST(architecture_of("llama,kv-heads=2,head-dim=24", "rope_llama3") == "llama");
  BOOST_TEST(architecture_of("llama,bias=all", "rope_linear(scale=2)") == "llama");
  BOOST_TEST(architecture_of("llama,bias=qkv", "rope") == "qwen2");
  BOOST_TEST(architecture_of("llama,bias=qkv,head-dim=24", "rope") == "llama");
  BOOST_TEST(architecture_of("llama,bias=qkv", "rope_llama3") == "llama");
  BOOST_TEST(architecture_of("llama", "rope@0..2") == "smollm3");
  BOOST_TEST(architecture_of("neox", "rope(rotary_pct=0.5)") == "gptneox");
  BOOST_TEST(architecture_of("parallel,mlp=gelu_tanh", "rope") == "gptneox");
}

BOOST_AUTO_TEST_CASE(what_llama_cpp_has_no_key_for_is_refused_by_name) {
  const auto refuses = [](const char* parts, const char* posenc, auto... what) {
    BOOST_CHECK_EXCEPTION(architecture_of(parts, posenc), ConfigError, says(what...));
  };
  refuses("neox", "kerple_log",
          "no architecture of llama.cpp has kerple_log: expected a model with rope, rope_linear, "
          "rope_yarn or rope_llama3, got 'kerple_log'");
  refuses("neox", "alibi", "gptneox: alibi");
  refuses("neox", "none", "gptneox: layers without rotation, none");
  refuses("llama", "rope + window(9)", "llama: a window");
  refuses("llama", "rope@0..1", "llama: layers without rotation",
          "smollm3: rotation on other layers than three of four");
  refuses("llama", "rope_dynamic_ntk(factor=2)", "llama: rope_dynamic_ntk");
  refuses("llama", "rope_yarn(scale=2, original_length=64, beta_fast=8)",
          "llama: a beta_fast other than 32");
  refuses("llama", "rope(layout=interleaved)", "rope with layout=interleaved");
  refuses("llama", "rope(rotary_pct=0.5)", "llama: a rotary_pct below 1");
  refuses("neox", "rope_llama3", "gptneox: rope_llama3");
  refuses("mlp=relu", "rope", "gptneox: ReLU");
  refuses("bias=none", "rope", "gptneox: layer norm without biases");
}

BOOST_AUTO_TEST_CASE(components_that_turn_together_become_neighbours) {
  const Tensor made = neighbours(Tensor::from({0, 1, 2, 3, 4, 5, 6, 7}, {8}), 4);
  BOOST_TEST(made.to_vector() == (std::vector<double>{0, 2, 1, 3, 4, 6, 5, 7}),
             boost::test_tools::per_element());
  const Tensor rows = neighbours(Tensor::from({0, 0, 1, 1, 2, 2, 3, 3}, {4, 2}), 4);
  BOOST_TEST(rows.to_vector() == (std::vector<double>{0, 0, 2, 2, 1, 1, 3, 3}),
             boost::test_tools::per_element());
}

// Bytes, and the merge of the first two tokens.
data::BpeDefinition small_definition() {
  data::BpeDefinition definition;
  for (int byte = 0; byte < 256; ++byte) definition.tokens.emplace_back(1, static_cast<char>(byte));
  definition.tokens.push_back("ab");
  definition.merges.push_back({'a', 'b'});
  definition.added.push_back({.id = 257, .content = "<|endoftext|>", .is_special = true});
  return definition;
}

struct MadeTokenizer {
  std::string remark, pairs;
};
MadeTokenizer made_of(const data::BpeDefinition& definition, int64_t n_row = 320) {
  const data::BpeTokenizer tokenizer("mine", data::checked(definition, "test", "mine"), {});
  GgufMetadata metadata;
  MadeTokenizer made;
  made.remark = add_gguf_tokenizer(&tokenizer, n_row, metadata);
  made.pairs = metadata.bytes();
  return made;
}
bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

BOOST_AUTO_TEST_CASE(a_tokenizer_that_llama_cpp_knows_is_in_the_file) {
  const MadeTokenizer made = made_of(small_definition());
  BOOST_TEST(made.remark == "");
  for (const char* part : {"gpt-2", "a b", "<|endoftext|>", "[PAD319]",
                           "tokenizer.ggml.eos_token_id", "tokenizer.ggml.suppress_tokens"})
    BOOST_TEST(has(made.pairs, part), part);
  data::BpeDefinition like_llama = small_definition();
  like_llama.pattern = data::Pattern::cl100k_lines;
  BOOST_TEST(has(made_of(like_llama).pairs, "dbrx"));
  like_llama.ignore_merges = true;
  BOOST_TEST(has(made_of(like_llama).pairs, "llama-bpe"));
  GgufMetadata bytes;
  const data::ByteTokenizer tokenizer;
  BOOST_TEST(add_gguf_tokenizer(&tokenizer, 320, bytes) == "");
  BOOST_TEST(has(bytes.bytes(), "gpt-2"));
}

BOOST_AUTO_TEST_CASE(another_tokenizer_is_left_out_and_said_so) {
  const auto left_out = [](const data::BpeDefinition& definition, const std::string& why,
                           int64_t n_row = 320) {
    const MadeTokenizer made = made_of(definition, n_row);
    BOOST_TEST(has(made.remark,
                   "the file has no tokenizer and takes token ids: llama.cpp has "
                   "none with the ids of 'mine': " +
                       why),
               made.remark);
    BOOST_TEST(has(made.pairs, "none"));
    BOOST_TEST(!has(made.pairs, "tokenizer.ggml.tokens"));
  };
  const data::BpeDefinition usual = small_definition();
  data::BpeDefinition other = usual;
  other.pattern = data::Pattern::cl100k_base;
  left_out(other, "llama.cpp cuts no text into such pieces");
  other = usual;
  other.ignore_merges = true;
  left_out(other, "llama.cpp cuts no text into such pieces");
  other = usual;
  other.add_prefix_space = true;
  left_out(other, "it puts a blank in front of a text");
  other = usual;
  other.begin_of_text = {257, 257};
  left_out(other, "it puts several tokens around a text");
  other = usual;
  other.end_of_text = {'a'};
  left_out(other, "the token behind a text is not the one that ends documents");
  other = usual;
  other.added.push_back({.id = 258, .content = "<m>", .strips_left = true});
  left_out(other, "'<m>' takes the white space beside it along");
  other.added.back() = {.id = 258, .content = "<m>", .is_single_word = true};
  left_out(other, "'<m>' is not taken within a word");
  other.added.back() = {.id = 258, .content = "x<|"};
  left_out(other, "'x<|' and '<|endoftext|>' can overlap");
  left_out(usual, "it has more ids than the model has rows", 200);
  other = usual;
  other.added.clear();
  left_out(other, "no token ends a text", 257);
  BOOST_TEST(made_of(other).remark == "");  // a row of padding ends it

  GgufMetadata none;
  BOOST_TEST(add_gguf_tokenizer(nullptr, 320, none) ==
             "the file has no tokenizer and takes token ids: the run has none");
}

BOOST_AUTO_TEST_CASE(text_that_is_not_normalised_is_said) {
  data::BpeDefinition definition = small_definition();
  definition.normalizer = data::Normalizer::nfc;
  const MadeTokenizer made = made_of(definition);
  BOOST_TEST(has(made.remark, "text in NFC"), made.remark);
  BOOST_TEST(has(made.pairs, "tokenizer.ggml.tokens"));
}

fs::path golden(const std::string& name) {
  return fs::path(source_dir()) / "tests" / "golden" / "hub" / name;
}

std::string export_to(const fs::path& run, const fs::path& file, DType dtype = DType::f32) {
  std::ostringstream said;
  export_gguf({.run = run.string(), .out = file.string(), .dtype = dtype}, said);
  return said.str();
}

BOOST_AUTO_TEST_CASE(a_file_is_whole_or_absent) {
  const TempFolder temp;
  std::ostringstream said;
  for (const char* name : {"llama", "gpt2"})
    import_model({golden(name).string(), (temp / name).string(), {}, {}}, said);
  BOOST_TEST(has(export_to(temp / "llama", temp / "a.gguf"), "GGUF of llama"));
  BOOST_TEST(read_file(temp / "a.gguf").substr(0, 4) == "GGUF");
  export_to(temp / "llama", temp / "b.gguf", DType::bf16);
  BOOST_TEST(fs::file_size(temp / "b.gguf") < 0.7 * fs::file_size(temp / "a.gguf"));
  const std::string before = read_file(temp / "a.gguf");
  BOOST_CHECK_EXCEPTION(export_to(temp / "llama", temp / "a.gguf"), ConfigError,
                        says("expected a file that is not there yet"));
  BOOST_TEST((read_file(temp / "a.gguf") == before));
  BOOST_CHECK_EXCEPTION(export_to(temp / "gpt2", temp / "c.gguf"), ConfigError,
                        says("no architecture of llama.cpp computes this model"));
  BOOST_CHECK_THROW(export_to(temp / "llama", temp / "no" / "c.gguf"), IoError);
  BOOST_TEST(temp.entries() == 4);
}

BOOST_AUTO_TEST_CASE(the_command_line_takes_two_formats) {
  std::ostringstream said;
  const char* other[] = {"export", "run", "--out", "file", "--format", "onnx"};
  BOOST_CHECK_EXCEPTION(export_command(6, other, said), ConfigError,
                        says("--format: expected hf or gguf, got 'onnx'"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::hub
