/*
 * mon.h: struct prof and profil of System V and AIX, for programs that were written for these systems. Link with
 * -lgmon.
 */
#ifndef GMON_PROFIL_AIX
#define GMON_PROFIL_AIX
#endif
#include <gmon.h>
