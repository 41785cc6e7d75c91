// Recorded work of the device, and what becomes of work that cannot be recorded. Nothing here asks
// whether the device is emulated.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <vector>

#include "engine/device_info.h"
#include "engine/ops/matmul.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/view.h"
#include "engine/step_graph.h"
#include "tests/support/both_devices.h"
#include "tests/support/messages.h"

namespace farfield::test {
BOOST_AUTO_TEST_SUITE(test_cuda_graph)  // ctest: gpu
namespace {

BOOST_AUTO_TEST_CASE(the_cpu_calls_the_work_each_time) {
  StepGraph graph(Device{});
  int n_calls = 0;
  for (int i = 0; i < 3; ++i) graph.run([&] { ++n_calls; });
  BOOST_TEST(n_calls == 3);
  BOOST_TEST(!graph.is_recorded());
  BOOST_TEST(!graph.is_next_recorded());
}

BOOST_AUTO_TEST_CASE(work_that_waits_is_called_each_time_with_the_same_results) {
  StepGraph graph(kCuda);
  Tensor x = Tensor::zeros({1}, DType::f32, kCuda), y;
  for (int i = 0; i < 4; ++i) {
    x.assign(Tensor::full({1}, i, DType::f32));
    graph.run([&] {
      y = x + 1.0;
      y = y * y.item();
    });
    BOOST_TEST(y.item() == (i + 1) * (i + 1));
  }
  BOOST_TEST(!graph.is_recorded());
  BOOST_TEST(
      graph.why_not().find("operation not permitted when stream is capturing") != std::string::npos,
      graph.why_not());
}

BOOST_AUTO_TEST_CASE(what_work_throws_is_thrown_when_it_is_no_matter_of_recording) {
  StepGraph graph(kCuda);
  const Tensor x = Tensor::zeros({1}, DType::f32, kCuda);
  graph.run([&] { x + 1.0; });
  BOOST_CHECK_EXCEPTION(graph.run([&] {
    x + 1.0;
    fail<ConfigError>("x", "wrong");
  }),
                        ConfigError, says_exactly("[x] wrong"));
  BOOST_TEST(graph.why_not() == "[x] wrong");
  synchronize(kCuda);  // and the stream is as ever
  BOOST_TEST((x + 2.0).item() == 2);
}

// Each launch reads the uploads of the recording again, and also older memory, even after its owner
// is gone.
BOOST_AUTO_TEST_CASE(what_is_recorded_keeps_the_memory_that_it_reads) {
  StepGraph graph(kCuda);
  Tensor early = random_tensor({64, 64}, 1, -1, 1, DType::f32).to(kCuda), result;
  const auto many = random_tensor({1200, 1200}, 2, -1, 1, DType::f32);  // more than is staged
  const auto work = [&] {
    const Tensor uploaded = random_tensor({64, 64}, 3, -1, 1, DType::f32).to(kCuda);
    const Tensor large = many.to(kCuda);
    result = matmul(early, uploaded) + large.view({64, 64});
  };
  graph.run(work);
  const std::vector<double> want = result.to_vector();
  graph.run(work);
  early = {};
  for (int i = 0; i < 4; ++i) {
    std::vector<Tensor> others;  // of every size that the work used, spoiled
    for (const int64_t n : {64 * 64, 1200 * 1200})
      for (int j = 0; j < 8; ++j)
        others.push_back(Tensor::from(std::vector<double>(static_cast<size_t>(n), 1e30), {n},
                                      DType::f32, kCuda));
    BOOST_TEST((result.to_vector() == want));
    graph.run(work);
    BOOST_TEST((result.to_vector() == want));
  }
  BOOST_TEST(graph.is_recorded());
}

// One input is larger than the staging memory; a copy that is no input stays as recorded.
BOOST_AUTO_TEST_CASE(inputs_of_a_recording_are_those_of_its_run) {
  StepGraph graph(kCuda);
  int number = 0;
  int64_t length = 3;
  Tensor small, large, constant;
  const auto upload = [&] {
    const StepInputs inputs(kCuda);
    small = Tensor::full({length}, number, DType::f32).to(kCuda);
    large = Tensor::full({1200 * 1200}, 10 * number, DType::f32).to(kCuda);
  };
  Tensor y;
  const auto work = [&] {
    constant = Tensor::full({2}, number, DType::f32).to(kCuda);
    upload();
    y = concat({small + 1.0, large.view({2}), constant}, 0);
  };
  const auto run = [&] {
    if (graph.is_recorded()) graph.refill(upload, "too long");
    graph.run(work);
    return y.to_vector();
  };
  for (number = 0; number < 5; ++number) {
    const double n = number, recorded = std::min(number, 1);
    const std::vector<double> want{n + 1, n + 1, n + 1, 10 * n, 10 * n, recorded, recorded};
    BOOST_TEST(run() == want, boost::test_tools::per_element());
    BOOST_TEST(graph.is_recorded() == (number > 0));
  }
  length = 4;
  const std::vector<double> want{6, 6, 6, 6, 50, 50, 5, 5};
  BOOST_TEST(run() == want, boost::test_tools::per_element());
  BOOST_TEST(graph.why_not() == "too long");
}

BOOST_AUTO_TEST_CASE(inputs_that_are_not_as_many_as_were_recorded_do_not_fit) {
  for (const int n : {1, 3}) {
    StepGraph graph(kCuda);
    Tensor x[3], y;
    const auto upload = [&](int count) {
      const StepInputs inputs(kCuda);
      for (int i = 0; i < count; ++i) x[i] = Tensor::full({2}, i, DType::f32).to(kCuda);
    };
    const auto work = [&] {
      upload(2);
      y = x[0] + x[1];
    };
    for (int i = 0; i < 2; ++i) graph.run(work);
    BOOST_TEST(graph.is_recorded());
    graph.refill([&] { upload(n); }, "not as many");
    BOOST_TEST(!graph.is_recorded());
    BOOST_TEST(graph.why_not() == "not as many");
    graph.run(work);
    BOOST_TEST((y.to_vector() == std::vector<double>{1, 1}));
  }
}

BOOST_AUTO_TEST_CASE(a_recording_that_is_forgotten_gives_its_memory_back) {
  const int64_t before = memory_stats(kCuda).current_bytes;
  {
    StepGraph graph(kCuda);
    const Tensor x = Tensor::zeros({1 << 16}, DType::f32, kCuda);
    const int64_t own = memory_stats(kCuda).current_bytes;
    const auto work = [&] { exp(exp(x)); };
    graph.run(work);
    BOOST_TEST(memory_stats(kCuda).current_bytes == own);
    graph.run(work);
    BOOST_TEST(memory_stats(kCuda).current_bytes == own + 2 * x.size_bytes());
    graph.forget();
    BOOST_TEST(memory_stats(kCuda).current_bytes == own);
    graph.run(work);
    BOOST_TEST(graph.is_recorded());
    graph.turn_off("no more");
    BOOST_TEST(graph.why_not() == "no more");
    BOOST_TEST(memory_stats(kCuda).current_bytes == own);
    graph.run(work);
    BOOST_TEST(!graph.is_recorded());
  }
  BOOST_TEST(memory_stats(kCuda).current_bytes == before);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test
