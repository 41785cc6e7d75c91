#include <boost/test/unit_test.hpp>
#include <map>

#include "data/tasks/task_batches.h"
#include "data/tasks/task_tokenizer.h"
#include "data/tokenizers/make.h"
#include "engine/base/error.h"
#include "tests/support/messages.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_task_batches)
namespace {

TaskBatches batches(const std::string& task, std::vector<int64_t> lengths, uint64_t seed = 1) {
  return {make_task(task), std::move(lengths), 4, seed};
}

BOOST_AUTO_TEST_CASE(a_row_has_the_tokens_and_the_answers_of_a_sample) {
  const std::unique_ptr<const Task> task = make_task("parity(form=scratchpad)");
  const Batch batch = batches("parity(form=scratchpad)", {5}).batch(3);
  BOOST_TEST(batch.seq_len == 10);
  BOOST_TEST_REQUIRE(batch.inputs.size() == 40u);
  for (int64_t row = 0; row < 4; ++row) {
    const TaskSample sample = task->sample(1, "train", 5, 3 * 4 + row);
    for (int64_t t = 0; t < 10; ++t) {
      const auto at = static_cast<size_t>(row * 10 + t), next = static_cast<size_t>(t + 1);
      BOOST_TEST(batch.inputs[at] == sample.tokens[static_cast<size_t>(t)]);
      BOOST_TEST(batch.targets[at] == (t < 5 ? kNotScored : sample.tokens[next]));
    }
  }
}

BOOST_AUTO_TEST_CASE(answers_are_hidden_from_an_encoder) {
  const auto inputs_of = [](const char* task, int64_t length) {
    const auto made = make_task(task);
    std::vector<int32_t> inputs, shown, targets, same;
    const TaskSample sample = made->sample(1, "train", length, 0);
    append_row(sample, shown, same);
    append_row(sample, inputs, targets, AnswersInInput::hidden);
    BOOST_TEST(targets == same);
    const std::vector<std::string> words = made->vocabulary();
    std::string line;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool is_hidden = inputs[i] != shown[i];
      BOOST_TEST((!is_hidden || sample.is_answer[i] == 1));
      line += (i == 0 ? "" : " ") + words[static_cast<size_t>(inputs[i])];
    }
    return line;
  };
  BOOST_TEST(inputs_of("reverse_string", 4).substr(7) == " SEP SEP SEP SEP");
  BOOST_TEST(inputs_of("first", 3).substr(5) == " SEP");
  // A bit behind a read is hidden; bits of writes are not.
  const std::string reads = inputs_of("flip_flop(p_i=0)", 40);
  BOOST_TEST(reads.find("r r ") != std::string::npos);
  BOOST_TEST((reads.find("r 0") == std::string::npos && reads.find("r 1") == std::string::npos));
  // Sums that are asked for at the bits stand nowhere in the input.
  BOOST_TEST(inputs_of("parity(form=prefix)", 6).find(" SEP SEP") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(each_step_has_one_of_the_lengths_and_new_samples) {
  const TaskBatches all = batches("copy", {3, 7});
  std::map<int64_t, int> steps;
  for (int64_t step = 0; step < 400; ++step) ++steps[all.batch(step).seq_len];
  BOOST_TEST(steps.size() == 2u);
  BOOST_TEST((steps[6] > 160 && steps[6] < 240), steps[6]);  // 3 symbols, SEP, 3 symbols
  BOOST_TEST(all.batch(5).inputs == batches("copy", {3, 7}).batch(5).inputs);
  BOOST_TEST(all.batch(5).inputs != batches("copy", {3, 7}, 2).batch(5).inputs);
  const TaskBatches long_ones = batches("copy", {40});
  BOOST_TEST(long_ones.batch(0).inputs != long_ones.batch(1).inputs);
}

BOOST_AUTO_TEST_CASE(lengths_that_a_task_has_not_are_refused) {
  BOOST_CHECK_THROW(batches("flip_flop", {7}), ConfigError);
  BOOST_CHECK_EXCEPTION(batches("copy", {}), ConfigError, says("got 0 lengths"));
}

BOOST_AUTO_TEST_CASE(a_tokenizer_has_the_words_of_a_task) {
  const TokenizerPtr tokenizer = built_in_tokenizer("task:copy(alphabet=3, eos=token)");
  BOOST_TEST_REQUIRE((tokenizer != nullptr));
  BOOST_TEST(tokenizer->name() == "task:copy(alphabet=3, eos=token)");
  const std::vector<int32_t> ids = {0, 2, 3, 1};
  BOOST_TEST(tokenizer->decode(ids) == "0 2 SEP 1");
  BOOST_TEST(tokenizer->end_of_document() == Tokenizer::kNone);
  std::vector<int32_t> none;
  BOOST_CHECK_THROW(tokenizer->encode("0 1", none), ConfigError);
  BOOST_TEST((built_in_tokenizer("tasks") == nullptr));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
