// Attention on the device against the reference in float64: every feature, and its gradients.

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

#include "engine/cuda/check.h"
#include "engine/kernels.h"
#include "engine/ops/view.h"
#include "tests/support/attention_problem.h"
#include "tests/support/both_devices.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"

namespace farfield::test {
BOOST_AUTO_TEST_SUITE(test_cuda_attention)  // ctest: gpu sanitize:slow
namespace {

using Kind = Normalizer::Kind;
const DType kFloats[] = {DType::f32, DType::bf16};

AttentionProblem on_device(const AttentionProblem& p) { return moved_to(kCuda, p); }

void check(const AttentionProblem& p, const std::string& what) {
  compare_results(p, run_on(kCuda, p), what);
}

struct Case {
  const char* name;
  Sizes sizes;
  std::function<void(AttentionProblem&)> change;
};

// Ids that wait at some places and jump at others; of each sequence its own, or of all.
void add_ids(AttentionProblem& p, bool per_sequence) {
  const int64_t n_batch = per_sequence ? p.heads.q.dim(0) : 1;
  std::vector<int32_t> ids;
  int32_t largest = 0;
  for (int64_t b = 0; b < n_batch; ++b) {
    const Random random{3, static_cast<uint64_t>(b)};
    int32_t at = 0;
    for (int64_t n = 0; n < p.n_key(); ++n) {
      const double u = random.uniform(static_cast<uint64_t>(n));
      ids.push_back(at += u < 0.2 ? 0 : u < 0.95 ? 1 : 9);
    }
    largest = std::max(largest, at);
  }
  p.rule.ids = Tensor::from(ids, per_sequence ? Shape{n_batch, p.n_key()} : Shape{p.n_key()});
  p.add_bias(largest + 400);
  p.add_weight(largest + 400);
}

// Far pairs read in groups of three.
void add_far_ids(AttentionProblem& p, int32_t w) {
  const auto first = static_cast<int32_t>(p.n_key() - p.n_query());
  std::vector<int32_t> q, k;
  for (int32_t m = first; m < p.n_key(); ++m) q.push_back(m / 3 + w - w / 3);
  for (int32_t n = 0; n < p.n_key(); ++n) k.push_back(n / 3);
  p.rule.switch_distance = w;
  p.rule.far_ids_q = Tensor::from(q, {p.n_query()});
  p.rule.far_ids_k = Tensor::from(k, {p.n_key()});
}

void add_tables(AttentionProblem& p) {
  p.add_bias();
  p.add_weight();
  p.add_row_scale();
}
// A bias that is greater by `rise` for each key that is nearer.
void set_rise(AttentionProblem& p, double rise) {
  p.add_bias();
  std::vector<double> bias = p.rule.bias.to_vector();
  const auto n = static_cast<size_t>(p.n_key());
  for (size_t i = 0; i < bias.size(); ++i) bias[i] -= rise * static_cast<double>(i % n);
  p.rule.bias = Tensor::from(bias, p.rule.bias.shape(), p.rule.bias.dtype());
}
void add_far(AttentionProblem& p, int64_t distance, int64_t position) {
  p.add_far_heads();
  p.rule.switch_distance = distance;
  p.rule.switch_position = position;
}

const Case kCases[] = {
    {"nothing", {1, 1, 1, 1, 8}, [](auto&) {}},
    {"nothing", {2, 2, 70, 130, 16}, [](auto&) {}},
    {"bias", {1, 2, 130, 130, 8}, [](auto& p) { p.add_bias(); }},
    {"weight", {1, 1, 100, 100, 8}, [](auto& p) { p.add_weight(); }},
    {"row scale", {1, 1, 33, 65, 8}, [](auto& p) { p.add_row_scale(); }},
    {"tables", {2, 2, 70, 131, 5}, add_tables},
    {"tables of many items", {3, 1, 140, 140, 8}, add_tables},
    {"window 1", {1, 1, 70, 70, 8}, [](auto& p) { p.set_window(1, 0); }},
    {"window", {1, 2, 140, 140, 8}, [](auto& p) { add_tables(p), p.set_window(37, 0); }},
    {"window and sinks", {1, 1, 140, 140, 8}, [](auto& p) { add_tables(p), p.set_window(37, 3); }},
    {"many sinks", {1, 1, 190, 190, 8}, [](auto& p) { p.add_bias(), p.set_window(50, 80); }},
    {"sinks alone", {1, 1, 150, 260, 8}, [](auto& p) { p.set_window(5, 1000); }},
    {"a window far away", {1, 1, 3, 300, 8}, [](auto& p) { add_tables(p), p.set_window(20, 2); }},
    {"decoding", {2, 2, 1, 97, 24}, add_tables},
    {"head_dim 1", {1, 1, 30, 70, 1}, add_tables},
    {"head_dim 33", {1, 1, 70, 70, 33}, add_tables},
    {"head_dim 64", {1, 2, 70, 70, 64}, add_tables},
    {"tables of several tiles", {1, 1, 280, 300, 64}, add_tables},
    {"bias of several tiles",
     {1, 2, 260, 420, 64},
     [](auto& p) { p.add_bias(), p.set_window(170, 5); }},
    {"tables of an odd number of entries", {2, 3, 131, 131, 64}, add_tables},
    // The score that probabilities are relative to is exceeded in no tile, in some, in each, or
    // once.
    {"a bias that rises slowly", {1, 2, 300, 300, 64}, [](auto& p) { set_rise(p, 0.01); }},
    {"a bias that rises", {1, 2, 300, 300, 64}, [](auto& p) { set_rise(p, 0.04); }},
    {"a bias that rises fast", {1, 2, 300, 300, 64}, [](auto& p) { set_rise(p, 3); }},
    {"a bias that falls", {1, 2, 300, 300, 64}, [](auto& p) { set_rise(p, -0.3); }},
    {"weight of several tiles", {2, 1, 270, 270, 64}, [](auto& p) { p.add_weight(); }},
    {"nothing of several tiles", {1, 1, 260, 260, 64}, [](auto&) {}},
    {"tables without a row scale",
     {1, 1, 200, 330, 64},
     [](auto& p) { p.add_bias(), p.add_weight(); }},
    {"bias and row scale", {1, 1, 70, 200, 64}, [](auto& p) { p.add_bias(), p.add_row_scale(); }},
    {"weight and row scale",
     {1, 1, 200, 200, 64},
     [](auto& p) { p.add_weight(), p.add_row_scale(), p.set_window(30, 70); }},
    {"decoding with 64", {1, 2, 1, 200, 64}, [](auto& p) { p.add_bias(); }},
    {"a window far away with 64",
     {1, 1, 3, 300, 64},
     [](auto& p) { add_tables(p), p.set_window(20, 2); }},
    {"row bias of several tiles", {1, 2, 270, 330, 64}, [](auto& p) { add_row_bias(p, kKnots); }},
    {"head_dim 80", {1, 1, 70, 70, 80}, add_tables},
    {"head_dim 128", {1, 1, 66, 130, 128}, add_tables},
    {"nothing of several tiles of 128", {1, 2, 460, 460, 128}, [](auto&) {}},
    {"bias of several tiles of 128",
     {2, 1, 260, 420, 128},
     [](auto& p) { p.add_bias(), p.set_window(170, 5); }},
    {"weight of several tiles of 128", {1, 2, 200, 270, 128}, [](auto& p) { p.add_weight(); }},
    {"bias and weight of 128",
     {2, 3, 131, 131, 128},
     [](auto& p) { p.add_bias(), p.add_weight(); }},
    {"row bias of several tiles of 128",
     {1, 2, 200, 260, 128},
     [](auto& p) { add_row_bias(p, kKnots); }},
    {"decoding with 128", {1, 2, 1, 300, 128}, [](auto& p) { p.add_bias(); }},
    {"head_dim 131", {1, 2, 40, 70, 131}, [](auto& p) { p.add_bias(), p.set_window(30, 2); }},
    {"head_dim 160", {1, 1, 66, 100, 160}, add_tables},
    {"head_dim 256", {2, 1, 70, 70, 256}, [](auto& p) { add_tables(p), p.set_window(37, 3); }},
    {"far", {1, 2, 140, 140, 8}, [](auto& p) { add_tables(p), add_far(p, 70, 100); }},
    {"far at once", {2, 1, 70, 130, 5}, [](auto& p) { add_far(p, 1, 0); }},
    {"far, window and sinks",
     {1, 1, 140, 140, 12},
     [](auto& p) { add_far(p, 20, 0), p.set_window(30, 70); }},
    {"far of 128", {1, 1, 100, 100, 128}, [](auto& p) { add_far(p, 20, 0); }},
    // The most shared memory that any pass takes.
    {"all of 128",
     {1, 1, 20, 40, 128},
     [](auto& p) { add_tables(p), add_row_bias(p, kKnots), add_far(p, 10, 0); }},
    {"far of 160", {1, 1, 70, 70, 160}, [](auto& p) { add_far(p, 20, 0), p.set_window(50, 3); }},
    {"all of 256",
     {1, 1, 20, 40, 256},
     [](auto& p) { add_tables(p), add_row_bias(p, kKnots), add_far(p, 10, 0); }},
    {"relu of 256",
     {1, 1, 40, 40, 256},
     [](auto& p) {
       add_row_bias(p, kKnots), p.rule.normalizer = {Kind::relu, 1, 2.5};
     }},
    {"0.8 below the largest, of 256",
     {1, 1, 40, 70, 256},
     [](auto& p) {
       p.rule.normalizer = {Kind::clamp_relative, 0.8};
     }},
    {"far without copies", {1, 1, 90, 90, 8}, [](auto& p) { p.rule.switch_distance = 30; }},
    {"ids", {2, 2, 100, 170, 8}, [](auto& p) { add_ids(p, false), p.set_window(60, 4); }},
    {"ids of each sequence", {2, 1, 90, 90, 5}, [](auto& p) { add_ids(p, true); }},
    {"far ids", {1, 2, 130, 150, 8}, [](auto& p) { add_tables(p), add_far_ids(p, 50); }},
    {"far ids and copies",
     {1, 1, 90, 90, 8},
     [](auto& p) { p.add_row_scale(), add_ids(p, false), add_far(p, 20, 0), add_far_ids(p, 20); }},
    {"row bias", {2, 2, 131, 131, 8}, [](auto& p) { add_row_bias(p, kKnots); }},
    {"row bias without knots", {1, 1, 70, 130, 8}, [](auto& p) { add_row_bias(p, {}); }},
    {"row bias and all",
     {1, 2, 70, 130, 5},
     [](auto& p) {
       add_row_bias(p, kKnots), add_tables(p), add_far(p, 20, 0), p.set_window(60, 3);
     }},
    {"row bias and ids",
     {1, 1, 100, 150, 8},
     [](auto& p) { add_row_bias(p, kKnots), add_ids(p, false); }},
    {"relu",
     {1, 2, 100, 150, 8},
     [](auto& p) {
       p.rule.normalizer = {Kind::relu, 0.3};
     }},
    {"relu with a penalty",
     {2, 1, 70, 70, 8},
     [](auto& p) {
       add_tables(p), p.set_window(40, 3), p.rule.normalizer = {Kind::relu, 1, 2.5};
     }},
    {"seqlen",
     {1, 1, 70, 130, 8},
     [](auto& p) {
       p.rule.normalizer = {Kind::relu_seqlen, 1, 40};
     }},
    {"plain relu",
     {1, 2, 70, 100, 8},
     [](auto& p) {
       p.set_window(40, 3), p.rule.normalizer = {Kind::relu_plain, 1, 0.1};
     }},
    {"linear", {2, 2, 100, 150, 8}, [](auto& p) { p.rule.normalizer = {Kind::linear}; }},
    {"linear, window and sinks, of 256",
     {1, 1, 70, 100, 256},
     [](auto& p) { p.set_window(40, 3), p.rule.normalizer = {Kind::linear}; }},
    {"linear, hidden pairs",
     {1, 2, 140, 200, 16},
     [](auto& p) {
       hide_all_but(p, {0, 3, 150}), p.rule.normalizer = {Kind::linear};
     }},
    {"hidden pairs",
     {1, 2, 140, 300, 8},
     [](auto& p) {
       hide_all_but(p, {0, 3, 201});
     }},
    {"hidden pairs, by warpgroups",
     {1, 2, 130, 260, 64},
     [](auto& p) {
       hide_all_but(p, {0, 3, 120});
     }},
    {"hidden pairs and a weight",
     {1, 1, 140, 200, 128},
     [](auto& p) {
       hide_all_but(p, {0, 1, 150}), p.add_weight();
     }},
    {"from 0.2 on",
     {1, 1, 130, 130, 8},
     [](auto& p) {
       add_tables(p), p.rule.normalizer = {Kind::clamp_absolute, 0.2};
     }},
    {"the largest alone",
     {1, 1, 130, 130, 8},
     [](auto& p) {
       add_tables(p), p.rule.normalizer = {Kind::clamp_absolute, 1e6};
     }},
    {"0.8 below the largest",
     {1, 1, 130, 130, 8},
     [](auto& p) {
       add_far(p, 20, 0), p.rule.normalizer = {Kind::clamp_relative, 0.8};
     }},
    {"the largest by 0",
     {1, 1, 100, 130, 8},
     [](auto& p) {
       p.add_bias(), p.rule.normalizer = {Kind::clamp_relative, 0};
     }},
};

// Whether the device has less shared memory than compute capability 8.0.
bool is_small_device() {
  int most = 0;
  cuda_check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, kCuda.index),
             "the shared memory of the device");
  return most < 163 << 10;
}

