// The program generate on runs that train in a moment: what it prints.
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "apps/run/load_run.h"
#include "engine/base/parallel.h"
#include "engine/base/random.h"
#include "engine/base/utf8.h"
#include "layers/sampling.h"
#include "tests/apps/generation/generate_call.h"

BOOST_AUTO_TEST_SUITE(test_generate_program)

using namespace farfield;
using farfield::test::run_generate;
using farfield::test::Said;
using farfield::test::trained;

namespace {

constexpr int32_t kEnd = 256;  // of a document, in bytes

struct Choice {
  double temperature = 0;
  SamplingFilters filters = {};
  uint64_t seed = 1, sequence = 0;
};

// The text behind a prompt of bytes, by a whole pass for each token.
std::string continued(const run::LoadedRun& run, std::vector<int32_t> ids, int64_t n,
                      const Choice& choice = {}) {
  const Random random{choice.seed, stream_of("generate") + choice.sequence};
  std::string text;
  for (int64_t i = 0; i < n; ++i) {
    const auto position = static_cast<int64_t>(ids.size());
    const std::vector<double> scores =
        run.model.last_logits(Tensor::from(ids, {1, position})).to_vector();
    const std::vector<double> left =
        filtered({scores.data(), 257}, ids, choice.temperature, choice.filters);
    ids.push_back(
        choose_token(left, choice.temperature, random.uniform(static_cast<uint64_t>(position))));
    if (ids.back() == kEnd) break;
    text += static_cast<char>(ids.back());
  }
  replace_invalid_utf8(text);
  return text.ends_with('\n') ? text : text + '\n';
}

std::vector<int32_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const unsigned char*>(text.data()),
          reinterpret_cast<const unsigned char*>(text.data()) + text.size()};
}

bool contains(const std::string& text, const std::string& part) {
  const bool does = text.find(part) != std::string::npos;
  BOOST_CHECK_MESSAGE(does, "'" << part << "' is not in: " << text);
  return does;
}

const std::vector<std::string> kDrawn = {
    "--temperature",        "2",   "--top-k", "100", "--top-p", "0.95", "--min-p", "0.01",
    "--repetition-penalty", "1.2", "--seed",  "5"};
const Choice kDraw{2, {1.2, 100, 0.95, 0.01}, 5};

std::vector<std::string> with(std::vector<std::string> words,
                              const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_cache_gives_the_text_of_whole_passes) {
  for (const char* posenc : {"alibi", "rope", "kerple_log", "none"}) {
    const run::LoadedRun run = run::load_run(trained(posenc));
    const Said greedy = run_generate({trained(posenc), "--prompt", "ab c", "--tokens", "60"});
    BOOST_TEST(greedy.code == 0);
    BOOST_TEST(greedy.out == continued(run, bytes_of("ab c"), 60), posenc);
    const Said drawn =
        run_generate(with({trained(posenc), "--prompt", "ab c", "--tokens", "60"}, kDrawn));
    BOOST_TEST(drawn.out == continued(run, bytes_of("ab c"), 60, kDraw), posenc);
    BOOST_TEST(drawn.out != greedy.out);
  }
}

BOOST_AUTO_TEST_CASE(threads_do_not_change_the_text) {
  const int before = thread_count();
  std::vector<std::string> texts;
  for (const char* n : {"1", "2", "3"})
    texts.push_back(run_generate(with({trained("rope"), "--prompt", std::string(100, 'x'),
                                       "--num-samples", "3", "--threads", n},
                                      kDrawn))
                        .out);
  set_thread_count(before);
  BOOST_TEST(texts[0].size() > 200u);
  BOOST_TEST(texts[1] == texts[0]);
  BOOST_TEST(texts[2] == texts[0]);
}

BOOST_AUTO_TEST_CASE(a_window_of_the_cache_is_that_of_the_encoding) {
  for (const char* posenc : {"alibi", "rope"}) {
    const auto text = [&](const std::vector<std::string>& more) {
      return run_generate(with(with({trained(posenc), "--prompt", "cccc bb aaaaa"}, more), kDrawn))
          .out;
    };
    const std::string expression = posenc;
    BOOST_TEST(text({"--cache-window", "8"}) == text({"--posenc", expression + " + window(8)"}));
    BOOST_TEST(text({"--cache-window", "8", "--sinks", "2"}) ==
               text({"--posenc", expression + " + window(8, sinks=2)"}));
    BOOST_TEST(text({"--cache-window", "1000"}) == text({}));
  }
}

BOOST_AUTO_TEST_CASE(samples_have_headings_and_numbers_of_their_own) {
  const run::LoadedRun run = run::load_run(trained("alibi"));
  const Said said = run_generate(
      with({trained("alibi"), "--prompt", "dd", "--tokens", "20", "--num-samples", "3"}, kDrawn));
  std::string want;
  for (uint64_t i = 0; i < 3; ++i) {
    Choice choice = kDraw;
    choice.sequence = i;
    want += concat("== sample ", i + 1, " of 3 ==\n", continued(run, bytes_of("dd"), 20, choice));
  }
  BOOST_TEST(said.out == want);
  contains(said.err, "prompt: 2 tokens, ");
  const Said one =
      run_generate(with({trained("alibi"), "--prompt", "dd", "--tokens", "20"}, kDrawn));
  BOOST_TEST(said.out.starts_with("== sample 1 of 3 ==\n" + one.out));
}

