#include "../shared.h"

ROOM static void log_first(void)
{
    called("first/same.c", "log_first");
}

ROOM void first_global(void)
{
    called("first/same.c", "first_global");
    in_header();
    log_first();
}
