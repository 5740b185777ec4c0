// Threads and thread-local storage inside the C library.
#ifndef THREAD_H
#define THREAD_H
#include "bsd.h"

// The thread control block at fs:0, as variant II defines.
struct tcb { struct tcb *self; void *dtv; struct thread *thread; };
struct thread {
    long state; // 1 when the thread ended
    long id;
    void *(*function)(void *);
    void *argument, *result;
    char *memory;
    size_t size;
};

void init_tls(char **env);
// Thread-local storage for a new thread, at the end of memory.
struct tcb *make_tls(char *end, struct thread *thread);
size_t tls_room(void);

#endif
