// The batches of `train --order neox` equal GPT-NeoX's, whatever the format of the tokens.
#include <boost/test/unit_test.hpp>

#include "apps/run/training_data.h"
#include "data/neox_order.h"
#include "engine/base/error.h"
#include "tests/apps/toy_run.h"
#include "tests/support/messages.h"

namespace farfield::run {
BOOST_AUTO_TEST_SUITE(test_data_order)
namespace {

using farfield::test::toy;

RunConfig neox() {
  RunConfig request = toy().config();
  request.order = "neox";
  request.seed = 1234;
  return request;
}

BOOST_AUTO_TEST_CASE(batches_are_the_samples_in_order) {
  const ResolvedConfig config = resolve(neox());
  const TrainingData data = open_data(config);
  const data::Corpus& corpus = data.corpora().front();
  const data::NeoxOrder order(corpus.split("train"), corpus.document_begins("train"), 16, 8 * 4,
                              1234);
  const data::Loader loader = loader_of(config, data);
  std::vector<int32_t> sample(17);
  for (int64_t step = 0; step < 8; ++step) {
    const data::Batch batch = loader.batch(step);
    for (int64_t row = 0; row < 4; ++row) {
      order.copy(step * 4 + row, sample.data());
      BOOST_TEST(std::equal(sample.begin(), sample.end() - 1, batch.inputs.begin() + row * 16));
      BOOST_TEST(std::equal(sample.begin() + 1, sample.end(), batch.targets.begin() + row * 16));
    }
  }
}

// The order depends on how many samples are asked for, so a run of more steps is another run.
BOOST_AUTO_TEST_CASE(the_order_belongs_to_the_settings_that_the_weights_depend_on) {
  const Settings settings = identity(resolve(neox()).settings);
  BOOST_TEST(value_of(settings, "order") == "neox");
  BOOST_TEST(value_of(identity(resolve(toy().config()).settings), "order") == "");
}

BOOST_AUTO_TEST_CASE(what_has_no_such_order_is_refused) {
  RunConfig request = neox();
  request.data.push_back(request.data.front());
  BOOST_CHECK_EXCEPTION(resolve(request), ConfigError, says("--order neox: expected one --data"));
  request = neox();
  request.order = "noex";
  BOOST_CHECK_EXCEPTION(resolve(request), ConfigError, says("did you mean 'neox'?"));
  request = neox();
  request.seed = uint64_t{1} << 32;
  const ResolvedConfig config = resolve(request);
  const TrainingData data = open_data(config);
  BOOST_CHECK_EXCEPTION(loader_of(config, data), ConfigError, says("expected a seed below 2^32"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::run
