#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <vector>

#include "apps/run/machine.h"
#include "engine/base/file.h"
#include "engine/storage.h"
#include "tests/support/temp_folder.h"

namespace farfield::run {
BOOST_AUTO_TEST_SUITE(test_machine)
namespace {

// A machine made of files.
struct Root {
  TempFolder folder;

  void write(const std::string& name, const std::string& text) const {
    const auto path = folder / name;
    std::filesystem::create_directories(path.parent_path());
    write_file_atomic(path, text);
  }
  void write_meminfo() const {
    write("proc/meminfo", "MemTotal:  4000 kB\nMemFree:  10 kB\nMemAvailable:    2000 kB\n");
  }
  int64_t available() const { return available_memory(folder.path()); }
};

BOOST_AUTO_TEST_CASE(a_processor_is_named_as_its_maker_or_its_architecture_calls_it) {
  const Root root;
  const auto name = [&](const std::string& lines) {
    root.write("proc/cpuinfo", lines);
    return processor_name(root.folder.path());
  };
  BOOST_TEST(processor_name(root.folder.path()) == "unknown");
  BOOST_TEST(name("processor\t: 0\nmodel name\t: AMD EPYC 9R14\n") == "AMD EPYC 9R14");
  const std::string arm = "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n";
  BOOST_TEST(name(arm + "CPU architecture: 8\nCPU part\t: 0xd0c\n") == "ARM Neoverse-N1");
  BOOST_TEST(name(arm + "CPU part\t: 0xfff\n") == "ARM, implementer 0x41, part 0xfff");
  BOOST_TEST(name(arm) == "unknown");
}

BOOST_AUTO_TEST_CASE(without_a_limit_the_host_says_what_is_available) {
  const Root root;
  BOOST_TEST(root.available() == 0);  // not known
  root.write_meminfo();
  BOOST_TEST(root.available() == 2000 * 1024);
  root.write("sys/fs/cgroup/memory.max", "max\n");
  root.write("sys/fs/cgroup/memory.current", "5\n");
  BOOST_TEST(root.available() == 2000 * 1024);
}

BOOST_AUTO_TEST_CASE(a_control_group_leaves_its_limit_less_what_cannot_be_dropped) {
  const Root root;
  root.write_meminfo();
  root.write("sys/fs/cgroup/memory.max", "1000000\n");
  root.write("sys/fs/cgroup/memory.current", "400000\n");
  BOOST_TEST(root.available() == 600000);
  root.write("sys/fs/cgroup/memory.stat", "anon 7\ninactive_file 100000\nactive_file 9\n");
  BOOST_TEST(root.available() == 700000);
  root.write("sys/fs/cgroup/memory.current", "1200000\n");  // over it
  BOOST_TEST(root.available() == 0);
  root.write("sys/fs/cgroup/memory.max", "9000000000\n");  // more than the host has
  BOOST_TEST(root.available() == 2000 * 1024);
}

BOOST_AUTO_TEST_CASE(the_tightest_of_the_groups_around_a_process_counts) {
  const Root root;
  root.write_meminfo();
  root.write("proc/self/cgroup", "0::/slice/job\n");
  root.write("sys/fs/cgroup/slice/memory.max", "500000\n");
  root.write("sys/fs/cgroup/slice/memory.current", "100000\n");
  root.write("sys/fs/cgroup/slice/job/memory.max", "900000\n");
  root.write("sys/fs/cgroup/slice/job/memory.current", "100000\n");
  BOOST_TEST(root.available() == 400000);
}

BOOST_AUTO_TEST_CASE(the_first_version_of_control_groups_is_read_too) {
  const Root root;
  root.write_meminfo();
  root.write("proc/self/cgroup", "11:cpu:/x\n9:memory:/job\n");
  root.write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "800000\n");
  root.write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "300000\n");
  root.write("sys/fs/cgroup/memory/job/memory.stat",
             "inactive_file 1\ntotal_inactive_file 50000\n");
  BOOST_TEST(root.available() == 550000);
}

BOOST_AUTO_TEST_CASE(resident_memory_follows_what_is_touched) {
  if (!reset_peak_resident()) {
    BOOST_TEST_MESSAGE("skipped: this system does not reset the peak of resident memory");
    return;
  }
  const int64_t before = resident_bytes();
  constexpr int64_t kSize = 64 << 20;
  {
    const std::vector<char> touched(kSize, 1);
    BOOST_TEST(touched.back() == 1);
    BOOST_TEST(resident_bytes() >= before + kSize * 9 / 10);
  }
  BOOST_TEST(peak_resident_bytes() >= before + kSize * 9 / 10);
  BOOST_TEST(reset_peak_resident());
  BOOST_TEST(peak_resident_bytes() < before + kSize / 2);
}

BOOST_AUTO_TEST_CASE(a_machine_has_a_name_and_memory) {
  BOOST_TEST(!machine_name({}).empty());
  BOOST_TEST(machine_name({}) == machine_name({}));
  BOOST_TEST(available_bytes({}) > 0);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::run
