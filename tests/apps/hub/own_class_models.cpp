// own_class_models FOLDER: for each case of own_class_cases.h a run and its export,
// FOLDER/NAME/{run, hub}, and hub/expected.safetensors: token ids, the logits of the run for them
// with the tables of the export, and the ids that follow them greedily.

#include <exception>
#include <filesystem>
#include <iostream>
#include <vector>

#include "apps/hub/export.h"
#include "apps/hub/import.h"
#include "apps/hub/own_class.h"
#include "apps/run/load_run.h"
#include "engine/autograd.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/ops/view.h"
#include "engine/safetensors.h"
#include "layers/generate.h"
#include "tests/apps/hub/own_class_cases.h"

namespace farfield::hub {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kNew = 6;  // tokens generated

int32_t likeliest(const Tensor& logits) {  // [V]
  const std::vector<double> values = logits.to_vector();
  return static_cast<int32_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

void write_expected(const Transformer& model, int64_t length, const fs::path& file) {
  const NoGrad no_grad;
  const int64_t vocab = model.config().vocab_size, n = std::min<int64_t>(24, length - kNew);
  const Tensor ids = random_ids({1, n}, 7, static_cast<int32_t>(vocab));
  KeyValueCache cache = model.make_cache(1, length);
  const Tensor logits = model.next_logits(model.extend(ids, cache, n)).view({n, vocab});
  std::vector<int32_t> made{likeliest(slice(logits, 0, n - 1, n).view({vocab}))};
  while (static_cast<int64_t>(made.size()) < kNew) {
    const Tensor next = Tensor::from(std::vector<int32_t>{made.back()}, {1, 1});
    made.push_back(likeliest(model.next_logits(model.extend(next, cache, 1)).view({vocab})));
  }
  const EncodingTables tables = encoding_tables(model.encoding(), length);
  if (!tables.depends_on_length && !tables.is_random)
    require<Error>(generate(model, ids, {.n_new = kNew}).tokens.at(0) == made, "test",
                   "expected the ids of generate(), for ", model.encoding().canonical());
  write_safetensors(
      file,
      {{"ids", ids.view({n})}, {"logits", logits}, {"generated", Tensor::from(made, {kNew})}});
}

void make(const OwnClassCase& one, const fs::path& folder) {
  const OwnModel own = own_class(one.model, random_weights(one.model), {.where = one.name});
  fs::create_directories(folder);
  const fs::path first = folder / "first", run = folder / "run", hub = folder / "hub";
  fs::create_directory(first);
  write_file_atomic(first / "config.json", own.config);
  write_safetensors(first / "model.safetensors", own.tensors);
  std::ostringstream said;
  import_model({first.string(), run.string(), {}, {}}, said);
  export_model(
      {.run = run.string(), .out = hub.string(), .choice = ClassChoice::own, .length = own.length},
      said);
  const auto same = [&](const char* name) {
    return read_file(first / name) == read_file(hub / name);
  };
  require<Error>(same("config.json"), "test", "expected the same config.json, got ",
                 read_file(hub / "config.json"));
  const auto a = read_safetensors(first / "model.safetensors").tensors,
             b = read_safetensors(hub / "model.safetensors").tensors;
  for (const auto& [name, tensor] : a)
    require<Error>(b.at(name).to_vector() == tensor.to_vector() && a.size() == b.size(), "test",
                   "expected the same ", name);
  fs::remove_all(first);
  write_expected(run::load_run(run.string(), {.device = "cpu"}).model, own.length,
                 hub / "expected.safetensors");
  std::cout << one.name << ": " << one.model.posenc << ", " << own.length << " tokens"
            << (own.remarks.empty() ? "" : "; " + own.remarks[0]) << '\n';
}

}  // namespace
}  // namespace farfield::hub

int main(int argc, char** argv) {
  using namespace farfield;
  if (argc != 2) return 2;
  for (const hub::OwnClassCase& one : hub::own_class_cases()) try {
      hub::make(one, std::filesystem::path(argv[1]) / one.name);
    } catch (const std::exception& error) {
      std::cerr << one.name << ": " << error.what() << '\n';
      return 1;
    }
  return 0;
}
