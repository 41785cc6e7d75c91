#include "engine/kernels/up.h"
