// Randomized positions: an ordered random subset of many positions, so that training shows the
// model the positions of longer inputs. Ruoss et al. 2023, "Randomized Positional Encodings Boost
// Length Generalization of Transformers", arXiv:2305.16843, section 3;
// google-deepmind/randomized_positional_encodings.

#include "posenc/remap.h"
#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

// One draw for all sequences of a batch: as the source, positions for rotations and the input, and
// for tables distances of their own, so that a bias stays a function of m - n.
class Randomized final : public Encoding {
 public:
  Randomized(const Arguments& a, const Config& c)
      : seed_(c.seed),
        path_(a.path()),
        max_positions_(a.integer("max_positions")),
        train_only_(a.word("at") == "train") {}

  bool is_random(Phase phase) const override { return !train_only_ || phase == Phase::train; }

  Positions positions(const Positions& plain) const override {
    if (!is_random(plain.phase)) return plain;
    require<ConfigError>(plain.n_key <= max_positions_, "posenc", "expected at most the ",
                         max_positions_, " tokens that ", path_, " has positions for, got ",
                         plain.n_key,
                         "; choose randomized(max_positions=...) as large as the longest input");
    Positions p = plain;
    const auto ids = sorted_sample(draws_of(seed_, path_, "ids", p.draw), p.n_key, max_positions_);
    p.ids.assign(ids.begin(), ids.end());
    // Distance 0 stays; the others are a sample of 1 .. max_positions - 1.
    const auto distances =
        sorted_sample(draws_of(seed_, path_, "distances", p.draw), p.n_key - 1, max_positions_ - 1);
    p.distance = {0};
    for (const int64_t d : distances) p.distance.push_back(static_cast<double>(d + 1));
    return p;
  }

 private:
  uint64_t seed_;
  std::string path_;
  int64_t max_positions_;
  bool train_only_;
};

}  // namespace

Row randomized_row() {
  return {.name = "randomized",
          .classes = "P",
          .meaning = "positions are an ordered random subset of many",
          .formula =
              "p: a sorted sample of {0 .. max_positions - 1}; distances of tables: 0 and a sorted "
              "sample of {1 .. max_positions - 1}; one draw per batch",
          .source = "Ruoss et al. 2023, arXiv:2305.16843, section 3",
          .arguments =
              {max_positions_argument("positions to choose from; longer inputs are refused"),
               word_argument("per_layer", {"false", "true"}, "true: each layer has its own draw"),
               word_argument("at", {"both", "train"}, "train: at test positions count from 0")},
          .compared_as = "randomized(max_positions=8192) + rope",
          .make = make<Randomized>};
}

}  // namespace farfield::posenc
