// Functions of libc that execute a program by libc's internal name, as wordexp does.
#include "bsd.h"

int _execve(const char *, char *const *, char *const *);

int execute_in_libc(const char *path, char *const *arguments) { return _execve(path, arguments, environ); }
