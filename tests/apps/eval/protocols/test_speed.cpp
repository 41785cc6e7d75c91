#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cmath>
#include <map>

#include "apps/analysis/timing.h"
#include "apps/eval/batch_memory.h"
#include "apps/eval/cells.h"
#include "apps/eval/protocols/speed.h"
#include "apps/eval/results.h"
#include "apps/eval/scorer.h"
#include "apps/train/timed_step.h"
#include "engine/base/parallel.h"
#include "tests/apps/eval/protocols/toy_models.h"
#include "tests/layers/tiny_model.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield::eval {
BOOST_AUTO_TEST_SUITE(test_speed)
namespace {

struct Asked {
  CommonOptions common;
  SpeedOptions own;
};

Asked quick() {
  Asked asked;
  asked.common.lengths = {8, 16};
  asked.common.batch_tokens = 64;
  asked.own.warmup = 2;
  asked.own.timed_steps = 20;
  asked.own.timed_passes = 20;
  return asked;
}

Subject subject(const Transformer& model) {
  Subject s = subject_of(model, {}, test::toy_text(100), 5);
  s.model.step.batch_size = 4;
  return s;
}

double quantity(const LengthResult& cell, const std::string& name) {
  for (const Quantity& q : cell.quantities)
    if (q.name == name) return q.value;
  return std::nan("");
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

BOOST_AUTO_TEST_CASE(training_comes_first_and_then_each_length) {
  const Transformer model(tiny_config("kerple_log"), 1);
  const Asked asked = quick();
  const ProtocolResult got = speed(subject(model), asked.common, asked.own);
  BOOST_TEST_REQUIRE(got.lengths.size() == 3u);
  const LengthResult& training = got.lengths[0];
  BOOST_TEST(training.length == 0);
  BOOST_TEST(training.failure == "");
  const double step_s = quantity(training, "train_step_s");
  BOOST_TEST(step_s > 0);
  BOOST_TEST(quantity(training, "train_step_s_p10") <= step_s);
  BOOST_TEST(quantity(training, "train_step_s_p90") >= step_s);
  BOOST_TEST(quantity(training, "train_tokens_per_s") == 4 * 9 / step_s,
             boost::test_tools::tolerance(1e-12));
  BOOST_TEST(quantity(training, "train_resident_mib") >= 0);
  for (const size_t at : {1u, 2u}) {
    BOOST_TEST(got.lengths[at].length == asked.common.lengths[at - 1]);
    BOOST_TEST(quantity(got.lengths[at], "infer_tokens_per_s") > 0);
    const double pass_s = quantity(got.lengths[at], "infer_pass_s");
    BOOST_TEST(pass_s > 0);
    BOOST_TEST(quantity(got.lengths[at], "infer_pass_s_p10") <= pass_s);
    BOOST_TEST(quantity(got.lengths[at], "infer_pass_s_p90") >= pass_s);
    BOOST_TEST(quantity(got.lengths[at], "infer_tokens_per_s") == 64 / pass_s,
               boost::test_tools::tolerance(1e-12));
    BOOST_TEST(quantity(got.lengths[at], "infer_peak_mib") > 0);
    BOOST_TEST(quantity(got.lengths[at], "infer_resident_mib") > 0);
    BOOST_TEST(std::isnan(quantity(got.lengths[at], "train_step_s")));
  }
}

BOOST_AUTO_TEST_CASE(the_model_that_is_measured_stays_as_it_is) {
  const Transformer model(tiny_config("kerple_log"), 1);
  std::vector<std::vector<double>> before;
  for (const Parameter& p : model.parameters()) before.push_back(p.value.to_vector());
  const Asked asked = quick();
  speed(subject(model), asked.common, asked.own);
  size_t i = 0;
  for (const Parameter& p : model.parameters()) BOOST_CHECK(p.value.to_vector() == before[i++]);
}

BOOST_AUTO_TEST_CASE(every_step_is_run_warm_up_included) {
  const Transformer model(tiny_config("alibi"), 1);
  const Asked asked = quick();
  Subject s = subject(model);
  int64_t n_token = 0;
  s.session.watch = [&](int64_t n) { n_token += n; };
  speed(s, asked.common, asked.own);
  BOOST_TEST(n_token == (2 + 20) * 4 * 9);
}

BOOST_AUTO_TEST_CASE(forward_passes_are_warmed_up_and_counted_like_steps) {
  const Transformer model(tiny_config("alibi"), 1);
  Asked asked = quick();
  asked.own.warmup = 7;
  asked.own.timed_passes = 19;
  asked.own.clock = StepClock{machine_clock().now_s, 0};  // the stand-in takes no time
  Subject s = subject(model);
  std::map<int64_t, int> n_pass;  // by length
  s.model.scorer.score = [&](const Scorer::Ids& ids, const Scorer::Ids&, int64_t batch) {
    ++n_pass[static_cast<int64_t>(ids.size()) / batch];
    return std::vector<double>{};
  };
  const ProtocolResult got = speed(s, asked.common, asked.own);
  for (const int64_t length : asked.common.lengths) BOOST_TEST(n_pass[length] == 7 + 19);
  BOOST_TEST(std::isnan(quantity(got.lengths[1], "infer_pass_s_p10")));
  BOOST_TEST_REQUIRE(got.lengths[1].notes.size() == 1u);
  BOOST_TEST(got.lengths[1].notes[0] ==
             "no percentiles: they need at least 20 timed passes, got 19");
}

BOOST_AUTO_TEST_CASE(resident_memory_of_forward_passes_is_what_they_take_and_the_weights) {
  const Transformer model(tiny_config("alibi"), 1);
  int64_t weights = 0;
  for (const Parameter& p : model.parameters()) weights += p.value.size_bytes();
  Asked asked = quick();
  asked.common.lengths = {8};
  asked.own.timed_steps = 1;
  const auto resident_mib = [&](size_t taken) {
    Subject s = subject(model);
    s.model.scorer.score = [taken](const Scorer::Ids&, const Scorer::Ids&, int64_t) {
      const std::vector<char> touched(taken, 1);
      return std::vector<double>(1, touched.back());
    };
    return quantity(speed(s, asked.common, asked.own).lengths[1], "infer_resident_mib");
  };
  const double none = resident_mib(1), much = resident_mib(size_t{64} << 20);
  BOOST_TEST(none >= static_cast<double>(weights) / 1048576);
  BOOST_TEST(much - none > 60);
}

BOOST_AUTO_TEST_CASE(a_coarse_clock_times_blocks) {
  const Transformer model(tiny_config("alibi"), 1);
  Asked asked = quick();
  double time_s = 0;  // a pass takes 0.3 s, and the clock shows whole seconds
  asked.own.clock = StepClock{[&] { return std::floor(time_s); }, 1};
  Subject s = subject(model);
  s.session.watch = [&](int64_t) { time_s += 4; };  // a step
  s.model.scorer.score = [&](const Scorer::Ids&, const Scorer::Ids&, int64_t) {
    time_s += 0.3;
    return std::vector<double>{};
  };
  const ProtocolResult got = speed(s, asked.common, asked.own);
  BOOST_TEST(quantity(got.lengths[0], "train_step_s") == 4);
  const LengthResult& passes = got.lengths[1];
  // 100 s are 334 passes; blocks double.
  BOOST_TEST(quantity(passes, "infer_pass_s") == 0.3, boost::test_tools::tolerance(0.01));
  BOOST_TEST_REQUIRE(passes.notes.size() == 2u);
  BOOST_TEST(passes.notes[0] ==
             "passes timed in blocks of 512: the resolution of the clock is more than 1 % of one");
  BOOST_TEST(passes.notes[1] ==
             "no percentiles: they need at least 20 timed blocks of passes, got 1");
}

BOOST_AUTO_TEST_CASE(the_peak_of_training_holds_weights_moments_gradients_and_activations) {
  ModelConfig config = tiny_config("alibi");
  config.d_model = 64;
  config.d_ff = 256;
  config.vocab_size = 512;
  const Transformer model(config, 1);
  Asked asked = quick();
  const double small =
      quantity(speed(subject(model), asked.common, asked.own).lengths[0], "train_peak_mib");
  const auto weights = static_cast<double>(parameter_count(config)) * 4 / 1048576;
  BOOST_TEST(small > 4 * weights);
  asked.own.batch = 64;
  const double large =
      quantity(speed(subject(model), asked.common, asked.own).lengths[0], "train_peak_mib");
  BOOST_TEST(large > small + 1);
  // In pieces of four sequences activations are those of four.
  Subject s = subject(model);
  s.model.step.accumulate = 16;
  BOOST_TEST(quantity(speed(s, asked.common, asked.own).lengths[0], "train_peak_mib") <
             (small + large) / 2);
}

BOOST_AUTO_TEST_CASE(a_batch_comes_in_equal_pieces) {
  BOOST_CHECK_EXCEPTION(
      train::TimedStep(tiny_config("alibi"), train::StepShape{.batch_size = 4, .accumulate = 3},
                       DType::f32, {}),
      ConfigError, says("[train] expected a batch of sequences in equal pieces, got 4 in 3"));
}

BOOST_AUTO_TEST_CASE(fewer_than_twenty_timed_steps_have_no_percentiles) {
  const Transformer model(tiny_config("alibi"), 1);
  Asked asked = quick();
  asked.own.timed_steps = 19;
  const LengthResult got = speed(subject(model), asked.common, asked.own).lengths[0];
  BOOST_TEST(quantity(got, "train_step_s") > 0);
  BOOST_TEST(std::isnan(quantity(got, "train_step_s_p10")));
  BOOST_TEST(std::isnan(quantity(got, "train_step_s_p90")));
  BOOST_TEST_REQUIRE(got.notes.size() == 1u);
  BOOST_TEST(got.notes[0] == "no percentiles: they need at least 20 timed steps, got 19");
}

BOOST_AUTO_TEST_CASE(a_time_limit_ends_its_cell_and_keeps_the_others) {
  const Transformer model(tiny_config("alibi"), 1);
  Asked asked = quick();
  asked.own.time_limit = 1e-9;
  const ProtocolResult none = speed(subject(model), asked.common, asked.own);
  for (const LengthResult& cell : none.lengths) {
    BOOST_TEST(cell.failure == "TIMEOUT");
    BOOST_TEST(cell.quantities.empty());
  }
  BOOST_TEST(has(none.lengths[0].message,
                 "[eval:speed] TIMEOUT: expected 20 timed steps within 1e-09 s, got 0"));
  // Training ends in time, forward passes of which each takes the scorer's time do not.
  asked.own.time_limit = 3;
  Subject s = subject(model);
  s.model.scorer.score = [](const Scorer::Ids&, const Scorer::Ids&, int64_t) {
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(200)) {
    }
    return std::vector<double>{};
  };
  asked.own.timed_passes = 100;
  const ProtocolResult some = speed(s, asked.common, asked.own);
  BOOST_TEST(some.lengths[0].failure == "");
  BOOST_TEST(some.lengths[1].failure == "TIMEOUT");
  BOOST_TEST(has(some.lengths[1].message, "s in the middle"));
  // What was timed until then stays.
  BOOST_TEST(quantity(some.lengths[1], "infer_pass_s_partial") >= 0.2);
  BOOST_TEST(quantity(some.lengths[1], "infer_pass_s_partial") < 3);
  BOOST_TEST(quantity(some.lengths[1], "timed_passes") >= 1);
  BOOST_TEST(std::isnan(quantity(some.lengths[1], "infer_pass_s")));
  BOOST_TEST(some.lengths[2].quantities.empty());
  BOOST_TEST(some.lengths[2].failure == "TIMEOUT");
}

BOOST_AUTO_TEST_CASE(memory_that_does_not_suffice_is_a_value_of_its_length) {
  const Transformer model(tiny_config("alibi"), 1);
  Subject s = subject(model);
  s.model.scorer.score = [](const Scorer::Ids& ids, const Scorer::Ids&, int64_t batch) {
    if (static_cast<int64_t>(ids.size()) / batch > 8) throw std::bad_alloc();
    return std::vector<double>{};
  };
  const Asked asked = quick();
  const ProtocolResult got = speed(s, asked.common, asked.own);
  BOOST_TEST(got.lengths[0].failure == "");
  BOOST_TEST(got.lengths[1].failure == "");
  BOOST_TEST(got.lengths[2].failure == "OOM");
  BOOST_TEST(got.lengths[2].message == "[eval:speed] OOM: length 16");
}

BOOST_AUTO_TEST_CASE(a_time_limit_in_training_keeps_the_steps_that_were_timed) {
  const Transformer model(tiny_config("alibi"), 1);
  Asked asked = quick();
  asked.own.time_limit = 1;
  asked.own.timed_steps = 1000000;
  const LengthResult got = speed(subject(model), asked.common, asked.own).lengths[0];
  BOOST_TEST(got.failure == "TIMEOUT");
  BOOST_TEST(quantity(got, "train_step_s_partial") > 0);
  BOOST_TEST(quantity(got, "timed_steps") >= 1);
  BOOST_TEST(quantity(got, "timed_steps") < 1000000);
}

BOOST_AUTO_TEST_CASE(training_that_memory_does_not_suffice_for_names_its_length) {
  const Transformer model(tiny_config("alibi"), 1);
  const Asked asked = quick();
  for (const bool is_device : {false, true}) {
    Subject s = subject(model);
    s.session.watch = [is_device](int64_t) {
      if (is_device) fail<BackendError>("memory", "expected 4 GiB, got none");
      throw std::bad_alloc();
    };
    const ProtocolResult got = speed(s, asked.common, asked.own);
    BOOST_TEST(got.lengths[0].failure == "OOM");
    BOOST_TEST(has(got.lengths[0].message,
                   "[eval:speed] OOM: a training step of 4 sequences of length 9: "),
               got.lengths[0].message);
    BOOST_TEST(quantity(got.lengths[0], "oom_length") == 9);
    BOOST_TEST(got.lengths[1].failure == "");
  }
  Subject broken = subject(model);
  broken.session.watch = [](int64_t) { fail<BackendError>("gemm", "broken"); };
  BOOST_CHECK_THROW(speed(broken, asked.common, asked.own), BackendError);
}

BOOST_AUTO_TEST_CASE(kept_cells_of_another_machine_or_thread_count_do_not_count) {
  const Transformer model(tiny_config("alibi"), 1);
  const TempFolder folder;
  Subject s = subject(model);
  s.session.cells.emplace(folder.path(), run::Settings{{"model", "m"}}, CellFiles::Use());
  int64_t n_token = 0;
  s.session.watch = [&](int64_t n) { n_token += n; };
  const Asked asked = quick();
  const ProtocolResult first = speed(s, asked.common, asked.own);
  BOOST_TEST(n_token > 0);
  for (const char* part : {" machine=", " device=cpu", " threads="})
    BOOST_TEST(has(first.parameters, part), first.parameters);
  n_token = 0;
  speed(s, asked.common, asked.own);
  BOOST_TEST(n_token == 0);  // this machine's own
  const int threads = thread_count();
  set_thread_count(threads + 1);
  speed(s, asked.common, asked.own);
  set_thread_count(threads);
  BOOST_TEST(n_token > 0);
}

BOOST_AUTO_TEST_CASE(faster_is_relative_to_the_other_as_in_the_paper) {
  // KERPLE, table 4: 0.307 s against T5 0.340, rotary 0.332, power 0.321, ALiBi 0.302, sinusoidal
  // 0.298.
  BOOST_TEST(analysis::percent_faster(0.307, 0.340) == 9.7, boost::test_tools::tolerance(0.01));
  BOOST_TEST(analysis::percent_faster(0.307, 0.332) == 7.5, boost::test_tools::tolerance(0.01));
  BOOST_TEST(analysis::percent_faster(0.307, 0.321) == 4.4, boost::test_tools::tolerance(0.01));
  BOOST_TEST(analysis::percent_faster(0.307, 0.302) == -1.7, boost::test_tools::tolerance(0.03));
  BOOST_TEST(analysis::percent_faster(0.307, 0.298) == -3.0, boost::test_tools::tolerance(0.01));
}

BOOST_AUTO_TEST_CASE(several_runs_are_held_against_the_first) {
  const auto run = [](const std::string& posenc, double step_s) {
    RunResult r;
    r.posenc = r.trained_posenc = posenc;
    r.result.protocol = "speed";
    LengthResult cell;
    cell.quantities = {{"train_step_s", step_s}};
    r.result.lengths = {cell};
    return r;
  };
  const std::string table = results_table({run("t5", 0.34), run("kerple_log", 0.307)});
  BOOST_TEST(has(table, "ratio to t5"), table);
  BOOST_TEST(has(table, "0.9029"), table);
  BOOST_TEST(has(table, "9.7"), table);
  BOOST_TEST(!has(results_table({run("t5", 0.34)}), "ratio"));
}

BOOST_AUTO_TEST_CASE(quantiles_lie_between_neighbours) {
  analysis::Samples samples;
  for (const double value : {5.0, 1.0, 3.0, 2.0, 4.0}) samples.add(value);
  BOOST_TEST(samples.quantile(0) == 1);
  BOOST_TEST(samples.quantile(0.1) == 1.4);
  BOOST_TEST(samples.quantile(0.5) == samples.median());
  BOOST_TEST(samples.quantile(0.9) == 4.6);
  BOOST_TEST(samples.quantile(1) == 5);
}

BOOST_AUTO_TEST_CASE(bad_requests_begin_with_their_code) {
  const auto refused = [](auto change, const char* message) {
    Asked asked = quick();
    change(asked.own);
    BOOST_CHECK_EXCEPTION(check(asked.own), ConfigError, says(message));
  };
  refused([](SpeedOptions& o) { o.warmup = -1; },
          "[eval:speed] bad_argument: expected warmup >= 0, got -1");
  refused([](SpeedOptions& o) { o.timed_steps = 0; },
          "[eval:speed] bad_argument: expected timed-steps >= 1, got 0");
  refused([](SpeedOptions& o) { o.timed_passes = 0; },
          "[eval:speed] bad_argument: expected timed-passes >= 1, got 0");
  refused([](SpeedOptions& o) { o.batch = 0; },
          "[eval:speed] bad_argument: expected train-batch >= 1, got 0");
  refused([](SpeedOptions& o) { o.time_limit = -1; },
          "[eval:speed] bad_argument: expected time-limit >= 0, got -1");
  BOOST_CHECK_EXCEPTION(
      speed(test::subject(test::uniform_model(), test::toy_text(500)), quick().common, quick().own),
      ConfigError, says("[eval:speed] bad_argument: expected a model to look inside"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::eval
