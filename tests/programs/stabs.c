/* A program with debug information in stabs, which compilers wrote before DWARF. The assembler still knows stabs. */
__asm__(".stabs \"/source/\",100,0,0,main\n.stabs \"stabs.c\",100,0,0,main\n.stabn 68,0,7,main");

__attribute__((noinline)) int nothing(void) {
    return 0;
}

int main(void) {
    return nothing();
}
