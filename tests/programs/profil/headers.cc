// The C++ headers, with the dialect in the compiler options.
#include <gmon.h>

#include <cerrno>

int main() {
#if defined(GMON_PROFIL_BSD)
    static unsigned short counts[4];
    return profil(counts, sizeof counts, 0, 1) == 0 && profil(counts, sizeof counts, 0, 0) == 0 ? 0 : 1;
#elif defined(GMON_PROFIL_OPENBSD)
    struct gmonhdr header = {};
    return profil(&header, sizeof header, 0, 0, 65537, -1) == -1 && errno == EINVAL ? 0 : 1;
#elif defined(GMON_PROFIL_ILLUMOS)
    static unsigned short counts[4];
    uintptr_t places[1];
    profil(counts, sizeof counts, 0, 2);
    return pcsample(places, 0) == 0 ? 0 : 1;
#elif defined(GMON_PROFIL_AIX)
    static short counts[4];
    struct prof list[2] = {{1, 2, counts, sizeof counts, -1}, {0, 0, nullptr, 0, 0}};
    profil(list, -1, 0, 0);
    profil(counts, sizeof counts, 0, 0);
    return 0;
#else
    return gmon_profil_bsd(nullptr, 0, 0, 0);
#endif
}
