// The system calls of FreeBSD. A failed call sets the carry flag and returns a positive number, which becomes errno.
// The symbols are weak, as in FreeBSD's libc.a, because start-up objects may also define the symbols.
#ifdef __aarch64__
#define CALL(number, name)                                                                                                    \
    __asm__(".text; .weak " #name "; .globl __sys_" #name "; .type " #name ", @function; .type __sys_" #name ", @function\n"  \
            #name ": __sys_" #name ": mov x8, #" #number "; svc #0; b.cs cerror; ret; .size " #name ", . - " #name)

__asm__(".text; .globl cerror; .hidden cerror; cerror: stp x29, x30, [sp, #-32]!; str x0, [sp, #16]; bl __error;"
        "ldr x1, [sp, #16]; str w1, [x0]; mov x0, #-1; mov x1, #-1; ldp x29, x30, [sp], #32; ret");
#else
#define CALL(number, name)                                                                                                    \
    __asm__(".text; .weak " #name "; .globl __sys_" #name "; .type " #name ", @function; .type __sys_" #name ", @function\n"  \
            #name ": __sys_" #name ": mov $" #number ", %eax; mov %rcx, %r10; syscall; jc cerror; ret; .size " #name          \
            ", . - " #name)

__asm__(".text; .globl cerror; .hidden cerror; cerror: push %rax; call __error; pop %rcx; mov %ecx, (%rax);"
        "mov $-1, %rax; mov $-1, %rdx; ret");
#endif

CALL(1, _exit);
CALL(2, fork);
CALL(3, read);
CALL(4, write);
CALL(5, open);
CALL(6, close);
CALL(7, wait4);
CALL(12, chdir);
CALL(20, getpid);
CALL(37, kill);
CALL(39, getppid);
CALL(41, dup);
CALL(44, profil);
CALL(53, sigaltstack);
CALL(59, execve);
CALL(59, _execve);
CALL(61, chroot);
CALL(73, munmap);
CALL(74, mprotect);
CALL(75, madvise);
CALL(83, setitimer);
CALL(86, getitimer);
CALL(90, dup2);
CALL(92, fcntl);
CALL(147, setsid);
CALL(165, sysarch);
CALL(202, sysctl);
CALL(232, clock_gettime);
CALL(235, ktimer_create);
CALL(236, ktimer_delete);
CALL(237, ktimer_settime);
CALL(240, nanosleep);
CALL(250, minherit);
CALL(251, rfork);
CALL(253, issetugid);
CALL(331, sched_yield);
CALL(340, sigprocmask);
CALL(341, sigsuspend);
CALL(416, sigaction);
CALL(431, thr_exit);
CALL(432, thr_self);
CALL(433, thr_kill);
CALL(454, _umtx_op);
CALL(455, thr_new);
CALL(476, pwrite);
CALL(477, mmap);
CALL(478, lseek);
CALL(480, ftruncate);
CALL(492, fexecve);
CALL(499, openat);
CALL(501, renameat);
CALL(503, unlinkat);
CALL(516, cap_enter);
CALL(517, cap_getmode);
CALL(518, pdfork);
CALL(520, pdgetpid);
CALL(542, pipe2);
CALL(551, fstat);
CALL(552, fstatat);
CALL(570, __sysctlbyname);

#ifdef __aarch64__
CALL(66, vfork);
#else
// The child returns first and overwrites the parent's frame, so a register keeps the return address.
__asm__(".text; .weak vfork; .globl __sys_vfork; .type vfork, @function\n"
        "vfork: __sys_vfork: pop %rsi; mov $66, %eax; syscall; jc 1f; jmp *%rsi; 1: push %rsi; jmp cerror");

// As vfork, because the child may share the memory.
__asm__(".text; .globl pdrfork; .type pdrfork, @function\n"
        "pdrfork: mov %edx, %r9d; pop %rdx; push %rbx; mov %rdx, %rbx; mov %r9d, %edx; mov $600, %eax; syscall; jc 1f;"
        "mov %rbx, %rdx; pop %rbx; jmp *%rdx; 1: mov %rbx, %rdx; pop %rbx; push %rdx; jmp cerror");

// Makes any call: the number, four arguments, and the address for the carry flag.
__asm__(".text; .globl syscall_number; .type syscall_number, @function\n"
        "syscall_number: mov %rdi, %rax; mov %rsi, %rdi; mov %rdx, %rsi; mov %rcx, %rdx; mov %r8, %r10; push %r9;"
        "syscall; setc %cl; movzbl %cl, %ecx; pop %r9; mov %ecx, (%r9); ret");
#endif
