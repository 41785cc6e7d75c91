#include "apps/eval/protocols/masked.h"

#include <algorithm>

#include "apps/eval/protocol.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "layers/transformer.h"

namespace farfield::eval {
namespace {

constexpr std::string_view kProtocol = "masked";
constexpr std::string_view kWhere = "eval:masked";

// Sequences of one length in the first `size` tokens of a text.
data::Grid sequences_of(const TokenStream& text, int64_t size, int64_t length) {
  const data::Grid sequences = windows_of(text, size, length);
  require<IoError>(sequences.size() >= 1, kWhere, "not_enough_data: expected at least ", length + 1,
                   " tokens for one sequence of ", length, ", got ",
                   size < text.size ? std::to_string(size) : size_text(text));
  return sequences;
}

std::string masked_conventions(const ProtocolResult&, int64_t) {
  return concat(first_token_is("of the sequence"), "; its masked tokens are predicted");
}

}  // namespace

void add_options(cli::Options& options, MaskedOptions& own) {
  options.group("Masked tokens")
      .add("masked-share", own.share, "X",
           "share of the tokens of each sequence that are masked, the same for every run")
      .add("masked-seed", own.seed, "N", "seed of their choice, the same for every run");
}

void check(const MaskedOptions& own) {
  require<ConfigError>(own.share > 0 && own.share < 1, kWhere,
                       "bad_argument: --masked-share: expected a share above 0 and below 1, got ",
                       own.share);
}

ProtocolResult masked(const Subject& subject, const CommonOptions& common,
                      const MaskedOptions& own) {
  const TokenStream& text = subject.text;
  const int64_t size = whole_text(text.size, common), vocab_size = subject.model.scorer.vocab_size;
  int64_t n_read = 0;
  for (const int64_t length : common.lengths) {
    const data::Grid sequences = sequences_of(text, size, length);
    n_read = std::max(n_read, sequences[sequences.size() - 1] + length);
  }
  check_tokens(kProtocol, text, vocab_size, 0, n_read);
  const Transformer& model = subject.model.inside(kProtocol);
  require<ConfigError>(subject.model.mask_token.has_value(), kWhere,
                       "bad_argument: expected an encoder that was trained on masked text (train "
                       "--mask none --data), got another model");
  const data::Masking masking{.share = own.share, .mask_token = *subject.model.mask_token};

  ProtocolResult result;
  result.protocol = kProtocol;
  result.parameters = concat("share=", shortest(own.share), " seed=", own.seed, " tokens=", size,
                             documents_text(text));
  measure_lengths(result, subject, common.lengths, [&](LengthResult& to) {
    const int64_t length = to.length, n_each = data::n_masked(length, own.share);
    const data::Grid sequences = sequences_of(text, size, length);
    TokenSet predicted;
    double total = 0;
    std::vector<int32_t> tokens(static_cast<size_t>(length));
    in_batches(sequences.size(), length, common, [&](int64_t first, int64_t batch) {
      if (!to.failure.empty()) return;
      data::MaskedRows rows;
      for (int64_t i = first; i < first + batch; ++i) {
        read_tokens(kProtocol, text, vocab_size, sequences[i], length, tokens.data());
        rows.add(tokens, masking, data::masking_random(own.seed, "test", i));
      }
      subject.session.pass(batch * length);
      const auto at = [&](const std::vector<int32_t>& values) {
        return Tensor::from(values, {batch * n_each}, subject.model.device);
      };
      const std::vector<double> nll =
          model
              .nll_at(tensor_of(rows.ids, batch, subject.model.device), at(rows.places),
                      at(rows.targets), subject.model.transformer_draw())
              .to_vector();
      for (int64_t i = 0; i < batch; ++i) {
        double sum = 0;
        for (int64_t k = i * n_each; k < (i + 1) * n_each; ++k) {
          sum += nll[static_cast<size_t>(k)];
          predicted.add(sequences[first + i] + rows.places[static_cast<size_t>(k)] - i * length, 1);
        }
        if (note_nonfinite(
                to, kProtocol, sum,
                concat("sequence ", first + i, " (from token ", sequences[first + i], ')')))
          return;
        to.items.push_back(sum / static_cast<double>(n_each));
        total += sum;
      }
      to.n_scored += batch * n_each;
    });
    to.tokens = predicted.name(text);
    if (to.failure.empty()) to.mean_nll = total / static_cast<double>(to.n_scored);
  });
  return result;
}

Protocol masked_row() {
  return {.place = 16,
          .name = std::string(kProtocol),
          .help =
              "perplexity of masked tokens in sequences of L, of an encoder that was trained to "
              "fill them in (train --mask none)",
          .source = "BERT (arXiv:1810.04805) 3.1",
          .synonyms = {"mlm", "masked-lm"},
          .has_lengths = true,
          .has_text = true,
          .has_perplexity = true,
          .needs_model = true,
          .is_of_masked = true,
          .amounts = {{"max-tokens", Amount::text_tokens}},
          .add_options = add_own<MaskedOptions>,
          .check = check_own<MaskedOptions>,
          .run =
              [](const Subject& subject, const EvalOptions& eval) {
                return masked(subject, eval.common, eval.own<MaskedOptions>());
              },
          .work =
              [](const EvalOptions& eval, const WorkSubject& subject, int64_t length) {
                const int64_t whole = whole_text(subject.text_size, eval.common);
                return subject.n_chunks(whole, length, whole) * static_cast<double>(length);
              },
          .conventions = masked_conventions};
}

}  // namespace farfield::eval
