#include <boost/test/unit_test.hpp>

#include "apps/run/labels.h"
#include "apps/run/resolved_config.h"
#include "tests/apps/toy_run.h"

BOOST_AUTO_TEST_SUITE(test_run_labels)

using namespace farfield;
using namespace farfield::run;

namespace {
const std::string kLong = "kernel(bias=-r1*log(1+r2*d), r1>0~U(0,2), r2>0~U(0,1))";
using Texts = std::vector<std::string>;
}  // namespace

BOOST_AUTO_TEST_CASE(a_long_kernel_is_cut_and_told_apart_from_its_like) {
  const std::string cut = short_posenc(kLong);
  BOOST_TEST(cut.find("kernel(bias=-r1*log(1+r2…#") == 0u, cut);
  BOOST_TEST(cut.size() < 40u);
  BOOST_TEST(short_posenc(kLong) == cut);
  std::string other = kLong;
  other[other.size() - 3] = '2';
  BOOST_TEST(short_posenc(other) != cut);
  BOOST_TEST(short_posenc("rope + " + kLong + " + window(w=4)") ==
             "rope + " + cut + " + window(w=4)");
  BOOST_TEST(short_posenc(kLong + " (trained: " + other + ")") ==
             cut + " (trained: " + short_posenc(other) + ")");
  for (const char* whole :
       {"rope", "kernel(bias=-r1*d)", "", "alibi(slopes=[1, 2, 3, 4, 5, 6, 7, 8, 9])"})
    BOOST_TEST(short_posenc(whole) == whole);
  const std::string quoted = "kernel(bias=\")\", note=\"an unlikely ) and a long one\")";
  BOOST_TEST(short_posenc(quoted + " + rope").ends_with(") + rope"));
}

BOOST_AUTO_TEST_CASE(a_cut_term_is_told_in_full_where_a_label_shows_it) {
  const std::string cut = short_posenc(kLong), line = cut + " is " + kLong + '\n';
  BOOST_TEST(cut_terms_text({kLong + " + rope", kLong}, {cut + " + rope", "small"}) == line);
  BOOST_TEST(cut_terms_text({kLong}, {"small"}) == "");  // the runs have a name
  BOOST_TEST(cut_terms_text({"kernel(bias=-d)", "rope"}, {"kernel(bias=-d)", "rope"}) == "");
}

BOOST_AUTO_TEST_CASE(a_name_takes_the_place_of_the_trained_expression) {
  BOOST_TEST(encoding_label("", "rope", "rope", "") == "rope");
  BOOST_TEST(encoding_label("", "rope", "rope", "masked@8") == "rope masked@8");
  BOOST_TEST(encoding_label("small", "rope", "rope", "") == "small");
  BOOST_TEST(encoding_label("small", "rope", "rope", "masked@8") == "small masked@8");
  BOOST_TEST(encoding_label("small", "rope_ntk(scale=8)", "rope", "") ==
             "rope_ntk(scale=8) (trained: small)");
  BOOST_TEST(encoding_label("", kLong, kLong, "") == short_posenc(kLong));
  BOOST_TEST(encoding_name(kLong, "rope", "") == kLong + " (trained: rope)");
}

BOOST_AUTO_TEST_CASE(differences_name_the_keys_that_differ_alone) {
  const Settings a = {{"d-model", "32"}, {"step", "8"}, {"text", "0123456789abcdef/test"}},
                 b = {{"d-model", "64"}, {"step", "8"}, {"text", "fedcba9876543210/test"}};
  BOOST_TEST(differences_of({a, b}) ==
                 (Texts{" d-model=32 text=01234567/test", " d-model=64 text=fedcba98/test"}),
             boost::test_tools::per_element());
  BOOST_TEST(differences_of({a, a}) == (Texts{"", ""}), boost::test_tools::per_element());
  BOOST_TEST(differences_of({}).empty());
}

