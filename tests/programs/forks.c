/* A child that ends on its own must leave its parent's profile alone. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) void counted(void) { __asm__ volatile(""); }

int main(void) {
    counted();
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 100; i++)
            counted();
        exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    counted();
    printf("calls counted 2\n");
    return status != 0;
}
