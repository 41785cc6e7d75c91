#include "apps/hub/own_class.h"

#include "apps/hub/encoding_tables.h"
#include "apps/hub/export.h"
#include "apps/hub/export_weights.h"
#include "apps/hub/own_config.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::hub {
namespace {

int64_t length_of(const ModelConfig& model, const posenc::Composition& encoding,
                  std::optional<int64_t> asked) {
  if (asked) return reachable_length(encoding, *asked, *asked);
  return reachable_length(encoding, model.train_len, kOwnLengths * model.train_len);
}

}  // namespace

void require_own_class(const ModelConfig& model, std::optional<int64_t> length) {
  require<ConfigError>(!model.sees_later, "hub",
                       "expected a causal model, got an encoder, whose tokens see later ones: no "
                       "class of transformers has its blocks, nor has our own");
  length_of(model, encoding_of(model), length);
}

OwnModel own_class(const ModelConfig& model, std::map<std::string, Tensor> weights,
                   const OwnClassRequest& request) {
  posenc::Composition encoding = encoding_of(model, request.seed);
  std::map<std::string, Tensor> values;
  for (const auto& [name, value] : weights)
    if (const auto parameter = posenc::parameter_of(name)) values.emplace(*parameter, value);
  encoding.take(values);
  const EncodingTables tables =
      encoding_tables(encoding, length_of(model, encoding, request.length));

  OwnModel made;
  made.length = tables.length;
  made.config = own_config(model, encoding, tables, request.notes);
  made.tensors = export_weights(model, weight_names(kOwnType), std::move(weights),
                                {.dtype = request.notes.dtype, .where = request.where});
  for (const auto& item : made.tensors) made.n_parameter += item.second.numel();
  for (const auto& [name, table] : tables.tensors)
    made.tensors.emplace_back(concat(kOwnTables, name), table);
  if (tables.is_random)
    made.remarks.push_back(
        concat("'", encoding.canonical(), "' draws positions at random: the tables have one draw"));
  else if (tables.depends_on_length)
    made.remarks.push_back(concat("'", encoding.canonical(),
                                  "' depends on the length of the input: the tables are those of ",
                                  tables.length,
                                  " tokens, for shorter inputs too; --length N "
                                  "chooses another length"));
  return made;
}

}  // namespace farfield::hub
