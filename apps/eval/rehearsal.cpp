#include "apps/eval/rehearsal.h"

#include "apps/eval/protocol.h"
#include "apps/eval/text_stream.h"
#include "engine/base/error.h"

namespace farfield::eval {
namespace {

// Thrown instead of the first pass over a model.
struct FirstPass {};

}  // namespace

std::string problem_of(const std::string& name, const EvalOptions& eval, const data::Corpus& corpus,
                       const std::string& split, int64_t train_len) {
  const Protocol& protocol = protocol_named(name);
  if (!protocol.has_text && !protocol.needs_tokenizer) return "";
  Subject subject;
  subject.model.scorer.vocab_size = corpus.vocab_size();
  subject.model.scorer.score = [](const Scorer::Ids&, const Scorer::Ids&,
                                  int64_t) -> std::vector<double> { throw FirstPass(); };
  subject.model.train_len = train_len;
  try {
    subject.text = stream_of_split(corpus, split);
    protocol.run(subject, eval);
  } catch (const FirstPass&) {
  } catch (const IoError& error) {
    return error.what();
  } catch (const ConfigError& error) {
    // A protocol that looks inside a model has checked the text before, and finds no model here.
    if (!protocol.needs_model) return error.what();
  }
  return "";
}

}  // namespace farfield::eval
