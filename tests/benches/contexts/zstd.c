/* Gives zstd about half a second of work: compresses pseudo-random words at three levels, and decompresses them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zstd.h"

enum { SIZE = 12 << 20 };

static void fill(char *text) {
    unsigned seed = 1;
    size_t used = 0;
    while (used < SIZE - 64) {
        seed = seed * 1103515245u + 12345u;
        used += (size_t)sprintf(text + used, "%s%u ", (seed >> 16 & 3) != 0 ? "recurring words, " : "", seed >> 20);
    }
    memset(text + used, 0, SIZE - used);
}

int main(void) {
    static const int levels[] = {1, 6, 12};
    size_t bound = ZSTD_compressBound(SIZE);
    char *text = malloc(SIZE), *packed = malloc(bound), *unpacked = malloc(SIZE);
    if (!text || !packed || !unpacked)
        return 1;
    fill(text);
    for (int i = 0; i < 3; i++) {
        size_t size = ZSTD_compress(packed, bound, text, SIZE, levels[i]);
        if (ZSTD_isError(size) || ZSTD_decompress(unpacked, SIZE, packed, size) != SIZE || memcmp(text, unpacked, SIZE) != 0)
            return 2;
        printf("level %d: %zu\n", levels[i], size);
    }
    return 0;
}
