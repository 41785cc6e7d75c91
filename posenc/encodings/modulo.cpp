// Positions that start again at 0 after `length` tokens: p[m] = m mod length. Distances between
// blocks may be negative, and two keys may have one position.
// Kaiokendev 2023, "Extending Context is Hard ... but not Impossible".

#include <cmath>

#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

class Modulo final : public Encoding {
 public:
  explicit Modulo(const Arguments& a) : length_(a.integer("length")), acts_(a) {}

  Positions positions(const Positions& plain) const override {
    if (plain.n_key <= length_ || !acts_(plain)) return plain;
    Positions p = plain;
    for (double& id : p.ids) id = std::fmod(id, static_cast<double>(length_));
    p.entry = Positions::Entry::none;
    return p;
  }

 private:
  int64_t length_;  // tokens
  ActiveAt acts_;
};

}  // namespace

Row modulo_row() {
  return {.name = "modulo",
          .classes = "P",
          .meaning = "positions that start again after some tokens",
          .formula = "p[m] = m mod `length`; tables are refused for inputs longer than that",
          .source = "Kaiokendev 2023",
          .arguments = {train_len_argument("length", "tokens until positions start again")
                            .at_most(kMostTokens),
                        at_argument({"eval", "both"})},
          .compared_as = "rope + modulo",
          .trained_as = "rope",
          .make = make<Modulo>};
}

}  // namespace farfield::posenc
