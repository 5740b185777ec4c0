/* A program without a start-up object that profiles itself by calls of libgmon.a; a forked child does so too. With an
   argument, it starts with all signals blocked and says whether signal 60 stays blocked. */
#include <gmon.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char __executable_start, etext;

__attribute__((noinline)) int before(int number) { return number + 1; }
__attribute__((noinline)) int parents(int number) { return number + 2; }
__attribute__((noinline)) int childs(int number) { return number + 3; }

static int blocked(void)
{
    sigset_t set;
    sigfillset(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    monstartup((unsigned long)&__executable_start, (unsigned long)&etext);
    sigprocmask(SIG_BLOCK, NULL, &set);
    printf("60 is blocked: %d\n", sigismember(&set, 60));
    return 0;
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return blocked();
    int sum = before(0);
    monstartup((unsigned long)&__executable_start, (unsigned long)&etext);
    monstartup(0, 16);
    for (int turn = 0; turn < 30; turn++)
        sum += parents(turn);
    pid_t child = fork();
    if (child == 0) {
        for (int turn = 0; turn < 40; turn++)
            sum += childs(turn);
        _mcleanup();
        _exit(sum == 0);
    }
    waitpid(child, 0, 0);
    _mcleanup();
    printf("%d\n", (int)child);
    return sum == 0;
}