BOOST_AUTO_TEST_CASE(a_stop_ends_the_text) {
  const std::vector<std::string> call =
      with({trained("alibi"), "--prompt", "dd", "--tokens", "50"}, kDrawn);
  const std::string text = run_generate(call).out;
  const std::string stop = text.substr(10, 1);
  const Said said = run_generate(with(call, {"--stop", "not in there", "--stop", stop}));
  const std::string before = text.substr(0, text.find(stop));
  BOOST_TEST(said.out == (before.ends_with('\n') ? before : before + '\n'));
  contains(said.err, "(stop)");
}

BOOST_AUTO_TEST_CASE(the_end_of_the_document_ends_the_text_unless_it_is_to_go_on) {
  std::vector<std::string> call = {trained("none"), "--prompt",      "dd", "--tokens",
                                   "3000",          "--temperature", "50"};
  const Said ended = run_generate(call);
  contains(ended.err, "(end of document)");
  const Said whole = run_generate(with(call, {"--past-end"}));
  contains(whole.err, "; new: 3000 tokens, ");
  contains(whole.err, "(all of --tokens)");
  std::string begin = ended.out;
  if (begin.ends_with('\n')) begin.pop_back();
  BOOST_TEST(whole.out.starts_with(begin + "\n\n"));
  BOOST_TEST(whole.out.size() > begin.size() + 10);
}

BOOST_AUTO_TEST_CASE(without_a_prompt_a_document_begins) {
  const run::LoadedRun run = run::load_run(trained("alibi"));
  const Said said = run_generate({trained("alibi"), "--tokens", "20"});
  BOOST_TEST(said.out == continued(run, {kEnd}, 20));
  contains(said.err, "no prompt: the text begins behind the token that ends documents\n");
}

BOOST_AUTO_TEST_CASE(an_echo_is_before_the_text) {
  const std::vector<std::string> call = {trained("alibi"), "--prompt", "a\xFF", "--tokens", "20"};
  BOOST_TEST(run_generate(with(call, {"--echo"})).out == "a\xEF\xBF\xBD" + run_generate(call).out);
}

BOOST_AUTO_TEST_CASE(text_leaves_as_it_comes) {
  struct Counter : std::stringbuf {
    int n_flush = 0;
    int sync() override { return ++n_flush, 0; }
  } buffer;
  std::ostream out(&buffer);
  run_generate({trained("alibi"), "--prompt", "ab", "--tokens", "30"}, &out);
  BOOST_TEST(buffer.n_flush > 10);
}

BOOST_AUTO_TEST_CASE(output_that_fails_ends_the_work) {
  struct Full : std::streambuf {
    int n = 0;
    int overflow(int) override { return ++n, traits_type::eof(); }
  } full;
  std::ostream out(&full);
  run_generate({trained("alibi"), "--prompt", "ab", "--tokens", "4000000"}, &out);
  BOOST_TEST(full.n < 10);
}

BOOST_AUTO_TEST_CASE(precision_and_checkpoint_are_those_asked_for) {
  for (const auto& [words, options] :
       std::vector<std::pair<std::vector<std::string>, run::LoadOptions>>{
           {{"--precision", "bf16"}, {.precision = "bf16"}}, {{"--step", "4"}, {.step = 4}}}) {
    const run::LoadedRun run = run::load_run(trained("kerple_log"), options);
    BOOST_TEST((run.model.compute_dtype() == DType::bf16) == options.precision.has_value());
    const Said said = run_generate(
        with(with({trained("kerple_log"), "--prompt", "aa b", "--tokens", "12"}, words), kDrawn));
    BOOST_TEST(said.out == continued(run, bytes_of("aa b"), 12, kDraw));
  }
}

BOOST_AUTO_TEST_CASE(another_encoding_follows_the_rules_of_eval) {
  const std::string& path = trained("alibi");
  const std::vector<std::string> call = {
      path, "--prompt", "aa b", "--tokens", "12", "--posenc", "alibi + learned_abs(64)"};
  const Said refused = run_generate(call);
  BOOST_TEST(refused.code == cli::kUsage);
  contains(refused.err, "got none for learned_abs.weight");
  const Said said = run_generate(with(call, {"--drop-learned"}));
  BOOST_TEST(said.code == cli::kDone);
  contains(said.err, "learned_abs.weight");
  const run::LoadedRun run = run::load_run(path, {.posenc = "alibi + rope"});
  BOOST_TEST(
      run_generate({path, "--prompt", "aa b", "--tokens", "12", "--posenc", "alibi + rope"}).out ==
      continued(run, bytes_of("aa b"), 12));
}

// A table of positions ends; fresh passes over the last tokens go on for ever.
BOOST_AUTO_TEST_CASE(a_length_without_positions_is_refused_with_a_way_out) {
  const std::string& path = trained("learned_abs");  // 16 positions
  BOOST_TEST(run_generate({path, "--prompt", "aa b", "--tokens", "13"}).out ==
             continued(run::load_run(path), bytes_of("aa b"), 13));
  const Said refused = run_generate({path, "--prompt", "aa b", "--tokens", "14"});
  BOOST_TEST(refused.code == cli::kUsage);
  BOOST_TEST(refused.out == "");
  contains(refused.err, "expected positions below the 16 rows of learned_abs");
  contains(refused.err, "; fewer --tokens, or --cache-window W, which reads the last W tokens");
  const Said said =
      run_generate({path, "--prompt", "aa b", "--tokens", "50", "--cache-window", "10"});
  BOOST_TEST(said.code == cli::kDone);
  contains(said.err, "no cache, but a fresh pass over the last 10 tokens for each new one: ");
}

BOOST_AUTO_TEST_SUITE_END()
