// main() of every test executable; compiled once, like the headers precompiled beside it.
#include <boost/test/unit_test.hpp>
#include <filesystem>

namespace {

bool name_suite() {
  using boost::unit_test::framework::master_test_suite;
  const std::filesystem::path program = master_test_suite().argv[0];
  master_test_suite().p_name.value = program.filename().string();
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