void check_case(const Case& c, DType dtype, double dropout) {
  AttentionProblem p = make_problem(c.sizes, dtype);
  c.change(p);
  p.rule.dropout = {.p = dropout, .random = {3, 5}};
  BOOST_TEST_CHECKPOINT(c.name);
  try {
    check(p, concat(c.name, ' ', c.sizes, ", dropout ", dropout));
  } catch (const BackendError& error) {  // test_attention_limits says what fits everywhere
    const bool is_too_large =
        std::string_view(error.what()).find("bytes of shared memory") != std::string_view::npos;
    if (!is_too_large || !is_small_device()) throw;
    BOOST_TEST_MESSAGE("left out on this device: " << c.name << ": " << error.what());
  }
}

BOOST_AUTO_TEST_CASE(every_feature_equals_the_reference) {
  for (const Case& c : kCases)
    for (const DType dtype : kFloats) check_case(c, dtype, 0);
}
// In the two types alternately: emulated, this is the longest of all tests.
BOOST_AUTO_TEST_CASE(every_feature_with_dropout_equals_the_reference) {
  size_t i = 0;
  for (const Case& c : kCases)
    // What stays is doubled, so that bfloat16 rounds no more than without.
    check_case(c, kFloats[i++ % 2], 0.5);
}

// A bias of -inf but for one distance, so that rows see one key or none.
AttentionProblem with_hidden_pairs(DType dtype) {
  AttentionProblem p = make_problem({1, 1, 120, 120, 8}, dtype);
  std::vector<double> bias(120, -std::numeric_limits<double>::infinity());
  bias[100] = 0.5;
  p.rule.bias = Tensor::from(bias, {1, 120}, p.acc());
  return p;
}

