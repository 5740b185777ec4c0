// What FreeBSD's C library and dynamic linker share at the start and at the end of a program.
#ifndef START_H
#define START_H
#include "thread.h"

#define PT_NOTE 4
#define PT_PHDR 6
#define PT_TLS 7
struct phdr { u32 type, flags; u64 offset, vaddr, paddr, filesz, memsz, align; };

// The program headers, and the difference of addresses at run time and addresses in the file.
extern struct program { const struct phdr *headers; u64 base; u16 count; } program;
void find_program(char **env);

void set_names(int argc, char **argv, char **env);
void run_preinit_array(int argc, char **argv, char **env);
void run_constructors(int argc, char **argv, char **env);
void run_destructors(void);

#endif
