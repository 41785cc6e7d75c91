#include <signal.h>

#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/random.h"
#include "engine/comm/communicator.h"
#include "tests/support/processes.h"

BOOST_AUTO_TEST_SUITE(test_communicator)  // ctest: threads arm64

using namespace farfield;
using comm::Communicator;
using test::EndedProcess;
using test::in_processes;

namespace {

// Of rank r: numbers whose sum depends on the order.
std::vector<float> values_of(int rank, size_t n) {
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i)
    values[i] = static_cast<float>(
        std::sin(1.0 + 37.0 * rank + static_cast<double>(i)) *
        std::exp2(static_cast<double>((i + static_cast<size_t>(rank) * 7) % 20)));
  return values;
}

std::vector<float> plus(std::vector<float> a, const std::vector<float>& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

// ((0 + 1) + (2 + 3)) + ...: of `size` processes from `first` on, a power of two.
std::vector<float> tree_sum(int first, int size, size_t n) {
  if (size == 1) return values_of(first, n);
  return plus(tree_sum(first, size / 2, n), tree_sum(first + size / 2, size / 2, n));
}

std::string text_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

void check_all(const std::vector<EndedProcess>& ended, const std::string& wanted) {
  for (size_t rank = 0; rank < ended.size(); ++rank) {
    BOOST_TEST_CONTEXT("rank " << rank << " of " << ended.size()) {
      BOOST_TEST(ended[rank].status == 0, ended[rank].said);
      BOOST_TEST((ended[rank].said == wanted));
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(sums_are_those_of_a_tree_to_the_bit) {
  for (const int size : {1, 2, 4, 8})
    for (const size_t n : {size_t{0}, size_t{1}, size_t{3}, size_t{1000}, size_t{100'003}})
      check_all(in_processes(size,
                             [&](Communicator& processes) {
                               std::vector<float> values = values_of(processes.rank(), n);
                               processes.sum(values);
                               return text_of(values);
                             }),
                text_of(tree_sum(0, size, n)));
}

BOOST_AUTO_TEST_CASE(parts_are_whole_units) {
  for (const int size : {2, 3, 4, 5}) {
    const std::vector<EndedProcess> ended = in_processes(size, [&](Communicator& processes) {
      constexpr int64_t kN = 1003, kUnit = 64;  // 16 units, the last of 43
      int64_t end = 0, n = 0;
      std::vector<bool> is_taken(kN);
      for (int rank = 0; rank < processes.size(); ++rank) {
        const comm::Range part = processes.part(kN, rank, kUnit);
        require<Error>(part.begin % kUnit == 0 && (part.end % kUnit == 0 || part.end == kN), "part",
                       part.begin, " to ", part.end);
        for (int64_t i = part.begin; i < part.end; ++i) is_taken[static_cast<size_t>(i)] = true;
        end = std::max(end, part.end);
        n += part.size();
      }
      require<Error>(end == kN && n == kN, "parts", "not all once");
      std::vector<float> values = values_of(processes.rank(), kN), all = values;
      processes.sum(all);
      processes.reduce_scatter(values, kUnit);
      processes.all_gather(values, kUnit);
      return text_of(values) == text_of(all) ? "equal" : "different";
    });
    check_all(ended, "equal");
  }
}

BOOST_AUTO_TEST_CASE(sums_of_any_number_of_processes_are_equal_everywhere) {
  for (const int size : {3, 5, 6, 7}) {
    const std::vector<EndedProcess> ended = in_processes(size, [&](Communicator& processes) {
      std::vector<double> values = {1.0 + processes.rank(), 0.1 * processes.rank(), 1e10};
      processes.sum(values);
      return std::to_string(values[0]) + ' ' + std::to_string(std::bit_cast<int64_t>(values[1]));
    });
    check_all(ended, ended[0].said);
    BOOST_TEST(std::stod(ended[0].said) == size * (size + 1) / 2.0);
  }
}

BOOST_AUTO_TEST_CASE(parts_cover_all_once_and_scatter_and_gather_give_the_sum) {
  for (const int size : {1, 2, 3, 4, 5, 6, 7, 8})
    for (const size_t n : {size_t{1}, size_t{7}, size_t{1001}}) {
      const std::vector<EndedProcess> ended = in_processes(size, [&](Communicator& processes) {
        std::vector<int> owners(n, 0);
        for (int rank = 0; rank < size; ++rank) {
          const comm::Range part = processes.part(static_cast<int64_t>(n), rank);
          for (int64_t i = part.begin; i < part.end; ++i) ++owners[static_cast<size_t>(i)];
        }
        for (const int count : owners)
          require<Error>(count == 1, "test", "owned ", count, " times");
        std::vector<float> values = values_of(processes.rank(), n), sums = values;
        processes.sum(sums);
        processes.reduce_scatter(values);
        const comm::Range own = processes.own_part(static_cast<int64_t>(n));
        for (size_t i = 0; i < n; ++i)
          if (const auto at = static_cast<int64_t>(i); at < own.begin || at >= own.end)
            values[i] = -1;
        processes.all_gather(values);
        require<Error>(std::memcmp(values.data(), sums.data(), n * sizeof(float)) == 0, "test",
                       "other sums");
        return text_of(values);
      });
      check_all(ended, ended[0].said);
    }
}

BOOST_AUTO_TEST_CASE(texts_and_numbers_go_from_each_to_all) {
  for (const int size : {1, 2, 3, 5}) {
    std::string wanted = "0:a";
    for (int rank = 1; rank < size; ++rank)
      wanted +=
          ' ' + std::to_string(rank) + ':' + std::string(static_cast<size_t>(rank * 1000), 'b');
    check_all(
        in_processes(size,
                     [&](Communicator& processes) {
                       const int rank = processes.rank();
                       const std::string own =
                           std::to_string(rank) + ':' +
                           (rank == 0 ? "a" : std::string(static_cast<size_t>(rank * 1000), 'b'));
                       std::string all;
                       for (const std::string& text : processes.gather(own))
                         all += (all.empty() ? "" : " ") + text;
                       require<Error>(processes.maximum(10 - rank) == 10, "test", "maximum");
                       require<Error>(processes.maximum(rank) == size - 1, "test", "maximum");
                       require<Error>(processes.broadcast(own, size - 1)[0] ==
                                          static_cast<char>('0' + size - 1),
                                      "test", "broadcast");
                       processes.wait_for_all();
                       return all;
                     }),
        wanted);
  }
}

BOOST_AUTO_TEST_CASE(what_has_to_be_equal_is_compared) {
  const std::vector<EndedProcess> ended = in_processes(4, [](Communicator& processes) {
    processes.require_equal("number", "7");
    processes.require_equal("configuration", processes.rank() == 2 ? "lr = 2" : "lr = 1");
    return std::string();
  });
  for (const EndedProcess& process : ended) {
    BOOST_TEST(process.status == 1);
    BOOST_TEST(process.said ==
               "[processes] expected the same configuration in all processes, got 'lr = 1' in "
               "process 0 and 'lr = 2' in process 2; start all with the same command");
  }
}

BOOST_AUTO_TEST_CASE(one_that_ends_is_named_by_all_who_wait_for_it) {
  const std::vector<EndedProcess> ended = in_processes(4, [](Communicator& processes) {
    processes.wait_for_all();
    if (processes.rank() == 2) ::raise(SIGKILL);
    std::vector<float> values(1'000'000);
    for (int i = 0; i < 100; ++i) processes.sum(values);
    return std::string();
  });
  for (int rank = 0; rank < 4; ++rank) {
    const EndedProcess& process = ended[static_cast<size_t>(rank)];
    BOOST_TEST(process.status == (rank == 2 ? 128 + SIGKILL : 1));
    if (rank != 2)
      BOOST_TEST(process.said.find("has ended or cannot be reached any more") != std::string::npos,
                 process.said);
  }
}

// 6 processes as 3 rows of 2: sums of a row and of a column, by two threads at once.
BOOST_AUTO_TEST_CASE(groups_without_a_pair_in_common_work_at_once) {
  const std::vector<EndedProcess> ended = in_processes(6, [](Communicator& all) {
    const int rank = all.rank(), row = rank / 2, column = rank % 2;
    Communicator neighbours = all.among({2 * row, 2 * row + 1});
    Communicator across = all.among({column, column + 2, column + 4});
    require<Error>(neighbours.size() == 2 && neighbours.rank() == column, "test", "row");
    require<Error>(across.size() == 3 && across.rank() == row, "test", "column");
    constexpr int kTimes = 200;
    const auto sums = [rank](Communicator& group, size_t n) {
      float total = 0;
      for (int i = 0; i < kTimes; ++i) {
        std::vector<float> values(n, static_cast<float>(rank + i));
        group.sum(values);
        for (const float value : values) require<Error>(value == values[0], "test", "mixed up");
        total += values[0];
      }
      return total;
    };
    float of_row = 0;
    std::thread other([&] { of_row = sums(neighbours, 3000); });
    const float of_column = sums(across, 10'000);
    other.join();
    const float i = kTimes * (kTimes - 1) / 2;
    require<Error>(of_row == 2 * i + kTimes * static_cast<float>(4 * row + 1), "test", of_row);
    require<Error>(of_column == 3 * i + kTimes * static_cast<float>(3 * column + 6), "test",
                   of_column);
    all.wait_for_all();
    return std::string("right");
  });
  check_all(ended, "right");
}

BOOST_AUTO_TEST_CASE(groups_of_groups_and_of_one_and_in_another_order) {
  const std::vector<EndedProcess> ended = in_processes(4, [](Communicator& all) {
    Communicator alone = all.among({all.rank()});
    require<Error>(alone.is_alone() && alone.is_first(), "test", "alone");
    if (all.rank() == 0) return std::string("right");
    Communicator three = all.among({3, 1, 2});
    require<Error>(three.rank() == (all.rank() == 3 ? 0 : all.rank()), "test", "order");
    if (three.rank() == 0) return std::string("right");
    Communicator two = three.among({1, 2});  // 1 and 2 of all
    require<Error>(two.gather(std::to_string(all.rank())) == std::vector<std::string>{"1", "2"},
                   "test", "a group of a group");
    int64_t number = 0;
    if (two.is_first()) {
      number = 7;
      two.send(std::as_bytes(std::span(&number, 1)), 1);
    } else {
      two.receive(std::as_writable_bytes(std::span(&number, 1)), 0);
    }
    require<Error>(number == 7, "test", number);
    return std::string("right");
  });
  check_all(ended, "right");
}

BOOST_AUTO_TEST_CASE(a_group_has_different_processes_that_are_there) {
  const auto message = [](const std::vector<int>& ranks) {
    const std::vector<EndedProcess> ended = in_processes(2, [&](Communicator& all) {
      all.among(ranks);
      return std::string();
    });
    return ended[0].said;
  };
  const std::string begins =
      "[processes] expected a group of different ranks below 2 with 0 among them, got ";
  BOOST_TEST(message({0, 2}) == begins + "0, 2");
  BOOST_TEST(message({0, 0}) == begins + "0, 0");
  BOOST_TEST(message({1}) == begins + "1");
}

BOOST_AUTO_TEST_CASE(one_process_needs_no_others) {
  Communicator alone;
  std::vector<float> values = {1, 2};
  alone.sum(values);
  alone.reduce_scatter(values);
  alone.all_gather(values);
  BOOST_TEST(values == (std::vector<float>{1, 2}), boost::test_tools::per_element());
  BOOST_TEST(alone.own_part(7).size() == 7);
  BOOST_TEST(alone.gather("x").size() == 1u);
  BOOST_TEST(alone.description() == "one process");
}

BOOST_AUTO_TEST_SUITE_END()
