// Test vectors as the program writes them, against the golden problems.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <fstream>
#include <sstream>

#include "apps/cli/options.h"
#include "apps/inspect/attention_case.h"
#include "apps/inspect/commands.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/safetensors.h"
#include "tests/support/all_close.h"
#include "tests/support/golden.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield::inspect {
BOOST_AUTO_TEST_SUITE(test_attention_case)  // ctest: on_cuda sanitize
namespace {

using Json = nlohmann::json;
using Tensors = std::map<std::string, Tensor>;

const Json& golden() {
  static const Json& json = test::golden("attention.json");
  return json;
}
const Json& case_named(std::string_view name) {
  for (const Json& c : golden()["cases"])
    if (c["name"].get<std::string>() == name) return c;
  fail<ConfigError>("test", "expected a case named ", name);
}

std::string run(const std::vector<std::string>& words) {
  std::vector<const char*> argv = {"inspect", "attention"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  std::ostringstream out;
  BOOST_TEST(inspect(static_cast<int>(argv.size()), argv.data(), out) == cli::kDone);
  return out.str();
}

struct Files {
  TempFolder folder;
  std::string input = (folder / "case.safetensors").string();
  std::string output = (folder / "out.safetensors").string();

  /// The golden problem, but for what is given instead.
  void write_input(const Tensors& instead = {}, const std::string& without = "") const {
    const int64_t n_head = golden()["heads"], n = golden()["length"], width = golden()["head_dim"];
    run::NamedTensors tensors;
    for (const char* name : {"q", "k", "v", "dout"}) {
      if (name == without) continue;
      const auto other = instead.find(name);
      tensors.emplace_back(name, other != instead.end()
                                     ? other->second
                                     : Tensor::from(test::golden_numbers(golden()[name]),
                                                    {n_head, n, width}, DType::f64));
    }
    write_safetensors(input, tensors);
  }
  SafetensorsFile solve(const std::string& expression, std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {expression, "--input", input, "--output", output};
    words.insert(words.end(), more.begin(), more.end());
    run(words);
    return read_safetensors(output);
  }
};

void check(const SafetensorsFile& got, const std::string& name, const Json& want,
           const std::string& what) {
  const std::vector<double> numbers = test::golden_numbers(want);
  const auto found = got.tensors.find(name);
  BOOST_TEST_REQUIRE((found != got.tensors.end()), what << ' ' << name);
  double largest = 1e-3;
  for (const double x : numbers) largest = std::max(largest, std::abs(x));
  BOOST_TEST(found->second.dtype() == DType::f64);
  BOOST_TEST(all_close(found->second.to_vector(), numbers, Tolerance{1e-12 * largest, 0}),
             what << ' ' << name);
}

BOOST_AUTO_TEST_CASE(golden_problems_come_out_with_every_gradient) {
  const Files files;
  files.write_input();
  // "name(r1=[...], r2=[...])", of the values of the case.
  const auto with_values = [](const std::string& name) {
    std::string arguments;
    for (const auto& [parameter, values] : case_named(name)["config"].items())
      arguments += concat(arguments.empty() ? "" : ", ", parameter, '=', values.dump());
    return concat(name, '(', arguments, ')');
  };
  struct Case {
    const char* name;
    std::string expression;
    bool has_bias = false, has_weight = false;
  };
  const Case cases[] = {{"none", "none"},
                        {"alibi", "alibi", true},
                        {"alibi_pre_scale", "alibi(bias_scale=0.35355339059327373)", true},
                        {"alibi_learned", with_values("alibi_learned"), true},
                        {"kerple_log", with_values("kerple_log"), true},
                        {"kerple_power", with_values("kerple_power"), true},
                        {"kerple_log3", with_values("kerple_log3"), true},
                        {"bias_wht", with_values("bias_wht"), true, true},
                        {"gauss_bias3", with_values("gauss_bias3"), true},
                        {"gauss_wht1", with_values("gauss_wht1"), false, true},
                        {"gauss_wht2", with_values("gauss_wht2"), false, true},
                        {"sandwich", "sandwich(8)", true},
                        {"window", "window(3)"},
                        {"window_alibi", "window(3) + alibi", true},
                        {"rope_half", "rope"},
                        {"rope_interleaved", "rope(layout=interleaved)"},
                        {"rope_partial", "rope(rotary_pct=0.5)"},
                        {"xpos", "xpos(scale_base=4)"},
                        {"log_n_clipped", "log_n"}};
  for (const auto& [name, expression, has_bias, has_weight] : cases) {
    const Json& want = case_named(name);
    const SafetensorsFile got = files.solve(expression, {"--train-len", "4"});
    for (const char* tensor : {"out", "dq", "dk", "dv"}) check(got, tensor, want[tensor], name);
    BOOST_TEST((got.tensors.count("dbias") > 0) == has_bias, name);
    BOOST_TEST((got.tensors.count("dweight") > 0) == has_weight, name);
    if (has_bias && want.contains("db")) check(got, "dbias", want["db"], name);
    if (has_weight && want.contains("dw")) check(got, "dweight", want["dw"], name);
    if (want.contains("dparams"))
      for (const auto& [parameter, values] : want["dparams"].items())
        check(got, concat("grad.", name, '.', parameter), values, name);
    BOOST_TEST(got.tensors.count("q") == 0u);
    BOOST_TEST(got.metadata.count("posenc") == 1u);
  }
}

BOOST_AUTO_TEST_CASE(input_of_less_precision_is_widened) {
  const Files files;
  const Tensor q = Tensor::from(std::vector<double>(2 * 3 * 4, 0.5), {2, 3, 4}, DType::bf16);
  const Tensor k = Tensor::from(std::vector<double>(2 * 3 * 4, 0.25), {2, 3, 4}, DType::f32);
  files.write_input({{"q", q}, {"k", k}, {"v", k}, {"dout", q}});
  const SafetensorsFile got = files.solve("alibi");
  BOOST_TEST(got.tensors.at("out").dtype() == DType::f64);
  for (const double x : got.tensors.at("out").to_vector()) BOOST_TEST(std::abs(x - 0.25) < 1e-15);
}

BOOST_AUTO_TEST_CASE(random_problems_are_written_and_repeat_themselves_as_input) {
  const Files files;
  const auto make = [&](const std::string& seed) {
    run({"kerple_log", "--n-head", "3", "--length", "5", "--head-dim", "4", "--seed", seed,
         "--output", files.input});
    return read_safetensors(files.input).tensors;
  };
  const Tensors made = make("7");
  BOOST_TEST((made.at("q").shape() == Shape{3, 5, 4}));
  BOOST_TEST((made.at("dbias").shape() == Shape{3, 5}));
  BOOST_TEST((made.at("grad.kerple_log.r1").shape() == Shape{3}));
  BOOST_TEST(made.at("q").to_vector() != made.at("k").to_vector());
  // Its own file is a problem again; what else it holds is left alone.
  const Tensors again = files.solve("kerple_log", {"--seed", "7"}).tensors;
  for (const char* name : {"out", "dq", "dk", "dv", "dbias", "grad.kerple_log.r2"})
    BOOST_TEST(again.at(name).to_vector() == made.at(name).to_vector(), name);
  BOOST_TEST(again.count("q") == 0u);
  BOOST_TEST(make("8").at("q").to_vector() != made.at("q").to_vector());
}

BOOST_AUTO_TEST_CASE(a_parameter_that_has_no_part_in_the_layer_has_gradient_zero) {
  const Files files;
  run({"kerple_log@1 + learned_abs", "--n-layer", "2", "--train-len", "6", "--output",
       files.output});
  const Tensors got = read_safetensors(files.output).tensors;
  BOOST_TEST(got.count("dbias") == 0u);
  for (const char* name : {"grad.kerple_log.r1", "grad.learned_abs.weight"})
    for (const double x : got.at(name).to_vector()) BOOST_TEST(x == 0, name);
}

BOOST_AUTO_TEST_CASE(hostile_input_is_refused_by_file_and_tensor) {
  const Files files;
  const auto refused = [&](const std::string& message) {
    BOOST_CHECK_EXCEPTION(files.solve("alibi"), IoError, says(files.input, message));
  };
  const auto zeros = [](const Shape& shape) { return Tensor::zeros(shape, DType::f64); };
  refused("");  // no such file
  write_file_atomic(files.input, "not a safetensors file");
  refused("");
  files.write_input({}, "dout");
  refused("expected a tensor 'dout' [n_head, T, head_dim], got none of that name");
  files.write_input({{"k", zeros({2, 3})}});
  refused("'k': expected [n_head, T, head_dim], none of them 0, got [2, 3]");
  files.write_input({{"q", zeros({2, 0, 4})}});
  refused("'q': expected [n_head, T, head_dim], none of them 0, got [2, 0, 4]");
  files.write_input({{"v", zeros({1, 1, 1})}});
  refused("'v': expected the shape of 'q'");
  const std::vector<int32_t> ints(24);
  files.write_input({{"v", Tensor::from(std::span<const int32_t>(ints), {2, 3, 4})}});
  refused("'v': expected floating numbers, got int32");
  files.write_input({{"k", Tensor::full({2, 3, 4}, NAN, DType::f64)}});
  refused("'k': expected finite numbers");
}

BOOST_AUTO_TEST_CASE(requests_that_make_no_sense_are_refused) {
  const Files files;
  files.write_input();
  const auto refused = [&](const std::vector<std::string>& words, const std::string& message) {
    BOOST_CHECK_EXCEPTION(run(words), ConfigError, says(message));
  };
  refused({}, "[inspect] expected an expression");
  refused({"alibi"}, "[inspect] expected --output FILE");
  refused({"alibii", "--output", files.output}, "did you mean 'alibi'?");
  refused({"alibi", "--length", "0", "--output", files.output},
          "[inspect] --length: expected a number from 1 to 65536, got 0");
  refused({"alibi", "--layer", "1", "--output", files.output},
          "[inspect] --layer: expected one from -1 to 0, got 1");
  refused({"alibi", "--phase", "now", "--output", files.output}, "[inspect] --phase");
  refused({"alibi", "--input", files.input, "--n-head", "77", "--output", files.output},
          "[inspect] --n-head: " + files.input + " has ");
  refused({"alibi", "none", "--output", files.output}, "unexpected argument 'none'");
  BOOST_CHECK_EXCEPTION(
      run({"alibi", "--output", (files.folder / "no/such/out.safetensors").string()}), IoError,
      says("no/such"));
  BOOST_TEST(files.folder.entries() == 1);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::inspect
