/*
 * gmon.h: controls profiling from inside a program, and declares the profil of other systems.
 *
 * The start-up object (gcrt1.o, grcrt1.o) of cc -pg profiles the whole program by itself; a program calls the functions
 * below to profile only a part of its run or of its code. A program without the start-up object links with -lgmon and
 * calls monstartup and _mcleanup.
 *
 * The calls of other systems need -lgmon, with or without the start-up object: see profil(3). A program that was
 * written for another system defines one of these macros before it includes this file, and keeps its calls of profil
 * unchanged:
 *
 *     #define GMON_PROFIL_BSD         4.4BSD: four arguments, 16-bit counts that wrap around to 0
 *     #define GMON_PROFIL_OPENBSD     OpenBSD: six arguments, a buffer that is stored when the process ends
 *     #define GMON_PROFIL_ILLUMOS     illumos, Solaris: four arguments, ends at a full count; and pcsample
 *     #define GMON_PROFIL_AIX         System V, AIX: a list of ranges; <mon.h> defines this macro
 */
#ifndef GMON_H
#define GMON_H

/* The functions do not throw. If <sys/gmon.h> declares them too, C++ requires the same specification in both files. */
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
#error "a source file can use one dialect of profil only; use the functions' own names for the others"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Starts profiling the code from lowpc to highpc (run-time addresses). The start-up object calls this function before
 * main; only the first call has an effect.
 */
void monstartup(unsigned long lowpc, unsigned long highpc) GMON_NOTHROW;

/*
 * Stops counting calls and samples in all threads if mode is 0, and resumes counting otherwise. May be called in any
 * thread and in signal handlers.
 */
void moncontrol(int mode) GMON_NOTHROW;

/*
 * Stops profiling for good and writes the file. The start-up object calls this function at exit; only the first call
 * has an effect.
 */
void _mcleanup(void) GMON_NOTHROW;

/*
 * Writes the file with the counts so far; profiling continues. May be called in any thread and in signal handlers. With
 * the environment variable GMON_DUMP_SIGNAL=USR1, the signal SIGUSR1 has the same effect.
 */
void gmon_dump(void) GMON_NOTHROW;

/*
 * Another name of gmon_dump, which glibc's <sys/gmon.h> declared until 2.40.
 */
void write_profiling(void) GMON_NOTHROW;

/*
 * Counts calls on demand, in code that was compiled with gmon-cc --on-demand. If on is not 0, the calls of the
 * functions that pattern selects are counted from now on, and of no others. Otherwise, the calls of these functions are
 * not counted any more. pattern is a list such as "parse_*,!parse_debug" or "file.c:*,!file.c:log_*", which names a
 * source file of a program with line information; NULL selects all functions. Every call that begins after the call
 * with 1 has returned, and before the call with 0, is counted. The result is 0, or -1 if nothing was changed; a line on
 * standard error then says why, unless the process is not profiled. May be called in any thread and in signal handlers.
 */
int gmon_calls(int on, const char *pattern) GMON_NOTHROW;

/*
 * 4.4BSD. From now on, after every hundredth of a second of CPU time in any thread, the 16-bit count with the number
 * (pc - offset) / 2 * scale / 65536 is incremented. A scale or a size of 0 stops this. The result is 0, or -1 with
 * errno EFAULT (samples cannot be written; profiling has ended) or EINVAL (a scale above 65536).
 */
int gmon_profil_bsd(void *samples, size_t size, size_t offset, unsigned int scale) GMON_NOTHROW;

/*
 * OpenBSD. buf contains a struct gmonhdr, samplesize bytes of counts and room for arcs. If totarc of the header is
 * above 0 when the process exits, buf is stored as gmon.<program>.<pid>.out in the directory dirfd, or, if dirfd is -1,
 * in the current directory of the first call. The result is 0, or -1 with errno EPERM (the program was not linked with
 * -pg, and did not define GMON_PROFIL_OPENBSD), EINVAL, EALREADY (another buffer than in the first call), EBADF or
 * ENOTDIR.
 */
int gmon_profil_openbsd(void *buf, size_t buflen, size_t samplesize, unsigned long offset, unsigned int scale, int dirfd) GMON_NOTHROW;

/*
 * illumos. As 4.4BSD's, with scales from 2 to 0xffff. A scale of 0 or 1, a bufsiz of 0, and a count that reaches 32767
 * stop the counting.
 */
void gmon_profil_illumos(void *buff, size_t bufsiz, size_t offset, unsigned int scale) GMON_NOTHROW;

/*
 * illumos. Stores the pc at every tick until the array is full. A call with nsamples 0 stops this. The result is the
 * number of addresses that were stored since the previous call, or -1 with errno EINVAL (a negative number) or EFAULT.
 */
long gmon_pcsample(uintptr_t samples[], long nsamples) GMON_NOTHROW;

/*
 * System V and AIX, after every sixtieth of a second. If bufsiz is -1, buffer is an array of struct prof (see <mon.h>)
 * with ascending p_high; an element with p_high 0 ends the array. An error is in errno: EFAULT or EINVAL.
 */
void gmon_profil_aix(void *buffer, unsigned int bufsiz, size_t offset, unsigned int scale) GMON_NOTHROW;

#ifdef __cplusplus
}
#endif

#undef GMON_NOTHROW

/* <unistd.h> declares another profil, which must come before the macro. */
#if defined(GMON_PROFIL_BSD) || defined(GMON_PROFIL_OPENBSD) || defined(GMON_PROFIL_ILLUMOS) || defined(GMON_PROFIL_AIX)
#include <unistd.h>
#endif

#ifdef GMON_PROFIL_BSD
#define profil gmon_profil_bsd
#endif

#ifdef GMON_PROFIL_OPENBSD
#define profil gmon_profil_openbsd

/* The header of the buffer, as in OpenBSD's <sys/gmon.h>. */
#ifndef GMONVERSION
#define GMONVERSION 0x00051879
struct gmonhdr {
    unsigned long lpc, hpc; /* the lowest sampled address, and the address behind the highest */
    int ncnt;               /* bytes of this header and of the samples */
    int version;            /* GMONVERSION */
    int profrate;           /* samples per second */
    int totarc;             /* bytes of arcs behind the samples */
    int spare[2];
};
#endif

/* The note that permits profiling, which the start-up object contains too. */
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
/* Linux's daddr_t is too short for an address. */
typedef unsigned long gmon_daddr_t;
#define daddr_t gmon_daddr_t
typedef short short_t;
typedef int int_t;

struct prof {
    daddr_t p_low;   /* the lowest address */
    daddr_t p_high;  /* the address behind the highest; 0 at the end of an array */
    short_t *p_buff; /* the counts of these addresses */
    int_t p_bufsize; /* the size of the counts in bytes */
    int_t p_scale;   /* the scale; -1 to compute the scale from p_bufsize */
};
#endif

#endif
