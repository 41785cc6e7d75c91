#pragma once
// TEMPORARY: gone with the last file that includes it.
#include "engine/ops/embedding.h"
#include "engine/ops/split_heads.h"
