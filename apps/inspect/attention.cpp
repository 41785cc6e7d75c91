#include "apps/cli/printable.h"
#include "apps/cli/progress.h"
#include "apps/inspect/attention_case.h"
#include "apps/inspect/commands.h"
#include "apps/inspect/subject.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/safetensors.h"

namespace farfield::inspect {
namespace {

constexpr std::string_view kWhere = "inspect";

struct AttentionRequest {
  std::string expression, input, output, phase = "eval";
  int64_t n_head = 2, length = 6, head_dim = 8, train_len = 512, n_layer = 1, layer = 0;
  std::optional<int64_t> d_model;
  uint64_t seed = 1, draw = 0;
};

// The problem of the file, or a random one; sizes on the command line must equal the sizes of the
// file.
AttentionCase problem_of(const AttentionRequest& request, const cli::Options& given) {
  if (request.input.empty()) {
    const auto check = [](const char* name, int64_t value) {
      require<ConfigError>(value >= 1 && value <= (1 << 16), kWhere, name,
                           ": expected a number from 1 to 65536, got ", value);
    };
    check("--n-head", request.n_head);
    check("--length", request.length);
    check("--head-dim", request.head_dim);
    return random_case(request.n_head, request.length, request.head_dim, request.seed);
  }
  AttentionCase problem = read_case(request.input);
  const auto check = [&](const char* name, int64_t value, int64_t of_file) {
    require<ConfigError>(!given.given(name) || value == of_file, kWhere, "--", name, ": ",
                         request.input, " has ", of_file, ", got ", value);
  };
  check("n-head", request.n_head, problem.n_head());
  check("length", request.length, problem.length());
  check("head-dim", request.head_dim, problem.head_dim());
  return problem;
}

}  // namespace

int inspect_attention(int argc, const char* const* argv, std::ostream& out) {
  AttentionRequest request;
  cli::Options options(
      "inspect attention",
      "Makes test vectors for a port of an encoding: one causal attention problem with its "
      "gradients, computed\nby the fused op in float64, rotation included. Reads q, k, v and dout "
      "[n_head, T, head_dim] from a\nsafetensors file, or draws them at random and writes them "
      "too. Writes out and the gradients of\nsum(out * dout): dq, dk, dv, dbias and dweight "
      "[n_head, T] if the encoding has these tables, and\ngrad.NAME for each learned parameter.");
  options.add_positional("EXPR", request.expression, "encoding, as --posenc of `train` takes it");
  options.group("Problem")
      .add("input", request.input, "FILE",
           "safetensors file with q, k, v, dout (default: random tensors)")
      .add("output", request.output, "FILE", "safetensors file for the results")
      .add("n-head", request.n_head, "N", "without --input: number of heads")
      .add("length", request.length, "N", "without --input: number of tokens")
      .add("head-dim", request.head_dim, "N", "without --input: width of a head")
      .add("seed", request.seed, "N",
           "seed of random problems, and of values drawn at the start of training");
  options.group("Model")
      .add("train-len", request.train_len, "N", "tokens of a training sequence")
      .add("d-model", request.d_model, "N", "width of the model (default: n-head x head-dim)")
      .add("n-layer", request.n_layer, "N", "layers")
      .add("layer", request.layer, "N", "the layer to look at; negative ones count from the end")
      .add("phase", request.phase, "eval|train",
           "training or evaluation, for encodings that differ between the two")
      .add("draw", request.draw, "N", "for random positions: number of the draw");
  if (!options.parse(argc, argv, out)) return cli::kDone;
  require<ConfigError>(!request.expression.empty(), kWhere,
                       "expected an expression, such as \"alibi\"; see inspect attention --help");
  require<ConfigError>(!request.output.empty(), kWhere,
                       "expected --output FILE for the results; see inspect attention --help");
  require_writable_file(request.output);
  const AttentionCase problem = problem_of(request, options);
  Surroundings around;
  around.n_head = problem.n_head();
  around.head_dim = problem.head_dim();
  around.d_model = request.d_model;
  around.n_layer = request.n_layer;
  around.train_len = request.train_len;
  around.seed = request.seed;
  const posenc::Composition encoding(request.expression, around.config());
  const Spot spot = spot_of(encoding, request.layer, request.phase, request.draw);

  run::NamedTensors tensors;
  if (request.input.empty())
    tensors = {{"q", problem.q}, {"k", problem.k}, {"v", problem.v}, {"dout", problem.dout}};
  for (auto& item : solve(problem, encoding, spot.layer, spot.phase, spot.draw))
    tensors.push_back(std::move(item));
  write_safetensors(request.output, tensors,
                    {{"format", "pt"},
                     {"posenc", encoding.canonical()},
                     {"phase", request.phase},
                     {"train_len", std::to_string(request.train_len)},
                     {"layer", std::to_string(spot.layer)}});
  out << encoding.canonical() << ", " << problem.n_head() << " heads of " << problem.head_dim()
      << ", " << problem.length() << " tokens, in float64\n";
  for (const auto& [name, tensor] : tensors) out << "  " << name << ' ' << tensor.shape() << '\n';
  out << std::flush;
  cli::remarks() << "written: " << cli::printable(request.output) << '\n';
  return cli::kDone;
}

}  // namespace farfield::inspect
