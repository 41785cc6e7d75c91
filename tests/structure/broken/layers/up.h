#include "up.h"
