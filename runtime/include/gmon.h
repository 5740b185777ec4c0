/*
 * gmon.h: control of profiling from inside a program built with cc -pg.
 *
 * The start-up object (gcrt1.o, grcrt1.o) profiles the whole program by itself; these are for programs that want to
 * choose. Without the start-up object, link with -lgmon and call monstartup and _mcleanup yourself.
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

#ifdef __cplusplus
}
#endif

#undef GMON_NOTHROW

#endif
