/* Does something to standard error and ends with status 7: messages WHAT [FILE]. */
#include <fcntl.h>
#include <gmon.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

__attribute__((noinline)) void counted(void) { __asm__ volatile(""); }

static int pending(void)
{
    sigset_t set;
    return sigpending(&set) == 0 && sigismember(&set, SIGPIPE);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    counted();
    if (strcmp(what, "file") == 0) {
        /* From here on, descriptor 2 is a file of the program's own. */
        close(2);
        if (open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0666) != 2 || write(2, "data", 4) != 4)
            return 99;
    } else if (strcmp(what, "log") == 0) {
        /* Standard error goes to a log, on purpose. */
        if (freopen(argv[2], "a", stderr) == NULL || fputs("begun\n", stderr) == EOF || fflush(stderr) != 0)
            return 99;
    } else if (strcmp(what, "socket") == 0) {
        int pair[2];
        char byte;
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 || dup2(pair[0], 2) != 2)
            return 99;
        gmon_dump();
        return recv(pair[1], &byte, 1, MSG_DONTWAIT) == -1 ? 7 : 98;
    } else if (strcmp(what, "pending") == 0) {
        /* Our pending signal is removed; the program's own pending signal stays. */
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGPIPE);
        sigprocmask(SIG_BLOCK, &set, NULL);
        gmon_dump();
        if (pending())
            return 98;
        raise(SIGPIPE);
        gmon_dump();
        if (!pending())
            return 97;
    } else if (strcmp(what, "handler") == 0) {
        signal(SIGPIPE, exit);
    }
    return 7;
}
