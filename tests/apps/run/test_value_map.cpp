#include <boost/test/unit_test.hpp>

#include "apps/run/value_map.h"
#include "engine/base/error.h"
#include "posenc/head_parameter.h"
#include "tests/support/all_close.h"
#include "tests/support/messages.h"

namespace farfield::run {
BOOST_AUTO_TEST_SUITE(test_value_map)
namespace {

posenc::Composition encoding(const std::string& expression) {
  return {expression,
          {.n_head = 2, .head_dim = 8, .d_model = 16, .n_layer = 2, .train_len = 16, .seed = 3}};
}

struct Both {
  posenc::Composition trained, changed;
  Both(const std::string& before, const std::string& after)
      : trained(encoding(before)), changed(encoding(after)) {}
  std::vector<MappedValue> maps(const std::vector<std::string>& texts) {
    return value_maps("runs/x", texts, trained, changed);
  }
  void apply(const std::vector<std::string>& texts) {
    farfield::run::apply(maps(texts), trained, changed);
  }
  std::vector<double> value(const std::string& name) {
    for (const posenc::HeadParameter* p : changed.head_parameters())
      if (p->name() == name) return p->values();
    return {};
  }
  std::string refusal(const std::vector<std::string>& texts) {
    return message_of<ConfigError>([&] { apply(texts); });
  }
};

const std::string kWritten = "kernel(a>0=[0.5,3], b>0=[0.25,2], bias=-a*log(1+b*d))";

BOOST_AUTO_TEST_CASE(names_may_go_without_their_term) {
  Both both(kWritten, "kerple_log + rope");
  const std::vector<MappedValue> want = {{"kernel.a", "kerple_log.r1"},
                                         {"kernel.b", "kerple_log.r2"}};
  for (const std::vector<std::string>& texts :
       {std::vector<std::string>{"a=r1", "b=r2"},
        std::vector<std::string>{"kernel.b=r2", " a = kerple_log.r1 "}})
    BOOST_CHECK(both.maps(texts) == want);
  BOOST_TEST(to_text(want) == "kernel.a=kerple_log.r1, kernel.b=kerple_log.r2");
  BOOST_TEST(to_text(std::vector<MappedValue>()) == "");
}

BOOST_AUTO_TEST_CASE(values_go_across_whatever_each_constraint_stores) {
  for (const char* before : {"", ", constraint=softplus", ", constraint=straight_through"})
    for (const char* after : {"", "(constraint=softplus)", "(constraint=straight_through)"}) {
      Both both("kernel(a>0=[0.5,3], b>0=[0.25,2], bias=-a*log(1+b*d)" + std::string(before) + ")",
                "kerple_log" + std::string(after));
      both.apply({"a=r1", "b=r2"});
      const Tolerance close(1e-6);  // of what float32 stores
      BOOST_TEST(all_close(both.value("kerple_log.r1"), std::vector<double>{0.5, 3}, close));
      BOOST_TEST(all_close(both.value("kerple_log.r2"), std::vector<double>{0.25, 2}, close));
    }
}

BOOST_AUTO_TEST_CASE(a_value_that_all_layers_share_goes_to_each_layer) {
  Both both(kWritten, "kerple_log(share=layer)");
  BOOST_TEST(to_text(both.maps({"a=r1"})) ==
             "kernel.a=kerple_log.layer0.r1, kernel.a=kerple_log.layer1.r1");
  both.apply({"a=r1"});
  BOOST_TEST(both.value("kerple_log.layer1.r1") == (std::vector<double>{0.5, 3}),
             boost::test_tools::per_element());
  Both layers("kerple_log(share=layer)", "kernel(a=1, bias=-a*d, share=layer)");
  BOOST_TEST(to_text(layers.maps({"r2=kernel.a"})) ==
             "kerple_log.layer0.r2=kernel.layer0.a, kerple_log.layer1.r2=kernel.layer1.a");
  BOOST_TEST(to_text(layers.maps({"kerple_log.layer1.r2=kernel.layer0.a"})) ==
             "kerple_log.layer1.r2=kernel.layer0.a");
  BOOST_TEST(Both("kerple_log(share=layer)", kWritten).refusal({"r1=a"}) ==
             "[posenc] runs/x: --map r1=a: expected a value of its layer, or one for all layers, "
             "for kernel.a, got kerple_log.layer0.r1, kerple_log.layer1.r1");
}

BOOST_AUTO_TEST_CASE(each_mistake_is_refused) {
  Both both(kWritten, "kerple_log + rope");
  const auto refused = [&](const std::string& text, const std::string& message) {
    const std::string error = both.refusal({text});
    BOOST_TEST(error.rfind("[posenc] runs/x: --map " + text + ": " + message, 0) == 0u, error);
  };
  for (const char* text : {"a", "=r1", "a=", ""})
    refused(text, "expected FROM=TO, a trained value and its new place, as in r1=kerple_log.r1");
  refused("c=r1", "expected a value that 'kernel(bias=-a*log(1+b*d), ");
  BOOST_TEST(both.refusal({"Kernel.A=r1"}).find("did you mean 'kernel.a'?") != std::string::npos);
  refused("a=r9",
          "expected a place that 'kerple_log + rope' learns out of kerple_log.r1, "
          "kerple_log.r2, got 'r9'");
  refused("r1=a", "expected a value that 'kernel(");
  BOOST_TEST(both.refusal({"r1=a"}).find("the trained value comes first: --map a=r1") !=
             std::string::npos);
  BOOST_TEST(both.refusal({"a=r1", "b=r1"}) ==
             "[posenc] runs/x: --map b=r1: expected a value for kerple_log.r1 once, got it again");
  BOOST_TEST(Both(kWritten, "kerple_log + kerple_power").refusal({"a=r1"}) ==
             "[posenc] runs/x: --map a=r1: expected one of kerple_log.r1, kerple_power.r1, got "
             "'r1', which may be each of them; write the term too");
  BOOST_TEST(Both(kWritten, "alibi").refusal({"a=r1"}) ==
             "[posenc] runs/x: --map a=r1: expected a place that 'alibi' learns, with one number "
             "per head, got 'r1'; 'alibi' learns none");
  BOOST_TEST(Both("t5", "kerple_log").refusal({"t5.table=r1"}).find("learns none") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_value_out_of_the_bounds_of_its_place_is_refused) {
  const auto refusal = [](const std::string& after) {
    return Both("kernel(a=[0.5,2.5], bias=-a*d)", after).refusal({"a=r2"});
  };
  BOOST_TEST(refusal("kerple_power") ==
             "[posenc] expected kerple_power.r2 of head 2 >= 0.01 and <= 2, got 2.5");
  BOOST_TEST(refusal("kerple_power(constraint=softplus)") ==
             "[posenc] expected kerple_power.r2 of head 2 >= 0.01 and <= 2, got 2.5");
  BOOST_TEST(refusal("kerple_log") == "");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::run
