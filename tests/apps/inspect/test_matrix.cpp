// Every encoding on every path: it works, or it is refused with a reason.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <stdexcept>

#include "apps/cli/csv.h"
#include "apps/inspect/matrix.h"
#include "engine/base/file.h"
#include "tests/support/source_dir.h"

namespace farfield::inspect {
BOOST_AUTO_TEST_SUITE(test_matrix)  // ctest: on_cuda:slow
namespace {

using Outcome = Trial::Outcome;

const std::vector<MatrixRow>& matrix() {
  static const std::vector<MatrixRow> rows = encoding_matrix();
  return rows;
}

const Trial& trial(std::string_view name, std::string_view path) {
  const auto& paths = Trials::paths();
  const auto column = std::find(paths.begin(), paths.end(), path) - paths.begin();
  for (const MatrixRow& row : matrix())
    if (row.name == name) return row.trials.at(static_cast<size_t>(column));
  throw std::out_of_range(std::string(name));
}

BOOST_AUTO_TEST_CASE(every_cell_works_or_says_why_not) {
  BOOST_TEST(matrix().size() == posenc::registry().size());
  for (const MatrixRow& row : matrix()) {
    BOOST_TEST_REQUIRE(row.trials.size() == Trials::paths().size());
    for (size_t i = 0; i < row.trials.size(); ++i) {
      BOOST_TEST(!is_broken(row.trials[i]),
                 row.expression << ", " << Trials::paths()[i] << ": " << row.trials[i].message);
      if (row.trials[i].outcome == Outcome::refused)
        BOOST_TEST(row.trials[i].message.find('[') == 0u, row.trials[i].message);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_readme_has_the_matrix) {
  const std::string readme = read_file(source_dir() / "posenc/README.md");
  BOOST_TEST((readme.find(matrix_text(matrix())) != std::string::npos),
             "posenc/README.md lacks what `inspect encoding --matrix` prints");
}

BOOST_AUTO_TEST_CASE(nothing_is_refused_that_training_and_resuming_need) {
  for (const MatrixRow& row : matrix())
    for (const char* path : {"forward", "backward", "resume"})
      BOOST_TEST((trial(row.name, path).outcome == Outcome::works), row.name << ", " << path);
}

BOOST_AUTO_TEST_CASE(what_is_known_of_some_cells_is_there) {
  BOOST_TEST((trial("alibi", "gradients").outcome == Outcome::nothing));
  BOOST_TEST((trial("kerple_log", "gradients").outcome == Outcome::works));
  BOOST_TEST((trial("kerple_log", "share=layer").outcome == Outcome::works));
  BOOST_TEST((trial("alibi", "share=layer").outcome == Outcome::nothing));
  BOOST_TEST((trial("learned_abs", "8x").outcome == Outcome::refused));
  BOOST_TEST((trial("learned_abs", "share=layer").outcome == Outcome::refused));
}

BOOST_AUTO_TEST_CASE(a_broken_cell_and_a_refusal_without_a_reason_are_seen) {
  BOOST_TEST(is_broken({Outcome::broken, "wrong"}));
  BOOST_TEST(is_broken({Outcome::refused, ""}));
  BOOST_TEST(!is_broken({Outcome::refused, "[posenc] no"}));
  BOOST_TEST(!is_broken({}));
  const std::vector<Trial> trials = {{Outcome::broken, "wrong"},
                                     {Outcome::refused, "[posenc] no at column 3\n  x\n  ^"},
                                     {Outcome::nothing, "none"},
                                     {},
                                     {Outcome::refused, "[posenc] no"},
                                     {},
                                     {},
                                     {}};
  const std::string text = matrix_text({{"x", "x(1)", trials}});
  BOOST_TEST(text.find("| `x`      | BROKEN (1) | (2)      | -         | yes    | (2)") !=
                 std::string::npos,
             text);
  BOOST_TEST(text.find("\n1. wrong\n2. [posenc] no\n") != std::string::npos, text);
  const auto rows = cli::parse_csv("x", matrix_csv({{"x", "x(1)", trials}}));
  BOOST_TEST(rows.size() == 9u);
  BOOST_TEST(rows[2][3] == "refused");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::inspect
