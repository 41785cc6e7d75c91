#include "posenc/up.h"
