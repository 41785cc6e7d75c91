#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cmath>
#include <limits>
#include <sstream>
#include <thread>

#include "apps/cli/progress.h"
#include "apps/run/together.h"
#include "apps/train/training_run.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/base/parallel.h"
#include "engine/comm/tcp_transport.h"
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

// Of a model whose gradients are several buckets.
run::RunConfig in_buckets(const std::string& posenc = "kerple_log") {
  run::RunConfig config = batch_of_eight(posenc);
  config.d_model = 128;
  config.n_layer = 4;
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
  configs.push_back(batch_of_eight("rope"));
  configs.back().mask = "none";
  for (const run::RunConfig& config : configs) {
    const std::string wanted = trained(config, {});
    for (const int size : {2, 4})
      check_all(in_processes(size, [&](Processes all) { return trained(config, Group(all)); }),
                wanted);
  }
}

// Threads compute pieces at the same time, and send what the last of them has.
BOOST_AUTO_TEST_CASE(any_number_of_processes_of_any_number_of_threads_train_the_same_bits) {
  std::vector<run::RunConfig> configs = {in_buckets()};
  configs.push_back(batch_of_eight());  // bands without a target in some pieces
  configs.back().preset = "baevski-247m";
  configs.back().d_model = 32;
  configs.back().cutoffs = "100,120";
  configs.push_back(batch_of_eight("rope + cape"));  // of which backward does not tell
  configs.back().checkpoint_activations = true;
  for (const run::RunConfig& config : configs) {
    const std::string wanted = trained(config, {});
    for (const auto& [size, n_thread] : {std::pair{1, 1}, {1, 2}, {2, 2}, {2, 3}, {4, 2}})
      check_all(in_processes(size,
                             [&config, n_thread = n_thread](Processes all) {
                               set_thread_count(n_thread);
                               return trained(config, Group(all));
                             }),
                wanted);
  }
}

BOOST_AUTO_TEST_CASE(without_that_order_they_agree_to_rounding) {
  run::RunConfig config = batch_of_eight();
  config.batch = 12;
  config.deterministic_reduce = "off";
  config.activation_dropout = 0.2;  // micro-batches have the masks of the batch
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
  const run::RunConfig config = in_buckets();
  const std::string wanted = trained(config, {});
  for (const int64_t n_thread : {1, 2}) {
    const std::vector<EndedProcess> ended = in_processes(2, [&](Processes all) {
      set_thread_count(n_thread);
      Trainer t = trainer(config, Group(all));
      t.give_up_when(is_due);
      std::string said;
      int64_t late = 60;
      for (int64_t step = 0; step < 4; ++step) {
        // Before, in and behind the first piece, and when some of the sums are there.
        for (const int64_t after : {int64_t{0}, int64_t{7}, int64_t{60}, late}) {
          questions = 0;
          due_after = all->rank() == step % 2 ? after : 1'000'000'000;
          try {
            t.step();
            fail<Error>("test", "not given up");
          } catch (const Interrupted&) {
          }
        }
        questions = 0;
        due_after = 1'000'000'000;
        const StepResult result = t.step();
        said += hex(result.loss) + ' ' + hex(result.grad_norm) + '\n';
        late = questions * 97 / 100;
      }
      return said;
    });
    check_all(ended, wanted.substr(0, ended[0].said.size()));
    BOOST_TEST(ended[0].said.size() > 40u);
  }
}

namespace {

// Counts what threads beside the first send.
class WatchedTransport final : public comm::Transport {
 public:
  explicit WatchedTransport(std::unique_ptr<comm::Transport> watched)
      : Transport(watched->rank(), watched->size()), watched_(std::move(watched)) {}
  std::string name() const override { return watched_->name(); }
  void exchange(const comm::Outgoing& out, const comm::Incoming& in) override {
    if (std::this_thread::get_id() != first_) is_used_beside = true;
    watched_->exchange(out, in);
  }
  static inline std::atomic<bool> is_used_beside{false};

 private:
  std::unique_ptr<comm::Transport> watched_;
  std::thread::id first_ = std::this_thread::get_id();
};

// Holds one thread in the middle of backward until something has been sent, for a minute at most.
bool hold_until_sent() {
  const bool is_behind_backward = thread_count() > 1 && !is_inside_parallel();
  if (is_behind_backward || ++questions != due_after) return false;
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!WatchedTransport::is_used_beside && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (!WatchedTransport::is_used_beside) fail<Error>("test", "nothing is sent before the end");
  return false;
}

}  // namespace

