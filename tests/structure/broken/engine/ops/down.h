#include "engine/cpu/vendor.h"
