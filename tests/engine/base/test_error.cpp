#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "engine/base/did_you_mean.h"
#include "engine/base/error.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_error)
namespace {

// Says when it is printed.
struct Loud {
  bool* printed;
  friend std::ostream& operator<<(std::ostream& out, const Loud& loud) {
    *loud.printed = true;
    return out << "loud";
  }
};

BOOST_AUTO_TEST_CASE(an_error_says_where_and_what) {
  BOOST_CHECK_EXCEPTION(fail<IoError>("file", "expected ", 3, " bytes, got ", 2.5), IoError,
                        says_exactly("[file] expected 3 bytes, got 2.5"));
}

BOOST_AUTO_TEST_CASE(every_kind_is_an_error_and_none_is_another) {
  BOOST_CHECK_THROW(fail<ShapeError>("x", ""), Error);
  BOOST_CHECK_THROW(fail<DTypeError>("x", ""), Error);
  BOOST_CHECK_THROW(fail<DeviceError>("x", ""), Error);
  BOOST_CHECK_THROW(fail<ConfigError>("x", ""), Error);
  BOOST_CHECK_THROW(fail<BackendError>("x", ""), std::runtime_error);
  BOOST_TEST(
      (!std::is_base_of_v<ConfigError, IoError> && !std::is_base_of_v<IoError, ConfigError>));
}

BOOST_AUTO_TEST_CASE(the_text_is_built_only_on_failure) {
  bool printed = false;
  require<ShapeError>(true, "x", Loud{&printed});
  BOOST_TEST(!printed);
  BOOST_CHECK_EXCEPTION(require<ShapeError>(false, "x", Loud{&printed}), ShapeError,
                        says_exactly("[x] loud"));
  BOOST_TEST(printed);
}

BOOST_AUTO_TEST_CASE(a_near_word_is_suggested_and_a_far_one_is_not) {
  const std::vector<std::string> known{"posenc", "steps", "seed", "train-len"};
  BOOST_TEST(did_you_mean("postenc", known) == "; did you mean 'posenc'?");
  BOOST_TEST(did_you_mean("sead", known) == "; did you mean 'seed'?");
  BOOST_TEST(did_you_mean("train_length", known) == "; did you mean 'train-len'?");
  BOOST_TEST(did_you_mean("vocabulary", known) == "");
  BOOST_TEST(did_you_mean("x", {}) == "");
}

BOOST_AUTO_TEST_CASE(case_and_hyphens_do_not_matter) {
  const std::vector<std::string> known{"rope", "alibi", "train-len", "t5"};
  BOOST_TEST(did_you_mean("ROPE", known) == "; did you mean 'rope'?");
  BOOST_TEST(did_you_mean("ALiBy", known) == "; did you mean 'alibi'?");
  BOOST_TEST(did_you_mean("Train_Len", known) == "; did you mean 'train-len'?");
}

BOOST_AUTO_TEST_CASE(a_synonym_is_suggested_where_its_meaning_is_known) {
  const std::vector<std::string> known{"lr", "train-len", "lengthy"};
  constexpr Synonym synonyms[] = {{"learning-rate", "lr"},
                                  {"seq-len", "lengths"},
                                  {"seq-len", "train-len"},
                                  {"lengthi", "lr"},
                                  {"LR", "train-len"}};
  BOOST_TEST(did_you_mean("Learning_Rate", known, synonyms) == "; did you mean 'lr'?");
  BOOST_TEST(did_you_mean("seq-len", known, synonyms) == "; did you mean 'train-len'?");
  BOOST_TEST(did_you_mean("lengthi", known, synonyms) ==
             "; did you mean 'lr'?");  // before spelling
  BOOST_TEST(did_you_mean("lr", known, synonyms) ==
             "; did you mean 'lr'?");  // after the word itself
  BOOST_TEST(did_you_mean("batch-size", known, synonyms) == "");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