BOOST_AUTO_TEST_CASE(sums_of_gradients_begin_before_backward_has_ended) {
  // What each layer has, and what all layers share, which is complete at the end.
  for (const auto& [posenc, n_thread] : {std::pair{"alibi", 1}, {"alibi", 2}, {"kerple_log", 2}}) {
    const run::RunConfig config = in_buckets(posenc);
    const std::vector<EndedProcess> ended =
        in_processes(2, [&, n_thread = n_thread](int rank, uint16_t port) {
          set_thread_count(n_thread);
          auto transport = std::make_unique<WatchedTransport>(
              comm::meet_by_tcp({.rank = rank, .size = 2, .host = "127.0.0.1", .port = port}));
          Trainer t =
              trainer(config, Group(std::make_shared<comm::Communicator>(std::move(transport))));
          t.give_up_when(hold_until_sent);
          due_after = 0;
          t.step();  // makes tables that stay, and finds the order
          questions = 0;
          t.step();
          due_after = questions * 97 / 100;  // in the first block, on the way back
          questions = 0;
          WatchedTransport::is_used_beside = false;
          t.step();
          return questions > due_after ? "sent" : "not so many questions";
        });
    check_all(ended, "sent");
  }
}

namespace {

// The numbers of trained(): losses, norms and the loss of the valid split; then hashes.
void check_to_rounding(const std::string& got, const std::string& wanted, int64_t n) {
  std::istringstream a(got), b(wanted);
  std::string x, y;
  for (int64_t i = 0; i < n; ++i) {
    BOOST_REQUIRE((a >> x && b >> y));
    BOOST_TEST(std::stod(x) == std::stod(y), boost::test_tools::tolerance(1e-4));
  }
}

}  // namespace

// Processes in all, of which so many have each model together.
BOOST_AUTO_TEST_CASE(processes_that_have_a_model_together_agree_with_one_to_rounding) {
  for (const char* posenc : {"kerple_log", "rope + fire(share=layer)", "t5", "rope + cape"}) {
    run::RunConfig config = batch_of_eight(posenc);
    config.n_head = 4;
    config.hidden_dropout = config.attention_dropout = 0.1;
    const std::string wanted = trained(config, {});
    for (const auto& [size, n_tensor] : {std::pair{2, 2}, {4, 2}, {4, 4}}) {
      config.tensor_parallel = n_tensor;
      const std::vector<EndedProcess> ended = in_processes(size, [&](Processes all) {
        const std::string own = trained(config, Group(all)), said = all->broadcast(own);
        // But for the weights, which the first alone knows.
        const size_t n_same = said.find(' ', said.rfind('\n'));
        return own.substr(0, n_same) == said.substr(0, n_same) ? said : "not the same: " + own;
      });
      for (const EndedProcess& process : ended)
        BOOST_TEST_REQUIRE(process.status == 0, process.said);
      check_all(ended, ended[0].said);
      check_to_rounding(ended[0].said, wanted, 9);
    }
  }
}

