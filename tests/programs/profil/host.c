/* profil as the C library declares it. */
#define _DEFAULT_SOURCE
#include <sys/time.h>
#include <unistd.h>

#include "ticks.h"

enum { COUNTS = 1024, SIZE = COUNTS * sizeof(unsigned short) };
static uintptr_t lowest(void) { return (HERE < THERE ? HERE : THERE) & ~(uintptr_t)63; }

#ifdef OWN
/* The program's own function of that name, which is not ours. */
static int called;
int profil(unsigned short *samples, size_t size, size_t offset, unsigned scale) {
    (void)samples, (void)size, (void)offset, (void)scale;
    called++;
    return 7;
}
int gmon_profil_bsd(void *, size_t, size_t, unsigned);
static void a_programs_own_profil_is_its_own(void) {
    unsigned short *counts = before_a_wall(SIZE);
    CHECK(profil(counts, SIZE, 0, 1) == 7 && called == 1);
    CHECK(gmon_profil_bsd(counts, SIZE, lowest(), 65536) == 0);
    tick(here, 100);
    CHECK(gmon_profil_bsd(NULL, 0, 0, 0) == 0 && called == 1 && is_about(sum(counts, COUNTS), 100));
}
TRIALS(TRIAL(a_programs_own_profil_is_its_own))
#else
static void profil_itself_is_the_c_librarys_with_four_arguments(void) {
    struct itimerval period;
    unsigned short *counts = before_a_wall(SIZE);
    CHECK(profil(counts, SIZE, lowest(), 65536) == 0);
    tick(here, 100);
    CHECK(getitimer(ITIMER_PROF, &period) == 0 && period.it_interval.tv_usec == 0); /* it is not the C library's own */
    unsigned short *volatile none = NULL;
    CHECK(profil(none, SIZE, lowest(), 65536) == 0); /* no buffer: that ends profiling */
    long before = sum(counts, COUNTS);
    tick(here, 100);
    CHECK(is_about(before, 100) && sum(counts, COUNTS) == before);
    CHECK(profil((unsigned short *)8, SIZE, lowest(), 65536) == -1 && errno == EFAULT);
    CHECK(profil(counts, SIZE, lowest(), 65537) == -1 && errno == EINVAL);
}
TRIALS(TRIAL(profil_itself_is_the_c_librarys_with_four_arguments))
#endif