BOOST_AUTO_TEST_CASE(rows_that_see_nothing_have_output_and_gradients_zero) {
  for (const DType dtype : kFloats) {
    const AttentionProblem p = with_hidden_pairs(dtype);
    check(p, "hidden pairs");
    const Named got = run_on(kCuda, p);
    const auto is_zero = [&](const char* name, size_t begin, size_t end) {
      const std::vector<double> values = got.at(name).to_vector();
      return std::all_of(values.begin() + static_cast<int64_t>(begin),
                         values.begin() + static_cast<int64_t>(end),
                         [](double y) { return y == 0; });
    };
    BOOST_TEST(is_zero("out", 0, 100 * 8));
    BOOST_TEST(is_zero("dq", 0, 100 * 8));
    BOOST_TEST(is_zero("dv", 20 * 8, 120 * 8));
    BOOST_TEST(is_zero("dbias", 0, 100));
  }
  for (const Kind kind :
       {Kind::relu, Kind::relu_plain, Kind::linear, Kind::clamp_absolute, Kind::clamp_relative}) {
    AttentionProblem p = with_hidden_pairs(DType::f32);
    p.rule.normalizer = {kind, 1};
    check(p, concat("hidden pairs, normaliser ", static_cast<int>(kind)));
  }
}

// AttentionRows says what these are; a CPU and a device must not disagree.
BOOST_AUTO_TEST_CASE(what_is_kept_of_rows_equals_that_of_the_cpu) {
  for (const Normalizer& normalizer :
       {Normalizer{}, Normalizer{Kind::relu, 0.5, 2}, Normalizer{Kind::clamp_relative, 0.8},
        Normalizer{Kind::linear}})
    for (const DType dtype : kFloats) {
      AttentionProblem p = with_hidden_pairs(dtype);
      p.rule.normalizer = normalizer;
      const auto rows_of = [&](auto device, const AttentionProblem& at) {
        const auto values = [&](bool is_needed) {
          return is_needed ? Tensor::zeros({1, 1, 120}, DType::f32, at.heads.q.device()) : Tensor();
        };
        AttentionRows rows{values(!normalizer.is_relu()), values(normalizer.is_clamped()),
                           values(normalizer.is_relu())};
        Tensor out = Tensor::zeros({1, 120, 1, 8}, dtype, at.heads.q.device());
        attention_forward(device, at.heads, at.rule, out, rows);
        return rows;
      };
      const AttentionRows want = rows_of(Cpu{}, p), got = rows_of(cuda_tag(kCuda), on_device(p));
      for (Tensor AttentionRows::*x :
           {&AttentionRows::lse, &AttentionRows::threshold, &AttentionRows::sum}) {
        if (!(want.*x).defined()) continue;
        const std::vector<double> a = (got.*x).to_vector(), b = (want.*x).to_vector();
        for (size_t i = 0; i < a.size(); ++i)
          BOOST_TEST((a[i] == b[i] || std::abs(a[i] - b[i]) < 1e-5), a[i] << " and " << b[i]);
      }
    }
}

