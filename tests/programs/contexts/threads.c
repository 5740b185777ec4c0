/* One thread runs `cheap`, another one `dear`. */
#include "callers.h"

#include <pthread.h>

static void *in_cheap(void *nothing) {
    call_cheap();
    return nothing;
}

static void *in_dear(void *nothing) {
    call_dear();
    return nothing;
}

int main(int argc, char **argv) {
    pthread_t threads[2];
    begin(argc, argv);
    if (pthread_create(&threads[0], NULL, in_cheap, NULL) != 0 || pthread_create(&threads[1], NULL, in_dear, NULL) != 0)
        return 99;
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    print();
    return 0;
}
