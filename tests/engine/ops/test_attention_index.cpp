// Attention whose tables are read by ids, not by distance.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <numeric>

#include "tests/support/attention_problem.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_attention_index)  // ctest: on_cuda:slow
namespace {

using test::AttentionProblem;
using test::run;
using test::Sizes;

const DType kFloats[] = {DType::f64, DType::f32, DType::bf16};

Tensor ids_of(const std::vector<int64_t>& values, const Shape& shape) {
  return Tensor::from(std::vector<int32_t>(values.begin(), values.end()), shape);
}
Tensor ids_of(const std::vector<int64_t>& values) {
  return ids_of(values, {static_cast<int64_t>(values.size())});
}
// f(0), ..., f(n - 1)
template <class F>
std::vector<int64_t> made(int64_t n, const F& f) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(f(i));
  return values;
}
// Positions that wait at some places and jump at others.
std::vector<int64_t> jumps(int64_t n, uint64_t stream) {
  const Random random{3, stream};
  int64_t at = 0;
  return made(n, [&](int64_t i) {
    const double u = random.uniform(static_cast<uint64_t>(i));
    return at += u < 0.2 ? 0 : u < 0.95 ? 1 : 9;
  });
}

// The kinds of ids that encodings give to every position.
enum class Kind { same, repeated, jumping, per_sequence };
std::ostream& operator<<(std::ostream& out, Kind kind) { return out << static_cast<int>(kind); }
const Kind kKinds[] = {Kind::same, Kind::repeated, Kind::jumping, Kind::per_sequence};

void add_ids(AttentionProblem& p, Kind kind, bool has_bias, bool has_weight) {
  const int64_t n_batch = p.heads.q.dim(0), n = p.n_key();
  std::vector<int64_t> ids;
  if (kind == Kind::same) ids = made(n, [](int64_t i) { return i; });
  if (kind == Kind::repeated) ids = made(n, [](int64_t i) { return i / 4; });
  if (kind == Kind::jumping) ids = jumps(n, 1);
  int64_t entries = 0;
  if (kind == Kind::per_sequence)
    for (int64_t b = 0; b < n_batch; ++b) {
      const std::vector<int64_t> one = jumps(n, static_cast<uint64_t>(b) + 2);
      ids.insert(ids.end(), one.begin(), one.end());
    }
  const bool rows = kind == Kind::per_sequence;
  for (size_t at = 0; at < ids.size(); at += static_cast<size_t>(n))
    entries = std::max(entries, ids[at + static_cast<size_t>(n) - 1] - ids[at] + 1);
  p.rule.ids = ids_of(ids, rows ? Shape{n_batch, n} : Shape{n});
  if (has_bias) p.add_bias(entries);
  if (has_weight) p.add_weight(entries);
}

// The kinds of far ids of encodings with two branches.
enum class Far { capped, grouped, streaming };
std::ostream& operator<<(std::ostream& out, Far far) { return out << static_cast<int>(far); }
const Far kFar[] = {Far::capped, Far::grouped, Far::streaming};

// Of near width w (4 sinks).
void add_far_ids(AttentionProblem& p, Far far, int64_t w) {
  const int64_t n_key = p.n_key(), first = n_key - p.n_query();
  p.rule.switch_distance = w;
  const auto set = [&](auto q, auto k) {
    p.rule.far_ids_q = ids_of(made(p.n_query(), [&](int64_t i) { return q(first + i); }));
    p.rule.far_ids_k = ids_of(made(n_key, k));
  };
  const auto zero = [](int64_t) { return int64_t{0}; };
  if (far == Far::capped) set([w](int64_t) { return w; }, zero);
  if (far == Far::grouped)
    set([w](int64_t m) { return m / 3 + w - w / 3; }, [](int64_t n) { return n / 3; });
  if (far == Far::streaming) {
    set([w](int64_t) { return w + 3; }, [](int64_t n) { return n; });
    p.rule.switch_position = w + 4;
    p.rule.window = w;
    p.rule.sinks = 4;
  }
}

