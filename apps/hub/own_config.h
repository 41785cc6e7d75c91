#pragma once

#include <string>

#include "apps/hub/architecture.h"
#include "apps/hub/class_config.h"
#include "apps/hub/config_reader.h"
#include "apps/hub/encoding_tables.h"
#include "posenc/composition.h"

namespace farfield::hub {

/// config.json of a model that our own class computes, with these tables of its encoding.
std::string own_config(const ModelConfig& model, const posenc::Composition& encoding,
                       const EncodingTables& tables, const ConfigNotes& notes);

/// The model that own_config() describes. IoError, naming the key, for what is no such model.
Architecture read_own_config(ConfigReader& config);

}  // namespace farfield::hub
