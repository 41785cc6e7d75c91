#include <cmath>
#include <utility>

#include "apps/sweep/experiment.h"
#include "apps/sweep/folder.h"
#include "apps/sweep/plan.h"
#include "apps/sweep/results.h"
#include "engine/base/file.h"
#include "tests/apps/sweep/sweep_fixture.h"
#include "tests/fuzz/readers.h"
#include "tests/fuzz/rehashed.h"
#include "tests/fuzz/scratch.h"

namespace farfield::test {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const char* name) {
  const fs::path folder = scratch() / name;
  fs::create_directories(folder);
  return folder;
}

const sweep::Cell& sound_cell() {
  static const sweep::Experiment experiment = sweep::two_models();
  static const sweep::Plan plan =
      sweep::plan_of(experiment, sweep::made_up_options(sweep::Scale::smoke));
  return plan.cells.front();
}

std::string sound_cell_file() {
  const fs::path folder = folder_of("sound_cell");
  sweep::write_cell(folder, sound_cell());
  return read_file(folder / (sound_cell().hash() + ".json"));
}

void read_cell(std::string_view bytes) {
  static const fs::path folder = folder_of("cells"), again = folder_of("cells_again");
  const fs::path file = folder / (sound_cell().hash() + ".json");
  for (const std::string& text : {std::string(bytes), rehashed(bytes)}) {
    write(file, text);
    refuse([&] {
      const sweep::Cell cell = sweep::read_cell(file);
      cell.label();
      fs::remove(again / file.filename());
      sweep::write_cell(again, cell);
      sweep::write_cell(again, cell);
    });
  }
}

std::string sound_result_file() {
  const sweep::Cell& cell = sound_cell();
  sweep::CellResult result;
  result.hash = cell.hash();
  result.key = cell.key();
  result.corpus = cell.corpus;
  result.facts = {{"parameters", 1000}, {"train_loss", NAN}};
  result.words = {{"commit", "abc"}};
  eval::ProtocolResult& measured = result.measured[cell.measurements.front().id()];
  measured.protocol = "last-token";
  measured.parameters = "made up";
  eval::LengthResult length;
  length.length = 32;
  length.n_scored = 10;
  length.mean_nll = 1.5;
  length.tokens = "the same";
  length.quantities = {{"eff", 7, "h1", "seven"}};
  eval::Series series;
  series.name = "kernel";
  series.x = {1, 2};
  series.y = series.low = series.high = {3, -INFINITY};
  length.series = {series};
  measured.lengths = {length};
  const fs::path folder = folder_of("sound_result");
  sweep::write_result(folder, result);
  return read_file(sweep::result_path(folder, result.hash));
}

void read_cell_result(std::string_view bytes) {
  static const fs::path folder = folder_of("results"), again = folder_of("results_again");
  for (const std::string& text : {std::string(bytes), rehashed(bytes)}) {
    const fs::path file = sweep::result_path(folder, sound_cell().hash());
    write(file, text);
    refuse([&] {
      const sweep::CellResult result = sweep::read_result(file);
      result.covers(sound_cell());
      fs::remove(again / file.filename());
      sweep::write_result(again, result);
      sweep::read_result(again / file.filename());
    });
  }
}

constexpr const char* kGrid =
    "# a grid\nencoding = alibi\nlabel = linear\nencoding = rope # turned\ntrain.clip = 0.1\n"
    "lengths = 64,128\nseeds = 2\nprotocols = last-token, sliding\neval.segments = 7\n";

std::string sound_sweep() {
  static const std::string text = [] {
    const fs::path path = scratch() / "sound_sweep";
    sweep::SweepFolder folder(path, sweep::made_up_options(sweep::Scale::smoke));
    folder.add({&sweep::experiments().front()}, 1);
    folder.add_grid("grid", kGrid);
    folder.save();
    return read_file(path / "sweep.json");
  }();
  return text;
}

void read_sweep(std::string_view bytes) {
  static const fs::path folder = folder_of("sweep");
  for (const std::string& text : {std::string(bytes), rehashed(bytes)}) {
    write(folder / "sweep.json", text);
    refuse([&] {
      sweep::SweepFolder sweep(folder);
      sweep.save();
      const auto experiments = sweep.experiments();
      // A grid may ask for models of any size, a sweep for many of them.
      const bool is_small = experiments.size() <= 2 && sweep.options().seeds.value_or(1) <= 4 &&
                            sweep.options().scale <= sweep::Scale::tiny;
      for (const sweep::Experiment* e : experiments)
        if (is_small && !e->id.starts_with("own/")) sweep::plan_of(*e, sweep.options());
    });
  }
}

}  // namespace

const std::vector<FuzzedReader>& sweep_readers() {
  static const std::vector<FuzzedReader> all = {
      {"cell", read_cell, sound_cell_file},
      {"cell_result", read_cell_result, sound_result_file},
      {"sweep", read_sweep, sound_sweep},
  };
  return all;
}

}  // namespace farfield::test