BOOST_AUTO_TEST_CASE(models_of_several_give_a_step_up_together) {
  run::RunConfig config = batch_of_eight();
  config.tensor_parallel = 2;
  const std::vector<EndedProcess> ended = in_processes(4, [&](Processes all) {
    const std::string wanted = trained(config, Group(all));
    Trainer t = trainer(config, Group(all));
    t.give_up_when(is_due);
    std::string said;
    for (int64_t step = 0; step < 4; ++step) {
      for (const int64_t after : {0, 2}) {  // before the first piece, before the third
        questions = 0;
        due_after = all->rank() == step ? after : 1'000'000'000;
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
    return wanted.starts_with(said) ? std::string() : said + wanted;
  });
  check_all(ended, "");
}

namespace {

// A part of a run: number of all processes, and of processes that share a model.
struct Part {
  int size = 1;
  int64_t n_tensor = 1;
};

std::string hash_of(const std::map<std::string, Tensor>& model,
                    const std::map<std::string, Tensor>& optimizer) {
  return hash_of({model.begin(), model.end()}) + hash_of({optimizer.begin(), optimizer.end()});
}

std::map<std::string, Tensor> by_name(const run::NamedTensors& tensors) {
  return {tensors.begin(), tensors.end()};
}

// What a run comes to: what metrics.csv has in its columns before the times, its last checkpoint.
struct Outcome {
  std::string metrics, hash;
  bool operator==(const Outcome&) const = default;

  std::vector<double> numbers() const {
    std::vector<double> all;
    std::istringstream cells(metrics);
    for (std::string cell; std::getline(cells, cell, ',');) {
      char* end = nullptr;
      const double number = std::strtod(cell.c_str(), &end);
      if (end != cell.c_str() && *end == 0) all.push_back(number);
    }
    return all;
  }
};

// The first part starts the run. Saving right after resuming must give the same checkpoint.
std::string make_part(run::RunConfig config, const Part& part, const std::string& path,
                      int64_t stop_after, const Group& group) {
  std::ostringstream out;
  cli::Progress progress(out, false);
  config.tensor_parallel = part.n_tensor;
  const run::ResolvedConfig resolved = run::resolve(config);
  const bool is_new = stop_after == 3;
  TrainingRun run = is_new ? TrainingRun::start(resolved, path, {}, group)
                           : TrainingRun::resume(resolved, path, {}, group);
  const run::Checkpoint before = run::load_newest_checkpoint(run.folder().checkpoints());
  const std::string now =
      hash_of(by_name(run.trainer().model_tensors()), by_name(run.trainer().optimizer_tensors()));
  require<Error>(!group.is_first() || now == hash_of(before.model, before.optimizer), "test",
                 "what was resumed from has changed");
  return std::to_string(run.go(progress, stop_after));
}

// A run of 8 steps, in three parts.
Outcome in_parts(const run::RunConfig& config, const std::string& name,
                 const std::vector<Part>& parts) {
  const std::string path = toy().path(name);
  const int64_t stops[] = {3, 5, 8};
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string wanted = stops[i] == 8 ? "0" : "75";
    if (parts[i].size == 1)
      BOOST_TEST(make_part(config, parts[i], path, stops[i], {}) == wanted);
    else
      check_all(in_processes(parts[i].size,
                             [&](Processes all) {
                               return make_part(config, parts[i], path, stops[i], Group(all));
                             }),
                wanted);
  }
  const run::Checkpoint end = run::load_newest_checkpoint(run::RunFolder::open(path).checkpoints());
  BOOST_TEST(end.state.step == 8);
  std::string kept;
  std::istringstream lines(read_file(path + "/metrics.csv"));
  for (std::string line; std::getline(lines, line);)  // step, tokens, loss, valid_loss, lr, norm
    for (size_t at = 0, i = 0; i < 6; ++i) {
      const size_t next = line.find(',', at) + 1;
      kept += line.substr(at, next - at);
      at = next;
    }
  return {kept, hash_of(end.model, end.optimizer)};
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_run_goes_on_with_any_number_of_processes) {
  const run::RunConfig config = batch_of_eight();
  const Outcome wanted = in_parts(config, "alone", {{}, {}, {}});
  BOOST_TEST((in_parts(config, "fewer", {{4}, {2}, {}}) == wanted));
  BOOST_TEST((in_parts(config, "more", {{}, {2}, {4}}) == wanted));
}

BOOST_AUTO_TEST_CASE(a_run_goes_on_with_any_number_of_processes_for_a_model) {
  run::RunConfig config = batch_of_eight("kerple_log + fire(share=layer)");
  config.n_head = 4;
  const std::vector<double> wanted = in_parts(config, "whole", {{}, {}, {}}).numbers();
  BOOST_TEST(wanted.size() > 20u);
  int64_t i = 0;
  for (const std::vector<Part>& parts :
       {std::vector<Part>{{4, 2}, {}, {4, 4}}, {{}, {2, 2}, {4, 2}}, {{4, 4}, {4, 2}, {2}}})
    BOOST_TEST(in_parts(config, "shared" + std::to_string(i++), parts).numbers() == wanted,
               boost::test_tools::tolerance(1e-4) << boost::test_tools::per_element());
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
