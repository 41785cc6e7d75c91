#include "apps/sweep/folder.h"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "apps/run/labels.h"
#include "apps/sweep/given_run.h"
#include "apps/sweep/grid.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/file_lock.h"
#include "engine/base/json.h"
#include "engine/base/utf8.h"
#include "engine/base/write_target.h"

namespace fs = std::filesystem;

namespace farfield::sweep {
namespace {

constexpr std::string_view kWhere = "sweep";
constexpr int kFormat = 2, kWithoutHash = 1;

Json settings_json(const run::Settings& settings) {
  Json json = Json::object();
  for (const auto& [key, value] : settings) json[key] = value;
  return json;
}

run::Settings settings_of(const Json& json) {
  run::Settings settings;
  for (const auto& [key, value] : json.items()) settings.emplace_back(key, value);
  return settings;
}

void add_new(std::vector<PartRequest>& parts, const PartRequest& part) {
  if (std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(part);
}

bool shares_a_name(const std::vector<std::string>& names, const std::vector<std::string>& others) {
  return std::find_first_of(names.begin(), names.end(), others.begin(), others.end()) !=
         names.end();
}

// Reads one of the sweep's files and passes its tree to `take`; IoError for another shape, and for
// values that no command would have written. `way_out`: the remedy for a changed file.
template <class F>
void read_tree(const fs::path& file, const char* way_out, const F& take) {
  const std::string text = read_file(file);
  Json json = read_json({kWhere, file.string(), text});
  const JsonHash hash = take_hash(json);
  require<IoError>(hash.said.empty() || hash.fits(), kWhere, file.string(),
                   ": expected the hash of what it holds, ", hash.own, ", got ", hash.said,
                   "; the file is damaged or was changed; ", way_out);
  try {
    const Json& format = json.at("format");
    require<IoError>(format == kFormat || format == kWithoutHash, kWhere, file.string(),
                     ": expected format ", kFormat, ", got ", write_json(format));
    require<IoError>(!hash.said.empty() || format == kWithoutHash, kWhere, file.string(),
                     ": expected a hash, got none; the file is damaged or was changed; ", way_out);
    take(json);
  } catch (const Json::exception& error) {
    fail<IoError>(kWhere, file.string(), ": the file is damaged: ", error.what());
  } catch (const ConfigError& error) {
    fail<IoError>(kWhere, file.string(), ": the file is damaged: ", error.what());
  }
}

Json json_of(const Cell& cell) {
  Json json = {{"corpus", cell.corpus}, {"corpus_hash", cell.corpus_hash}};
  if (!cell.given_name.empty()) json["name"] = cell.given_name;
  json["training"] = settings_json(cell.training);
  for (const Measurement& m : cell.measurements)
    json["measurements"].push_back({{"protocol", m.protocol},
                                    {"posenc", m.posenc},
                                    {"drop_learned", m.drop_learned},
                                    {"options", settings_json(m.options)}});
  if (cell.base) json["base"] = json_of(*cell.base);
  if (cell.is_given) json["is_given"] = true;
  return json;
}

Cell cell_of(const Json& json) {
  Cell cell;
  cell.given_name = json.value("name", "");
  cell.corpus = json.at("corpus");
  cell.corpus_hash = json.at("corpus_hash");
  cell.training = settings_of(json.at("training"));
  if (json.contains("measurements"))
    for (const Json& m : json["measurements"])
      cell.measurements.push_back({.protocol = m.at("protocol"),
                                   .posenc = m.at("posenc"),
                                   .drop_learned = m.at("drop_learned"),
                                   .options = settings_of(m.at("options"))});
  if (json.contains("base")) cell.base = std::make_shared<Cell>(cell_of(json["base"]));
  cell.is_given = json.value("is_given", false);
  return cell;
}

}  // namespace

SweepFolder::SweepFolder(fs::path path) : path_(std::move(path)) {
  std::error_code status;
  require<IoError>(fs::exists(path_ / "sweep.json", status), kWhere, path_.string(),
                   ": expected the folder of a sweep, got none (no sweep.json); sweep run ... "
                   "--out ",
                   path_.string());
  read();
}

fs::path SweepFolder::events(const Cell& cell) const {
  constexpr size_t kMostBytes = 80;
  std::string name = cell.label();
  cut_utf8(name, kMostBytes);
  return path_ / "tensorboard" / concat(run::file_word(name), '-', cell.hash().substr(0, 8));
}

SweepFolder::SweepFolder(fs::path path, const PlanOptions& options)
    : path_(std::move(path)), options_(options) {
  if (options_.document_order.empty()) options_.document_order = "seed";
  std::error_code status;
  if (!fs::exists(path_ / "sweep.json", status)) {
    const bool is_new = !fs::exists(path_, status) || fs::is_empty(path_, status) ||
                        fs::exists(path_ / "sweep.lock", status);  // another process makes it
    require<ConfigError>(is_new, kWhere, path_.string(),
                         ": expected a new folder or the folder of an earlier sweep, got something "
                         "else; choose another --out");
    return;
  }
  read();
  require<ConfigError>(options_.scale == options.scale, kWhere, path_.string(),
                       ": holds a sweep at scale ", to_word(options_.scale), ", not ",
                       to_word(options.scale), "; choose another --out");
  require<ConfigError>(options_.device == options.device, kWhere, path_.string(),
                       ": holds a sweep on ", options_.device, ", not ", options.device,
                       "; choose another --out");
  require<ConfigError>(
      options.document_order.empty() || options_.document_order == options.document_order, kWhere,
      path_.string(), ": holds a sweep with --document-order ", options_.document_order,
      "; choose another --out");
  take_given(options.given);
  take_datasets(options.datasets);
}

void SweepFolder::take_given(const std::shared_ptr<const GivenRun>& given) {
  const auto refuse = [&](const auto&... parts) {
    fail<ConfigError>(kWhere, path_.string(), ": holds a sweep ", parts...);
  };
  const std::shared_ptr<const GivenRun> own = options_.given;
  if (!own && given)
    refuse("that trains its models; choose another --out for --base ", given->name);
  if (own && !given) refuse("of ", short_name(*own), "; --base ", own->name, ", or another --out");
  if (own && !own->is(*given))
    refuse("of ", short_name(*own), ", not of ", short_name(*given), "; choose another --out");
  options_.given = given;
}

// Adds data sets, if existing plans stay the same.
void SweepFolder::take_datasets(const Datasets& more) {
  const std::vector<Plan> before = plans();
  Datasets all = options_.datasets;
  for (const auto& [name, corpus] : more.names()) {
    const KnownCorpus& known = more.corpus(corpus);
    const auto own = all.corpora().find(corpus);
    require<ConfigError>(own == all.corpora().end() || own->second.hash == known.hash, kWhere,
                         path_.string(), ": holds a sweep with another corpus of the name ", corpus,
                         "; rename the folder or choose another --out");
    all.set(name, corpus, known);
  }
  std::swap(options_.datasets, all);
  const std::vector<Plan> after = plans();
  for (size_t p = 0; p < before.size(); ++p)
    for (size_t i = 0; i < before[p].cells.size(); ++i)
      require<ConfigError>(
          i < after[p].cells.size() && before[p].cells[i].hash() == after[p].cells[i].hash(),
          kWhere, path_.string(), ": holds a sweep of ", before[p].experiment->id, " on ",
          before[p].cells[i].corpus, "; choose another --out for other text");
}

void SweepFolder::read() {
  const char* const way_out =
      "restore it, or where the change is yours, take \"hash\" out and make \"format\" 1";
  read_tree(path_ / "sweep.json", way_out, [&](const Json& json) {
    options_.scale = scale_named(json.at("scale"));
    options_.device = json.at("device");
    options_.document_order = json.value("document_order", options_.document_order);
    if (json.contains("seeds")) {
      options_.seeds = whole_member<int64_t>(json, "seeds").value_or(0);
      require<IoError>(*options_.seeds >= 1 && *options_.seeds <= kMostSeeds, kWhere,
                       (path_ / "sweep.json").string(), ": expected 1 to ", kMostSeeds,
                       " seeds, got ", write_json(json["seeds"]), "; the file is damaged");
    }
    json.at("experiments").get_to(ids_);
    options_.given.reset();
    if (json.contains("base")) {
      const run::Settings base = settings_of(json["base"]);
      GivenRun given = given_of(base, (path_ / "sweep.json").string());
      given.path = of_folder(run::value_of(base, "path"));
      options_.given = std::make_shared<GivenRun>(std::move(given));
    }
    if (json.contains("parts"))
      for (const auto& [id, parts] : json["parts"].items())
        for (const Json& part : parts) {
          PartRequest& one = parts_[id].emplace_back();
          part.at("only").get_to(one.only);
          part.at("on").get_to(one.on);
        }
    for (const auto& [name, text] : json.at("grids").items()) add_grid(name, text);
    for (const auto& [name, of] : json.at("datasets").items())
      options_.datasets.set(name, of.at("corpus"),
                            {of_folder(of.at("path")), of.at("hash"), of.at("is")});
  });
}

// Corpora of the sweep's own folder move with it.
std::string SweepFolder::in_folder(const std::string& path) const {
  const std::string folder = (fs::absolute(path_) / "").lexically_normal().string();
  return path.starts_with(folder) ? path.substr(folder.size()) : path;
}

std::string SweepFolder::of_folder(const std::string& path) const {
  return fs::absolute(path_ / path).lexically_normal().string();
}

// By a process that opened the folder when this one did, and saved it first.
void SweepFolder::take_what_others_added() {
  std::error_code status;
  if (!fs::exists(path_ / "sweep.json", status)) return;
  const SweepFolder now(path_, options_);
  ask_as(now);
  for (const std::string& id : now.ids_)
    if (std::find(ids_.begin(), ids_.end(), id) == ids_.end()) ids_.push_back(id);
  for (const auto& [name, text] : now.grids_)
    if (grids_.count(name) == 0) add_grid(name, text);
  if (now.options_.seeds)
    options_.seeds = std::max(*now.options_.seeds, options_.seeds.value_or(1));
  options_.datasets = now.options_.datasets;
}

void SweepFolder::save() {
  make_folder(path_);
  const fs::path file = path_ / "sweep.lock";
  const std::optional<FileLock> lock = FileLock::take(file, kWhere, std::chrono::seconds(10));
  require<ConfigError>(lock.has_value(), kWhere, path_.string(), ": another process (",
                       FileLock::owner(file), ") is writing sweep.json; wait for it or stop it");
  take_what_others_added();
  for (const fs::path& folder : {results(), cells(), runs(), logs(), failed()})
    require_writable_folder(folder);
  Json json;
  json["format"] = kFormat;
  json["scale"] = to_word(options_.scale);
  json["device"] = options_.device;
  json["document_order"] = options_.document_order;
  if (options_.seeds) json["seeds"] = *options_.seeds;
  json["experiments"] = ids_;
  if (options_.given) {
    json["base"] = settings_json(to_settings(*options_.given));
    const std::string place = in_folder(options_.given->path);
    require<ConfigError>(find_invalid_utf8(place) == place.npos, kWhere, "--base ", place,
                         ": expected a path in UTF-8, as sweep.json has it; rename the folder, or "
                         "name a link to it");
    json["base"]["path"] = place;
  }
  for (const auto& [id, parts] : parts_)
    for (const PartRequest& part : parts)
      json["parts"][id].push_back({{"only", part.only}, {"on", part.on}});
  json["grids"] = Json::object();
  for (const auto& [name, text] : grids_) json["grids"][name] = text;
  json["datasets"] = Json::object();
  for (const auto& [name, corpus] : options_.datasets.names()) {
    const KnownCorpus& known = options_.datasets.corpus(corpus);
    const std::string place = in_folder(known.path);
    // Cells read it from there.
    require<ConfigError>(find_invalid_utf8(place) == place.npos, kWhere, "--dataset ", name, '=',
                         place,
                         ": expected a path in UTF-8, as sweep.json has it; rename the "
                         "folder, or name a link to it");
    json["datasets"][name] = {
        {"corpus", corpus}, {"path", place}, {"hash", known.hash}, {"is", known.description}};
  }
  write_file_atomic(path_ / "sweep.json", write_hashed_json(std::move(json), 1));
}

void SweepFolder::add(const std::vector<const Experiment*>& experiments,
                      std::optional<int64_t> seeds) {
  for (const Experiment* e : experiments)
    if (std::find(ids_.begin(), ids_.end(), e->id) == ids_.end()) ids_.push_back(e->id);
  if (seeds) options_.seeds = std::max(*seeds, options_.seeds.value_or(1));
}

bool SweepFolder::has(const std::string& id) const {
  return std::find(ids_.begin(), ids_.end(), id) != ids_.end() ||
         std::any_of(own_.begin(), own_.end(), [&](const Experiment& e) { return e.id == id; });
}

void SweepFolder::ask(const std::vector<std::string>& ids, const PartRequest& part) {
  for (const std::string& id : ids) {
    const bool is_whole = has(id) && parts_.count(id) == 0;
    if (part.is_all() || is_whole)
      parts_.erase(id);
    else
      add_new(parts_[id], part);
  }
}

void SweepFolder::ask_as(const SweepFolder& other) {
  for (const auto& [id, parts] : other.parts_) {
    if (has(id) && parts_.count(id) == 0) continue;  // as a whole here
    for (const PartRequest& part : parts) add_new(parts_[id], part);
  }
  std::erase_if(parts_, [&](const auto& entry) {  // as a whole there
    return other.has(entry.first) && other.parts_.count(entry.first) == 0;
  });
}

void SweepFolder::add_grid(const std::string& name, const std::string& text) {
  Experiment own = parse_grid(name, text, options_.scale);
  std::erase_if(own_, [&](const Experiment& e) { return e.id == own.id; });
  own_.push_back(std::move(own));
  grids_[name] = text;
}

std::vector<const Experiment*> SweepFolder::experiments() const {
  std::vector<const Experiment*> all;
  for (const Experiment& e : sweep::experiments())
    if (std::find(ids_.begin(), ids_.end(), e.id) != ids_.end()) all.push_back(&e);
  for (const Experiment& e : own_) all.push_back(&e);
  return all;
}

std::vector<Plan> SweepFolder::plans() const {
  std::vector<Plan> all;
  for (const Experiment* e : experiments()) all.push_back(plan_of(*e, options_));
  return all;
}

std::vector<Cell> SweepFolder::requested_cells(const std::vector<Plan>& plans) const {
  std::vector<Plan> requested;
  for (const Plan& plan : plans) {
    const auto parts = parts_.find(plan.experiment->id);
    if (parts == parts_.end()) {
      requested.push_back(plan);
      continue;
    }
    for (const PartRequest& part : parts->second) {
      PlanOptions options = options_;
      options.on = part.on;
      Plan of = plan_of(*plan.experiment, options);
      std::vector<Cell> cells;
      for (size_t i = 0; i < of.cells.size(); ++i)
        if (part.only.empty() || shares_a_name(names_of(of.arm_of(i)), part.only))
          cells.push_back(of.cells[i]);
      of.cells = std::move(cells);
      requested.push_back(std::move(of));
    }
  }
  return cells_of(requested);
}

Results readable_results(const SweepFolder& folder) {
  std::vector<fs::path> damaged;
  return Results::read({folder.results()}, &damaged);
}

void write_cell(const fs::path& folder, Cell cell) {
  const fs::path file = folder / (cell.hash() + ".json");
  std::error_code status;
  if (fs::exists(file, status)) try {
      cell.add(read_cell(file).measurements);
    } catch (const IoError&) {  // damaged: written anew
    }
  Json json = json_of(cell);
  json["format"] = kFormat;
  write_file_atomic(file, write_hashed_json(std::move(json), 1));
}

Cell read_cell(const fs::path& file) {
  Cell cell;
  read_tree(file, "remove it and run the sweep again",
            [&](const Json& json) { cell = cell_of(json); });
  const std::string hash = [&] {
    try {
      return cell.hash();
    } catch (const IoError& error) {  // settings that are none; it does not say where they stand
      fail<IoError>(kWhere, file.string(), ": the file is damaged: ", error.what());
    }
  }();
  require<IoError>(hash == file.stem().string(), kWhere, file.string(),
                   ": expected this cell, got ", hash, "; the file was renamed or changed");
  return cell;
}

bool is_needed(const SweepFolder& folder, const std::string& hash) {
  std::error_code status;
  for (const auto& entry : fs::directory_iterator(folder.cells(), status)) {
    try {
      const Cell cell = read_cell(entry.path());
      if (!cell.base || cell.base->hash() != hash) continue;
      const fs::path result = result_path(folder.results(), cell.hash());
      if (!fs::exists(result, status) || !read_result(result).covers(cell)) return true;
    } catch (const IoError&) {  // damaged: whoever makes it says so
    }
  }
  return false;
}

void drop_weights(const SweepFolder& folder, const std::string& hash) {
  std::error_code status;
  const std::optional<FileLock> lock = FileLock::take(folder.lock(hash), "sweep");
  if (lock && !is_needed(folder, hash)) fs::remove_all(folder.runs() / hash, status);
}

}  // namespace farfield::sweep
