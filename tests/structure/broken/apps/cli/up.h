#pragma once
#include "apps/run/settings.h"
