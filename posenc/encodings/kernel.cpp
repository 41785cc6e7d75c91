// An encoding that the user writes: formulas for bias and weight by distance, with the user's own
// parameters. The form follows KERPLE (Chi, Fan, Ramadge and Rudnicky 2022, arXiv:2205.09921),
// equations (2) and (3): any function of the distance.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "engine/autograd.h"
#include "engine/base/did_you_mean.h"
#include "engine/ops.h"
#include "posenc/head_parameter.h"
#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

// Variables of formulas besides the parameters; h counts the heads from 1.
std::vector<std::string> variables() { return {"d", "h", "n_head"}; }

constexpr const char* kExample = "kernel(bias=-r1*log(1+r2*d), r1>0~U(0,2), r2>0~U(0,1))";

constexpr Synonym kSynonyms[] = {{"distance", "d"},      {"dist", "d"},       {"delta", "d"},
                                 {"head", "h"},          {"heads", "n_head"}, {"n_heads", "n_head"},
                                 {"num_heads", "n_head"}};

bool is_in(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void check_names(const Arguments& a) {
  a.require_at(a.formula("bias") != nullptr || a.formula("weight") != nullptr, a.column(), "bias",
               "expected a bias, a weight or both, got neither; write for example ", kExample);
  std::vector<std::string> known = variables();
  for (const Declaration& declared : a.declarations()) {
    a.require_at(!is_in(variables(), declared.name), declared.column, declared.name,
                 "means something else in formulas; expected another name for a parameter");
    known.push_back(declared.name);
  }
  for (const char* const argument : {"bias", "weight"}) {
    if (a.formula(argument) == nullptr) continue;
    for (const Formula::Name& used : a.formula(argument)->names())
      a.require_at(is_in(known, used.name), used.column, argument,
                   "expected d, h, n_head, pi, e or a declared parameter, got '", used.name, '\'',
                   did_you_mean(used.name, known, kSynonyms), "; to declare it, add for example ",
                   used.name, ">0~U(0,1)");
  }
}

class Kernel final : public HeadEncoding {
 public:
  Kernel(const Arguments& a, const Config& c)
      : HeadEncoding(a, c), arguments_(a), n_head_(c.n_head) {
    check_names(a);
    check_stored_names();
    std::vector<double> heads;
    for (int64_t h = 1; h <= c.n_head; ++h) heads.push_back(static_cast<double>(h));
    constants_["h"] = Tensor::from(heads, {c.n_head, 1}, DType::f64, c.device);
    constants_["n_head"] = Tensor::full({}, static_cast<double>(c.n_head), DType::f64, c.device);
    const double largest = c.dtype == DType::f32 ? std::numeric_limits<float>::max()
                                                 : std::numeric_limits<double>::max();
    largest_ = largest / std::max(1.0, std::abs(a.number("bias_scale")));
  }

  ScoreRule score(const Positions& p) const override {
    std::map<std::string, Tensor> values = constants_;
    values["d"] = p.distances();
    for (size_t i = 0; i < arguments_.declarations().size(); ++i)
      values[arguments_.declarations()[i].name] = value(i);
    return {.bias = table("bias", values, p), .weight = table("weight", values, p)};
  }

 private:
  // With constraint=softplus the trained value of r is named r_raw.
  void check_stored_names() const {
    const std::vector<Parameter> stored = parameters();
    std::set<std::string> names;
    for (size_t i = 0; i < stored.size(); ++i) {
      const Declaration& declared = arguments_.declarations()[i];
      arguments_.require_at(names.insert(stored[i].name).second, declared.column, declared.name,
                            "expected another name: two parameters would be stored as ",
                            stored[i].name);
    }
  }

  // [H, L]; undefined without the formula.
  Tensor table(std::string_view argument, const std::map<std::string, Tensor>& values,
               const Positions& p) const {
    const Formula* const formula = arguments_.formula(argument);
    if (formula == nullptr) return {};
    const Shape shape{n_head_, static_cast<int64_t>(p.distance.size())};
    Tensor table = formula->value(values, p.device);
    if (table.shape() != shape) table = table + Tensor::zeros(shape, DType::f64, p.device);
    // To look at the numbers would be to wait for the device, which no step of training does: there
    // a bad one becomes a NaN, which no step that reads it survives.
    if (p.phase == Phase::train && p.device.kind != Device::Kind::cpu)
      return table + nan_where_bad(table);
    const std::vector<double> entries = table.to_vector();
    for (size_t i = 0; i < entries.size(); ++i)
      if (!(std::abs(entries[i]) <= largest_))  // a NaN is refused too
        refuse(argument, values, i / p.distance.size(), p.distance[i % p.distance.size()],
               entries[i], p.phase);
    return table;
  }

  // 0, a NaN for what refuse() is about; a constant.
  Tensor nan_where_bad(const Tensor& table) const {
    const NoGrad no_grad;
    return log(1.0 - 2 * heaviside(absolute(table) - largest_));
  }

  // A formula without a value somewhere, such as log(d). A bias of -inf would hide the pair: that
  // is what `window` is for.
  void refuse(std::string_view argument, const std::map<std::string, Tensor>& values, size_t head,
              double distance, double got, Phase phase) const {
    std::string where = concat("distance ", to_text(distance), ", head ", head + 1);
    for (const Declaration& declared : arguments_.declarations())
      where += concat(", ", declared.name, " = ", values.at(declared.name).to_vector()[head]);
    try {
      arguments_.require(false, argument, "expected a finite number at every distance, got ", got,
                         " at ", where);
    } catch (const ConfigError& error) {
      if (phase == Phase::eval) throw PositionError(error.what());  // shorter inputs may do
      throw;
    }
  }

  Arguments arguments_;
  int64_t n_head_;
  std::map<std::string, Tensor> constants_;  // by name, of every formula
  double largest_;  // of an entry: beyond it, rounding and bias_scale would make it infinite
};

}  // namespace

Row kernel_row() {
  return {.name = "kernel",
          .synonyms = {"custom"},
          .classes = "T-bw",
          .meaning =
              "a bias, a weight or both by formulas of the distance, with parameters of your own",
          .formula = "b, w or both: any formulas of d, below",
          .source = "Chi et al. 2022, arXiv:2205.09921, equations (2), (3)",
          .arguments =
              {formula_argument("bias", "none", "what is added, of d, h, n_head and parameters"),
               formula_argument("weight", "none", "what the scaled dot product is multiplied by"),
               declared_parameters(
                   "NAME", "a parameter of the formulas, one number per head: NAME>0~U(0,1)"),
               constraint_argument(), learn_argument(), share_argument(), bias_scale_argument()},
          .example = kExample,
          .family = families::kKerple,
          .compared_as = "kernel(bias=-r1*sqrt(d), r1>0~U(0,2))",
          .make = make<Kernel>};
}

}  // namespace farfield::posenc
