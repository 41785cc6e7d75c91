#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>
#include <new>

#include "apps/eval/protocols/passkey.h"
#include "data/tasks/passkey_text.h"
#include "data/tokenizers/bytes.h"
#include "engine/base/error.h"
#include "layers/generate.h"
#include "tests/layers/tiny_model.h"
#include "tests/support/messages.h"

namespace farfield::eval {
BOOST_AUTO_TEST_SUITE(test_passkey_protocol)
namespace {

constexpr int64_t kPrompts = 6;

TokenStream text_of(const data::TokenizerPtr& tokenizer) {
  TokenStream text;
  text.n_vocab = tokenizer->n_vocab();
  text.end_of_document = tokenizer->end_of_document();
  text.decode = [tokenizer](std::span<const int32_t> ids) { return tokenizer->decode(ids); };
  text.encode = [tokenizer](std::string_view of, std::vector<int32_t>& ids) {
    tokenizer->encode(of, ids);
  };
  return text;
}

TokenStream bytes() { return text_of(std::make_shared<data::ByteTokenizer>()); }

ModelConfig config_of(const std::string& posenc) {
  ModelConfig config = tiny_config(posenc);
  config.d_model = 16;
  config.vocab_size = 320;
  return config;
}

LengthResult measured(const Subject& subject, int64_t garbage, const CommonOptions& common = {},
                      uint64_t seed = 0) {
  const PasskeyOptions own = {.garbage = {garbage}, .prompts = kPrompts, .seed = seed};
  check(own);
  return measure_passkey(subject, common, own).lengths.at(0);
}

double quantity(const LengthResult& of, const std::string& name) {
  for (const Quantity& one : of.quantities)
    if (one.name == name) return one.value;
  return std::nan("");
}

// Makes a model that follows each byte of a chain, all different, by the next one, and the last by
// itself: blocks add nothing, so the scores are a function of the last byte alone.
void follow(const Transformer& model, const std::string& chain) {
  const auto fill = [](Parameter p, double value) {
    std::fill_n(p.value.data<double>(), p.value.numel(), value);
  };
  for (Parameter p : model.parameters()) {
    if (p.name.find(".dense.") != std::string::npos || p.name.find("4h_to_h.") != std::string::npos)
      fill(p, 0);
    const bool is_in = p.name == "gpt_neox.embed_in.weight", is_out = p.name == "embed_out.weight";
    if (!is_in && !is_out) continue;
    fill(p, 0);
    const int64_t width = p.value.dim(1);
    for (size_t i = 0; i < chain.size(); ++i) {
      const size_t next = is_in ? i : std::min(i + 1, chain.size() - 1);
      const auto byte = static_cast<unsigned char>(chain[next]);
      p.value.data<double>()[byte * width + static_cast<int64_t>(i)] = 1;
    }
  }
}

// A seed whose first prompt has a key without a repeated digit.
uint64_t seed_of_plain_key(int64_t garbage, std::string& key) {
  for (uint64_t seed = 0;; ++seed) {
    key = std::to_string(data::draw_passkey(seed, garbage, 0).key);
    std::string sorted = key;
    std::sort(sorted.begin(), sorted.end());
    if (std::unique(sorted.begin(), sorted.end()) == sorted.end()) return seed;
  }
}

BOOST_AUTO_TEST_CASE(a_model_that_says_the_key_of_one_prompt_is_right_for_it_alone) {
  constexpr int64_t kGarbage = 40;
  std::string key;
  const uint64_t seed = seed_of_plain_key(kGarbage, key);
  const Transformer model(config_of("alibi"), 1, DType::f64);
  follow(model, "s" + key + ".");  // a prompt ends in "is"
  const Subject subject = subject_of(model, {}, bytes(), 5);
  const LengthResult got = measured(subject, kGarbage, {}, seed);
  BOOST_TEST_REQUIRE(got.failure == "", got.message);
  BOOST_TEST(got.length == kGarbage);
  BOOST_TEST(quantity(got, "accuracy") == 1.0 / kPrompts);
  BOOST_TEST(quantity(got, "answered") == 1);
  std::string said = key;
  said.resize(10, '.');
  BOOST_TEST(got.notes.at(0) == concat("the key ", key, ": \"", said, '"'));
  // Right at the place of that key.
  const int64_t place =
      std::min<int64_t>(9, data::draw_passkey(seed, kGarbage, 0).n_before * 10 / kGarbage);
  const std::vector<double>& y = got.series.at(0).y;
  for (size_t i = 0; i < y.size(); ++i)
    if (std::isfinite(y[i])) BOOST_TEST((y[i] > 0) == (i == static_cast<size_t>(place)), i);
  // Another digit more is another number.
  follow(model, "s" + key + (key.find('0') == std::string::npos ? "0" : "9"));
  BOOST_TEST(quantity(measured(subject, kGarbage, {}, seed), "accuracy") == 0);
}

BOOST_AUTO_TEST_CASE(what_follows_the_end_of_a_document_is_no_answer) {
  std::string key;
  const uint64_t seed = seed_of_plain_key(0, key);
  const Transformer model(config_of("alibi"), 1, DType::f64);
  TokenStream text = bytes();
  text.end_of_document = '#';
  const Subject subject = subject_of(model, {}, text, 5);
  follow(model, "s" + key + "#");
  BOOST_TEST(quantity(measured(subject, 0, {}, seed), "accuracy") == 1.0 / kPrompts);
  follow(model, "s#" + key);
  BOOST_TEST(quantity(measured(subject, 0, {}, seed), "answered") == 0);
}

BOOST_AUTO_TEST_CASE(prompts_are_counted_as_one_by_one) {
  const Transformer model(config_of("rope"), 1, DType::f64);
  shake(model, 1.0);
  const Subject subject = subject_of(model, {}, bytes(), 5);
  const LengthResult got = measured(subject, 60, {}, 3);
  double tokens = 0, answered = 0;
  for (int64_t i = 0; i < kPrompts; ++i) {
    const data::PasskeyDraw draw = data::draw_passkey(3, 60, i);
    std::vector<int32_t> ids;
    subject.text.encode(data::passkey_prompt(60, draw.n_before, draw.key), ids);
    const auto n = static_cast<int64_t>(ids.size());
    tokens += static_cast<double>(n);
    const Generated made = generate(model, Tensor::from(std::span<const int32_t>(ids), {1, n}),
                                    {.n_new = 10, .n_token = subject.text.n_vocab});
    const std::string said = subject.text.decode(made.tokens.at(0));
    answered += !data::passkey_answer(said).empty();
    if (i == 0)
      BOOST_TEST(got.notes.at(0) == concat("the key ", draw.key, ": \"", shown_text(said), '"'));
  }
  BOOST_TEST(quantity(got, "prompt_tokens") == tokens / kPrompts);
  BOOST_TEST(quantity(got, "answered") == answered / kPrompts);
}

BOOST_AUTO_TEST_CASE(batches_of_any_size_give_the_same_numbers) {
  const Transformer model(config_of("rope"), 1, DType::f64);
  shake(model, 1.0);
  const Subject subject = subject_of(model, {}, bytes(), 5);
  const LengthResult want = measured(subject, 30);
  for (const int64_t batch_tokens : {1, 700, 1000}) {
    CommonOptions common;
    common.batch_tokens = batch_tokens;
    const LengthResult got = measured(subject, 30, common);
    BOOST_TEST_REQUIRE(got.quantities.size() == want.quantities.size());
    for (size_t i = 0; i < got.quantities.size(); ++i)
      BOOST_TEST(got.quantities[i].value == want.quantities[i].value, got.quantities[i].name);
    BOOST_TEST(got.notes == want.notes, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(an_encoding_that_cannot_be_cached_is_read_afresh) {
  const auto model_of = [](const char* posenc) {
    return Transformer(config_of(posenc), 1, DType::f64);
  };
  const Transformer model = model_of("fire + window(64, sinks=2)");
  std::string key;
  const uint64_t seed = seed_of_plain_key(0, key);
  follow(model, "s" + key + ".");
  const LengthResult got = measured(subject_of(model, {}, bytes(), 5), 0, {}, seed);
  BOOST_TEST_REQUIRE(got.failure == "", got.message);
  BOOST_TEST(quantity(got, "accuracy") == 1.0 / kPrompts);
  BOOST_TEST_REQUIRE(got.notes.size() == 2u);
  BOOST_TEST(
      got.notes[1].rfind("a fresh pass for each token, since they cannot be cached: ", 0) == 0u,
      got.notes[1]);
}

BOOST_AUTO_TEST_CASE(cells_fail_with_their_code_and_the_others_go_on) {
  const auto results = [](const Subject& subject) {
    return measure_passkey(subject, {}, {.garbage = {0, 300}, .prompts = 2}).lengths;
  };
  ModelConfig config = config_of("learned_abs");
  config.train_len = 400;
  const Transformer short_table(config, 1, DType::f64);
  std::vector<LengthResult> got = results(subject_of(short_table, {}, bytes(), 5));
  BOOST_TEST(got.at(0).failure == "", got[0].message);
  BOOST_TEST(got.at(1).failure == "position_out_of_range");
  BOOST_TEST(got[1].message.rfind("[eval:passkey] position_out_of_range: posenc: ", 0) == 0u,
             got[1].message);

  const Transformer model(config_of("alibi"), 1, DType::f64);
  Subject subject = subject_of(model, {}, bytes(), 5);
  subject.session.watch = [](int64_t n) {
    if (n > 500) throw std::bad_alloc();
  };
  got = results(subject);
  BOOST_TEST(got.at(0).failure == "", got[0].message);  // in smaller batches
  BOOST_TEST(got.at(1).failure == "OOM");

  for (Parameter p : model.parameters())
    if (p.name == "gpt_neox.final_layer_norm.weight")
      std::fill_n(p.value.data<double>(), p.value.numel(), std::nan(""));
  subject.session.watch = nullptr;
  got = results(subject);
  BOOST_TEST(got.at(0).failure == "nonfinite_logits");
  BOOST_TEST(got[0].message.find("[eval:passkey] nonfinite_logits: expected finite scores for the "
                                 "token at position ") == 0u,
             got[0].message);
  BOOST_TEST(got[0].message.find(" of 0 characters of garbage, got ") != std::string::npos,
             got[0].message);
}

BOOST_AUTO_TEST_CASE(bad_requests_begin_with_their_code) {
  const auto refused = [](const PasskeyOptions& own, const char* message) {
    BOOST_CHECK_EXCEPTION(check(own), ConfigError, says_exactly(message));
  };
  refused({.garbage = {}}, "[eval:passkey] bad_argument: expected characters of garbage, got none");
  refused({.garbage = {0, -1}},
          "[eval:passkey] bad_argument: expected garbage from 0 to 1000000 characters, got -1");
  refused(
      {.garbage = {1'000'001}},
      "[eval:passkey] bad_argument: expected garbage from 0 to 1000000 characters, got 1000001");
  refused({.prompts = 0}, "[eval:passkey] bad_argument: expected passkey-prompts >= 1, got 0");
}

BOOST_AUTO_TEST_CASE(a_run_that_cannot_read_the_prompts_is_refused) {
  const Transformer model(config_of("alibi"), 1);
  Subject subject = subject_of(model, {}, bytes(), 5);
  const auto refused = [&]<class E>(const std::string& message) {
    BOOST_CHECK_EXCEPTION(measured(subject, 0), E, says(message));
  };
  subject.model.task = "copy(alphabet=3)";
  refused.operator()<ConfigError>(
      "[eval:passkey] bad_argument: expected a run that was trained on text, got one that was "
      "trained on copy(alphabet=3); --protocol task measures it");
  subject.model.task = "";
  subject.text.encode = nullptr;
  refused.operator()<IoError>(
      "[eval:passkey] bad_token: expected a run whose tokenizer knows text, got one that knows "
      "numbers alone");
  subject.text.encode = [](std::string_view, std::vector<int32_t>&) {
    fail<IoError>("tokenizer", "expected bytes with ids, got '\\n'");
  };
  refused.operator()<IoError>(
      "[eval:passkey] bad_token: expected a tokenizer that can read the prompt, got: tokenizer: "
      "expected bytes with ids");
  subject.text = bytes();
  subject.text.decode = [](std::span<const int32_t>) {
    return std::string("the pass key is <unk>");
  };
  refused.operator()<IoError>(
      "[eval:passkey] bad_token: expected a tokenizer that keeps the digits of a key, got 'the "
      "pass key is <unk>' for '0123456789'");
  subject.text = bytes();
  subject.model.scorer.vocab_size = 100;
  refused.operator()<IoError>("[eval:passkey] bad_token: expected ids below 100, got 104");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::eval
