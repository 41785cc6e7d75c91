#include <boost/test/unit_test.hpp>
#include <regex>
#include <sstream>

#include "apps/cli/option.h"
#include "apps/run/resolved_config.h"
#include "engine/base/error.h"
#include "tests/support/messages.h"
#include "tests/support/on_cuda.h"

BOOST_AUTO_TEST_SUITE(test_run_config)  // ctest: on_cuda

using namespace farfield;
using namespace farfield::run;

namespace {
template <class F>
ResolvedConfig resolved(F change) {
  RunConfig config;
  change(config);
  return resolve(config);
}
// Of all options of a run, as --help has them.
std::vector<std::string> all_keys() {
  RunConfig config;
  cli::Options options("train", "");
  add_options(options, config);
  std::ostringstream help;
  options.print_help(help);
  std::vector<std::string> keys;
  std::istringstream lines(help.str());
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("  --")) keys.push_back(line.substr(4, line.find(' ', 4) - 4));
  return keys;
}
}  // namespace

BOOST_AUTO_TEST_CASE(what_is_not_given_comes_from_the_preset) {
  const ResolvedConfig c = resolved([](RunConfig& r) { r.preset = "tiny"; });
  const Preset& tiny = find_preset("tiny");
  BOOST_TEST(c.model.n_layer == tiny.model.n_layer);
  BOOST_TEST(c.model.d_ff == tiny.model.d_ff);
  BOOST_TEST(c.batch == tiny.train.batch_size);
  BOOST_TEST(c.lr == tiny.train.peak_lr);
  BOOST_TEST(c.steps == tiny.train.steps);
  const ResolvedConfig wide = resolved([](RunConfig& r) { r.d_model = 32; });
  BOOST_TEST(wide.model.d_ff == 128);
}

BOOST_AUTO_TEST_CASE(a_width_whose_multiple_has_no_number_is_refused_as_a_width) {
  for (const int64_t width : {INT64_MIN, INT64_MAX})
    BOOST_CHECK_EXCEPTION(resolved([&](RunConfig& r) { r.d_model = width; }), ConfigError,
                          says("expected d_model from 1 to ", "got " + std::to_string(width)));
}

BOOST_AUTO_TEST_CASE(the_encoding_is_brought_into_its_canonical_form) {
  const ResolvedConfig a = resolved([](RunConfig& r) { r.posenc = "window( 5 )+rope"; });
  const ResolvedConfig b = resolved([](RunConfig& r) { r.posenc = "rope + window(w=5)"; });
  BOOST_TEST(a.posenc() == b.posenc());
}

