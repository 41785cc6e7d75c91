#include <boost/test/unit_test.hpp>
#include <iostream>

#include "apps/cli/commands.h"
#include "apps/cli/man_page.h"
#include "apps/cli/options.h"

namespace farfield::cli {
BOOST_AUTO_TEST_SUITE(test_man_page)
namespace {

int sow(int argc, const char* const* argv, std::ostream& out) {
  std::string depth = ".5", file;
  std::vector<std::string> beds;
  Options options("garden sow",
                  "Sows.\nIn rows. Lines of a file:\n  seed = NAME  what is sown\n\nThen waters.");
  options.add_positional("BED", beds, "where");
  options.group("How").add("depth", depth, "X", ".1 or 'deep'").add("from-file", file, "FILE", "");
  options.parse(argc, argv, out);
  return kDone;
}

int garden(int argc, char** argv) {
  return run_command("garden", "Gardens. With `sow`.", {{"sow", "puts seeds", sow}}, argc, argv,
                     std::cout);
}

bool has_lines(const std::string& text, const std::string& lines) {
  return text.find('\n' + lines + '\n') != std::string::npos;
}

BOOST_AUTO_TEST_CASE(every_character_stands_for_itself) {
  BOOST_TEST(roff("a b") == "a b");
  BOOST_TEST(roff(".5") == "\\&.5");
  BOOST_TEST(roff("'a' \"b\" `c`") == "\\(aqa\\(aq \\(dqb\\(dq \\(gac\\(ga");
  BOOST_TEST(roff("\\n --lr ^~") == "\\(rsn \\-\\-lr \\(ha\\(ti");
  BOOST_TEST(roff("\u2020 \xff\n.") == "\\[u2020] \\[uFFFD] .");
}

BOOST_AUTO_TEST_CASE(a_page_has_the_program_and_its_commands) {
  const std::string page = man_page("garden", garden);
  BOOST_TEST(page.starts_with(".TH \"GARDEN\" \"1\" \""));
  BOOST_TEST(has_lines(page, "garden \\- Gardens"));
  BOOST_TEST(has_lines(page, "\\fBgarden\\fR \\fICOMMAND\\fR [options]"));
  BOOST_TEST(has_lines(page, "Gardens. With \\(gasow\\(ga."));
  BOOST_TEST(has_lines(page, ".TP\n\\fBsow\\fR\nputs seeds"));
  BOOST_TEST(has_lines(page, ".SH \"garden sow\"\n\\fBgarden sow\\fR \\fI[BED...]\\fR [options]"));
  BOOST_TEST(has_lines(page, ".SS \"Arguments\"\n.TP\n\\fBBED\\fR\nwhere"));
  BOOST_TEST(has_lines(page, ".SH \"GENERAL OPTIONS\""));
  BOOST_TEST(has_lines(
      page, ".TP\n\\fB3\\fR\nbad data or a bad file, or output that could not be written"));
}

BOOST_AUTO_TEST_CASE(options_have_their_value_help_and_default) {
  const std::string page = man_page("garden", garden);
  BOOST_TEST(has_lines(page,
                       ".SS \"How\"\n.TP\n\\fB\\-\\-depth\\fR \\fIX\\fR\n"
                       "\\&.1 or \\(aqdeep\\(aq (default: .5)\n"
                       ".TP\n\\fB\\-\\-from\\-file\\fR \\fIFILE\\fR\n\\&"));
}

BOOST_AUTO_TEST_CASE(paragraphs_and_terms_of_a_summary_stay_apart) {
  BOOST_TEST(has_lines(man_page("garden", garden),
                       ".PP\nSows. In rows. Lines of a file:\n.TP\n\\fBseed = NAME\\fR\n"
                       "what is sown\n.PP\nThen waters."));
}

BOOST_AUTO_TEST_SUITE_END()
}  // namespace
}  // namespace farfield::cli
