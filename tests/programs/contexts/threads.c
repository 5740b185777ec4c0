/* One thread, which is named cheap, runs `cheap`; another one, which is named dear, runs `dear`. */
#include "callers.h"

#include <pthread.h>

static void *in_cheap(void *nothing) {
    pthread_setname_np(pthread_self(), "cheap");
    call_cheap();
    return nothing;
}

static void *in_dear(void *nothing) {
    pthread_setname_np(pthread_self(), "dear");
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
