/* A shared object with a place of its own for ticks. */
#include "ticks.h"

TICKS(in_library);