BOOST_AUTO_TEST_CASE(ids_are_subtracted_by_hand) {
  // ids 0, 2: entry 2 at distance 1. Scores 1 + 1 and 3 - 1: halves.
  AttentionRule rule;
  rule.bias = Tensor::from({1, 50, -1}, {1, 3}, DType::f64);
  rule.ids = ids_of({0, 2});
  const Tensor q = Tensor::from({1}, {1, 1, 1, 1}, DType::f64);
  const Tensor k = Tensor::from({3, 1}, {1, 1, 2, 1}, DType::f64);
  const Tensor v = Tensor::from({10, 20}, {1, 1, 2, 1}, DType::f64);
  BOOST_TEST(std::abs(attention(q, k, v, rule).item() - 15) < 1e-13);
}

BOOST_AUTO_TEST_CASE(every_kind_of_ids_equals_the_reference) {
  for (const DType dtype : kFloats)
    for (const Kind kind : kKinds)
      for (int mask = 1; mask < 8; ++mask)
        for (const auto& [window, sinks] :
             {std::pair<int64_t, int64_t>{0, 0}, {37, 0}, {37, 3}, {100, 110}})
          for (const Sizes& s : {Sizes{1, 2, 211, 211, 8}, Sizes{2, 1, 70, 130, 5}}) {
            AttentionProblem p = test::make_problem(s, dtype);
            add_ids(p, kind, mask & 1, mask & 2);
            if (mask & 4) p.add_row_scale();
            p.rule.window = window;
            p.rule.sinks = sinks;
            test::compare(
                p, concat(s, " ids ", kind, " mask ", mask, " window ", window, " sinks ", sinks));
          }
}

BOOST_AUTO_TEST_CASE(every_kind_of_far_ids_equals_the_reference) {
  for (const DType dtype : kFloats)
    for (const Far far : kFar)
      for (int mask = 0; mask < 16; ++mask)
        for (const int64_t w : {7, 96, 120})
          for (const Sizes& s : {Sizes{1, 2, 199, 199, 8}, Sizes{2, 1, 70, 130, 5}}) {
            AttentionProblem p = test::make_problem(s, dtype);
            add_far_ids(p, far, w);
            if (mask & 1) p.add_bias();
            if (mask & 2) p.add_weight();
            if (mask & 4) p.add_row_scale();
            if (mask & 8) p.add_far_heads();
            test::compare(p, concat(s, " far ids ", far, " mask ", mask, " w ", w));
          }
}

BOOST_AUTO_TEST_CASE(ids_and_far_ids_together_equal_the_reference) {
  for (const DType dtype : kFloats)
    for (const Kind kind : kKinds)
      for (const Far far : kFar) {
        AttentionProblem p = test::make_problem({2, 2, 250, 333, 8}, dtype);
        p.add_far_heads();
        add_ids(p, kind, true, true);
        add_far_ids(p, far, 50);
        // room for far ids, too
        const int64_t entries = p.rule.bias.dim(1) + 400;
        p.add_bias(entries);
        p.add_weight(entries);
        test::compare(p, concat("ids ", kind, " far ids ", far));
      }
}

BOOST_AUTO_TEST_CASE(several_chunks_and_lengths_equal_the_reference) {
  for (const DType dtype : kFloats)
    for (const Kind kind : kKinds) {
      for (const Sizes& s : {Sizes{1, 1, 700, 700, 16}, Sizes{3, 2, 128, 128, 32},
                             Sizes{1, 1, 1, 1, 3}, Sizes{1, 1, 1, 97, 3}, Sizes{1, 1, 2, 192, 3}}) {
        AttentionProblem p = test::make_problem(s, dtype);
        add_ids(p, kind, true, true);
        test::compare(p, concat(s, " ids ", kind));
      }
    }
}