BOOST_AUTO_TEST_CASE(what_follows_from_a_preset_that_is_named_is_not_repeated) {
  const auto settings = [](const std::string& preset, std::optional<int64_t> train_len) {
    RunConfig config;
    config.preset = preset;
    config.train_len = train_len;
    return setting_of(resolve(config).settings, {{"step", "8"}, {"text", "a/test"}}, 1);
  };
  BOOST_TEST(differences_of({settings("smoke", {}), settings("mini", {})}) ==
                 (Texts{" preset=smoke", " preset=mini"}),
             boost::test_tools::per_element());
  const Texts told = differences_of({settings("smoke", 48), settings("mini", {})});
  BOOST_TEST(told[0] == " preset=smoke train-len=48");
}

BOOST_AUTO_TEST_CASE(a_setting_has_the_place_of_the_seed_and_not_its_number) {
  const Settings config = to_settings(test::toy().config());
  const Settings key = {
      {"step", "8"}, {"precision", "fp32"}, {"device", "cpu"}, {"text", "hash/test order=7"}};
  BOOST_TEST(value_of(setting_of(config, key, 7), "text") == "hash/test order=seed");
  BOOST_TEST(value_of(setting_of(config, key, 8), "text") == "hash/test order=7");
  BOOST_TEST(value_of(setting_of(config, key, 7), "posenc") == "");
  BOOST_TEST(value_of(setting_of(config, key, 7), "step") == "8");
}

BOOST_AUTO_TEST_CASE(a_folder_of_a_formula_can_be_read_and_typed) {
  BOOST_TEST(folder_word("kerple_log") == "kerple_log");
  BOOST_TEST(folder_word("rope + alibi") == "rope+alibi");
  const auto hashed = [](const std::string& expression, const std::string& word) {
    const std::string made = folder_word(expression);
    BOOST_TEST(made.size() == word.size() + 7);
    BOOST_TEST(made.starts_with(word + '-'), made);
  };
  hashed("rope + window(w=64)", "rope+window-w=64");
  hashed("kernel(bias=-r1*log(1+r2*d))", "kernel-bias=-r1-log-1+r2-d");
  hashed("alibi@0..-2", "alibi-0..-2");
  hashed("../x", "x");
  BOOST_TEST(folder_word("kernel(bias=-r1*d)") != folder_word("kernel(bias=-r1/d)"));
  BOOST_TEST(folder_word("kernel(bias=log(r1+d))") != folder_word("kernel(bias=log(r1)+d)"));
  const std::string text(60, 'a');
  BOOST_TEST(folder_word(text + '1').size() == 47u);
  BOOST_TEST(folder_word(text + '1') != folder_word(text + '2'));
}

BOOST_AUTO_TEST_CASE(words_for_files_stay_where_they_are_put) {
  BOOST_TEST(file_word("my run/1") == "my-run-1");
  BOOST_TEST(file_word("..") == "-.");
  BOOST_TEST(file_word("über run") == "über-run");
  BOOST_TEST(file_word("v1.5") == "v1.5");
}

BOOST_AUTO_TEST_CASE(the_mask_of_a_baseline_is_no_part_of_the_expression) {
  const auto measured = [](const std::string& posenc, const std::string& baseline) {
    return posenc_of({{"posenc", posenc}, {"baseline", baseline}});
  };
  BOOST_TEST(measured("alibi + window(w=4)", "masked@4") == "alibi");
  BOOST_TEST(measured("alibi + window(w=4)", "") == "alibi + window(w=4)");
  BOOST_TEST(measured("alibi + window(w=4)", "masked@8") == "alibi + window(w=4)");
  BOOST_TEST(measured("alibi + window(w=4) + window(w=8)", "masked@4") == "alibi + window(w=8)");
  BOOST_TEST(measured("window(w=4) + window(w=4)", "masked@4") == "window(w=4)");
  BOOST_TEST(measured("window(w=4)", "masked@4") == "none");
  BOOST_TEST(measured("alibi", "truncated@4") == "alibi");
  BOOST_TEST(measured("kerple_log + window(w=4), map r1=kerple_log.r1", "masked@4") ==
             "kerple_log, map r1=kerple_log.r1");
}

BOOST_AUTO_TEST_SUITE_END()
