// Compiles the operator or graph of a case and dispatches it.
#pragma once

#include "cases.h"
#include "gpu.h"

Result run_case(Gpu& gpu, const Case& given);
