// Folders of Hugging Face become runs whose logits are those of the transformers library.

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <sstream>

#include "apps/hub/import.h"
#include "apps/run/load_run.h"
#include "engine/autograd.h"
#include "engine/ops/view.h"
#include "engine/safetensors.h"
#include "tests/support/all_close.h"
#include "tests/support/largest_error.h"
#include "tests/support/messages.h"
#include "tests/support/source_dir.h"
#include "tests/support/temp_folder.h"

namespace farfield::hub {
BOOST_AUTO_TEST_SUITE(test_import)  // ctest: sanitize
namespace {

namespace fs = std::filesystem;

const fs::path kGolden = fs::path(source_dir()) / "tests" / "golden" / "hub";

std::string imported(const fs::path& folder, const fs::path& out) {
  std::ostringstream said;
  import_model({folder.string(), out.string(), {}, {}}, said);
  return said.str();
}

std::vector<fs::path> golden_folders() {
  std::vector<fs::path> all;
  for (const auto& entry : fs::directory_iterator(kGolden))
    if (entry.is_directory()) all.push_back(entry.path());
  std::sort(all.begin(), all.end());
  return all;
}

BOOST_AUTO_TEST_CASE(logits_of_every_family_are_those_of_transformers) {
  const TempFolder temp;
  const NoGrad no_grad;
  BOOST_TEST(golden_folders().size() >= 12);
  for (const fs::path& folder : golden_folders()) {
    BOOST_TEST_CONTEXT(folder.filename().string()) {
      const fs::path out = temp.path() / folder.filename();
      imported(folder, out);
      const run::LoadedRun run = run::load_run(out.string());
      const auto expected = read_safetensors(folder / "expected.safetensors").tensors;
      const Tensor& ids = expected.at("ids");
      const Tensor got = run.model.logits(ids.view({1, ids.numel()}));
      const double error = test::largest_error(got.to_vector(), expected.at("logits").to_vector());
      BOOST_TEST(error <= 1e-4, run.posenc << ": " << error);
      if (!expected.contains("logits_32")) continue;
      const Tensor first = run.model.logits(ids.view({1, 32}));
      const double error_of_32 =
          test::largest_error(first.to_vector(), expected.at("logits_32").to_vector());
      BOOST_TEST(error_of_32 <= 1e-4, run.posenc << " of 32 tokens: " << error_of_32);
    }
  }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::hub
