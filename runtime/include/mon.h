/*
 * mon.h: System V's and AIX's struct prof and profil, for programs that were written there. The functions are in -lgmon.
 */
#ifndef GMON_PROFIL_AIX
#define GMON_PROFIL_AIX
#endif
#include <gmon.h>
