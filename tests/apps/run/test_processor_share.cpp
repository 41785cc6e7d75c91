#include <sched.h>
#include <stdlib.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/run/processes.h"
#include "apps/run/processor_share.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "tests/support/processes.h"

BOOST_AUTO_TEST_SUITE(test_processor_share)

using namespace farfield;
using namespace farfield::run;
using Shares = std::vector<int64_t>;
using test::EndedProcess;

namespace {

// Of n processes with one mask.
std::vector<Processors> times(size_t n, const std::string& mask, const std::string& host = "a") {
  return std::vector<Processors>(n, {host, mask});
}

std::vector<Processors> operator+(std::vector<Processors> a, const std::vector<Processors>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Shares shares(const std::vector<Processors>& all) {
  Shares of_each;
  for (size_t rank = 0; rank < all.size(); ++rank)
    of_each.push_back(processor_share(all, static_cast<int>(rank)));
  return of_each;
}

}  // namespace

BOOST_AUTO_TEST_CASE(those_with_one_mask_share_it_evenly) {
  BOOST_TEST(shares(times(4, "11111111")) == (Shares{2, 2, 2, 2}));  // a machine
  BOOST_TEST(shares(times(4, std::string(16, '0') + "11111111")) == (Shares{2, 2, 2, 2}));
  BOOST_TEST(shares(times(1, "0111")) == (Shares{3}));
  BOOST_TEST(shares(times(2, "1111111")) == (Shares{3, 3}));
}

BOOST_AUTO_TEST_CASE(each_has_a_thread_of_its_own) {
  BOOST_TEST(shares(times(3, "11")) == (Shares{1, 1, 1}));
  BOOST_TEST(shares(times(1, "")) == (Shares{1}));
}

BOOST_AUTO_TEST_CASE(thirds_and_sevenths_add_up) {
  for (size_t n = 1; n <= 200; ++n)
    BOOST_TEST(shares(times(n, std::string(5 * n, '1'))) == Shares(n, 5));
}

BOOST_AUTO_TEST_CASE(a_mask_of_its_own_is_not_shared) {
  BOOST_TEST(shares(times(1, "11000000") + times(1, "00110000") + times(1, "000011") +
                    times(1, "00000011")) == (Shares{2, 2, 2, 2}));
}

BOOST_AUTO_TEST_CASE(where_masks_overlap_no_more_threads_than_processors) {
  const std::vector<Processors> all =
      times(2, "11110000") + times(1, "11111111") + times(1, "00000011");
  BOOST_TEST(shares(all) == (Shares{1, 1, 4, 1}));  // of 4/3, 4/3, 4/3 + 2 + 2/2, 2/2
  BOOST_TEST(n_used_processor(all, 0) == 8);
}

BOOST_AUTO_TEST_CASE(another_machine_has_processors_of_its_own) {
  const std::vector<Processors> all = times(2, "1111", "a") + times(1, "1111", "b");
  BOOST_TEST(shares(all) == (Shares{2, 2, 4}));
  BOOST_TEST(n_used_processor(all + times(1, "000000111", "b"), 2) == 7);
  BOOST_TEST(n_used_processor(all + times(1, "000000111", "b"), 0) == 4);
}

BOOST_AUTO_TEST_CASE(processors_of_a_process_are_those_that_the_system_lets_it_use) {
  cpu_set_t before, one;
  BOOST_REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
  const Processors all = own_processors();
  BOOST_TEST(std::count(all.mask.begin(), all.mask.end(), '1') == CPU_COUNT(&before));
  BOOST_TEST(!all.host.empty());
  CPU_ZERO(&one);
  CPU_SET(all.mask.size() - 1, &one);
  BOOST_REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
  const Processors last = own_processors();
  ::sched_setaffinity(0, sizeof before, &before);
  BOOST_TEST(last.mask == std::string(all.mask.size() - 1, '0') + '1');
  BOOST_TEST(last.host == all.host);
}

namespace {

// How many threads two processes have that have met, and what they say. Their environment says what
// they need to meet and no more, but for what `before` does in each.
std::string said_by_two(std::optional<int64_t> threads, const std::function<void()>& before) {
  const std::vector<EndedProcess> ended = test::in_processes(2, [&](int rank, uint16_t port) {
    for (const char* name :
         {"LOCAL_WORLD_SIZE", "LOCAL_RANK", "OMPI_COMM_WORLD_SIZE", "FARFIELD_THREADS"})
      ::unsetenv(name);
    ::setenv("RANK", std::to_string(rank).c_str(), 1);
    ::setenv("WORLD_SIZE", "2", 1);
    ::setenv("MASTER_ADDR", "127.0.0.1", 1);
    ::setenv("MASTER_PORT", std::to_string(port).c_str(), 1);
    set_thread_count(5);  // as FARFIELD_THREADS=5 would have, before main
    before();
    Processes processes;
    processes.meet("", threads);
    return concat(thread_count(), ": ", processes.description());
  });
  BOOST_TEST(ended[1].said == ended[0].said);
  return ended[0].said;
}

std::string description(int64_t n_thread, int64_t n_used) {
  return concat(n_thread, ": 2 processes by TCP, started by RANK and WORLD_SIZE: ", n_thread,
                n_thread == 1 ? " thread each" : " threads each",
                n_used == n_processor()
                    ? ""
                    : concat("; they are bound to ", n_used, " of ", n_processor(), " processors"));
}

}  // namespace

BOOST_AUTO_TEST_CASE(processes_that_meet_share_what_they_may_run_on) {
  const int64_t n_here = n_used_processor({own_processors()}, 0);
  const auto nothing = [] {};
  BOOST_TEST(said_by_two({}, nothing) == description(std::max(int64_t{1}, n_here / 2), n_here));
  BOOST_TEST(said_by_two(3, nothing) == description(std::min(int64_t{3}, n_here), n_here));
  BOOST_TEST(said_by_two({}, [] { ::setenv("FARFIELD_THREADS", "5", 1); }) ==
             description(5, n_here));
}

BOOST_AUTO_TEST_CASE(processes_that_are_bound_to_one_processor_say_so) {
  BOOST_TEST(said_by_two({}, [] {
               ::setenv("LOCAL_WORLD_SIZE", "2", 1);
               cpu_set_t one;
               CPU_ZERO(&one);
               CPU_SET(own_processors().mask.find('1'), &one);
               ::sched_setaffinity(0, sizeof one, &one);
             }) == description(1, 1));
}

BOOST_AUTO_TEST_SUITE_END()
