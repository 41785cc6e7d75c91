// An id that the model does not know ends a measurement before anything is computed, in every
// protocol that reads text.
#include <boost/test/unit_test.hpp>

#include "apps/eval/protocol.h"
#include "apps/eval/protocols/coherence.h"
#include "apps/eval/protocols/gradient.h"
#include "apps/eval/protocols/last_token.h"
#include "apps/eval/protocols/position_wise.h"
#include "apps/eval/scorer.h"
#include "engine/base/error.h"
#include "tests/apps/eval/protocols/toy_models.h"
#include "tests/layers/tiny_model.h"

BOOST_AUTO_TEST_SUITE(test_bad_tokens)

using namespace farfield;
using namespace farfield::eval;
using namespace farfield::test;

namespace {

constexpr int64_t kSize = 2000;

// Reads all of the text, or segments that cover it, in batches of one sequence.
EvalOptions options() {
  EvalOptions eval;
  eval.common.lengths = {8, 16};
  eval.common.batch_tokens = 1;
  eval.common.allow_fewer = true;
  eval.own<LastTokenOptions>().segments = 125;
  eval.own<GradientOptions>().segments = 125;
  eval.own<CoherenceOptions>().sequences = 54;
  eval.own<CoherenceOptions>().prompts = 3;
  eval.own<CoherenceOptions>().n_new = 4;
  return eval;
}

// The message and how often anything was computed, for a text whose tokens from `bad` on are
// unknown to the model.
std::pair<std::string, int> measured(const Protocol& protocol, const EvalOptions& eval,
                                     int64_t bad) {
  const Transformer model(tiny_config("alibi"), 1);  // V = 13
  TokenStream text = toy_text(kSize);
  text.copy = [bad, good = text.copy](int64_t begin, int64_t n, int32_t* out) {
    good(begin, n, out);
    for (int64_t i = 0; i < n; ++i)
      if (begin + i >= bad) out[i] = 13;
  };
  int n_computed = 0;
  Subject subject = subject_of(model, {}, text, 5, [&](int64_t) { ++n_computed; });
  subject.model.scorer.score = [&, score = subject.model.scorer.score](const Scorer::Ids& ids,
                                                                       const Scorer::Ids& targets,
                                                                       int64_t batch) {
    ++n_computed;
    return score(ids, targets, batch);
  };
  std::string message;
  try {
    protocol.run(subject, eval);
  } catch (const IoError& error) {
    message = error.what();
  }
  return {message, n_computed};
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_id_outside_the_vocabulary_is_named_and_nothing_computed) {
  int n_protocols = 0;
  for (const Protocol& protocol : protocols()) {
    if (!protocol.has_text || protocol.is_of_masked) continue;
    ++n_protocols;
    const auto [message, n_computed] = measured(protocol, options(), kSize - 20);
    BOOST_TEST(message.rfind(concat("[eval:", protocol.name,
                                    "] bad_token: expected ids below 13, got 13 at token "),
                             0) == 0u,
               protocol.name << ": " << message);
    BOOST_TEST(n_computed == 0, protocol.name);
    BOOST_TEST(measured(protocol, options(), kSize).second > 0, protocol.name);
  }
  BOOST_TEST(n_protocols == 7);
}

BOOST_AUTO_TEST_CASE(it_may_be_the_last_token_of_the_text_but_not_beyond_what_is_read) {
  for (const char* name : {"non-overlapping", "position-wise", "sliding"}) {
    EvalOptions eval = options();
    eval.common.lengths = {16, 1999 / 5};  // the second takes 1996 tokens, 16 * 124 + 1 = 1985
    eval.own<PositionWiseOptions>().sequences = 124;
    const bool is_whole = protocol_named(name).name == "sliding";
    const int64_t last = is_whole ? kSize - 1 : 5 * 399;
    const auto [message, n_computed] = measured(protocol_named(name), eval, last);
    BOOST_TEST(message == concat("[eval:", name,
                                 "] bad_token: expected ids below 13, got 13 at token ", last));
    BOOST_TEST(n_computed == 0, name);
    BOOST_TEST(measured(protocol_named(name), eval, last + 1).first == "", name);
  }
}

BOOST_AUTO_TEST_SUITE_END()
