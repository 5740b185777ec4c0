/* Brings what comdat_one.cc brings as well: one of the two is thrown away. */
#include "comdat.h"
extern volatile int sink;
int other()
{
    return big<1>(&sink);
}
