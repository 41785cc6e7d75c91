#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <sstream>

#include "apps/cli/progress.h"
#include "apps/run/together.h"
#include "apps/train/training_run.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "tests/apps/toy_run.h"
#include "tests/support/processes.h"

BOOST_AUTO_TEST_SUITE(test_processes)  // ctest: threads

using namespace farfield;
using namespace farfield::train;
using farfield::test::toy;
using test::EndedProcess;
using test::in_processes;
using Processes = std::shared_ptr<comm::Communicator>;

namespace {

std::string hash_of(const run::NamedTensors& tensors) {
  Hasher hasher;
  for (const auto& [name, x] : tensors) {
    hasher.update(name);
    hasher.update(x.raw_data(), static_cast<size_t>(x.size_bytes()));
  }
  return hasher.hex();
}

Trainer trainer(const run::RunConfig& config, const Group& group) {
  return {run::resolve(config), data::Corpus::open(config.data.front()), group};
}

std::string hex(double x) {
  std::ostringstream text;
  text << std::hexfloat << x;
  return text.str();
}

// All that a training comes to, to the bit; what moments are known to the first process alone is
// told to all.
std::string trained(const run::RunConfig& config, const Group& group, int64_t n_step = 4) {
  Trainer t = trainer(config, group);
  std::string said;
  for (int64_t i = 0; i < n_step; ++i) {
    const StepResult step = t.step();
    said += hex(step.loss) + ' ' + hex(step.grad_norm) + '\n';
  }
  said += hex(*t.valid_loss()) + ' ' + hash_of(t.model_tensors());
  return said + ' ' + group.communicator().broadcast(hash_of(t.optimizer_tensors()));
}

void check_all(const std::vector<EndedProcess>& ended, const std::string& wanted) {
  for (size_t rank = 0; rank < ended.size(); ++rank)
    BOOST_TEST(ended[rank].said == wanted, "process " << rank << " of " << ended.size() << ":\n"
                                                      << ended[rank].said << "\nexpected\n"
                                                      << wanted);
}

run::RunConfig batch_of_eight(const std::string& posenc = "kerple_log") {
  run::RunConfig config = toy().config(posenc);
  config.batch = 8;
  return config;
}

}  // namespace

BOOST_AUTO_TEST_CASE(any_number_of_processes_train_the_same_bits) {
  std::vector<run::RunConfig> configs = {batch_of_eight("rope + cape"),
                                         batch_of_eight("relu_attention(penalty=0.1)")};
  configs.push_back(batch_of_eight());
  configs.back().hidden_dropout = configs.back().attention_dropout = 0.2;
  configs.back().checkpoint_activations = true;
  configs.push_back(batch_of_eight());
  configs.back().batch = 24;
  configs.back().accumulate = 12;
  configs.back().precision = "bf16";
  configs.push_back(batch_of_eight());  // bands without a target in some pieces, and NAG
  configs.back().preset = "baevski-247m";
  configs.back().d_model = 32;
  configs.back().cutoffs = "100,120";
  for (const run::RunConfig& config : configs) {
    const std::string wanted = trained(config, {});
    for (const int size : {2, 4})
      check_all(in_processes(size, [&](Processes all) { return trained(config, Group(all)); }),
                wanted);
  }
}

BOOST_AUTO_TEST_CASE(without_that_order_they_agree_to_rounding) {
  run::RunConfig config = batch_of_eight();
  config.batch = 12;
  config.deterministic_reduce = "off";
  config.activation_dropout = 0.2;  // masks are those of the batch
  const std::string wanted = trained(config, {}, 3);
  const std::vector<EndedProcess> ended =
      in_processes(3, [&](Processes all) { return trained(config, Group(all), 3); });
  check_all(ended, ended[0].said);  // equal everywhere
  std::istringstream a(wanted), b(ended[0].said);
  std::string x, y;
  for (int i = 0; i < 7 && a >> x && b >> y; ++i)
    BOOST_TEST(std::stod(x) == std::stod(y), boost::test_tools::tolerance(1e-4));
}

