#include <cmath>

#include "apps/bench/commands.h"
#include "apps/bench/options.h"
#include "apps/bench/products.h"
#include "apps/bench/report.h"
#include "apps/bench/source.h"

namespace farfield::bench {

int bench_matmul(int argc, const char* const* argv, std::ostream& to) {
  BenchOptions common;
  ModelOptions model;
  cli::Options options(
      "bench matmul",
      "Times the matrix products of one training step: y = x w^T of each layer, and dx "
      "and dw of its gradient. Shares are of the float32 FMA peak, on a card of its peak.");
  model.add_to(options);
  common.add_to(options);
  if (!options.parse(argc, argv, to)) return cli::kDone;
  common.apply();

  const ModelConfig config = model.config();
  const auto products = step_products(config, model.batch_size() * config.train_len,
                                      /*checkpointing=*/false, common.dtype(), common.where().kind);
  ProductRunner runner(products, common.where());
  const Peak peak = common.peak();
  cli::Printout page(to, "bench matmul", common.table.is_json);
  std::ostream& out = page.text();
  out << model.preset << ", " << model.batch_size() << " x " << config.train_len << " tokens, "
      << *common.precision << "; " << peak.line << "\n\n";
  Report report(page,
                {"product",
                 "m",
                 "n",
                 "k",
                 "per step",
                 "ms",
                 {"min", "min, ms", "ms"},
                 {"max", "max, ms", "ms"},
                 "GFLOP/s",
                 {"share", "share of the peak", "share of 1"}},
                18, common.table);
  double total_s = 0;
  for (const ProductShape& product : products) {
    runner.run(product);
    analysis::Samples samples;
    for (int64_t round = 0; round < common.rounds; ++round) samples.add(runner.run(product));
    const double rate = product.gflop() / samples.median();
    total_s += product.count * samples.median();
    report.add({product.name, product.m, product.n, product.k,
                cli::Cell(product.count, cli::number(product.count)),
                milliseconds(samples.median()), milliseconds(samples.min()),
                milliseconds(samples.max()), cli::fixed_cell(rate, 1), peak.share(rate)});
  }
  const double rate = runner.gflop() / total_s;
  report.add({"all of a step",
              {},
              {},
              {},
              {},
              milliseconds(total_s),
              {},
              {},
              cli::fixed_cell(rate, 1),
              peak.share(rate)});
  report.finish(source_line(machine_here(common.where()), argc, argv));
  page.finish();
  return cli::kDone;
}

}  // namespace farfield::bench
