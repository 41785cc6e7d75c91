#include <cmath>

#include "apps/cli/csv.h"
#include "apps/cli/options.h"
#include "apps/eval/protocol.h"
#include "apps/eval/results.h"

namespace farfield::eval {
namespace {

using Row = std::vector<std::string>;

// The first columns of every row, then `own`, then the last columns. New columns come last, so that
// programs that read columns by number keep working.
Row header_with(const Row& own) {
  Row all = {"run",        "posenc",        "trained_posenc", "baseline", "seed",
             "train_len",  "step",          "data_hash",      "split",    "protocol",
             "parameters", "protocol_hash", "tokens",         "length"};
  all.insert(all.end(), own.begin(), own.end());
  for (const char* name :
       {"name", "document_order", "precision", "device", "model_hash", "conventions"})
    all.emplace_back(name);
  return all;
}

// The same for a row; the columns that a cell's rows share are made once per cell.
class CsvRows {
 public:
  CsvRows(const RunResult& r, const LengthResult& cell)
      : first_({r.run, r.posenc, r.trained_posenc, r.baseline, std::to_string(r.seed),
                std::to_string(r.train_len), std::to_string(r.step), r.data_hash, r.split,
                r.result.protocol, r.result.parameters, r.result.hash(), cell.tokens,
                std::to_string(cell.length)}),
        last_({r.name, r.document_order, r.precision, r.device, r.model_hash,
               conventions_of(r.result, cell.length)}) {}

  Row with(const Row& own) const {
    Row all = first_;
    all.insert(all.end(), own.begin(), own.end());
    all.insert(all.end(), last_.begin(), last_.end());
    return all;
  }

 private:
  Row first_, last_;
};

// The quantity that a failed cell lacks: "perplexity", or the protocol's name if the protocol gives
// no perplexity.
std::string wanted_of(const RunResult& r) {
  const Protocol* const protocol = protocol_of(r.result);
  return protocol == nullptr || protocol->has_perplexity ? "perplexity" : protocol->name;
}

// Counts stay whole: number() would say 1e+06.
std::string csv_number(double value) {
  const bool is_whole = std::abs(value) < 1e15 && value == std::floor(value);
  return is_whole ? std::to_string(static_cast<int64_t>(value)) : cli::number(value);
}

}  // namespace

std::string results_csv(const std::vector<RunResult>& results) {
  std::string text = cli::csv_row(header_with({"quantity", "value"}));
  for (const RunResult& r : results) {
    for (const LengthResult& cell : r.result.lengths) {
      const CsvRows rows(r, cell);
      const auto row = [&](const std::string& quantity, const std::string& value) {
        text += cli::csv_row(rows.with({quantity, value}));
      };
      if (!cell.failure.empty()) {
        row(wanted_of(r), "nan");
        row("failure", cell.failure);
      }
      for (const Quantity& quantity : numbers_of(cell))
        row(quantity.full_name(), csv_number(quantity.value));
    }
  }
  return text;
}

std::string series_csv(const std::vector<RunResult>& results) {
  std::string text = cli::csv_row(header_with({"quantity", "axis", "at", "value"}));
  for (const RunResult& r : results) {
    for (const LengthResult& cell : r.result.lengths) {
      const CsvRows rows(r, cell);
      for (const Series& series : cell.series) {
        if (series.is_drawn_alone) continue;
        const auto add = [&](const std::string& name, const std::vector<double>& y) {
          for (size_t i = 0; i < y.size(); ++i)
            text += cli::csv_row(
                rows.with({name, series.axis, cli::number(series.x.at(i)), cli::number(y[i])}));
        };
        add(series.full_name(), series.y);
        add(series.full_name() + "_low", series.low);
        add(series.full_name() + "_high", series.high);
      }
    }
  }
  return text;
}

std::string items_csv(const std::vector<RunResult>& results) {
  Row header = header_with({"item", "first_token", "nll"});
  header.emplace_back("predicted_at");
  std::string text = cli::csv_row(header);
  for (const RunResult& r : results) {
    for (const LengthResult& cell : r.result.lengths) {
      const CsvRows rows(r, cell);
      for (size_t i = 0; i < cell.items.size(); ++i) {
        Row row = rows.with({std::to_string(i), std::to_string(first_token_of(r.result, cell, i)),
                             cli::number(cell.items[i])});
        row.push_back(i < cell.places.size() ? cell.places[i] : "");
        text += cli::csv_row(row);
      }
    }
  }
  return text;
}

}  // namespace farfield::eval
