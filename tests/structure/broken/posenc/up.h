#include "layers/up.h"
