// What the program eval makes of bad requests, bad data and cells that fail: codes and exit codes.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/run/checkpoint.h"
#include "engine/base/file.h"
#include "tests/apps/eval_program.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_eval_errors)

using namespace farfield;
using farfield::test::run_eval;
using farfield::test::Said;
using farfield::test::toy;
using farfield::test::trained_toy;
namespace fs = std::filesystem;

namespace {

const std::string& alibi() {
  static const std::string path = trained_toy("alibi", "alibi");
  return path;
}

std::vector<std::string> short_eval(const std::string& run, const std::string& lengths) {
  return {"--run", run, "--lengths", lengths, "--segments", "10", "--allow-fewer"};
}
std::vector<std::string> with(std::vector<std::string> words, std::vector<std::string> more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Writes the newest checkpoint of a run anew, with tensors that `change` has changed.
template <class F>
void alter(const std::string& run, const F& change) {
  const fs::path folder = fs::path(run) / "checkpoints";
  run::Checkpoint checkpoint = run::load_newest_checkpoint(folder);
  change(checkpoint.model);
  run::save_checkpoint(folder, checkpoint.state, {checkpoint.model.begin(), checkpoint.model.end()},
                       {checkpoint.optimizer.begin(), checkpoint.optimizer.end()}, {.last = 100});
}

void set(const std::string& run, const std::string& name, const std::vector<double>& values) {
  alter(run, [&](std::map<std::string, Tensor>& model) {
    Tensor& tensor = model.at("gpt_neox.position_bias." + name);
    tensor = Tensor::from(values, tensor.shape(), tensor.dtype());
  });
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_bad_request_begins_with_its_code_and_leaves_with_two) {
  const auto refused = [](const std::vector<std::string>& words, const std::string& begin) {
    const Said said = run_eval(words);
    BOOST_TEST(said.code == cli::kUsage);
    BOOST_TEST(said.err.rfind("eval: " + begin, 0) == 0u, said.err);
  };
  refused({}, "[eval] bad_argument: expected the folder of a run");
  refused({"--run", alibi(), "--protocol", "last-tokn"}, "[eval] bad_argument: --protocol: ");
  refused({"--run", alibi(), "--baseline", "masked@0"}, "[eval] bad_argument: --baseline: ");
  refused({"--run", alibi(), "--lengths", "1"}, "[eval:last-token] length_too_short: ");
  refused({"--run", alibi(), "--protocol", "sliding", "--lengths", "16", "--stride", "17"},
          "[eval:sliding] bad_stride: ");
  // What posenc refuses for every program has its code here, and nowhere else.
  refused({"--run", alibi(), "--posenc", "rope(rotary_pct=0.4)", "--drop-learned"},
          "[eval] bad_argument: posenc: rope(rotary_pct): expected an even number of rotated "
          "components, at least 2, got 3");
  refused({"--run", alibi(), "--posenc", "sandwich(bar_d=127)"},
          "[eval] bad_argument: posenc: sandwich(bar_d): expected an even number, got 127");
}

BOOST_AUTO_TEST_CASE(bad_requests_for_pass_keys_say_what_to_do) {
  const auto refused = [](const std::vector<std::string>& words, const std::string& said) {
    const Said got = run_eval(with({alibi(), "--protocol"}, words));
    BOOST_TEST(got.code == cli::kUsage);
    BOOST_TEST(has(got.err, said), got.err);
  };
  refused({"passkeys"}, "; did you mean 'passkey'?");
  refused({"needle"}, "; did you mean 'passkey'?");
  refused(
      {"passkey", "--garbage=-5"},
      "eval: [eval:passkey] bad_argument: expected garbage from 0 to 1000000 characters, got -5");
  refused({"passkey", "--garbage", "0,1.5"}, "--garbage: ");
  refused({"passkey", "--garbage", "many"}, "--garbage: ");
  refused({"passkey", "--passkey-prompts", "0"},
          "eval: [eval:passkey] bad_argument: expected passkey-prompts >= 1, got 0");
  refused({"passkey", "--baseline", "truncated@8"},
          "eval: [eval:passkey] bad_argument: expected a model to look inside");
}

BOOST_AUTO_TEST_CASE(lengths_with_blanks_and_paths_within_a_run_are_told_the_way_out) {
  const auto refused = [](const std::vector<std::string>& words, const std::string& said) {
    const Said got = run_eval(words);
    BOOST_TEST(has(got.err, said), got.err);
  };
  refused(
      {alibi(), "--lengths", "64", "128", "256"},
      "eval: [config] expected RUN, got '128'; values of --lengths are joined by commas: --lengths "
      "64,128,256\n");
  refused({alibi() + "/checkpoints/step-00000008"},
          "got a checkpoint of one; name the run and the step: " + alibi() + " --step 8\n");
  refused({alibi(), "--compare"},
          "unknown option '--compare'; it is a command: eval compare RUN...");
  refused({alibi(), "--prompt", "int main"}, "unknown option '--prompt'; see eval --help\n");
}

BOOST_AUTO_TEST_CASE(an_unfinished_run_is_measured_and_said_to_be_one) {
  const std::string run = toy().path("unfinished");
  {
    train::TrainingRun begun = train::TrainingRun::start(run::resolve(toy().config("alibi")), run);
    std::ostringstream nowhere;
    cli::Progress progress(nowhere, false);
    BOOST_TEST_REQUIRE(begun.go(progress, 4) == cli::kStopped);
  }
  const Said said = run_eval(short_eval(run, "16"));
  BOOST_TEST(said.code == cli::kDone);
  BOOST_TEST(has(said.err, run + ": unfinished: step 4 of 8\n"), said.err);
  const Said compared = run_eval({"compare", run, "--out", toy().path("of-unfinished")});
  BOOST_TEST(has(compared.err, run + ": unfinished: step 4 of 8\n"), compared.err);
  BOOST_TEST(!has(run_eval(short_eval(alibi(), "16")).err, ": unfinished: "));
  BOOST_TEST(!has(run_eval(with({"--step", "4"}, short_eval(run, "16"))).err, ": unfinished: "));
}

BOOST_AUTO_TEST_CASE(a_run_whose_path_is_not_utf8_is_measured_and_written) {
  const std::string run = toy().path("r\xe9sum\xe9");
  {
    train::TrainingRun begun = train::TrainingRun::start(run::resolve(toy().config("alibi")), run);
    std::ostringstream nowhere;
    cli::Progress progress(nowhere, false);
    BOOST_TEST_REQUIRE(begun.go(progress) == cli::kDone);
  }
  const Said said = run_eval(short_eval(run, "16"));
  BOOST_TEST(said.code == cli::kDone, said.err);
  BOOST_TEST(has(said.out, " ± "), said.out);
  const std::string text = read_file(fs::path(run) / "eval" / "last-token.json");
  const auto json = nlohmann::json::parse(text)["results"][0];
  BOOST_TEST(json["run"].get<std::string>().ends_with("r\xef\xbf\xbdsum\xef\xbf\xbd"));
  // And found again: nothing is measured twice.
  BOOST_TEST(!has(run_eval(short_eval(run, "16")).err, " tokens"));
}

BOOST_AUTO_TEST_CASE(json_of_all_protocols_is_all_that_stdout_holds) {
  const Said said = run_eval(
      with({"--json", "--protocol", "last-token,non-overlapping"}, short_eval(alibi(), "16,32")));
  BOOST_TEST(said.code == cli::kDone, said.err);
  const auto json = nlohmann::json::parse(said.out);
  BOOST_TEST_REQUIRE(json["results"].size() == 2u);
  BOOST_TEST(json["results"][0]["protocol"] == "last-token");
  BOOST_TEST(json["results"][1]["lengths"].size() == 2u);
  BOOST_TEST(has(said.err, "written: "), said.err);
  const Said quiet = run_eval(with({"--json", "--quiet"}, short_eval(alibi(), "16")));
  BOOST_TEST(quiet.err == "");
  BOOST_TEST(nlohmann::json::parse(quiet.out)["results"].size() == 1u);
}

BOOST_AUTO_TEST_CASE(more_positions_than_there_are_to_draw_from_are_a_bad_request) {
  const std::string run = trained_toy("rope + randomized(32)", "randomized");
  const Said said = run_eval(short_eval(run, "16,64"));
  BOOST_TEST(said.code == cli::kUsage);
  BOOST_TEST(has(said.err,
                 "eval: [eval:last-token] bad_argument: posenc: expected at most the 32 "
                 "tokens that randomized has positions for, got 63"),
             said.err);
  BOOST_TEST(run_eval(short_eval(run, "16,33")).code == cli::kDone);  // 32 inputs
}

BOOST_AUTO_TEST_CASE(a_length_beyond_a_learned_table_fails_its_cell_and_the_others_go_on) {
  const Said said = run_eval(short_eval(trained_toy("learned_abs", "learned"), "64,16"));
  BOOST_TEST(said.code == cli::kFailed);
  BOOST_TEST(!has(said.err, "eval: "), said.err);
  BOOST_TEST(has(said.out,
                 "at 64: [eval:last-token] position_out_of_range: posenc: expected "
                 "positions below the 16 rows of learned_abs"),
             said.out);
  BOOST_TEST(has(said.out, " ± "), said.out);  // the perplexity at 16
}

BOOST_AUTO_TEST_CASE(scores_that_are_not_finite_print_nan_and_the_table_goes_on) {
  const std::string run = trained_toy("alibi", "nan");
  alter(run, [](std::map<std::string, Tensor>& model) {
    Tensor& weight = model.at("gpt_neox.final_layer_norm.weight");
    weight = Tensor::full(weight.shape(), NAN);
  });
  const Said said = run_eval(with({"--run", run}, short_eval(alibi(), "16,32")));
  BOOST_TEST(said.code == cli::kFailed);
  BOOST_TEST(!has(said.err, "eval: "), said.err);
  BOOST_TEST(has(said.out, "] nonfinite_logits: expected finite scores for segment 0"), said.out);
  const std::string broken = said.out.substr(said.out.find("alibi (" + run));
  const std::string row = broken.substr(0, broken.find('\n'));
  BOOST_TEST(has(row, "nan"), row);
  BOOST_TEST(!has(row, "±"), row);
  const std::string whole = said.out.substr(said.out.find("alibi (" + alibi()));
  BOOST_TEST(has(whole.substr(0, whole.find('\n')), " ± "), whole);
}

BOOST_AUTO_TEST_CASE(an_id_that_the_model_has_no_row_for_is_bad_data) {
  const std::string run = trained_toy("alibi", "small_vocabulary");
  alter(run, [](std::map<std::string, Tensor>& model) {
    const int64_t n_vocab = model.at("embed_out.weight").dim(0);
    for (auto& item : model)
      if (item.second.dim(0) == n_vocab)
        item.second = item.second.view({64, item.second.dim(1)}).clone();
  });
  const Said said = run_eval(short_eval(run, "16"));
  BOOST_TEST(said.code == cli::kBadData);
  BOOST_TEST(has(said.err, "eval: [eval:last-token] bad_token: expected ids below 64, got "),
             said.err);
  BOOST_TEST(has(said.err, " at token "), said.err);
}

BOOST_AUTO_TEST_CASE(a_kernel_parameter_out_of_its_bounds_is_bad_data) {
  const std::string run = trained_toy("kerple_power", "kerple");
  const std::string file = run + "/checkpoints/step-00000008/model.safetensors";
  BOOST_TEST(run_eval(short_eval(run, "16")).code == cli::kDone);
  const auto refused = [&](const std::string& name, const std::vector<double>& values,
                           const std::string& what) {
    set(run, name, values);
    for (const char* protocol : {"last-token", "effective-length"}) {
      const Said said = run_eval(with(short_eval(run, "16"), {"--protocol", protocol}));
      BOOST_TEST(said.code == cli::kBadData);
      BOOST_TEST(said.err.rfind("eval: [checkpoint] bad_parameter: " + file + ": expected " + what,
                                0) == 0u,
                 said.err);
    }
    set(run, name, {0.5, 0.5});
  };
  refused("kerple_power.r1", {0.5, -3}, "kerple_power.r1 of head 2 from 0.01 on, got -3;");
  refused("kerple_power.r1", {0.009, 1}, "kerple_power.r1 of head 1 from 0.01 on, got 0.009;");
  refused("kerple_power.r2", {2.5, 1}, "kerple_power.r2 of head 1 from 0.01 to 2, got 2.5;");
  refused("kerple_power.r2", {1, NAN}, "kerple_power.r2 of head 2 from 0.01 to 2, got nan;");
  refused("kerple_power.r1", {INFINITY, 1}, "kerple_power.r1 of head 1 from 0.01 on, got inf;");
  // The bounds themselves are where training leaves values.
  set(run, "kerple_power.r1", {0.01, 100});
  set(run, "kerple_power.r2", {0.01, 2});
  BOOST_TEST(run_eval(with(short_eval(run, "16"), {"--again"})).code == cli::kDone);
}

BOOST_AUTO_TEST_CASE(what_a_constraint_leaves_out_of_the_bounds_may_be_there) {
  const std::string free = trained_toy("kerple_log(constraint=straight_through)", "straight");
  set(free, "kerple_log.r1", {-3, 0.5});
  BOOST_TEST(run_eval(short_eval(free, "16")).code == cli::kDone);
  // Where training would not have left it there, it may not be used.
  BOOST_TEST(run_eval(with(short_eval(free, "16"), {"--posenc", "kerple_log"})).code ==
             cli::kBadData);
  set(free, "kerple_log.r1", {NAN, 0.5});
  const Said said = run_eval(short_eval(free, "16"));
  BOOST_TEST(said.code == cli::kBadData);
  BOOST_TEST(has(said.err, "expected kerple_log.r1 of head 1 finite, got nan"), said.err);

  const std::string smooth = trained_toy("kerple_log(constraint=softplus)", "smooth");
  set(smooth, "kerple_log.r1_raw", {-3, 0.5});
  BOOST_TEST(run_eval(short_eval(smooth, "16")).code == cli::kDone);
}

BOOST_AUTO_TEST_CASE(training_refuses_what_eval_refuses) {
  const std::string run = trained_toy("kerple_log", "resumed");
  fs::remove_all(run + "/checkpoints/step-00000008");
  set(run, "kerple_log.r1", {-3, 0.5});
  BOOST_TEST(run_eval(short_eval(run, "16")).code == cli::kBadData);
  BOOST_CHECK_EXCEPTION(train::TrainingRun::resume(run::resolve(toy().config("kerple_log")), run),
                        IoError,
                        says("[checkpoint] bad_parameter: ", "expected kerple_log.r1 of head 1"));
}

BOOST_AUTO_TEST_CASE(a_time_limit_fails_its_cells) {
  const Said said = run_eval(
      {"--run", alibi(), "--protocol", "speed", "--lengths", "16", "--time-limit", "1e-9"});
  BOOST_TEST(said.code == cli::kFailed);
  BOOST_TEST(!has(said.err, "eval: "), said.err);
  BOOST_TEST(has(said.out, "[eval:speed] TIMEOUT: expected 200 timed steps"), said.out);
}

BOOST_AUTO_TEST_SUITE_END()
