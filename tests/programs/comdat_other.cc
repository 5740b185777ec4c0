/* Defines the function of comdat_one.cc too: the linker discards one of the two. */
#include "comdat.h"
extern volatile int sink;
int other()
{
    return big<1>(&sink);
}
