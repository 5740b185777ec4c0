/*
 * gmon.h: control of profiling from inside a program, and the profil of other systems.
 *
 * The start-up object (gcrt1.o, grcrt1.o) of cc -pg profiles the whole program by itself; monstartup and its like are for
 * programs that want to choose. Without the start-up object, link with -lgmon and call monstartup and _mcleanup yourself.
 *
 * The calls of other systems need -lgmon, with the start-up object or without: see profil(3). A program that was written
 * for one of them says for which, before it includes this file, and keeps its calls of profil as they are:
 *
 *     #define GMON_PROFIL_BSD         4.4BSD: four arguments, 16-bit counts that begin again at 0
 *     #define GMON_PROFIL_OPENBSD     OpenBSD: six arguments, a buffer that is stored when the process ends
 *     #define GMON_PROFIL_ILLUMOS     illumos, Solaris: four arguments, ends at a full count; and pcsample
 *     #define GMON_PROFIL_AIX         System V, AIX: a list of ranges; <mon.h> says this
 */
#ifndef GMON_H
#define GMON_H

/* None of them throws; where <sys/gmon.h> declares them as well, C++ wants both to say so. */
#if defined(__cplusplus) && __cplusplus >= 201103L
#define GMON_NOTHROW noexcept
#elif defined(__cplusplus)
#define GMON_NOTHROW throw()
#else
#define GMON_NOTHROW
#endif

#include <stddef.h>
#include <stdint.h>

#if defined(GMON_PROFIL_BSD) + defined(GMON_PROFIL_OPENBSD) + defined(GMON_PROFIL_ILLUMOS) + defined(GMON_PROFIL_AIX) > 1
#error "a source file can have one dialect of profil only; the functions' own names can be called beside it"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Starts profiling the code from lowpc to highpc (run-time addresses). The start-up object has called it before main;
 * only the first call does anything.
 */
void monstartup(unsigned long lowpc, unsigned long highpc) GMON_NOTHROW;

/*
 * 0 stops counting calls and samples, in all threads; anything else goes on. In any thread, and in signal handlers.
 */
void moncontrol(int mode) GMON_NOTHROW;

/*
 * Stops for good and writes the file. The start-up object calls it at exit; only the first call does anything.
 */
void _mcleanup(void) GMON_NOTHROW;

/*
 * Writes the file as it would be now; profiling goes on. In any thread, and in signal handlers. With the start-up object,
 * the environment variable GMON_DUMP_SIGNAL=USR1 has a signal do the same.
 */
void gmon_dump(void) GMON_NOTHROW;

/*
 * The same. (glibc's <sys/gmon.h> had it until 2.40.)
 */
void write_profiling(void) GMON_NOTHROW;

/*
 * 4.4BSD. From now on, at every hundredth of a second of CPU time, in whichever thread, the 16-bit count number
 * (pc - offset) / 2 * scale / 65536 is raised. scale 0 or size 0 ends it. -1 with errno EFAULT (samples cannot be written;
 * profiling has ended), EINVAL (a scale above 65536).
 */
int gmon_profil_bsd(void *samples, size_t size, size_t offset, unsigned int scale) GMON_NOTHROW;

/*
 * OpenBSD. buf has a struct gmonhdr, samplesize bytes of counts and room for arcs; when the process exits and totarc of
 * the header is above 0, it is stored as gmon.<program>.<pid>.out in the directory dirfd, or for -1 in that of the first
 * call. -1 with errno EPERM (not linked with -pg, and GMON_PROFIL_OPENBSD was not defined), EINVAL, EALREADY (another
 * buffer than the first), EBADF, ENOTDIR.
 */
int gmon_profil_openbsd(void *buf, size_t buflen, size_t samplesize, unsigned long offset, unsigned int scale, int dirfd) GMON_NOTHROW;

/*
 * illumos. As 4.4BSD's with scales from 2 to 0xffff; 0 and 1, or bufsiz 0, end it, and so does a count of 32767.
 */
void gmon_profil_illumos(void *buff, size_t bufsiz, size_t offset, unsigned int scale) GMON_NOTHROW;

/*
 * illumos. Stores the pc itself at every tick until there is no room; returns how many the call before has got. nsamples
 * 0 ends it. -1 with errno EINVAL (a negative number), EFAULT.
 */
long gmon_pcsample(uintptr_t samples[], long nsamples) GMON_NOTHROW;

/*
 * System V and AIX, at every sixtieth of a second. With bufsiz -1, buffer is an array of struct prof (see <mon.h>) with
 * ascending p_high, behind whose last stands one with p_high 0. A failure is in errno: EFAULT, EINVAL.
 */
void gmon_profil_aix(void *buffer, unsigned int bufsiz, size_t offset, unsigned int scale) GMON_NOTHROW;

#ifdef __cplusplus
}
#endif

#undef GMON_NOTHROW

/* <unistd.h> has a profil as well: that one must be declared before the name means another. */
#if defined(GMON_PROFIL_BSD) || defined(GMON_PROFIL_OPENBSD) || defined(GMON_PROFIL_ILLUMOS) || defined(GMON_PROFIL_AIX)
#include <unistd.h>
#endif

#ifdef GMON_PROFIL_BSD
#define profil gmon_profil_bsd
#endif

#ifdef GMON_PROFIL_OPENBSD
#define profil gmon_profil_openbsd

/* The head of the buffer, as OpenBSD's <sys/gmon.h> has it. */
#ifndef GMONVERSION
#define GMONVERSION 0x00051879
struct gmonhdr {
    unsigned long lpc, hpc; /* the lowest sampled address, and the one behind the highest */
    int ncnt;               /* bytes of this and of the samples */
    int version;            /* GMONVERSION */
    int profrate;           /* samples for each second */
    int totarc;             /* bytes of arcs behind the samples */
    int spare[2];
};
#endif

/* The note that lets the program be profiled, as the start-up object has it. */
__asm__(".pushsection .note.gmon.profil,\"a\",%note\n"
        ".balign 4\n"
        ".long 8, 0, 2\n"
        ".asciz \"OpenBSD\"\n"
        ".popsection");
#endif

#ifdef GMON_PROFIL_ILLUMOS
#define profil gmon_profil_illumos
#define pcsample gmon_pcsample
#endif

#ifdef GMON_PROFIL_AIX
#define profil gmon_profil_aix

#include <sys/types.h>
/* The system's own daddr_t is too short for an address. */
typedef unsigned long gmon_daddr_t;
#define daddr_t gmon_daddr_t
typedef short short_t;
typedef int int_t;

struct prof {
    daddr_t p_low;   /* the lowest address, */
    daddr_t p_high;  /* the one behind the highest: 0 at the end of an array */
    short_t *p_buff; /* counts of the addresses between, */
    int_t p_bufsize; /* so many bytes of them, */
    int_t p_scale;   /* and their scale; -1: as p_bufsize has it */
};
#endif

#endif
