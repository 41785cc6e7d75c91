#include <boost/test/unit_test.hpp>

#include "apps/cli/csv.h"
#include "apps/inspect/registry_list.h"
#include "engine/base/error.h"
#include "posenc/registry.h"

namespace farfield::inspect {
BOOST_AUTO_TEST_SUITE(test_registry_list)  // ctest: on_cuda:slow
namespace {

BOOST_AUTO_TEST_CASE(every_encoding_is_listed_with_its_arguments) {
  const std::string text = concat("\n", registry_text());
  for (const posenc::Row& row : posenc::registry()) {
    const size_t at = text.find(concat("\n", row.name, row.aliases.empty() ? "  [" : ", "));
    BOOST_TEST_REQUIRE(at != std::string::npos, row.name);
    BOOST_TEST(text.find(row.meaning, at) != std::string::npos, row.name);
    BOOST_TEST(text.find(row.example, at) != std::string::npos, row.name);
    for (const posenc::ArgumentSpec& spec : row.arguments) {
      BOOST_TEST(text.find("    " + spec.name + ": ", at) != std::string::npos, spec.name);
      BOOST_TEST(text.find(spec.meaning, at) != std::string::npos, spec.name);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_csv_has_a_row_for_each_and_says_what_was_refused) {
  const auto rows = cli::parse_csv("list", registry_csv());
  BOOST_TEST(rows.size() == 1 + posenc::registry().size());
  bool seen = false;
  for (const auto& row : rows) {
    BOOST_TEST(row.size() == 6u);
    if (row[0] != "sinusoidal") continue;
    seen = true;
    BOOST_TEST(row[2] == "I");
    BOOST_TEST(row[3] == "layout=concat; base=10000; emb_scale=1; angle_dtype=fp64");
    BOOST_TEST((" " + row[4] + " ").find(" learned_abs ") != std::string::npos, row[4]);
    BOOST_TEST((" " + row[4] + " ").find(" alibi ") == std::string::npos, row[4]);
  }
  BOOST_TEST(seen);
}

BOOST_AUTO_TEST_CASE(a_pair_that_is_listed_as_refused_is_refused_and_no_other) {
  const posenc::Config config{.n_head = 2, .head_dim = 8, .d_model = 16, .train_len = 16};
  BOOST_TEST(refusal_of("rope + rope", config).find("[posenc] expected at most one rotation") ==
             0u);
  BOOST_TEST(refusal_of("rope + alibi + window(3)", config) == "");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::inspect
