#include "apps/sweep/kerple_tables.h"

#include <algorithm>

#include "engine/base/text.h"

namespace farfield::sweep {

Measure non_overlapping(const std::vector<double>& lengths) {
  return {.key = "P2", .protocol = "non-overlapping", .lengths = lengths};
}

std::vector<double> compared(const Measured& m, std::vector<double> lengths, double train_len) {
  if (!m.is_published()) std::erase_if(lengths, [&](double length) { return length <= train_len; });
  return lengths;
}

std::string against(const std::string& a, const std::string& b, double length) {
  return concat("PPL ", length_text(length), ", ", a, " / ", b);
}
double quotient(const Measured& m, const std::string& a, const std::string& b, double length) {
  return m.perplexity(a, length) / m.perplexity(b, length);
}
void below(const Measured& m, Evidence& e, const char* a, const char* b, double length) {
  e.below(against(a, b, length), quotient(m, a, b, length), 1);
}
void not_above(const Measured& m, Evidence& e, const char* a, const char* b, double length) {
  e.at_most(against(a, b, length), quotient(m, a, b, length), 1);
}

Output table_of_chunks() {
  return {.form = Output::Form::table, .measure = "P2", .caption = "perplexity of chunks"};
}

Output table_of_last_token() {
  return {.form = Output::Form::table, .measure = "P1", .caption = "perplexity of the last token"};
}

}  // namespace farfield::sweep