BOOST_AUTO_TEST_CASE(a_number_that_is_not_finite_in_one_stops_the_update_of_all) {
  const run::RunConfig config = batch_of_eight();
  const std::vector<EndedProcess> ended = in_processes(2, [&](Processes all) {
    Trainer t = trainer(config, Group(all));
    t.step();
    const std::string before = hash_of(t.model_tensors());
    t.call_after_backward([&](int64_t step, const std::vector<Parameter>& parameters) {
      if (step != 2 || all->rank() != 1) return;
      Tensor gradient = parameters[1].value.grad();
      gradient.data<float>()[0] = std::numeric_limits<float>::quiet_NaN();
    });
    const std::string problem = t.step().problem;
    require<Error>(hash_of(t.model_tensors()) == before, "test", "the weights have changed");
    t.leave_out(2);
    t.skip_step();
    return problem + hex(t.step().loss);
  });
  check_all(ended, ended[0].said);
  BOOST_TEST(ended[0].status == 0, ended[0].said);
  BOOST_TEST(ended[0].said.find("step 2: expected finite numbers") != std::string::npos,
             ended[0].said);
  BOOST_TEST(ended[0].said.find("gradient of '") != std::string::npos, ended[0].said);
  BOOST_TEST(ended[0].said.find("in process 1") != std::string::npos, ended[0].said);
}

namespace {
std::atomic<int64_t> questions{0}, due_after{0};
bool is_due() { return ++questions > due_after; }
}  // namespace

BOOST_AUTO_TEST_CASE(a_step_that_one_gives_up_is_given_up_by_all_and_repeated) {
  const run::RunConfig config = batch_of_eight();
  const std::string wanted = trained(config, {});
  const std::vector<EndedProcess> ended = in_processes(2, [&](Processes all) {
    Trainer t = trainer(config, Group(all));
    t.give_up_when(is_due);
    std::string said;
    for (int64_t step = 0; step < 4; ++step) {
      for (const int64_t after : {0, 7, 60}) {  // before, in and behind the first piece
        questions = 0;
        due_after = all->rank() == step % 2 ? after : 1'000'000'000;
        try {
          t.step();
          fail<Error>("test", "not given up");
        } catch (const Interrupted&) {
        }
      }
      due_after = 1'000'000'000;
      const StepResult result = t.step();
      said += hex(result.loss) + ' ' + hex(result.grad_norm) + '\n';
    }
    return said;
  });
  check_all(ended, wanted.substr(0, ended[0].said.size()));
  BOOST_TEST(ended[0].said.size() > 40u);
}

// A run of 8 steps whose parts are made by other numbers of processes.
BOOST_AUTO_TEST_CASE(a_run_goes_on_with_any_number_of_processes) {
  run::RunConfig config = batch_of_eight();
  const auto part = [&](const std::string& path, int64_t stop_after, const Group& group) {
    std::ostringstream out;
    cli::Progress progress(out, false);
    const run::ResolvedConfig resolved = run::resolve(config);
    TrainingRun run = stop_after == 3 ? TrainingRun::start(resolved, path, {}, group)
                                      : TrainingRun::resume(resolved, path, {}, group);
    return std::to_string(run.go(progress, stop_after));
  };
  const auto in_parts = [&](const std::string& name, const std::vector<int>& sizes) {
    const std::string path = toy().path(name);
    const int64_t stops[] = {3, 5, 8};
    for (size_t i = 0; i < sizes.size(); ++i) {
      const std::string wanted = stops[i] == 8 ? "0" : "75";
      if (sizes[i] == 1)
        BOOST_TEST(part(path, stops[i], {}) == wanted);
      else
        check_all(
            in_processes(sizes[i], [&](Processes all) { return part(path, stops[i], Group(all)); }),
            wanted);
    }
    const run::Checkpoint end =
        run::load_newest_checkpoint(run::RunFolder::open(path).checkpoints());
    BOOST_TEST(end.state.step == 8);
    std::string metrics = read_file(path + "/metrics.csv"), kept;
    std::istringstream lines(metrics);
    for (std::string line; std::getline(lines, line);)  // step, tokens, loss, valid_loss, lr, norm
      for (size_t at = 0, i = 0; i < 6; ++i) {
        const size_t next = line.find(',', at) + 1;
        kept += line.substr(at, next - at);
        at = next;
      }
    return kept + hash_of({end.model.begin(), end.model.end()}) +
           hash_of({end.optimizer.begin(), end.optimizer.end()});
  };
  const std::string wanted = in_parts("alone", {1, 1, 1});
  BOOST_TEST(in_parts("fewer", {4, 2, 1}) == wanted);
  BOOST_TEST(in_parts("more", {1, 2, 4}) == wanted);
}

BOOST_AUTO_TEST_CASE(what_the_first_cannot_do_ends_the_others) {
  const run::RunConfig config = batch_of_eight();
  const std::vector<EndedProcess> ended = in_processes(2, [&](Processes all) {
    TrainingRun::start(run::resolve(config), toy().data, {}, Group(all));  // a folder with files
    return "started";
  });
  BOOST_TEST(ended[0].said.find("expected a new folder") != std::string::npos, ended[0].said);
  BOOST_TEST(ended[1].said == "[processes] process 0 could not go on, and says why");
}

BOOST_AUTO_TEST_SUITE_END()
