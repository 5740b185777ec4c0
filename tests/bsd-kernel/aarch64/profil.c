// FreeBSD's profil(2).
#include "host.h"

// The lock keeps ticks of several threads apart; on FreeBSD such ticks may be lost.
static struct { u64 buffer, size, offset, scale; int is_on, lock; } profil;

long start_profil(u64 buffer, u64 size, u64 offset, u64 scale) {
    if (scale > 65536) return -22;
    profil.is_on = 0;
    if (scale == 0) return 0;
    profil.buffer = buffer, profil.size = size, profil.offset = offset, profil.scale = scale, profil.is_on = 1;
    return 0;
}

void charge(u64 pc, u64 count) {
    // The kernel cuts the index to an int.
    u32 index = (u32)(int)(((unsigned __int128)(pc - profil.offset) * profil.scale) >> 16) & ~1u;
    if (!profil.is_on || pc < profil.offset || index + 2 > profil.size) return;
    while (__atomic_exchange_n(&profil.lock, 1, __ATOMIC_ACQUIRE)) LINUX(L_YIELD, 0, 0, 0, 0);
    *(volatile u16 *)(profil.buffer + index) += (u16)count;
    __atomic_store_n(&profil.lock, 0, __ATOMIC_RELEASE);
}
