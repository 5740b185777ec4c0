/* Forks children that end at about the same time: children NUMBER KILLED. Each calls `kept` a hundred times. KILLED
   more children call `doomed` a hundred times and are killed a little later, each after another delay. The children
   print nothing. With PIPES set, each child finds a pipe under the name of its own file. With HEIRS set, each forks,
   and its child writes a text file under that name. */
#include <gmon.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) int kept(int number) { return number + 1; }
__attribute__((noinline)) int doomed(int number) { return number - 1; }

static const char *own_name(void)
{
    static char name[64];
    snprintf(name, sizeof name, "gmon.program.%d.out", getpid());
    return name;
}

static void fork_heir(void)
{
    pid_t heir = fork();
    if (heir == 0) {
        FILE *letter = fopen(own_name(), "w");
        fputs("a letter", letter);
        fclose(letter);
        exit(0);
    }
    waitpid(heir, NULL, 0);
}

static pid_t start(int (*function)(int))
{
    pid_t child = fork();
    if (child == 0) {
        int sum = 0;
        for (int turn = 0; turn < 100; turn++)
            sum += function(turn);
        if (getenv("PIPES"))
            mkfifo(own_name(), 0600);
        if (getenv("DUMPS"))
            gmon_dump();
        if (getenv("HEIRS"))
            fork_heir();
        /* Samples in the program, in the C library and in the kernel. */
        if (getenv("SAMPLES"))
            for (int left = atoi(getenv("SAMPLES")); left > 0; left--)
                raise(60);
        exit(sum == -1);
    }
    return child;
}

int main(int argc, char **argv)
{
    int number = atoi(argv[1]), killed = argc > 2 ? atoi(argv[2]) : 0;
    unsigned random = 1;
    while (number > 0 || killed > 0) {
        pid_t victim = killed > 0 ? start(doomed) : 0;
        for (int left = 4; left > 0 && number > 0; left--, number--)
            start(kept);
        if (victim) {
            random = random * 1103515245 + 12345;
            usleep(random / 65536 % 3000);
            kill(victim, SIGKILL);
            killed--;
        }
        while (wait(0) > 0) {
        }
    }
    return 0;
}