BOOST_AUTO_TEST_CASE(log_n_is_unclipped_where_a_model_is_trained_with_it) {
  const ResolvedConfig trained = resolved([](RunConfig& r) { r.posenc = "rope + log_n"; });
  BOOST_TEST(trained.posenc().find("mode=unclipped") != std::string::npos);
  const auto changed = [](const ResolvedConfig& run) {
    return canonical_posenc("rope + log_n + window(9)", run);
  };
  BOOST_TEST(changed(trained).find("mode=unclipped") != std::string::npos);
  const ResolvedConfig plain = resolved([](RunConfig& r) { r.posenc = "rope"; });
  BOOST_TEST(changed(plain).find("mode=clipped") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(words_of_elsewhere_are_suggested_here) {
  const auto refused = [](const auto& change, const std::string& message) {
    BOOST_CHECK_EXCEPTION(resolved(change), ConfigError, says(message));
  };
  refused([](RunConfig& r) { r.posenc = "ROPE"; }, "got 'ROPE'; did you mean 'rope'?");
  refused([](RunConfig& r) { r.posenc = "yarn(2)"; }, "got 'yarn'; did you mean 'rope_yarn'?");
  refused([](RunConfig& r) { r.precision = "bfloat16"; }, "'bfloat16'; did you mean 'bf16'?");
  refused([](RunConfig& r) { r.device = "gpu"; }, "got 'gpu'; did you mean 'cuda'?");
  refused([](RunConfig& r) { r.preset = "Smoke"; }, "got 'Smoke'; did you mean 'smoke'?");
}

BOOST_AUTO_TEST_CASE(settings_read_back_as_the_same_config) {
  const ResolvedConfig c = resolved([](RunConfig& r) {
    r.posenc = "rope + window(5)";
    r.lr = 1.0 / 3;
    r.data = {"corpora/a b"};
    r.checkpoint_activations = true;
  });
  const Settings& settings = c.settings;
  const RunConfig back = to_run_config("x", settings);
  BOOST_CHECK(to_settings(back) == settings);
  BOOST_TEST(*back.lr == c.lr);
  BOOST_TEST(back.checkpoint_activations);
}

BOOST_AUTO_TEST_CASE(only_what_changes_the_weights_belongs_to_the_identity) {
  const Settings a = identity(resolved([](RunConfig&) {}).settings);
  const Settings same = identity(resolved([](RunConfig& r) {
                                   r.threads = 7;
                                   r.log_every = 3;
                                   r.keep = 9;
                                   r.data = {"elsewhere"};
                                   r.nonfinite = "skip";
                                   r.cuda_graph = "off";
                                 }).settings);
  BOOST_CHECK(a == same);
  const Settings other = identity(resolved([](RunConfig& r) { r.seed = 2; }).settings);
  BOOST_TEST(first_difference(a, other) == "seed");
  BOOST_CHECK(a == identity(resolved([](RunConfig& r) { r.tune = "off"; }).settings));
}

BOOST_AUTO_TEST_CASE(a_run_from_before_an_option_has_its_default) {
  const Settings now = resolved([](RunConfig&) {}).settings;
  BOOST_TEST(value_of(now, "hidden-dropout") == "0");
  const Settings before = without(now, {"hidden-dropout"});
  BOOST_CHECK(identity(before) == identity(now));
  const Settings dropping = resolved([](RunConfig& r) { r.hidden_dropout = 0.25; }).settings;
  BOOST_TEST(first_difference(identity(before), identity(dropping)) == "hidden-dropout");
  BOOST_TEST(resolve(to_run_config("x", dropping)).model.hidden_dropout == 0.25);
}

BOOST_AUTO_TEST_CASE(what_is_younger_than_a_run_is_no_part_of_it_unless_it_is_not_as_usual) {
  const ResolvedConfig plain = resolved([](RunConfig&) {});
  BOOST_CHECK((plain.optimizer == OptimizerKind::adamw));
  BOOST_CHECK((plain.schedule == Schedule::Form::neox));
  BOOST_TEST(plain.lr_start == 0);
  for (const char* key : {"optimizer", "momentum", "schedule", "lr-start", "lr-end", "cutoffs",
                          "attention-dropout", "activation-dropout", "tail-dropout", "logits"})
    for (const auto& item : plain.settings) BOOST_TEST(item.first != key);
  const ResolvedConfig said = resolved([](RunConfig& r) {
    r.optimizer = "adamw";
    r.schedule = "neox";
    r.lr_start = 0;
    r.cutoffs = "none";
    r.activation_dropout = 0;
    r.logits = "fp32";
  });
  BOOST_CHECK(said.settings == plain.settings);
  const ResolvedConfig other = resolved([](RunConfig& r) {
    r.optimizer = "nag";
    r.momentum = 0.9;
    r.schedule = "fairseq";
    r.lr_end = 1e-4;
  });
  BOOST_TEST(first_difference(identity(plain.settings), identity(other.settings)) == "lr-end");
  const ResolvedConfig again = resolve(to_run_config("x", other.settings));
  BOOST_CHECK(again.settings == other.settings);
  BOOST_CHECK((again.optimizer == OptimizerKind::nag));
  BOOST_CHECK((again.schedule == Schedule::Form::fairseq));
  BOOST_TEST(again.momentum == 0.9);
  BOOST_TEST(again.lr_end == 1e-4);
  const auto rounded = [](const char* logits) {
    return resolved([logits](RunConfig& r) {
      r.precision = "bf16";
      r.logits = logits;
    });
  };
  BOOST_TEST(rounded("bf16").rounds_logits);
  BOOST_TEST(first_difference(identity(rounded("bf16").settings),
                              identity(rounded("fp32").settings)) == "logits");
  BOOST_TEST(resolve(to_run_config("x", rounded("bf16").settings)).rounds_logits);
}

BOOST_AUTO_TEST_CASE(baevskis_recipe_is_all_in_the_settings_and_any_of_it_can_be_otherwise) {
  const ResolvedConfig c = resolved([](RunConfig& r) { r.preset = "baevski-247m"; });
  BOOST_TEST(value_of(c.settings, "cutoffs") == "20000,60000");
  BOOST_TEST(value_of(c.settings, "optimizer") == "nag");
  BOOST_TEST(value_of(c.settings, "hidden-dropout") == "0.3");
  BOOST_TEST(value_of(c.settings, "tail-dropout") == "0.2");
  BOOST_CHECK(resolve(to_run_config("x", c.settings)).settings == c.settings);
  const ResolvedConfig other = resolved([](RunConfig& r) {
    r.preset = "baevski-247m";
    r.cutoffs = "none";
    r.optimizer = "adamw";
    r.hidden_dropout = 0;
    r.tail_dropout = 0;
  });
  BOOST_TEST(value_of(other.settings, "optimizer") == "adamw");
  BOOST_TEST(value_of(other.settings, "cutoffs") == "none");
  const ResolvedConfig again = resolve(to_run_config("x", other.settings));
  BOOST_CHECK(again.settings == other.settings);
  BOOST_TEST(!again.model.is_adaptive());
  BOOST_TEST(again.model.hidden_dropout == 0);
  BOOST_CHECK((again.optimizer == OptimizerKind::adamw));
  const ResolvedConfig small = resolved([](RunConfig& r) { r.cutoffs = "50,100"; });
  BOOST_TEST(small.model.cutoffs == std::vector<int64_t>({50, 100}));
  for (const char* bad : {"", "0", "5,5", "5,", ",5", "5;6", "5 ,6", "-1", "99999999999999999999"})
    BOOST_CHECK_EXCEPTION(resolved([&](RunConfig& r) { r.cutoffs = bad; }), ConfigError,
                          says("[config] --cutoffs: expected rising numbers"));
}

BOOST_AUTO_TEST_CASE(values_out_of_range_are_named) {
  const auto refuses = [](auto change, const char* text) {
    BOOST_CHECK_EXCEPTION(resolved(change), ConfigError, says(text));
  };
  refuses([](RunConfig& r) { r.preset = "minni"; }, "did you mean 'mini'?");
  refuses([](RunConfig& r) { r.steps = 0; }, "[config] --steps: expected at least 1, got 0");
  refuses([](RunConfig& r) { r.batch = 0; }, "--batch: expected at least 1");
  refuses([](RunConfig& r) { r.accumulate = 3; },
          "--accumulate: expected a divisor of the batch, 32, got 3");
  refuses([](RunConfig& r) { r.lr = -1; }, "--lr: expected a finite number >= 0, got -1");
  refuses([](RunConfig& r) { r.warmup = 0.6; }, "--warmup: expected a share from 0 to 0.5");
  refuses([](RunConfig& r) { r.lr_end = 1; },
          "--lr-end: expected a number from 0 to the value of --lr, got 1");
  refuses([](RunConfig& r) { r.lr_start = -1; }, "--lr-start: expected a number from 0");
  refuses([](RunConfig& r) { r.momentum = 0.5; }, "--momentum: expected --optimizer nag");
  refuses(
      [](RunConfig& r) {
        r.optimizer = "nag";
        r.momentum = 1;
      },
      "--momentum: expected a number from 0 to below 1, got 1");
  refuses([](RunConfig& r) { r.optimizer = "adam"; }, "--optimizer: expected one of adamw, nag");
  refuses([](RunConfig& r) { r.schedule = "linear"; }, "--schedule: expected one of neox, fairseq");
  refuses([](RunConfig& r) { r.hidden_dropout = 1; },
          "--hidden-dropout: expected a share from 0 to below 1, got 1");
  refuses([](RunConfig& r) { r.nonfinite = "rewnd"; }, "got 'rewnd'; did you mean 'rewind'?");
  refuses([](RunConfig& r) { r.cuda_graph = "on"; }, "--cuda-graph: expected one of auto, off");
  refuses([](RunConfig& r) { r.precision = "fp16"; }, "--precision: expected one of fp32, bf16");
  refuses([](RunConfig& r) { r.logits = "half"; }, "--logits: expected one of fp32, bf16");
  refuses([](RunConfig& r) { r.logits = "bf16"; },
          "--logits bf16: expected --precision bf16, got fp32");
  refuses(
      [](RunConfig& r) {
        r.precision = r.logits = "bf16";
        r.cutoffs = "4,9";
      },
      "--logits bf16: expected a model without cutoffs");
  refuses(
      [](RunConfig& r) {
        r.precision = r.logits = "bf16";
        r.tensor_parallel = 2;
      },
      "--logits bf16: expected --tensor-parallel 1, got 2");
  refuses([](RunConfig& r) { r.device = "tpu"; }, "tpu");
  refuses([](RunConfig& r) { r.posenc = "alibbi"; }, "did you mean 'alibi'?");
  refuses([](RunConfig& r) { r.posenc = "rope + rope"; }, "rope");
  // What acts in a test alone is tried before the training.
  refuses([](RunConfig& r) { r.posenc = "rerope(w=16) + window(8)"; },
          "expected a window of at least the 16 near tokens");
  refuses([](RunConfig& r) { r.posenc = "alibi + cape"; }, "cape");
  refuses([](RunConfig& r) { r.n_head = 3; }, "multiple of n_head");
}

BOOST_AUTO_TEST_CASE(a_name_is_one_line_of_text_and_no_part_of_the_run_s_identity) {
  const ResolvedConfig named = resolved([](RunConfig&r) { r.name = "my run # 2, v1.5 (π)"; }),
                       plain = resolved([](RunConfig&) {});
  BOOST_TEST(to_run_config("x", named.settings).name == named.name);
  BOOST_CHECK(identity(named.settings) == identity(plain.settings));
  BOOST_TEST(value_of(plain.settings, "name") == "");
  for (const std::string& bad :
       {std::string("two\nlines"), std::string(" a"), std::string("a "), std::string("\x1b[1m"),
        std::string("bad\xff"), std::string(81, 'a')})
    BOOST_CHECK_EXCEPTION(resolved([&](RunConfig& r) { r.name = bad; }), ConfigError,
                          says("[config] --name: expected at most 80 bytes of UTF-8 on one line"));
}

BOOST_AUTO_TEST_CASE(every_value_of_every_option_survives_a_runs_file_or_is_refused) {
  const std::vector<std::string> keys = all_keys();
  size_t n_text = 0;
  for (const std::string& key : keys) {
    for (const std::string& value :
         {std::string("a #b"), std::string(" a "), std::string("a\nsteps = 1"),
          std::string("\"a\\"), std::string("\0\xff\r", 3), std::string("#"), std::string("a,(b"),
          std::string("")}) {
      Settings given;
      try {
        given = to_settings(to_run_config("given", {{key, value}}));
      } catch (const IoError&) {  // no value of its type
        continue;
      }
      ++n_text;
      const Settings read = parse_settings("config.conf", config_text(given));
      BOOST_CHECK_MESSAGE(read == given, key << ": " << config_text(given));
      BOOST_CHECK_MESSAGE(to_settings(to_run_config("config.conf", read)) == given, key);
      const std::string kept = value_of(read, key);  // of a list without the blanks around values
      BOOST_CHECK_MESSAGE(kept == value || cli::split_list(kept) == cli::split_list(value),
                          key << ": " << config_text(given));
    }
  }
  BOOST_TEST(keys.size() > 30u);
  BOOST_TEST(n_text > 80u);
}

BOOST_AUTO_TEST_CASE(the_largest_numbers_are_taken_or_refused_without_overflow) {
  const std::regex negative("got -[0-9]");  // what an overflow would show
  for (const std::string& key : all_keys()) {
    for (const std::string number : {"9223372036854775807", "9007199254740992"}) {
      std::string said;
      try {
        resolve(to_run_config("x", {{key, number}}));
      } catch (const Error& error) {
        said = error.what();
      }
      BOOST_TEST(!std::regex_search(said, negative), key << ' ' << number << ": " << said);
    }
  }
  BOOST_CHECK_EXCEPTION(resolved([](RunConfig& r) { r.cutoffs = "9223372036854775807"; }),
                        ConfigError, says("expected rising numbers from 1 to 2147483646"));
  BOOST_CHECK_EXCEPTION(resolved([](RunConfig& r) { r.train_len = int64_t{1} << 53; }), ConfigError,
                        says("--train-len: expected at most 2147483647, got 9007199254740992"));
  BOOST_CHECK_EXCEPTION(resolved([](RunConfig& r) { r.batch = int64_t{1} << 53; }), ConfigError,
                        says("--batch: expected at most 1099511627776 tokens in a batch"));
}

BOOST_AUTO_TEST_CASE(what_is_wrong_in_a_runs_file_is_the_files_fault) {
  const Settings good = resolved([](RunConfig& r) { r.posenc = "alibi"; }).settings;
  BOOST_TEST(config_of_file("r/config.conf", good).posenc() == "alibi");
  const auto refuses = [&](const char* key, const char* value, const char* message) {
    Settings bad = good;
    for (auto& item : bad)
      if (item.first == key) item.second = value;
    BOOST_CHECK_EXCEPTION(
        config_of_file("r/config.conf", bad), IoError,
        says("[config] r/config.conf: the file was changed or is damaged: ", message));
  };
  refuses("steps", "0", "--steps: expected at least 1, got 0");
  refuses("steps", "1O", "steps: expected a whole number, got '1O'");
  refuses("posenc", "alibbi", "alibbi");
  refuses("device", "cpv", "expected cpu, cuda or cuda:N, got 'cpv'");
  refuses("device", "cuda:", "got 'cuda:'");
  Settings bad = good;
  bad.emplace_back("wings", "2");
  BOOST_CHECK_EXCEPTION(config_of_file("r/config.conf", bad), IoError,
                        says("r/config.conf: the file was", "unknown option 'wings'"));
  bad.back() = good.front();
  BOOST_CHECK_EXCEPTION(config_of_file("r/config.conf", bad), IoError, says("is given twice"));
  BOOST_CHECK_THROW(to_run_config("r/config.conf", bad), IoError);
#ifndef FARFIELD_HAS_CUDA
  if (test::is_on_cuda()) return;  // the emulated device is there
  bad = good;
  for (auto& item : bad)
    if (item.first == "device") item.second = "cuda:1";
  BOOST_CHECK_EXCEPTION(config_of_file("r/config.conf", bad), ConfigError, says("no CUDA"));
  BOOST_TEST(config_of_file("r/config.conf", bad, "cpu").device == Device{});
#endif
}

BOOST_AUTO_TEST_SUITE_END()
