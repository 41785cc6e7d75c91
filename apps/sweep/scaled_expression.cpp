// expression_at() and expression_for() of scale.h.

#include "apps/run/resolved_config.h"
#include "apps/sweep/scale.h"
#include "posenc/rescale.h"

namespace farfield::sweep {

std::string expression_at(Scale scale, const std::string& expression, Scale meant_for,
                          const posenc::Row* (*row_of)(std::string_view)) {
  const run::RunConfig model = training_of(scale, Size::base);
  return expression_for(profile_of(scale).unit,
                        model.n_head ? *model.n_head : run::resolve(model).model.n_head, expression,
                        meant_for, row_of);
}

std::string expression_for(int64_t unit, int64_t n_head, const std::string& expression,
                           Scale meant_for, const posenc::Row* (*row_of)(std::string_view)) {
  const int64_t from = profile_of(meant_for).unit;
  return posenc::rescaled(expression,
                          {.factor = static_cast<double>(unit) / static_cast<double>(from),
                           .train_len = unit,
                           .n_head = n_head},
                          row_of);
}

}  // namespace farfield::sweep
