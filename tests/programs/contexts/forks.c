/* The program runs `cheap`, and a child of it `dear`. Prints "process PID" before the sums of each. */
#include "callers.h"

#include <sys/wait.h>

int main(int argc, char **argv) {
    begin(argc, argv);
    pid_t pid = fork();
    if (pid == 0) {
        call_dear();
        printf("process %d\n", (int)getpid());
        print();
        exit(0);
    }
    if (pid < 0 || waitpid(pid, NULL, 0) != pid)
        return 99;
    call_cheap();
    printf("process 0\n");
    print();
    return 0;
}
