#include "engine/ops/up.h"
