#include "apps/eval/request.h"

#include "apps/cli/options.h"
#include "apps/cli/printout.h"
#include "apps/eval/protocol.h"
#include "engine/base/error.h"

namespace farfield::eval {
namespace {

void list_for_programs(std::ostream& out) {
  cli::Table table = {"protocols", {"protocol", "measures", "source"}};
  for (const Protocol& protocol : protocols())
    table.rows.push_back({protocol.name, protocol.help, protocol.source});
  cli::Printout page(out, "eval --list", /*is_json=*/true);
  page.add(table);
  page.finish();
}

}  // namespace

bool read_request(int argc, const char* const* argv, Request& request, std::ostream& out) {
  cli::Options options(
      "eval",
      "Measures trained models at lengths of your choice. `eval compare RUN...` sets "
      "what was\nmeasured side by side, with tests; see eval compare --help.");
  std::vector<std::string> named;
  options.add_command("compare", "eval compare RUN...");
  options.add_positional_paths("RUN", request.runs, "folders of training runs");
  options.group("Models and text")
      .add_paths("run", named, "FOLDER", "a training run, as RUN is; may be repeated")
      .add("step", request.step, "N", "the checkpoint of this step (default: the newest)")
      .add("data", request.data, "PATH", "another corpus (default: the run's own)")
      .add("data-type", request.data_type, "u16|u32",
           "how the files of --data store ids, where they do not say (nanoGPT)")
      .add("data-split", request.data_split, "A,B,C",
           "shares of train, valid and test of --data, where it is one row of documents (default: "
           "949,50,1)")
      .add("split", request.split, "NAME", "train, valid or test")
      .add("document-order", request.order, "ORDER",
           "of the split's documents: seed (as the run's seed shuffles them, so that two seeds "
           "read different text) or file")
      .add("out", request.out, "FOLDER",
           "results of all runs together (default: each run's eval/ alone)")
      .add("list", request.list, "explain every protocol and exit")
      .add("markdown", request.markdown, "with --list: the table of apps/eval/README.md")
      .add("json", request.json,
           "print the results as JSON instead of tables: what FOLDER/<protocol>.json holds, of all "
           "protocols together; with --list the protocols")
      .add("again", request.again,
           "measure again what an earlier call finished (default: take its numbers)");
  options.group("Another positional encoding")
      .add("posenc", request.posenc, "EXPR",
           "measure with this expression instead of the trained one; may be repeated. Trained "
           "values go from term to term by name")
      .add("map", request.map, "FROM=TO,...",
           "give a trained value a place of another name in EXPR: r1=kerple_log.r1 for a run of "
           "kernel(...); may be repeated. The run's own expression stays as trained")
      .add("drop-learned", request.drop_learned,
           "leave out trained values that EXPR has no place for, and take what EXPR starts from "
           "where it learns what the run has not trained");
  add_options(options, request.eval);
  options.group("Machine")
      .add("device", request.device, "NAME", "where to compute (default: as in training)")
      .add("threads", request.threads, "N",
           "threads (default: FARFIELD_THREADS, or all processors)");
  if (!options.parse(argc, argv, out)) return false;
  require<ConfigError>(request.list || !request.markdown, "eval",
                       "bad_argument: --markdown: expected --list with it");
  require<ConfigError>(!request.markdown || !request.json, "eval",
                       "bad_argument: --json: expected it without --markdown");
  if (request.list) {
    if (request.json)
      list_for_programs(out);
    else
      out << (request.markdown ? protocols_markdown() : protocols_text());
    return false;
  }
  request.runs.insert(request.runs.end(), named.begin(), named.end());
  require<ConfigError>(!request.runs.empty(), "eval",
                       "bad_argument: expected the folder of a run of `train`, got none; "
                       "eval RUN");
  require<ConfigError>(request.map.empty() || !request.posenc.empty(), "eval",
                       "bad_argument: --map: expected --posenc EXPR with it, which has the places "
                       "of trained values");
  request.is_protocol_given = options.given("protocol");
  request.eval.common.are_lengths_given = options.given("lengths");
  check_word("document-order", request.order, {"seed", "file"});
  check(request.eval);
  return true;
}

}  // namespace farfield::eval