// With tables, the blocks of a head are at least 8, and no more for as many heads as this.
BOOST_AUTO_TEST_CASE(blocks_that_walk_several_tiles_of_keys) {
  AttentionProblem p = make_problem({9, 48, 1, 20, 8}, DType::bf16);
  p.add_bias();
  check(p, "more items than blocks");
}

// A row bias beside tables needs the general kernels; without one, in bfloat16, the kernels of
// common models run.
BOOST_AUTO_TEST_CASE(two_runs_give_the_same_bits) {
  const auto check_twice = [](const AttentionProblem& p) {
    const Named once = run_on(kCuda, p), again = run_on(kCuda, p);
    for (const auto& [name, x] : once) BOOST_TEST(same_bits(x, again.at(name)), name);
  };
  for (const DType dtype : kFloats) {
    AttentionProblem p = make_problem({3, 2, 100, 100, 8}, dtype);
    add_tables(p);
    add_row_bias(p, kKnots);
    check_twice(p);
  }
  AttentionProblem p = make_problem({2, 2, 200, 200, 64}, DType::bf16);
  add_tables(p);
  check_twice(p);
}

BOOST_AUTO_TEST_CASE(gradients_that_nobody_wants_change_no_bit_of_the_others) {
  for (const DType dtype : kFloats) {
    AttentionProblem p = make_problem({1, 2, 100, 100, 8}, dtype);
    add_tables(p);
    const Named all = run_on(kCuda, p), few = run_on(kCuda, p, TableNames());
    BOOST_TEST(!few.contains("dbias"));
    for (const auto& [name, x] : few) BOOST_TEST(same_bits(x, all.at(name)), name);
  }
}

