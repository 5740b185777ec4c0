/* Functions in assembly: symbols that are not marked as functions, and names that compilers and assemblers make. */
#include <stdio.h>

void first(void);
void unmarked(void);
void marked(void);
void second(void);

#define BARE(name) "nop\n" #name ":\n" "ret\n"
#define LOCAL(name) ".type " #name ", @function\n" #name ":\nret\n"

__asm__(".text\n"
        ".globl first\n.type first, @function\nfirst:\nret\n"
        ".globl unmarked\n" BARE(unmarked)
        BARE(hidden_label)
        ".globl marked\n.type marked, @function\n" BARE(marked)
        ".weak weak_label\n" BARE(weak_label)
        LOCAL(numbered.123) LOCAL(part.part.0) LOCAL(cold.cold) LOCAL(again.constprop.1)
        LOCAL(twice.constprop.1.isra.0) LOCAL(plain_local) LOCAL(copy.clone.2) LOCAL(mixed.1.2)
        LOCAL(__gnu_compiled_c)
        ".globl second\n.type second, @function\nsecond:\nret\n"
        /* A weak data symbol, which the system's tool takes for code. */
        ".data\n.weak weak_data\nweak_data: .long 0\n.text\n");

int main(void)
{
    first();
    unmarked();
    marked();
    second();
    printf("done\n");
    return 0;
}
