// main() of every test executable; compiled once, like the headers precompiled beside it.
#include <boost/test/tree/traverse.hpp>
#include <boost/test/tree/visitor.hpp>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>

#include "engine/base/error.h"

namespace {

using boost::unit_test::framework::master_test_suite;

// CTest runs a program file by file, by the suite that is named after the file: a case in none, or
// in another, would not run, or not where it should.
struct InSuiteOfItsFile : boost::unit_test::test_tree_visitor {
  void visit(const boost::unit_test::test_case& test) override {
    const std::string file(test.p_file_name.begin(), test.p_file_name.end());
    const std::string suite = std::filesystem::path(file).stem().string();
    farfield::require<farfield::ConfigError>(test.full_name().rfind(suite + '/', 0) == 0, "tests",
                                             file, ": expected case '", test.full_name(),
                                             "' in BOOST_AUTO_TEST_SUITE(", suite, ')');
  }
};

bool name_suite() {
  const std::filesystem::path program = master_test_suite().argv[0];
  master_test_suite().p_name.value = program.filename().string();
  InSuiteOfItsFile visitor;
  traverse_test_tree(master_test_suite(), visitor, true);
  return true;
}

}  // namespace

#ifdef BOOST_TEST_DYN_LINK
int main(int argc, char** argv) { return boost::unit_test::unit_test_main(name_suite, argc, argv); }
#else  // the static library has a main() of its own
boost::unit_test::test_suite* init_unit_test_suite(int, char**) {
  name_suite();
  return nullptr;
}
#endif