BOOST_AUTO_TEST_CASE(ids_equal_to_positions_give_what_distances_give) {
  for (const DType dtype : kFloats) {
    AttentionProblem p = test::make_problem({2, 2, 180, 300, 16}, dtype);
    p.add_bias();
    p.add_weight();
    const test::Named want = run(p);
    p.rule.ids = ids_of(made(300, [](int64_t i) { return i + 1000; }));
    for (const auto& [name, got] : run(p)) {
      const bool is_sum = name == "dbias" || name == "dweight";  // in another order
      if (is_sum && !(test::is_on_cuda() && dtype == DType::bf16))
        BOOST_TEST(test::relative_error(got.to_vector(), want.at(name).to_vector()) <
                   (dtype == DType::f64 ? 1e-14 : 5e-6));
      else
        BOOST_TEST(test::same_whatever_the_kernel(got, want.at(name), dtype, name), name);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_entry_of_minus_infinity_hides_its_pairs) {
  AttentionProblem p = test::make_problem({1, 1, 150, 150, 8}, DType::f32);
  add_ids(p, Kind::repeated, true, false);
  std::vector<double> bias = p.rule.bias.to_vector();
  for (size_t entry = 0; entry < bias.size(); entry += 1 + entry % 3) bias[entry] = -INFINITY;
  p.rule.bias = Tensor::from(bias, p.rule.bias.shape());
  test::compare(p, "bias with -inf");
}

BOOST_AUTO_TEST_CASE(results_do_not_depend_on_the_number_of_threads) {
  for (const DType dtype : kFloats)
    for (const Sizes& s : {Sizes{1, 3, 900, 900, 16}, Sizes{5, 2, 128, 128, 20}}) {
      AttentionProblem p = test::make_problem(s, dtype);
      add_ids(p, Kind::per_sequence, true, true);
      test::check_threads(p);
      AttentionProblem far = test::make_problem(s, dtype);
      far.add_bias();
      far.add_weight();
      add_far_ids(far, Far::grouped, 60);
      test::check_threads(far);
    }
}

BOOST_AUTO_TEST_CASE(gradients_equal_central_differences) {
  for (const Kind kind : kKinds) {
    AttentionProblem p = test::make_problem({2, 2, 7, 9, 3}, DType::f64);
    add_ids(p, kind, true, true);
    p.add_row_scale();
    test::check_differences(p);
  }
  for (const Far far : kFar) {
    AttentionProblem p = test::make_problem({2, 2, 9, 11, 3}, DType::f64);
    p.add_far_heads();
    p.add_bias();
    p.add_weight();
    add_far_ids(p, far, 3);
    test::check_differences(p);
  }
}

BOOST_AUTO_TEST_CASE(working_memory_is_linear_in_the_length) {
  int64_t extra[2] = {};
  for (const int i : {0, 1}) {
    const int64_t length = i ? 2048 : 1024;
    AttentionProblem p = test::make_problem({1, 1, length, length, 8}, DType::f32);
    add_ids(p, Kind::jumping, true, true);
    const test::Named first = run(p);
    reset_peak_memory({});
    const int64_t before = memory_stats({}).current_bytes;
    run(p);
    extra[i] = memory_stats({}).peak_bytes - before;
  }
  BOOST_TEST(extra[1] < 3 * extra[0]);  // a [T, S] matrix would make it four times
  BOOST_TEST(extra[1] < 2048 * 2048);
}

// --- messages ---

BOOST_AUTO_TEST_CASE(a_table_needs_only_the_entries_of_visible_pairs) {
  AttentionProblem p = test::make_problem({1, 1, 20, 20, 4}, DType::f64);
  p.rule.ids = ids_of(made(20, [](int64_t i) { return 3 * i; }));
  p.rule.window = 5;
  p.add_bias(13);  // distances to 4, entries to 12
  test::compare(p, "as many entries as the window shows");
  p.add_bias(12);
  BOOST_CHECK_EXCEPTION(p(), ShapeError,
                        says_exactly("[attention] expected ids[m] - ids[n] below the 12 entries of "
                                     "the tables, got 12 for positions 4 and 0"));
  p.add_bias(13);
  p.rule.sinks = 2;
  BOOST_CHECK_EXCEPTION(
      p(), ShapeError,
      says_exactly("[attention] expected ids[m] - ids[n] below the 13 entries of the tables, got "
                   "15 for positions 5 and 0"));
  // Far pairs read elsewhere: the sinks are far from position 5 on.
  p.rule.switch_distance = 5;
  p.rule.far_ids_q = ids_of(std::vector<int64_t>(20, 7));
  p.rule.far_ids_k = ids_of(made(20, [](int64_t n) { return n; }));
  test::compare(p, "as many entries as near pairs need");
  p.rule.far_ids_q = ids_of(std::vector<int64_t>(20, 13));
  BOOST_CHECK_EXCEPTION(
      p(), ShapeError,
      says_exactly("[attention] expected far_ids_q[i] - far_ids_k[n] of far pairs from 0 to 12, "
                   "got 13 for query 5 and key 0"));
  p.rule.far_ids_q = ids_of(std::vector<int64_t>(20, 0));
  BOOST_CHECK_EXCEPTION(p(), ShapeError, says("got -1 for query 6 and key 1"));
}

BOOST_AUTO_TEST_CASE(ids_that_do_not_fit_are_refused) {
  const auto refused = [](auto&& change, auto kind, const char* text) {
    AttentionProblem p = test::make_problem({2, 3, 4, 5, 8}, DType::bf16);
    p.add_bias();
    p.add_weight();
    p.rule.switch_distance = 2;
    p.rule.ids = ids_of({0, 1, 2, 3, 4});
    p.rule.far_ids_q = ids_of({2, 2, 2, 2});
    p.rule.far_ids_k = ids_of({0, 0, 0, 0, 0});
    p();
    change(p);
    BOOST_CHECK_EXCEPTION(p(), decltype(kind), says_exactly(text));
  };
  const ShapeError shape("");
  refused(
      [](AttentionProblem& p) {
        p.rule.ids = ids_of({0, 1, 2, 3});
      },
      shape, "[attention] expected ids of shape [S] or [B, S] with B = 2, S = 5, got [4]");
  refused(
      [](AttentionProblem& p) {
        p.rule.ids = ids_of({0, 1, 3, 2, 4});
      },
      shape, "[attention] expected ids that do not fall, got 3 before 2 at position 3");
  refused([](AttentionProblem& p) { p.rule.ids = test::normal({5}, 1, DType::f32); },
          DTypeError(""), "[attention] expected int32 ids, got float32");
  refused([](AttentionProblem& p) { p.rule.far_ids_k = {}; }, shape,
          "[attention] expected far_ids_q and far_ids_k together, got one of them");
  refused([](AttentionProblem& p) { p.rule.far_ids_q = p.rule.far_ids_k; }, shape,
          "[attention] expected far_ids_q and far_ids_k of shapes [4] and [5], got [5] and [5]");
  refused(
      [](AttentionProblem& p) {
        p.rule.far_ids_k = ids_of({0, 0, 1, 0, 0});
      },
      shape, "[attention] expected far_ids_k that do not fall, got 1 before 0 at position 3");
  refused([](AttentionProblem& p) { p.rule.switch_distance = 0; }, ConfigError(""),
          "[attention] expected a switch_distance with far_ids_q and far_ids_k, got 0: no pair is "
          "far");
  refused([](AttentionProblem& p) { p.add_weight(6); }, shape,
          "[attention] expected weight of shape [3, 5], got [3, 6]");
  refused(
      [](AttentionProblem& p) {
        p.rule.ids = {};
        p.add_bias(6);
        p.add_weight(6);
      },
      shape, "[attention] expected bias of shape [3, 5], got [3, 6]");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
