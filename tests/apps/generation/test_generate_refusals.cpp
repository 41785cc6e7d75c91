// What the program generate refuses, and how it reads a prompt.
#include <boost/test/unit_test.hpp>

#include "apps/generation/prompt.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/apps/generation/generate_call.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_generate_refusals)

using namespace farfield;
using farfield::test::run_generate;
using farfield::test::Said;
using farfield::test::toy;
using farfield::test::trained;

namespace {

// A tokenizer of one word, "a", that may lack an end of documents.
class OneWord final : public data::Tokenizer {
 public:
  explicit OneWord(int32_t end) : Tokenizer("one", "one word"), end_(end) {}
  int64_t n_vocab() const override { return 2; }
  int32_t end_of_document() const override { return end_; }
  void encode(std::string_view text, std::vector<int32_t>& ids) const override {
    for (const char c : text)
      if (c == 'a') ids.push_back(0);
  }
  std::string decode(std::span<const int32_t> ids) const override {
    return std::string(ids.size(), 'a');
  }
  size_t cut(std::string_view text, size_t) const override { return text.size(); }

 private:
  int32_t end_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_prompt_is_a_text_or_a_file) {
  write_file_atomic(toy().path("prompt.txt"), "from\na file\n");
  BOOST_TEST(generation::read_prompt("@" + toy().path("prompt.txt")) == "from\na file\n");
  BOOST_TEST(generation::read_prompt("user@host") == "user@host");
  BOOST_TEST(generation::read_prompt("") == "");
  BOOST_CHECK_EXCEPTION(generation::read_prompt("@no-such-file"), IoError, says("no-such-file"));
}

BOOST_AUTO_TEST_CASE(a_prompt_without_tokens_is_the_end_of_a_document) {
  using Ids = std::vector<int32_t>;
  BOOST_TEST(generation::tokens_of_prompt(OneWord(1), "a a") == Ids({0, 0}));
  BOOST_TEST(generation::tokens_of_prompt(OneWord(1), "") == Ids({1}));
  BOOST_TEST(generation::tokens_of_prompt(OneWord(1), " ") == Ids({1}));
  BOOST_TEST(message_of<ConfigError>(
                 [] { generation::tokens_of_prompt(OneWord(data::Tokenizer::kNone), " "); }) ==
             "[generate] --prompt: expected a text of at least one token, got ' ', and the "
             "tokenizer has no token that ends documents, to begin behind; --prompt TEXT");
}

BOOST_AUTO_TEST_CASE(invalid_calls_are_refused) {
  const std::string& run = trained("alibi");
  const auto refused = [](const std::vector<std::string>& words, const std::string& message) {
    const Said said = run_generate(words);
    BOOST_TEST(said.code == cli::kUsage);
    BOOST_TEST(said.out == "");
    BOOST_TEST(said.err == "generate: " + message + '\n');
  };
  const std::string cold =
      ": expected --temperature T above 0 with it, got 0, which always takes the most likely token";
  refused({}, "[generate] expected the folder of a run of `train`, got none; generate RUN");
  refused({run, "--run", run}, "[generate] --run: expected one run, got " + run + " too");
  refused({run, "--tokens", "0"}, "[generate] --tokens: expected 1 to 4194304, got 0");
  refused({run, "--num-samples", "0"}, "[generate] --num-samples: expected 1 to 65536, got 0");
  refused({run, "--num-samples", "2"}, "[generate] --num-samples" + cold);
  refused({run, "--top-k", "2"}, "[generate] --top-k" + cold);
  refused({run, "--top-p", "0.5"}, "[generate] --top-p" + cold);
  refused({run, "--min-p", "0.5"}, "[generate] --min-p" + cold);
  refused({run, "--sinks", "2"},
          "[generate] --sinks: expected --cache-window W with it: without one the cache keeps all "
          "tokens");
  refused({run, "--temperature", "nan"},
          "[generate] expected a finite temperature of 0 (the most likely token) or more, got nan");
  refused({run, "--map", "a=b"},
          "[generate] --map: expected --posenc EXPR with it, which has the places of trained "
          "values");
  refused({run, "--stop", "\xFF"}, "[generate] --stop: expected a text in UTF-8, got '\\xff'");
  refused({run, "--max-new-tokens", "2"},
          "[config] unknown option '--max-new-tokens'; did you mean '--tokens'?");
  refused({run, "--precision", "fp16"},
          "[config] --precision: expected one of fp32, bf16, got 'fp16'; did you mean 'bf16'?");
}

BOOST_AUTO_TEST_CASE(missing_files_are_bad_data) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{toy().path("nothing")},
        {trained("alibi"), "--step", "7"},
        {trained("alibi"), "--prompt", "@" + toy().path("nothing")}}) {
    const Said said = run_generate(words);
    BOOST_TEST(said.code == cli::kBadData);
    BOOST_TEST(said.out == "");
    BOOST_TEST(said.err.starts_with("generate: ["));
  }
}

BOOST_AUTO_TEST_CASE(runs_that_continue_no_text_are_refused) {
  run::RunConfig config = toy().config("sinusoidal");
  config.mask = "none";
  const Said encoder = run_generate({trained(config, "encoder"), "--prompt", "a"});
  BOOST_TEST(encoder.code == cli::kUsage);
  BOOST_TEST(
      encoder.err.find(": expected a causal model, got an encoder that was trained on masked "
                       "text") != std::string::npos,
      encoder.err);
  config = toy().config("alibi");
  config.data = {};
  config.task = "parity";
  config.train_len.reset();
  const Said task = run_generate({trained(config, "task"), "--prompt", "a"});
  BOOST_TEST(task.code == cli::kUsage);
  BOOST_TEST(task.err.find("; eval --protocol task measures it") != std::string::npos, task.err);
}

BOOST_AUTO_TEST_SUITE_END()
