#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>

#include "data/tasks/row.h"
#include "data/tasks/task.h"
#include "engine/base/error.h"
#include "tests/data/tasks/task_words.h"
#include "tests/support/messages.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_task)
namespace {

// Each task with its defaults, and its other forms.
std::vector<std::string> all_forms() {
  std::vector<std::string> texts;
  for (const TaskRow& row : tasks()) texts.push_back(row.name);
  for (const char* text :
       {"parity(form=prefix)", "parity(form=scratchpad)", "parity(form=padded)",
        "parity(form=padded, width=60, zeros=3)", "flip_flop(form=drift)",
        "flip_flop(p_i=[0.9, 0.98, 0.1], loss=noisy)", "copy(alphabet=8, eos=token)",
        "reverse_string(eos=token)", "odds_first(order=even_first)", "recall(keys=200, values=2)",
        "recall(keys=128, values=3, questions=9, form=joined)"})
    texts.push_back(text);
  return texts;
}

bool same(const TaskSample& a, const TaskSample& b) {
  return a.tokens == b.tokens && a.targets == b.targets && a.is_answer == b.is_answer &&
         a.place == b.place;
}

// Some lengths that the task has.
std::vector<int64_t> some_lengths(const Task& task) {
  const LengthSplit split = task.lengths();
  return {split.train.front(), split.train.back(), split.test.front(), split.test.back()};
}

BOOST_AUTO_TEST_CASE(the_list_has_every_task_once_and_in_order) {
  std::vector<std::string> names;
  for (const TaskRow& row : tasks()) names.push_back(row.name);
  const std::vector<std::string> want = {"parity",
                                         "first",
                                         "flip_flop",
                                         "passkey",
                                         "induction",
                                         "recall",
                                         "copy",
                                         "reverse_string",
                                         "duplicate_string",
                                         "odds_first",
                                         "bucket_sort",
                                         "missing_duplicate_string",
                                         "parity_check",
                                         "even_pairs",
                                         "cycle_navigation",
                                         "modular_arithmetic"};
  BOOST_TEST(names == want, boost::test_tools::per_element());
  for (const TaskRow& row : tasks()) {
    for (const std::string& said : {tasks_text(), tasks_markdown()}) {
      BOOST_TEST(said.find(row.name) != std::string::npos, row.name);
      BOOST_TEST(said.find(row.source) != std::string::npos, row.name);
      for (const TaskArgument& argument : row.arguments)
        BOOST_TEST(said.find(argument.name + '=' + argument.fallback) != std::string::npos,
                   row.name << ' ' << argument.name);
    }
  }
  BOOST_TEST(tasks_text().find("parity: n bits, SEP, their sum mod 2\n    length: bits; train 1 .. "
                               "20; test 21, 25 .. 57\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_canonical_text_makes_the_same_task) {
  const std::pair<const char*, const char*> texts[] = {
      {" parity ", "parity(form=plain, zeros=all)"},
      {"parity( zeros = 007 ,form=padded )", "parity(form=padded, zeros=7, width=64)"},
      {"flip_flop", "flip_flop(form=mixed, p_i=0.8, loss=clean)"},
      {"flip_flop(p_i=[.9,0.980, 1e-1])",
       "flip_flop(form=mixed, p_i=[0.9, 0.98, 0.1], loss=clean)"},
      {"flip_flop(p_i=[0.5])", "flip_flop(form=mixed, p_i=0.5, loss=clean)"},
      {"flip_flop(form=drift)", "flip_flop(form=drift, loss=clean)"},
      {"copy(eos=token)", "copy(alphabet=2, eos=token)"},
      {"bucket_sort()", "bucket_sort"},
      {"recall(values=3)", "recall(keys=128, values=3, questions=1, form=separate)"},
  };
  for (const auto& [text, canonical] : texts) BOOST_TEST(make_task(text)->canonical() == canonical);
  for (const std::string& text : all_forms()) {
    const auto task = make_task(text), again = make_task(task->canonical());
    BOOST_TEST(again->canonical() == task->canonical());
    for (const int64_t length : some_lengths(*task))
      BOOST_TEST(same(task->sample(3, "train", length, 5), again->sample(3, "train", length, 5)),
                 text);
  }
}

BOOST_AUTO_TEST_CASE(a_sample_is_well_formed_and_depends_on_its_arguments_alone) {
  for (const std::string& text : all_forms()) {
    const auto task = make_task(text);
    const auto n_vocab = static_cast<int64_t>(task->vocabulary().size());
    const std::vector<std::string> vocabulary = task->vocabulary();
    BOOST_TEST(std::set<std::string>(vocabulary.begin(), vocabulary.end()).size() ==
               vocabulary.size());
    for (const char* split : {"train", "test"}) {
      for (const int64_t length : some_lengths(*task)) {
        for (const int64_t index : {0, 1, 1000}) {
          const TaskSample sample = task->sample(7, split, length, index);
          const auto n = static_cast<size_t>(task->tokens_of(length));
          BOOST_TEST_REQUIRE(sample.tokens.size() == n, text);
          BOOST_TEST_REQUIRE(sample.targets.size() == n);
          BOOST_TEST_REQUIRE(sample.is_answer.size() == n);
          BOOST_TEST(sample.is_answer[0] == 0);
          BOOST_TEST(std::count(sample.is_answer.begin(), sample.is_answer.end(), 1) > 0);
          for (const std::vector<int32_t>& ids : {sample.tokens, sample.targets})
            for (const int32_t id : ids) BOOST_TEST((id >= 0 && id < n_vocab));
          BOOST_TEST(sample.place < static_cast<int64_t>(n));
          BOOST_TEST((sample.targets == sample.tokens) ==
                     (task->canonical().find("form=prefix") == std::string::npos));
          task->sample(8, split, length, index + 1);
          BOOST_TEST(same(task->sample(7, split, length, index), sample));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(seed_split_and_index_give_other_samples) {
  for (const std::string& text : all_forms()) {
    const auto task = make_task(text);
    const int64_t length = task->lengths().test.back();
    std::set<std::vector<int32_t>> train, test;
    for (int64_t index = 0; index < 20; ++index)
      for (const uint64_t seed : {uint64_t{0}, uint64_t{1}}) {
        train.insert(task->sample(seed, "train", length, index).tokens);
        test.insert(task->sample(seed, "test", length, index).tokens);
      }
    const size_t n_different =
        text.find("zeros") == text.npos ? 40 : 15;  // few strings have 0 zeros
    // with few symbols two of 40 may be equal
    BOOST_TEST(test.size() >= 38, text);
    BOOST_TEST(train.size() >= n_different - 2, text);
    std::vector<std::vector<int32_t>> both;
    std::set_intersection(train.begin(), train.end(), test.begin(), test.end(),
                          std::back_inserter(both));
    BOOST_TEST(both.size() <= 1, text);
  }
}

BOOST_AUTO_TEST_CASE(default_lengths_are_those_of_the_small_split) {
  const LengthSplit small = make_task("copy")->lengths();
  BOOST_TEST(small.train.size() == 20);
  BOOST_TEST(small.train.front() == 1);
  BOOST_TEST(small.train.back() == 20);
  BOOST_TEST(small.test == std::vector<int64_t>({21, 25, 29, 33, 37, 41, 45, 49, 53, 57}),
             boost::test_tools::per_element());
  BOOST_TEST(small.n_test == 128);
  BOOST_TEST(make_task("passkey")->lengths().train.front() == 16);
  BOOST_TEST(make_task("passkey")->lengths().train.back() == 64);
  BOOST_TEST(make_task("passkey")->lengths().n_test == 200);
  BOOST_TEST(make_task("flip_flop(form=drift)")->lengths().test.front() == 834);
  BOOST_TEST(make_task("parity(form=padded, width=30)")->lengths().test.back() == 29);
  BOOST_TEST(make_task("recall(keys=16)")->lengths().test.back() == 16);
  for (const std::string& text : all_forms())
    for (const int64_t length : some_lengths(*make_task(text)))
      BOOST_TEST(make_task(text)->tokens_of(length) > 1);
}

BOOST_AUTO_TEST_CASE(a_text_that_is_no_task_is_refused) {
  const std::pair<const char*, const char*> texts[] = {
      {"", "expected a task out of parity, first, flip_flop, "},
      {"partiy", "got 'partiy'; did you mean 'parity'?"},
      {"parity(", "expected ')' at the end, got 'parity('"},
      {"parity(form=plain) x", "expected ')' at the end, got 'parity(form=plain) x'"},
      {"parity(plain)", "parity: expected OPTION=VALUE, got 'plain'"},
      {"parity(form=plain,)", "parity: expected OPTION=VALUE, got ''"},
      {"parity(frm=plain)",
       "parity: expected an option out of form, zeros, width, got 'frm'; did you mean 'form'?"},
      {"bucket_sort(n=3)", "bucket_sort: expected no options, got 'n'"},
      {"parity(form=plain, form=plain)", "parity: expected 'form' once, got it twice"},
      {"parity(form=prefx)",
       "parity: form: expected plain, prefix, scratchpad or padded, got 'prefx'; did you mean "
       "'prefix'?"},
      {"parity(width=5)",
       "parity: expected no 'width', which parity(form=plain, zeros=all) does not use, got "
       "width=5"},
      {"parity(zeros=-1)",
       "parity: zeros: expected all or a whole number in 0 ... 1000000, got '-1'"},
      {"parity(zeros=1.5)", "got '1.5'"},
      {"parity(form=padded, width=0)",
       "parity: width: expected a whole number in 1 ... 100000, got '0'"},
      {"copy(alphabet=1)", "copy: alphabet: expected a whole number in 2 ... 65536, got '1'"},
      {"copy(alphabet=99999999999999999999)", "got '99999999999999999999'"},
      {"copy(eos=yes)", "copy: eos: expected none or token, got 'yes'"},
      {"odds_first(order=odd)", "odds_first: order: expected odd_first or even_first, got 'odd'"},
      {"flip_flop(p_i=1.1)",
       "flip_flop: p_i: expected a number in 0 ... 1 or a list of them, such as [0.9, 0.1], got "
       "'1.1'"},
      {"flip_flop(p_i=nan)", "got 'nan'"},
      {"flip_flop(p_i=[])", "got '[]'"},
      {"flip_flop(p_i=[0.5, -0.1])", "got '[0.5, -0.1]'"},
      {"flip_flop(p_i=[0.5, [0.5]])", "got '[0.5, [0.5]]'"},
      {"flip_flop(form=drift, p_i=0.5)",
       "flip_flop: expected no 'p_i', which flip_flop(form=drift, loss=clean) does not use, got "
       "p_i=0.5"},
      {"recall(keys=0)", "recall: keys: expected a whole number in 1 ... 1000000, got '0'"},
      {"recall(values=1)", "recall: values: expected a whole number in 2 ... 1000000, got '1'"},
      {"recall(keys=1001, values=1000, form=joined)",
       "recall: form=joined: expected keys times values up to 1000000, got 1001 times 1000"},
  };
  for (const auto& [text, part] : texts)
    BOOST_CHECK_EXCEPTION(make_task(text), ConfigError, says("[task] bad_argument: ", part));
}

BOOST_AUTO_TEST_CASE(a_sample_that_does_not_exist_is_refused) {
  const struct {
    const char *task, *message;
    int64_t length;
  } cases[] = {
      {"copy", "copy(alphabet=2, eos=none): expected a length in 1 ... 1000000, got 0", 0},
      {"first", "first: expected a length in 1 ... 1000000, got -3", -3},
      {"parity(form=padded)",
       "parity(form=padded, zeros=all, width=64): expected a length in 1 ... 64, got 65", 65},
      {"flip_flop",
       "flip_flop(form=mixed, p_i=0.8, loss=clean): expected an even length in 4 ... 1000000, got "
       "7",
       7},
      {"flip_flop", "expected an even length in 4 ... 1000000, got 2", 2},
      {"flip_flop(form=drift)", "expected an even length in 20 ... 1000000, got 18", 18},
      {"passkey", "passkey: expected a length in 8 ... 1000000, got 7", 7},
      {"recall",
       "recall(keys=128, values=128, questions=1, form=separate): expected a length in 1 ... 128, "
       "got 129",
       129},
      {"copy", "expected a length in 1 ... 1000000, got 1000001", 1'000'001},
  };
  for (const auto& c : cases) {
    const auto task = make_task(c.task);
    BOOST_CHECK_EXCEPTION(task->sample(0, "test", c.length, 0), ConfigError,
                          says("[task] bad_argument: ", c.message));
    BOOST_CHECK_EXCEPTION(task->tokens_of(c.length), ConfigError, says(c.message));
  }
  const auto task = make_task("bucket_sort");
  BOOST_CHECK_EXCEPTION(task->sample(0, "tets", 3, 0), ConfigError,
                        says_exactly("[task] bad_argument: bucket_sort: expected the split train "
                                     "or test, got 'tets'; did you mean 'test'?"));
  BOOST_CHECK_EXCEPTION(
      task->sample(0, "test", 3, -1), ConfigError,
      says_exactly(
          "[task] bad_argument: bucket_sort: expected a sample of index 0 or more, got -1"));
}

// The answer is the token at its source, which stands before it.
BOOST_AUTO_TEST_CASE(a_source_is_the_token_that_an_answer_repeats) {
  std::vector<std::string> with_sources;
  for (const TaskRow& row : tasks()) {
    const auto task = make_task(row.name);
    bool has_sources = false;
    const LengthSplit split = task->lengths();
    for (int64_t index = 0; index < 10; ++index) {
      const TaskSample sample = task->sample(3, "test", split.train.back(), index);
      BOOST_TEST_REQUIRE(sample.sources.size() == sample.tokens.size());
      for (size_t t = 0; t < sample.tokens.size(); ++t) {
        const int32_t source = sample.sources[t];
        if (source < 0) continue;
        has_sources = true;
        BOOST_TEST(sample.is_answer[t] == 1, row.name);
        BOOST_TEST(source < static_cast<int32_t>(t), row.name);
        BOOST_TEST(sample.targets[t] == sample.tokens[static_cast<size_t>(source)], row.name);
      }
    }
    if (has_sources) with_sources.push_back(row.name);
  }
  BOOST_TEST(with_sources == (std::vector<std::string>{"first", "flip_flop", "passkey", "induction",
                                                       "recall", "copy", "reverse_string",
                                                       "duplicate_string", "odds_first"}),
             boost::test_tools::per_element());
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