// The kernels make the gradients of both tables; unwanted gradients are left out.
BOOST_AUTO_TEST_CASE(a_table_has_the_same_gradient_whatever_else_is_learned) {
  for (const int64_t head_dim : {8, 64, 128, 256})
    for (const int64_t window : {0, 37}) {
      const std::string what = concat("head_dim ", head_dim, ", window ", window);
      AttentionProblem p = make_problem({2, 1, 100, 140, head_dim}, DType::bf16);
      p.set_window(window, 3);
      p.add_bias();
      p.add_weight();
      const Named both = run_on(kCuda, p);
      for (const char* table : {"bias", "weight"})
        for (const auto& [name, x] : run_on(kCuda, p, TableNames{table}))
          BOOST_TEST(same_bits(x, both.at(name)), name << ' ' << what);
    }
}

// A view that begins where 16 bytes cannot be loaded at once.
BOOST_AUTO_TEST_CASE(heads_that_begin_anywhere) {
  for (const DType dtype : kFloats) {
    const AttentionProblem p = make_problem({1, 1, 70, 70, 8}, dtype);
    const Tensor want = on_device(p)();
    AttentionProblem moved = on_device(p);
    for (Tensor* x : {&moved.heads.q, &moved.heads.k, &moved.heads.v}) {
      const Tensor all = concat({Tensor::zeros({1}, dtype).to(kCuda), x->view({x->numel()})}, 0);
      *x = slice(all, 0, 1, all.numel()).view(x->shape());
    }
    BOOST_TEST(same_bits(moved().to(Device{}), want.to(Device{})));
  }
}

