// Runs with --tune on the emulated device, whose library proposes algorithms with different bits.

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "apps/run/load_run.h"
#include "apps/train/training_run.h"
#include "engine/base/error.h"
#include "tests/apps/toy_run.h"
#include "tests/apps/train/training_calls.h"
#include "tests/support/cuda/other_blas.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_tuned_products)  // ctest: emulated

using namespace farfield;
using namespace farfield::train;
using farfield::emulation::emulated_blas;
using farfield::test::bytes;
using farfield::test::go;
using farfield::test::metrics;
using farfield::test::OtherBlas;
using farfield::test::toy;
namespace fs = std::filesystem;

namespace {

const std::vector<double> kThirdIsFastest{3e6, 2e6, 1e6}, kSecondIsFastest{3e6, 1e6, 2e6};

// What may be changed of a configuration.
using Change = void (*)(run::RunConfig&);
void nothing(run::RunConfig&) {}
// Behind dropout gradients come without the sums of their columns. Of so many rows that their order
// shows.
void ask_for_dbias(run::RunConfig& config) {
  config.hidden_dropout = 0.1;
  config.batch = 48;
}

run::RunConfig config_of(const std::string& tune, Change change = nothing) {
  run::RunConfig config = toy().config();
  config.device = "cuda";
  config.precision = "bf16";
  config.steps = 6;
  config.tune = tune;
  change(config);
  return config;
}

// A run from its start to its end, or to the end of a step.
std::string train(const std::string& name, const std::string& tune,
                  std::optional<int64_t> stop_after = {}, std::string* said = nullptr,
                  Change change = nothing) {
  const std::string path = toy().path(name);
  TrainingRun run = TrainingRun::start(run::resolve(config_of(tune, change)), path);
  go(run, stop_after, said);
  return path;
}

std::string resume(const std::string& path, const std::string& tune, Change change = nothing) {
  TrainingRun run = TrainingRun::resume(run::resolve(config_of(tune, change)), path);
  std::string said;
  BOOST_TEST(go(run, {}, &said) == cli::kDone);
  return said;
}

bool are_same(const std::string& a, const std::string& b) {
  return bytes(a, 6, "model.safetensors") == bytes(b, 6, "model.safetensors") &&
         bytes(a, 6, "optimizer.safetensors") == bytes(b, 6, "optimizer.safetensors") &&
         metrics(a) == metrics(b);
}

std::string products_of(const std::string& run) { return run + "/products.json"; }

}  // namespace

BOOST_AUTO_TEST_CASE(a_tuned_run_has_its_algorithms_to_its_end) {
  const OtherBlas several(kThirdIsFastest);
  std::string said;
  const std::string tuned = train("tuned", "on", {}, &said);
  BOOST_TEST(said.find("[train] products: ") != std::string::npos, said);
  BOOST_TEST(said.find(" faster by another algorithm than the one that cuBLASLt 130002 "
                       "proposes first") != std::string::npos,
             said);
  BOOST_TEST(fs::exists(products_of(tuned)));
  BOOST_TEST(run::load_run(tuned, {.device = "cpu"}).config.tune.empty());

  const std::string halves = train("halves", "on", 3);
  several.propose(kSecondIsFastest);
  BOOST_TEST(resume(halves, "on").find("products: ") == std::string::npos);
  BOOST_TEST(are_same(halves, tuned));

  const std::string copied = train("copied", products_of(tuned));
  BOOST_TEST(are_same(copied, tuned));
  BOOST_TEST(read_file(products_of(copied)) == read_file(products_of(tuned)));

  const std::string other = train("other", "on"), usual = train("usual", "off");
  BOOST_TEST(!are_same(other, tuned));
  BOOST_TEST(!are_same(usual, tuned));
  BOOST_TEST(!fs::exists(products_of(usual)));
  several.as_before();
  BOOST_TEST(are_same(train("one", ""), usual));
}

