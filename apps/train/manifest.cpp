#include "apps/train/manifest.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <ctime>

#include "apps/cli/version.h"
#include "apps/run/machine.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/base/json.h"
#include "engine/base/parallel.h"

namespace farfield::train {
namespace {

std::string now() {
  const std::time_t time = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&time, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

Json call() {
  Json build;
  for (const auto& [name, value] : cli::build_facts()) build[name] = value;
  utsname system{};
  ::uname(&system);
  Json hardware = {
      {"processor", run::processor_name()},
      {"processors", ::sysconf(_SC_NPROCESSORS_ONLN)},
      {"memory_bytes", int64_t{::sysconf(_SC_PHYS_PAGES)} * int64_t{::sysconf(_SC_PAGE_SIZE)}},
      {"system", concat(system.sysname, ' ', system.release, ' ', system.machine)}};
  for (const auto& [name, value] : cli::processor_facts()) hardware[name] = value;
  return {{"time", now()}, {"build", build}, {"hardware", hardware}, {"threads", thread_count()}};
}

}  // namespace

std::string run_manifest(const run::ResolvedConfig& config, const data::Corpus& corpus,
                         int64_t n_parameters, const run::CorpusPlace& place) {
  Json splits;
  for (const auto name : data::kSplits) splits[std::string(name)] = corpus.split(name).size();
  Json json = {
      {"config_hash", hash_hex(run::to_text(run::identity(config.settings)))},
      {"data",
       {{"path", config.data},
        {"absolute", place.absolute},
        {"from_run", place.from_run},
        {"hash", corpus.hash()},
        {"tokens", splits}}},
      {"tokenizer", {{"name", corpus.tokenizer().name()}, {"hash", corpus.tokenizer().hash()}}},
      {"vocab_size", corpus.vocab_size()},
      {"parameters", n_parameters},
      {"started", call()},
      {"resumed", Json::array()}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string manifest_resumed(const std::string& name, const std::string& manifest, int64_t step,
                             const run::CorpusPlace& place) {
  Json json = read_json({"manifest", name, manifest});
  require<IoError>(json.is_object() && json.contains("resumed") && json["resumed"].is_array(),
                   "manifest", name, ": expected a JSON object with a list 'resumed'");
  Json entry = call();
  entry["step"] = step;
  json["resumed"].push_back(entry);
  if (json.contains("data") && json["data"].is_object()) {  // where the run finds it now
    json["data"]["absolute"] = place.absolute;
    json["data"]["from_run"] = place.from_run;
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace farfield::train
