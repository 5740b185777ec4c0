#include "../shared.h"

ROOM static void log_second(void)
{
    called("second/same.c", "log_second");
    in_header();
}

ROOM void second_global(void)
{
    called("second/same.c", "second_global");
    log_second();
    log_second();
}
