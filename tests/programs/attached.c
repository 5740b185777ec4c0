/* Does what its standard input asks for, a line each, and answers each line with `done`:

   call NUMBER [THREADS]  calls `branch` NUMBER times in each of THREADS threads; each call calls `leaf` twice
   work MILLISECONDS      uses CPU time in `busy`
   threads NUMBER         NUMBER threads, one after the other, each of which uses 50 microseconds and calls `branch`
   sleep MILLISECONDS     sleeps in poll(2), and counts calls that a signal has interrupted
   profile 0|1            moncontrol(3)
   count LIST|off         gmon_calls(3)
   fork                   answers in a child from now on, while the parent waits for the child
   exec                   executes itself
   catch                  counts signals of kill(2) with the number of the sampling signal
   caught                 answers with these numbers of signals and of interrupted calls
   leave                  gives up the rights of the superuser
   end                    ends

   The first line of the output is the number of the process. */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gmon.h"

#ifdef PRELOADED
#pragma weak gmon_calls
#pragma weak moncontrol
#endif

#define COUNTED __attribute__((noinline, noclone, noipa))

static volatile long sink;
static volatile sig_atomic_t caught;
static long interrupted;

COUNTED void leaf(void) { sink++; }
COUNTED void branch(void)
{
    leaf();
    leaf();
    sink++; /* so that no call is a jump */
}

COUNTED void busy(long microseconds)
{
    struct timespec start, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    do {
        for (volatile int i = 0; i < 1000; i++)
            ;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - start.tv_sec) * 1000000 + (now.tv_nsec - start.tv_nsec) / 1000 < microseconds);
}

static void *call(void *number)
{
    for (long left = *(long *)number; left > 0; left--)
        branch();
    return NULL;
}

static void *live_shortly(void *unused)
{
    branch();
    busy(50);
    return unused;
}

static void check(int failed, const char *what)
{
    if (failed) {
        perror(what);
        exit(1);
    }
}

static void in_threads(int threads, void *(*work)(void *), void *argument)
{
    pthread_t ids[64];
    for (int i = 0; i < threads; i++)
        check(pthread_create(&ids[i], NULL, work, argument), "pthread_create");
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
}

static void sleep_in_poll(long milliseconds)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long end = now.tv_sec * 1000 + now.tv_nsec / 1000000 + milliseconds, left;
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
        left = end - (now.tv_sec * 1000 + now.tv_nsec / 1000000);
        if (left > 0 && poll(NULL, 0, left) < 0 && errno == EINTR)
            interrupted++;
    } while (left > 0);
}

static void on_signal(int signal) { caught += signal != 0; }

int main(int argc, char **argv)
{
    char line[256], word[32];
    printf("%d\n", getpid());
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        long number = 0;
        int threads = 0, length = 0;
        sscanf(line, "%31s %n", word, &length);
        char *rest = line + length;
        rest[strcspn(rest, "\n")] = 0;
        sscanf(rest, "%ld %d", &number, &threads);
        if (!strcmp(word, "call")) {
            if (threads)
                in_threads(threads, call, &number);
            else
                call(&number);
        } else if (!strcmp(word, "work")) {
            busy(number * 1000);
        } else if (!strcmp(word, "threads")) {
            while (number-- > 0)
                in_threads(1, live_shortly, NULL);
        } else if (!strcmp(word, "sleep")) {
            sleep_in_poll(number);
        } else if (!strcmp(word, "profile")) {
            moncontrol(number != 0);
        } else if (!strcmp(word, "count")) {
            check(gmon_calls(strcmp(rest, "off") != 0, strcmp(rest, "off") ? rest : NULL), "gmon_calls");
        } else if (!strcmp(word, "fork")) {
            pid_t child = fork();
            check(child < 0, "fork");
            if (child > 0) {
                waitpid(child, NULL, 0);
                return 0;
            }
            printf("%d\n", getpid());
        } else if (!strcmp(word, "exec")) {
            execv("/proc/self/exe", argv);
        } else if (!strcmp(word, "catch")) {
            signal(60, on_signal);
        } else if (!strcmp(word, "caught")) {
            printf("%d %ld\n", (int)caught, interrupted);
        } else if (!strcmp(word, "leave")) {
            check(setgroups(0, NULL) || setgid(65534) || setuid(65534), "setuid");
        } else if (!strcmp(word, "end")) {
            return 0;
        }
        printf("done\n");
        fflush(stdout);
    }
    return argc == 0;
}