BOOST_AUTO_TEST_CASE(a_value_that_is_not_a_number_is_not_hidden) {
  for (const DType dtype : kFloats)
    for (int which = 0; which < 3; ++which) {
      AttentionProblem p = make_problem({1, 1, 40, 40, 8}, dtype);
      Tensor& x = which == 0 ? p.heads.q : which == 1 ? p.heads.k : p.heads.v;
      std::vector<double> values = x.to_vector();
      values[20 * 8 + 3] = std::numeric_limits<double>::quiet_NaN();
      x = Tensor::from(values, x.shape(), dtype);
      BOOST_TEST(std::isnan(on_device(p)().to_vector()[20 * 8 + 3]));
    }
}

// Tensor cores drop what does not fit into a sum; of values of one sign that would be the same way
// each time.
BOOST_AUTO_TEST_CASE(long_sums_in_float32_have_no_bias) {
  const int64_t n_key = 4096;
  AttentionProblem p = make_problem({1, 1, 16, n_key, 8}, DType::f32);
  p.heads.v = random_tensor(p.heads.v.shape(), 3, 1, 2, DType::f32);
  const std::vector<double> got = on_device(p)().to_vector(), want = p().to_vector();
  double bias = 0;
  for (size_t i = 0; i < got.size(); ++i)
    bias += (got[i] / want[i] - 1) / static_cast<double>(got.size());
  BOOST_TEST(std::abs(bias) < 1e-6);
}

BOOST_AUTO_TEST_CASE(working_memory_is_linear_in_the_length) {
  int64_t extra[2] = {};
  for (const int i : {0, 1}) {
    const int64_t length = i ? 512 : 256;
    AttentionProblem p = make_problem({1, 1, length, length, 8}, DType::bf16);
    p.add_bias();
    run_on(kCuda, p);
    reset_peak_memory(kCuda);
    const int64_t before = memory_stats(kCuda).current_bytes;
    run_on(kCuda, p);
    extra[i] = memory_stats(kCuda).peak_bytes - before;
  }
  BOOST_TEST(extra[1] < 3 * extra[0]);  // a [T, S] matrix would make it four times
}

BOOST_AUTO_TEST_CASE(heads_that_do_not_fit_into_tiles_are_refused) {
  const AttentionProblem p = on_device(make_problem({1, 1, 3, 3, 257}, DType::f32));
  BOOST_CHECK_EXCEPTION(p(), BackendError,
                        says_exactly("[attention] expected a head_dim of at most 256 on a CUDA "
                                     "device, got 257; use more heads, or the CPU"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test
