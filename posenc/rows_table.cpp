#include <cmath>

#include "posenc/gauss_rate.h"
#include "posenc/head_parameter.h"
#include "posenc/rows.h"
#include "posenc/sandwich_curve.h"
#include "posenc/slopes.h"

namespace farfield::posenc {

Factory make_alibi, make_alibi_equal, make_alibi_learned, make_alibi_random, make_alibi_shift,
    make_bias_wht, make_fire, make_gauss_bias2, make_gauss_bias3, make_gauss_wht1, make_gauss_wht2,
    make_kernel, make_kerple_log, make_kerple_log3, make_kerple_power, make_sandwich,
    make_sandwich_learned, make_sandwich_smoothed, make_t5;

namespace {

ArgumentSpec amplitude_argument(std::string name, std::string start) {
  return per_head_argument(std::move(name), std::move(start), "amplitude at the start of training")
      .at_least(kAmplitude.least);
}
ArgumentSpec rate_argument(std::string name) {
  return per_head_argument(std::move(name), "U(0,1)", "rate at the start of training, per token")
      .at_least(kRate.least);
}
ArgumentSpec power_argument(std::string name) {
  return per_head_argument(std::move(name), "U(0,2)",
                           "power of the distance at the start of training")
      .at_least(kPower.least)
      .at_most(kPower.most);
}
// The logarithm of a slope or a ratio; e^theta stays within float32.
ArgumentSpec theta_argument(std::string start, std::string meaning) {
  return per_head_argument("theta", std::move(start), std::move(meaning)).at_least(-50).at_most(50);
}

std::vector<Row> fixed_rows() {
  return {
      {"alibi",
       {},
       "T-b",
       "a bias that falls linearly with the distance, steeper in some heads",
       make_alibi,
       {slopes_argument({"interp", "geometric"}), slope_floor_argument(), bias_scale_argument()}},
      {"alibi_equal",
       {},
       "T-b",
       "alibi with the slope 2^-h in all heads",
       make_alibi_equal,
       {required_per_head("h", "minus the logarithm of the slope, base 2")
            .at_least(-64)
            .at_most(64),
        slope_floor_argument(), bias_scale_argument()}},
      {"alibi_random",
       {},
       "T-b",
       "alibi with slopes drawn once from an exponential distribution",
       make_alibi_random,
       {number_argument("rate", 8, "of the distribution; slopes have the mean 1/rate, nearly")
            .at_least(0.01),
        bias_scale_argument()}},
      {"alibi_shift",
       {},
       "T-b",
       "alibi with every slope divided by 2^delta",
       make_alibi_shift,
       {required_per_head("delta", "halvings of the slope; negative: steeper")
            .at_least(-64)
            .at_most(64),
        slopes_argument({"geometric", "interp"}), slope_floor_argument(), bias_scale_argument()}},
      {"sandwich",
       {},
       "T-b",
       "a bias that is the product of two sinusoidal position vectors",
       make_sandwich,
       {bar_d_argument(), base_argument(), ratio_argument(), first_index_argument(),
        bias_scale_argument()}},
      {"sandwich_smoothed",
       {},
       "T-b",
       "the logarithm that is nearest to sandwich",
       make_sandwich_smoothed,
       {bar_d_argument(), base_argument(), ratio_argument(), first_index_argument(),
        per_head_argument("fit", "recent50",
                          "what the logarithm is fitted to, or its factor at compression ratio 1")
            .or_words({"recent50", "published"})
            .above(0),
        bias_scale_argument()}},
  };
}

std::vector<Row> learned_rows() {
  return {
      {"alibi_learned",
       {},
       "T-b",
       "alibi with trained slopes",
       make_alibi_learned,
       {theta_argument("ln of the interp slopes",
                       "logarithm of the slope at the start of training"),
        learn_argument(), share_argument(), bias_scale_argument()}},
      {"sandwich_learned",
       {},
       "T-b",
       "sandwich with trained compression ratios",
       make_sandwich_learned,
       {bar_d_argument(), base_argument(), first_index_argument(),
        theta_argument("ln(8j/n_head)",
                       "logarithm of the compression ratio at the start of training"),
        learn_argument(), share_argument(), bias_scale_argument()}},
      {"t5",
       {},
       "T-b",
       "a learned bias per head and bucket of distances",
       make_t5,
       {integer_argument("num_buckets", 32, "buckets, even; half of them hold one distance each")
            .at_least(2)
            .at_most(65536),
        integer_argument("max_distance", 128, "from about here on all distances are in one bucket")
            .at_least(2),
        per_head_argument("table", "N(0, 2/(num_buckets + n_head))",
                          "the start of training; a file has num_buckets lines of n_head numbers, "
                          "with commas")
            .or_file(),
        learn_argument(), share_argument(),
        derived_number(
            "bias_scale", "sqrt(head_dim)",
            [](const Config& c) { return std::sqrt(static_cast<double>(c.head_dim)); },
            "factor on the bias; 1: as in T5 itself")}},
  };
}

std::vector<Row> kerple_rows() {
  return {
      {"bias_wht",
       {},
       "T-bw",
       "kerple_power, and a learned weight on the dot product",
       make_bias_wht,
       {amplitude_argument("r1", "U(0,1)"), power_argument("r2"), rate_argument("r3"),
        power_argument("r4"), constraint_argument(), learn_argument(), share_argument(),
        bias_scale_argument()}},
      {"gauss_bias2",
       {},
       "T-b",
       "a learned bias for near keys, Gaussian in the distance",
       make_gauss_bias2,
       {amplitude_argument("r1", "U(0,2)"), gauss_rate_argument("r2"), gauss_rate_min_argument(),
        constraint_argument(), learn_argument(), share_argument(), bias_scale_argument()}},
      {"gauss_bias3",
       {},
       "T-b",
       "gauss_bias2 with a learned power of the distance",
       make_gauss_bias3,
       {amplitude_argument("r1", "U(0,2)"), gauss_rate_argument("r2"), power_argument("r3"),
        gauss_rate_min_argument(), constraint_argument(), learn_argument(), share_argument(),
        bias_scale_argument()}},
      {"gauss_wht1",
       {},
       "T-w",
       "a learned weight on the dot product, Gaussian in the distance",
       make_gauss_wht1,
       {gauss_rate_argument("r1"), gauss_rate_min_argument(), constraint_argument(),
        learn_argument(), share_argument()}},
      {"gauss_wht2",
       {},
       "T-w",
       "gauss_wht1 with a learned power of the distance",
       make_gauss_wht2,
       {gauss_rate_argument("r1"), power_argument("r2"), gauss_rate_min_argument(),
        constraint_argument(), learn_argument(), share_argument()}},
      {"kerple_log",
       {},
       "T-b",
       "a learned bias that falls with the logarithm of the distance",
       make_kerple_log,
       {amplitude_argument("r1", "U(0,2)"), rate_argument("r2"), constraint_argument(),
        learn_argument(), share_argument(), bias_scale_argument()}},
      {"kerple_log3",
       {},
       "T-b",
       "kerple_log of a learned power of the distance",
       make_kerple_log3,
       {amplitude_argument("r1", "U(0,2)"), rate_argument("r2"), power_argument("r3"),
        constraint_argument(), learn_argument(), share_argument(), bias_scale_argument()}},
      {"kerple_power",
       {},
       "T-b",
       "a learned bias that falls with a learned power of the distance",
       make_kerple_power,
       {amplitude_argument("r1", "U(0,1)"), power_argument("r2"), constraint_argument(),
        learn_argument(), share_argument(), bias_scale_argument()}},
  };
}

std::vector<Row> other_rows() {
  return {
      {"fire",
       {},
       "B",
       "a learned bias of the distance relative to the query's position",
       make_fire,
       {integer_argument("hidden", 32, "hidden units of the network")
            .at_least(1)
            .at_most(kMostFireUnits),
        number_argument("eps", 1e-6, "added to the logarithm that is divided by").above(0),
        number_argument("l0", 512,
                        "position below which queries count as one there, at the start of training")
            .above(0),
        word_argument("params", {"random"}, "how the parameters start; a safetensors file")
            .or_file(),
        learn_argument(), share_argument()}},
      {"kernel",
       {},
       "T-bw",
       "a bias, a weight or both by formulas of the distance, with parameters of your own",
       make_kernel,
       {formula_argument("bias", "none", "what is added, of d, h, n_head and parameters"),
        formula_argument("weight", "none", "what the scaled dot product is multiplied by"),
        declared_parameters("NAME",
                            "a parameter of the formulas, one number per head: NAME>0~U(0,1)"),
        constraint_argument(), learn_argument(), share_argument(), bias_scale_argument()},
       nullptr,
       "kernel(bias=-r1*log(1+r2*d), r1>0~U(0,2), r2>0~U(0,1))"},
  };
}

}  // namespace

std::vector<Row> table_rows() {
  std::vector<Row> all;
  for (const auto rows : {fixed_rows, learned_rows, kerple_rows, other_rows})
    for (Row& row : rows()) all.push_back(std::move(row));
  return all;
}

}  // namespace farfield::posenc
