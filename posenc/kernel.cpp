// An encoding that its user writes down: a bias and a weight by formulas of the distance, with
// parameters of the user's own. The form is that of KERPLE (Chi, Fan, Ramadge and Rudnicky 2022,
// arXiv:2205.09921), equations (2) and (3): any function of the distance.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "engine/autograd.h"
#include "engine/base/did_you_mean.h"
#include "engine/ops.h"
#include "posenc/head_parameter.h"
#include "posenc/piecewise.h"
#include "posenc/position_error.h"
#include "posenc/registry.h"

namespace farfield::posenc {
namespace {

// What formulas know beside the parameters; h counts the heads from 1.
std::vector<std::string> variables() { return {"d", "h", "n_head"}; }

constexpr Synonym kSynonyms[] = {{"distance", "d"},      {"dist", "d"},       {"delta", "d"},
                                 {"head", "h"},          {"heads", "n_head"}, {"n_heads", "n_head"},
                                 {"num_heads", "n_head"}};

bool is_in(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void check_names(const Arguments& a) {
  a.require_at(a.formula("bias") != nullptr || a.formula("weight") != nullptr, a.column(), "bias",
               "expected a bias, a weight or both, got neither; write for example ",
               find("kernel")->example);
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

std::vector<HeadParameter> parameters_of(const Arguments& a, const Config& c) {
  check_names(a);
  std::vector<HeadParameter> parameters;
  std::set<std::string> names;
  for (const Declaration& declared : a.declarations()) {
    const Bounds bounds{declared.least, declared.most};
    if (declared.is_drawn()) {
      parameters.emplace_back(a, c, declared.name, Uniform{declared.low, declared.high}, bounds);
    } else {
      std::vector<double> start = declared.values;
      if (!declared.is_list) start.resize(static_cast<size_t>(c.n_head), start[0]);
      parameters.emplace_back(a, c, declared.name, start, bounds);
    }
    // With constraint=softplus the trained value of r is named r_raw.
    const std::string name = parameters.back().parameter().name;
    a.require_at(names.insert(name).second, declared.column, declared.name,
                 "expected another name: two parameters would be stored as ", name);
  }
  return parameters;
}

class Kernel final : public HeadEncoding {
 public:
  Kernel(const Arguments& a, const Config& c)
      : HeadEncoding(parameters_of(a, c)), arguments_(a), n_head_(c.n_head) {
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
    return log(1.0 - 2 * step(absolute(table) - largest_));
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

std::unique_ptr<Encoding> make_kernel(const Arguments& a, const Config& c) {
  return std::make_unique<Kernel>(a, c);
}

}  // namespace farfield::posenc
