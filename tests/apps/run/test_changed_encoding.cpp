#include <boost/test/unit_test.hpp>
#include <cmath>

#include "apps/run/changed_encoding.h"
#include "engine/base/error.h"
#include "tests/support/messages.h"

namespace farfield::run {
BOOST_AUTO_TEST_SUITE(test_changed_encoding)  // ctest: on_cuda
namespace {

ModelConfig shape(const std::string& posenc) {
  return {.n_layer = 2,
          .n_head = 2,
          .d_model = 16,
          .d_ff = 32,
          .vocab_size = 64,
          .train_len = 8,
          .posenc = posenc};
}

using Tensors = std::map<std::string, Tensor>;

// A model "trained" with an expression: every value of the encoding is 0.125.
Tensors trained(const std::string& posenc) {
  const Transformer model(shape(posenc), 1);
  Tensors tensors;
  for (const Parameter& p : model.parameters())
    tensors[p.name] = p.name.find("position") == std::string::npos
                          ? p.value
                          : Tensor::full(p.value.shape(), 0.125);
  return tensors;
}

struct Loaded {
  Transformer model;
  Unmatched unmatched;
  explicit Loaded(const std::string& before, const std::string& after, bool drop_learned = false,
                  const std::vector<std::string>& maps = {})
      : model(shape(after), 1) {
    const posenc::Composition encoding(before, model.encoding().config());
    unmatched =
        load_weights_of("runs/x", encoding.canonical(), model, trained(before), drop_learned, maps);
  }
  std::vector<double> values(const std::string& name) const {
    for (const Parameter& p : model.encoding().parameters())
      if (p.name == name) return p.value.to_vector();
    return {};
  }
};

const std::vector<double> kTrained = {0.125, 0.125};

BOOST_AUTO_TEST_CASE(trained_values_go_from_term_to_term_by_name) {
  for (const char* after : {"kerple_log", "window(4) + kerple_log", "kerple_log + alibi",
                            "kerple_log(bias_scale=2)", "kerple_log@1 + rope"}) {
    const Loaded got("kerple_log", after);
    BOOST_TEST(got.values("kerple_log.r1") == kTrained, after);
    BOOST_TEST(got.values("kerple_log.r2") == kTrained, after);
    BOOST_TEST(got.unmatched.left_out.empty(), after);
    BOOST_TEST(got.unmatched.at_start.empty(), after);
  }
  const Loaded rows("learned_abs", "learned_abs + window(3)");
  BOOST_TEST(rows.values("learned_abs.weight").at(5) == 0.125);
}

BOOST_AUTO_TEST_CASE(values_to_start_from_may_be_left_out_or_repeated) {
  for (const char* after : {"kerple_log + alibi", "kerple_log(r1=3) + alibi"})
    BOOST_TEST(Loaded("kerple_log(r1=3)", after).values("kerple_log.r1") == kTrained, after);
}

BOOST_AUTO_TEST_CASE(a_trained_value_without_a_place_is_refused_unless_dropped) {
  BOOST_CHECK_EXCEPTION(
      Loaded("kerple_log", "alibi"), ConfigError,
      says_exactly("[posenc] runs/x: expected a place in 'alibi' for all that was trained with "
                   "'kerple_log', got none for kerple_log.r1, kerple_log.r2; --map gives it "
                   "another place, --drop-learned leaves out what has none"));
  const Loaded got("kerple_log", "alibi", true);
  BOOST_TEST(got.unmatched.left_out == (std::vector<std::string>{"kerple_log.r1", "kerple_log.r2"}),
             boost::test_tools::per_element());
  // Another layout of the same numbers has other names.
  BOOST_CHECK_EXCEPTION(Loaded("kerple_log", "kerple_log(share=layer)"), ConfigError,
                        says("got none for kerple_log.r1"));
  BOOST_CHECK_EXCEPTION(Loaded("learned_abs", "learned_abs(max_positions=9)"), ConfigError,
                        says("got none for learned_abs.weight [8, 16]; --map gives"));
}

BOOST_AUTO_TEST_CASE(a_learned_value_that_was_not_trained_is_refused_unless_dropped) {
  BOOST_CHECK_EXCEPTION(
      Loaded("alibi", "alibi + kerple_log(r1=2)"), ConfigError,
      says_exactly(
          "[posenc] runs/x: expected trained values for all that 'alibi + kerple_log(r1=2)' "
          "learns, got none for kerple_log.r1, kerple_log.r2; give values and learn=false, or use "
          "--drop-learned to take the initial values of training"));
  const Loaded got("alibi", "kerple_log(r1=2)", true);
  BOOST_TEST(got.values("kerple_log.r1") == (std::vector<double>{2, 2}));
  BOOST_TEST(got.unmatched.at_start.size() == 2u);
}

BOOST_AUTO_TEST_CASE(values_by_hand_that_are_not_learned_need_none_that_are_trained) {
  const Loaded got("alibi", "alibi + kerple_log(r1=2, r2=0.5, learn=false)");
  BOOST_TEST(got.model.encoding().parameters().empty());
  BOOST_TEST(got.unmatched.at_start.empty());
  BOOST_TEST(Loaded("rope", "rope + alibi_random").unmatched.at_start.empty());
  // In the place of learned values they are a place less.
  BOOST_CHECK_EXCEPTION(Loaded("kerple_log", "kerple_log(r1=2, r2=0.5, learn=false)"), ConfigError,
                        says("got none for kerple_log.r1, kerple_log.r2; ", "--drop-learned"));
  BOOST_TEST(Loaded("kerple_log", "kerple_log(r1=2, r2=0.5, learn=false)", true)
                 .unmatched.left_out.size() == 2u);
}

BOOST_AUTO_TEST_CASE(values_that_trained_ones_would_replace_are_refused_unless_dropped) {
  BOOST_CHECK_EXCEPTION(
      Loaded("kerple_log", "kerple_log(r1=2)"), ConfigError,
      says_exactly("[posenc] runs/x: 'kerple_log(r1=2)' lets kerple_log.r1 start elsewhere than "
                   "'kerple_log', but trained values take that place; leave the arguments as they "
                   "were, or --drop-learned takes the new ones instead"));
  const Loaded got("kerple_log", "kerple_log(r1=2)", true);
  BOOST_TEST(got.values("kerple_log.r1") == (std::vector<double>{2, 2}));
  BOOST_TEST(got.values("kerple_log.r2") == kTrained);
  BOOST_TEST(got.unmatched.left_out == std::vector<std::string>{"kerple_log.r1"});
  BOOST_TEST(got.unmatched.at_start == std::vector<std::string>{"kerple_log.r1"});
}

BOOST_AUTO_TEST_CASE(a_map_gives_trained_values_a_place_of_another_name) {
  const std::string written = "kernel(a>0=1, b>0=[2,3], bias=-a*log(1+b*d))";
  const Loaded there(written, "kerple_log + rope", false, {"a=kerple_log.r1", "kernel.b = r2"});
  BOOST_TEST(there.values("kerple_log.r1") == kTrained);
  BOOST_TEST(there.values("kerple_log.r2") == kTrained);
  BOOST_TEST(there.unmatched.mapped == "kernel.a=kerple_log.r1, kernel.b=kerple_log.r2");
  BOOST_TEST(there.unmatched.left_out.empty());
  BOOST_TEST(there.unmatched.at_start.empty());
  BOOST_TEST(with_map("kerple_log", there.unmatched) ==
             "kerple_log, map kernel.a=kerple_log.r1, kernel.b=kerple_log.r2");
  const Loaded back("kerple_log", written, false, {"r1=a", "r2=b"});
  BOOST_TEST(back.values("kernel.b") == kTrained);
  // What is neither mapped nor of the same name is refused as ever.
  BOOST_CHECK_EXCEPTION(Loaded(written, "kerple_log", false, {"a=r1"}), ConfigError,
                        says("got none for kernel.b; --map gives it another place"));
  BOOST_CHECK_EXCEPTION(Loaded("kerple_log", "kerple_log + kernel(bias=-a*d, a=1)", false, {}),
                        ConfigError, says("got none for kernel.a; give values"));
  // A value may go to several places, and a place takes no value by its own name then.
  const Loaded twice("kerple_log", "kerple_log + kernel(bias=-a*d, a=1)", false, {"r1=a"});
  BOOST_TEST(twice.values("kernel.a") == kTrained);
  BOOST_TEST(twice.unmatched.mapped == "kerple_log.r1=kernel.a");
  BOOST_CHECK_EXCEPTION(Loaded("kerple_log", "kerple_log + rope", false, {"r1=r2"}), ConfigError,
                        says("got none for kerple_log.r2"));
}

BOOST_AUTO_TEST_CASE(a_damaged_value_is_not_mapped) {
  Tensors tensors = trained("kerple_log");
  Tensor& r1 = tensors.at("gpt_neox.position_bias.kerple_log.r1");
  r1 = Tensor::from(std::vector<double>{0.5, NAN}, r1.shape(), r1.dtype());
  Transformer model(shape("kernel(a=1, b=1, bias=-a*log(1+b*d))"), 1);
  BOOST_CHECK_EXCEPTION(
      load_weights_of("runs/x", "kerple_log", model, tensors, false, {"r1=a", "r2=b"}), IoError,
      says("bad_parameter: runs/x: expected kerple_log.r1 of head 2 ", "got nan"));
}

BOOST_AUTO_TEST_CASE(the_trained_expression_itself_stays_as_it_was_trained) {
  const Loaded got("kerple_log", "kerple_log", false, {"a=b"});
  BOOST_TEST(got.unmatched.mapped == "");
  BOOST_TEST(with_map("kerple_log", got.unmatched) == "kerple_log");
}

BOOST_AUTO_TEST_CASE(the_rest_of_the_model_must_be_there_whatever_is_dropped) {
  Tensors tensors = trained("alibi");
  tensors.erase("embed_out.weight");
  Transformer model(shape("rope"), 1);
  BOOST_CHECK_EXCEPTION(load_weights_of("runs/x", "alibi", model, tensors, true), IoError,
                        says("expected a tensor 'embed_out.weight'"));
  tensors = trained("alibi");
  tensors["stranger"] = Tensor::zeros({1});
  BOOST_CHECK_EXCEPTION(load_weights_of("runs/x", "alibi", model, tensors, true), IoError,
                        says("got 'stranger'"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::run
