// What `bench roofline` takes kernels to issue, against the baseline.
#include <boost/test/unit_test.hpp>

#include "engine/base/file.h"
#include "tests/static_costs/baseline.h"
#include "tests/static_costs/elements.h"
#include "tests/support/source_dir.h"

BOOST_AUTO_TEST_SUITE(test_kernel_work)

using namespace farfield;
using namespace farfield::static_costs;

namespace {

int64_t n_of(const Counts& counts, Kind kind) { return counts[static_cast<size_t>(kind)]; }

KernelCosts two_loops() {
  KernelCosts kernel = {.file = "a.cu", .name = "f", .sm = 90, .code = CodeCosts()};
  kernel.code->whole = {20, 1, 0, 30, 0, 5, 0, 4, 3};
  kernel.code->each = {{8, 0, 0, 2, 0, 1, 0, 1, 0}, {4, 1, 0, 1, 0, 0, 0, 1, 0}};
  return kernel;
}

// The way taken is counted by hand, so no number here can be right when the loop is another.
void check_counted_in(const Counts& tile, const bench::KernelWork& work) {
  const int64_t all = total(tile), fp32 = n_of(tile, Kind::fp32);
  BOOST_TEST((work.loop == static_cast<double>(all) && work.loop_fp32 == static_cast<double>(fp32)),
             "apps/bench/kernel_work.h, "
                 << work.name << ", " << work.kernel << ": the way taken was counted in a loop of "
                 << work.loop << ", " << work.loop_fp32 << ", which is " << all << ", " << fp32
                 << " now: count it again");
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_row_is_what_the_baseline_says) {
  const std::string path = (source_dir() / "tests/static_costs/baseline.csv").string();
  const Baseline baseline = baseline_of(path, read_file(path));
  for (const bench::KernelWork& work : bench::kKernelWork) {
    const KernelCosts* const kernel = kernel_of(work, baseline.kernels);
    BOOST_TEST_REQUIRE(kernel != nullptr, work.file << ": no " << work.kernel << " for sm_90");
    BOOST_TEST_REQUIRE(kernel->code.has_value(), work.file << ": no instructions counted");
    if (work.part == bench::kWayTaken) {
      check_counted_in(kernel->code->tile, work);
      continue;
    }
    const auto counts = counts_of(*kernel, work.part);
    BOOST_TEST_REQUIRE(counts.has_value(), work.kernel << " has no loop " << work.part);
    const int64_t all = total(*counts), fp32 = n_of(*counts, Kind::fp32);
    BOOST_TEST(
        (work.instructions == static_cast<double>(all) && work.fp32 == static_cast<double>(fp32)),
        "apps/bench/kernel_work.h, " << work.name << ", " << work.kernel << ": expected " << all
                                     << ", " << fp32 << ", got " << work.instructions << ", "
                                     << work.fp32);
  }
}

BOOST_AUTO_TEST_CASE(the_baseline_keeps_the_loop_over_tiles_of_ways_counted_by_hand) {
  KernelCosts kernel = two_loops();
  kernel.code->tile = {7, 0, 48, 0, 0, 0, 0, 1, 0};
  BOOST_TEST(to_csv({"13", {kernel}}).find("7:0:48") == std::string::npos);
  kernel.file = "attention_forward_plain.cu";
  kernel.name = "attention_forward_kernel<BFloat16, 64, PlainScores<BFloat16> >";
  const std::string csv = to_csv({"13", {kernel}});
  BOOST_TEST((baseline_of("b.csv", csv).kernels.at(0).code->tile == kernel.code->tile));
  BOOST_TEST(to_csv(baseline_of("b.csv", csv)) == csv);
}

BOOST_AUTO_TEST_CASE(a_part_is_all_a_loop_or_what_is_in_none) {
  const KernelCosts kernel = two_loops();
  BOOST_TEST(total(*counts_of(kernel, bench::kWhole)) == 63);
  BOOST_TEST(total(*counts_of(kernel, 1)) == 7);
  BOOST_TEST(n_of(*counts_of(kernel, bench::kOutside), Kind::fp32) == 8);
  BOOST_TEST(total(*counts_of(kernel, bench::kOutside)) == 44);
  BOOST_TEST(!counts_of(kernel, 2).has_value());
  BOOST_TEST(!counts_of(kernel, bench::kWayTaken).has_value());
}

BOOST_AUTO_TEST_CASE(the_table_has_instructions_of_an_element) {
  KernelCosts kernel = two_loops();
  kernel.file = "embedding.cu";
  kernel.name = "gather_kernel<float, BFloat16>";  // of four elements, whole
  const std::string text = element_table({kernel});
  const size_t at = text.find("embedding: gather_kernel<float, BFloat16>");
  BOOST_TEST_REQUIRE(at != std::string::npos);
  const std::string row = text.substr(at, text.find('\n', at) - at);
  for (const char* part : {"whole", " 4 ", " 15.75 ", " 5.00 ", " 7.50 "})
    BOOST_TEST(row.find(part) != std::string::npos, part << " is not in " << row);
  BOOST_TEST(text.find("GELU") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_baseline_keeps_the_parts_of_kernels_with_elements_alone) {
  KernelCosts kernel = two_loops();
  BOOST_TEST(to_csv({"13", {kernel}}).find("20:1:0:30:0:5:0:4:3") == std::string::npos);
  kernel.file = "optim.cu";
  kernel.name = "adamw_kernel";
  const std::string csv = to_csv({"13", {kernel}});
  const Baseline read = baseline_of("b.csv", csv);
  BOOST_TEST((read.kernels.at(0).code->whole == kernel.code->whole));
  BOOST_TEST((read.kernels.at(0).code->each == kernel.code->each));
  BOOST_TEST(to_csv(read) == csv);
}

BOOST_AUTO_TEST_SUITE_END()
