#pragma once
#include <nlohmann/json.hpp>

#include "engine/base/json.h"
inline auto tree = nlohmann::json::parse("[]");
inline auto text = tree.dump();
