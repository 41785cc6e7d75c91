#include "apps/catalog/run_details.h"

#include <algorithm>
#include <map>
#include <set>
#include <system_error>

#include "apps/cli/size_text.h"
#include "apps/cli/text_table.h"
#include "apps/cli/verbose.h"
#include "apps/eval/results.h"
#include "apps/run/checkpoint.h"
#include "apps/run/labels.h"
#include "apps/run/place.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

namespace fs = std::filesystem;

namespace farfield::catalog {
namespace {

CheckpointFacts checkpoint_facts(const fs::path& folder) {
  CheckpointFacts facts;
  facts.step = run::step_of(folder.filename().string());
  std::error_code status;
  for (const auto& entry : fs::directory_iterator(folder, status))
    if (entry.is_regular_file(status))
      if (const auto size = entry.file_size(status); !status)
        facts.bytes += static_cast<int64_t>(size);
  try {
    run::read_record(folder);
  } catch (const Error& error) {
    facts.error = error.what();
  }
  return facts;
}

std::string member(const Json& object, const char* key) {
  return object.is_object() ? run::text_member(object, key) : "";
}

// "corpora/a: 1200 train, 60 valid, 60 test tokens"
std::string corpus_text(const Json& data) {
  std::vector<std::string> splits;
  if (data.contains("tokens") && data["tokens"].is_object())
    for (const auto& [split, tokens] : data["tokens"].items())
      if (tokens.is_number_integer()) splits.push_back(concat(tokens.get<int64_t>(), ' ', split));
  std::string text = member(data, "path");
  if (!splits.empty()) text += ": " + joined(splits) + " tokens";
  if (const auto weight = data.find("weight"); weight != data.end() && weight->is_number())
    text += ", weight " + shortest(weight->get<double>());
  return text + cli::hash_remark(member(data, "hash"));
}

std::string data_text(const Json& manifest) {
  if (!manifest.is_object() || !manifest.contains("data") || !manifest["data"].is_object())
    return "not recorded\n";
  const Json& data = manifest["data"];
  if (data.contains("task")) return "task " + member(data, "task") + "\n";
  if (!data.contains("mixture") || !data["mixture"].is_array()) return corpus_text(data) + "\n";
  std::string text;
  for (const Json& one : data["mixture"])
    if (one.is_object()) text += corpus_text(one) + "\n";
  return text;
}

std::string tokenizer_text(const Json& manifest) {
  if (!manifest.is_object() || !manifest.contains("tokenizer")) return "not recorded\n";
  const auto vocab_size = whole_member<int64_t>(manifest, "vocab_size");
  return member(manifest["tokenizer"], "name") +
         (vocab_size ? concat(", vocabulary of ", *vocab_size) : "") +
         cli::hash_remark(member(manifest["tokenizer"], "hash")) + "\n";
}

// "hf/llama (llama, float32)", the folder that `model import` read; "" for a run that it did not
// make.
std::string imported_text(const Json& manifest) {
  if (!manifest.is_object() || !manifest.contains("imported")) return "";
  const Json& imported = manifest["imported"];
  return concat(member(imported, "folder"), " (", member(imported, "model_type"), ", ",
                member(imported, "dtype"), ')', cli::hash_remark(member(imported, "hash")));
}

// Where the weights of a run come from.
std::string weights_text(const RunDetails& details, const Json& manifest) {
  if (!details.lineage.empty()) return run::lineage_text(details.lineage, cli::is_verbose()) + "\n";
  const std::string imported = imported_text(manifest);
  return imported.empty() ? "random numbers" : imported + "\n";
}

std::string machine_text(const Json& manifest) {
  if (!manifest.is_object() || !manifest.contains("started")) return "not recorded\n";
  const Json& call = manifest["started"];
  std::string text = "started " + member(call, "time");
  if (call.is_object() && call.contains("hardware"))
    text += concat(" on ", member(call["hardware"], "processor"), ", ",
                   member(call["hardware"], "system"));
  if (const auto threads = whole_member<int64_t>(call, "threads"))
    text += concat(", threads: ", *threads);
  text += '\n';
  if (call.is_object() && call.contains("build"))
    text += concat("by version ", member(call["build"], "version"), ", commit ",
                   member(call["build"], "commit"), '\n');
  if (!manifest.contains("resumed") || !manifest["resumed"].is_array()) return text;
  for (const Json& resumed : manifest["resumed"])
    text += concat("resumed ", member(resumed, "time"), " at step ",
                   whole_member<int64_t>(resumed, "step").value_or(0), '\n');
  return text;
}

std::string checkpoints_text(const std::vector<CheckpointFacts>& all) {
  std::vector<std::vector<std::string>> rows;
  for (const CheckpointFacts& one : all)
    rows.push_back({concat("step ", one.step), cli::size_text(one.bytes)});
  std::string text = cli::text_table(rows);
  for (const CheckpointFacts& one : all)
    if (!one.error.empty()) text += concat("damaged: ", one.error, '\n');
  return text;
}

std::string measured_cell(const eval::LengthResult& result) {
  if (!result.failure.empty()) return result.failure;
  return result.has_perplexity() ? eval::short_number(result.perplexity()) : "measured";
}

// One row for each subject, one column for each length; the parameters only where a protocol was
// measured with several.
std::string measurements_text(const RunDetails& details) {
  const std::vector<Measurement>& all = details.measurements;
  std::set<int64_t> lengths;
  std::map<std::string, std::set<std::string>> parameters;
  for (const Measurement& one : all) {
    lengths.insert(one.result.length);
    parameters[one.protocol].insert(one.parameters);
  }
  std::vector<std::vector<std::string>> rows = {{"protocol", "encoding", "step"}};
  for (const int64_t length : lengths)
    rows.front().push_back(length == 0 ? "any length" : std::to_string(length));
  std::string last;
  for (const Measurement& one : all) {
    const bool is_alone = parameters[one.protocol].size() == 1;
    const std::string subject = joined(
        std::vector{one.protocol, one.parameters, one.encoding, one.text, std::to_string(one.step)},
        "\n");
    if (subject != last) {
      rows.emplace_back(rows.front().size(), "-");
      rows.back()[0] = is_alone ? one.protocol : concat(one.protocol, " (", one.parameters, ')');
      rows.back()[1] = run::short_posenc(one.encoding);
      rows.back()[2] = std::to_string(one.step);
      last = subject;
    }
    const auto at = std::distance(lengths.begin(), lengths.find(one.result.length));
    rows.back()[3 + static_cast<size_t>(at)] = measured_cell(one.result);
  }
  std::string text = all.empty() ? "none\n" : cli::text_table(rows);
  for (const std::string& file : details.damaged_measurements) text += "damaged: " + file + "\n";
  return text;
}

// A title, and lines set off under it.
void add_section(std::string& text, const std::string& title, const std::string& lines) {
  text += "\n" + title + "\n";
  for (size_t begin = 0; begin < lines.size();) {
    const size_t end = std::min(lines.find('\n', begin), lines.size());
    text += "  " + lines.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
}

}  // namespace

RunDetails details_of(const std::string& path) {
  run::RunFolder folder = run::RunFolder::open(path);
  RunFacts facts = read_facts(folder);
  std::vector<run::Ancestor> lineage = run::lineage_of(folder);
  std::vector<CheckpointFacts> checkpoints;
  for (const fs::path& one : run::list_checkpoints(folder.checkpoints()))
    checkpoints.push_back(checkpoint_facts(one));
  std::vector<fs::path> damaged;
  std::vector<Measurement> measurements = measurements_of(folder, damaged);
  std::vector<std::string> files;
  for (const fs::path& file : damaged) files.push_back(file.string());
  return {std::move(folder),      std::move(facts),        std::move(lineage),
          std::move(checkpoints), std::move(measurements), std::move(files)};
}

std::string details_text(const RunDetails& details) {
  const RunFacts& facts = details.facts;
  const Json manifest = run::read_manifest(details.run);
  std::string text = concat(facts.run, facts.name.empty() ? "" : " (" + facts.name + ")", ": ",
                            name(facts.state), ", step ", facts.step, " of ", facts.steps, '\n');
  text += concat("encoding ", facts.posenc, ", trained at ", facts.train_len, " tokens\n");
  if (facts.parameters) {
    text += concat(*facts.parameters, " parameters, ");
    if (const auto trained = whole_member<int64_t>(manifest, "trained_parameters"))
      text += concat(*trained, " of them trained, ");
  }
  text += concat("weights of ", cli::size_text(facts.weights_bytes),
                 facts.loss ? concat(", last training loss ", fixed(*facts.loss, 3)) : "", '\n');
  add_section(text, "configuration", run::config_text(details.run.config()));
  add_section(text, "weights from", weights_text(details, manifest));
  add_section(text, "data", data_text(manifest));
  add_section(text, "tokenizer", tokenizer_text(manifest));
  add_section(text, "checkpoints", checkpoints_text(details.checkpoints));
  add_section(text, "perplexity and other measurements", measurements_text(details));
  add_section(text, "machine", machine_text(manifest));
  return text;
}

}  // namespace farfield::catalog
