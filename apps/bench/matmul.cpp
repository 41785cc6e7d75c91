#include <cmath>

#include "apps/bench/commands.h"
#include "apps/bench/options.h"
#include "apps/bench/products.h"
#include "apps/bench/report.h"
#include "apps/bench/source.h"

namespace farfield::bench {
namespace {

// One library's times, in turn with the others'.
struct Measured {
  std::string library;  // empty: the preferred one, without the columns for several
  analysis::Samples time_s = {}, against_first = {};
  double total_s = 0;

  void add_to(Report& report, std::vector<cli::Cell> row, double gflop, double of_s, double ratio_s,
              const Peak& peak) const {
    row.push_back(cli::fixed_cell(gflop / of_s, 1));
    row.push_back(peak.share(gflop / of_s));
    if (!library.empty()) {
      row.push_back(library);
      row.push_back(ratio(ratio_s));
    }
    report.add(row);
  }
};

}  // namespace

int bench_matmul(int argc, const char* const* argv, std::ostream& to) {
  BenchOptions common;
  ModelOptions model;
  bool by_library = false;
  cli::Options options(
      "bench matmul",
      "Times the matrix products of one training step: y = x w^T of each layer, and dx "
      "and dw of its gradient. Shares are of the peak in the first line: of FMA in float32, of "
      "VDPBF16PS where products of bfloat16 use it, on a card of its data sheet.");
  model.add_to(options);
  options.group("Products")
      .add("libraries", by_library,
           "on the CPU, by every library of this build in turn; `against first` is the median over "
           "rounds of the ratio of a library's time to the first one's");
  common.add_to(options);
  if (!options.parse(argc, argv, to)) return cli::kDone;
  common.apply();
  require<ConfigError>(!by_library || common.where().kind == Device::Kind::cpu, "bench",
                       "expected --libraries with --device cpu, got ", common.where());

  const ModelConfig config = model.config();
  const auto products = step_products(config, model.batch_size() * config.train_len,
                                      /*checkpointing=*/false, common.dtype(), common.where().kind);
  ProductRunner runner(products, common.where());
  const Peak peak = common.peak();
  cli::Printout page(to, "bench matmul", common.table.is_json);
  std::ostream& out = page.text();
  out << model.preset << ", " << model.batch_size() << " x " << config.train_len << " tokens, "
      << *common.precision << "; " << peak.line << "\n\n";
  std::vector<Column> columns = {"product",
                                 "m",
                                 "n",
                                 "k",
                                 "per step",
                                 "ms",
                                 {"min", "min, ms", "ms"},
                                 {"max", "max, ms", "ms"},
                                 "GFLOP/s",
                                 {"share", "share of the peak", "share of 1"}};
  std::vector<Measured> libraries;
  if (by_library) {
    columns.insert(columns.end(), {"by library", "against first"});
    for (const std::string& name : gemm_libraries_for(common.dtype())) libraries.push_back({name});
  } else {
    libraries.emplace_back();
  }
  Report report(page, columns, 18, common.table);
  for (const ProductShape& product : products) {
    for (Measured& one : libraries) {
      one.time_s = one.against_first = {};
      runner.run(product, one.library);
    }
    for (int64_t round = 0; round < common.rounds; ++round) {
      double first_s = 0;
      for (Measured& one : libraries) {
        const double time_s = runner.run(product, one.library);
        if (&one == &libraries.front()) first_s = time_s;
        one.time_s.add(time_s);
        one.against_first.add(time_s / first_s);
      }
    }
    for (Measured& one : libraries) {
      const double time_s = one.time_s.median();
      one.total_s += product.count * time_s;
      one.add_to(report,
                 {product.name, product.m, product.n, product.k,
                  cli::Cell(product.count, cli::number(product.count)), milliseconds(time_s),
                  milliseconds(one.time_s.min()), milliseconds(one.time_s.max())},
                 product.gflop(), time_s, one.against_first.median(), peak);
    }
  }
  for (const Measured& one : libraries)
    one.add_to(report, {"all of a step", {}, {}, {}, {}, milliseconds(one.total_s), {}, {}},
               runner.gflop(), one.total_s, one.total_s / libraries.front().total_s, peak);
  report.finish(source_line(machine_here(common.where()), argc, argv));
  page.finish();
  return cli::kDone;
}

}  // namespace farfield::bench
