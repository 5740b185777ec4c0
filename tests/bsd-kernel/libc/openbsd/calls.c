// The system calls of OpenBSD. The table of pinned system calls has each instruction's address and call number.
#define PIN(label, number) \
    ".pushsection .openbsd.syscalls, \"\", @progbits; .p2align 2; .long " label ", " #number "; .popsection;"
#define CALL(number, name)                                                                                             \
    __asm__(".text; .weak " #name "; .type " #name ", @function\n" #name ": endbr64; mov $" #number                    \
            ", %eax; mov %rcx, %r10; 9: syscall; jc cerror; ret; .size " #name ", . - " #name "\n" PIN("9b", number))

__asm__(".text; .globl cerror; .hidden cerror; cerror: push %rax; call __errno; pop %rcx; mov %ecx, (%rax);"
        "mov $-1, %rax; mov $-1, %rdx; ret");

CALL(1, _exit);
CALL(2, _thread_sys_fork);
CALL(3, read);
CALL(4, write);
CALL(5, open);
CALL(6, close);
CALL(11, wait4);
CALL(12, chdir);
CALL(20, getpid);
CALL(24, getuid);
CALL(39, getppid);
CALL(42, fstatat);
CALL(46, sigaction);
CALL(49, mmap);
CALL(53, fstat);
CALL(59, execve);
CALL(60, umask);
CALL(61, chroot);
CALL(69, setitimer);
CALL(70, getitimer);
CALL(73, munmap);
CALL(74, mprotect);
CALL(83, futex);
CALL(87, clock_gettime);
CALL(91, nanosleep);
CALL(92, fcntl);
CALL(101, pipe2);
CALL(108, pledge);
CALL(114, unveil);
CALL(119, thrkill);
CALL(122, kill);
CALL(159, mimmutable);
CALL(166, lseek);
CALL(168, ftruncate);
CALL(170, pwrite);
CALL(175, profil);
CALL(195, setrlimit);
CALL(202, sysctl);
CALL(250, minherit);
CALL(252, poll);
CALL(253, issetugid);
CALL(282, setresuid);
CALL(288, sigaltstack);
CALL(299, getthrid);
CALL(321, openat);
CALL(325, unlinkat);
CALL(329, __set_tcb);
CALL(330, __get_tcb);

// The set is passed by value, and the call returns the previous set in rax.
__asm__(".text; .weak sigprocmask; .type sigprocmask, @function\n"
        "sigprocmask: test %rsi, %rsi; jnz 1f; mov $1, %edi; xor %esi, %esi; jmp 2f; 1: mov (%rsi), %esi; 2: mov $48, %eax;"
        "9: syscall; jc cerror; test %rdx, %rdx; jz 3f; mov %eax, (%rdx); 3: xor %eax, %eax; ret;" PIN("9b", 48));
__asm__(".text; .weak sigsuspend; .type sigsuspend, @function\n"
        "sigsuspend: mov (%rdi), %edi; mov $111, %eax; 9: syscall; jmp cerror;" PIN("9b", 111));

// The child returns first and overwrites the parent's frame, so a register keeps the return address.
__asm__(".text; .weak vfork; .type vfork, @function\n"
        "vfork: pop %rsi; mov $66, %eax; 9: syscall; jc 1f; jmp *%rsi; 1: push %rsi; jmp cerror;" PIN("9b", 66));

// __tfork_thread(parameters, size, function, argument): the new thread runs the function on its own stack.
__asm__(".text; .globl __tfork_thread; .type __tfork_thread, @function\n"
        "__tfork_thread: mov %rdx, %r8; mov %rcx, %r9; mov $8, %eax; 9: syscall; jc cerror; test %eax, %eax; jz 1f; ret;"
        "1: xor %ebp, %ebp; mov %r9, %rdi; call *%r8; ud2;" PIN("9b", 8));
__asm__(".text; .globl __threxit; .type __threxit, @function\n"
        "__threxit: mov $302, %eax; 9: syscall; ud2;" PIN("9b", 302));

// Makes any call: the number, four arguments, and the address for the carry flag. The instruction is not pinned.
__asm__(".text; .globl syscall_number; .type syscall_number, @function\n"
        "syscall_number: mov %rdi, %rax; mov %rsi, %rdi; mov %rdx, %rsi; mov %rcx, %rdx; mov %r8, %r10; push %r9;"
        "syscall; setc %cl; movzbl %cl, %ecx; pop %r9; mov %ecx, (%r9); ret");