BOOST_AUTO_TEST_CASE(a_run_keeps_how_dbias_is_made) {
  const OtherBlas several(kThirdIsFastest, /*sums_us=*/1e5);
  std::string said;
  const std::string whole = train("apart", "on", {}, &said, ask_for_dbias);
  BOOST_TEST(said.find("ms instead of ") != std::string::npos, said);
  BOOST_TEST(said.find(" with a pass for it, kept for ") != std::string::npos, said);
  BOOST_TEST(read_file(products_of(whole)).find(std::string(128, '0')) != std::string::npos);
  const std::string halves = train("apart_halves", "on", 3, nullptr, ask_for_dbias);
  emulated_blas().sums_us = -1e5;
  resume(halves, "on", ask_for_dbias);
  BOOST_TEST(are_same(halves, whole));
  BOOST_TEST(!are_same(train("within", "on", {}, nullptr, ask_for_dbias), whole));
}

BOOST_AUTO_TEST_CASE(where_gradients_come_with_their_sums_no_product_makes_dbias) {
  const OtherBlas several(kThirdIsFastest);
  std::string said;
  const std::string path = train("with sums", "on", 1, &said);
  BOOST_TEST(said.find("dbias") == std::string::npos, said);
  BOOST_TEST(read_file(products_of(path)).find("dbias") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_run_says_that_its_products_do_not_repeat) {
  const OtherBlas only({1e6});
  emulated_blas().changing = 0;
  const std::string text = " other bits each time, by whichever algorithm: a run with them";
  std::string said;
  const auto says_so = [&] { return said.find(text) != std::string::npos; };
  const std::string path = train("changing", "on", 2, &said);
  BOOST_TEST(says_so(), said);
  train("changing too", products_of(path), 1, &said);
  BOOST_TEST(said.find("[train] products: of those in " + products_of(path)) != std::string::npos,
             said);
  BOOST_TEST(says_so(), said);
  said = resume(path, "on");
  BOOST_TEST(says_so(), said);
}

BOOST_AUTO_TEST_CASE(a_run_goes_on_with_its_own_choices_alone) {
  const OtherBlas several(kThirdIsFastest);
  const std::string path = train("own", "on", 2);
  const std::string text = read_file(products_of(path));
  const auto refused = [&](const std::string& tune, const auto& says_so) {
    BOOST_CHECK_EXCEPTION(TrainingRun::resume(run::resolve(config_of(tune)), path), Error, says_so);
  };
  refused("off", says(path,
                      ": --tune: expected on, as the run was started, got nothing; leave it out, "
                      "since --resume "
                      "goes on with the same training"));
  write_file_atomic(products_of(path), text.substr(0, text.size() / 2));
  refused("on", says("[products] ", products_of(path)));
  several.propose(kSecondIsFastest);
  const std::string other = train("others", "on", 2);
  write_file_atomic(products_of(path), read_file(products_of(other)));
  refused("on", says("[train] ", products_of(path),
                     ": expected the file that this run was started with, got another"));
  write_file_atomic(products_of(path), text);
  emulated_blas().version = 140000;
  refused("on", says("[products] expected choices that were made on ", "cuBLASLt 140000",
                     "cuBLASLt 130002", "; in ", products_of(path)));

  // On another machine they can be measured anew, and are that run's from then on.
  fs::remove(products_of(path));
  const std::string said = resume(path, "on");
  BOOST_TEST(said.find("was gone; the products are chosen anew") != std::string::npos, said);
  BOOST_TEST(read_file(products_of(path)).find("cuBLASLt 140000") != std::string::npos);
  resume(path, "on");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_tuned_is_refused) {
  run::RunConfig config = config_of("on");
  config.device = "cpu";
  BOOST_CHECK_EXCEPTION(run::resolve(config), ConfigError,
                        says("--tune: expected --device cuda", "got cpu"));
  BOOST_CHECK_EXCEPTION(train("missing", toy().path("no/products.json")), IoError,
                        says("no/products.json"));
  BOOST_TEST(!fs::exists(toy().path("missing")));
}

BOOST_AUTO_TEST_SUITE_END()
