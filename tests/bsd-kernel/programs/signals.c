// Signal handlers: arguments, masks, stacks, and the state that a return from a handler restores.
#include "bsd.h"

static volatile int calls, signal_seen, pid_seen, code_seen;
static volatile u64 pc_seen, sp_seen, stack_of_handler, mask_seen;
static void *volatile address_seen;
extern char place_of_call[];

static void on_signal(int signal, siginfo_t *info, void *context) {
    char here;
    calls++;
    signal_seen = signal;
    pid_seen = info->si_pid;
    code_seen = info->si_code;
    address_seen = info->si_addr;
    pc_seen = CONTEXT_PC(context);
    sp_seen = CONTEXT_SP(context);
    stack_of_handler = (u64)&here;
    sigset_t now;
    sigprocmask(SIG_BLOCK, NULL, &now);
    mask_seen = now.bits[0];
    // The return from the handler restores the registers of the interrupted code.
    __asm__ volatile("pxor %%xmm7, %%xmm7; xor %%r12d, %%r12d" : : : "xmm7", "r12");
}

static void catch(int signal, int flags, u32 blocked) {
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | flags, .sa_mask = {{blocked}}};
    CHECK(sigaction(signal, &action, NULL) == 0);
}

static void send(void) {
    catch(SIGUSR1, 0, 1u << (SIGUSR2 - 1));
    u64 rax = 37, rdi = (u64)getpid(), rsi = SIGUSR1, sp, r12 = 12, xmm = 0x1122334455667788, flags;
    __asm__ volatile("movq %[xmm], %%xmm7; mov %[r12], %%r12; mov %%rsp, %[sp]; stc; .globl place_of_call; syscall;"
                     "place_of_call: pushf; pop %[flags]; mov %%r12, %[r12]; movq %%xmm7, %[xmm]"
                     : "+a"(rax), "+D"(rdi), "+S"(rsi), [sp] "=&d"(sp), [r12] "+r"(r12), [xmm] "+r"(xmm), [flags] "=r"(flags)
                     :
                     : "rcx", "r8", "r9", "r10", "r11", "r12", "r13", "xmm7", "memory", "cc");
    CHECK(rax == 0 && !(flags & 1) && r12 == 12 && xmm == 0x1122334455667788);
    CHECK(calls == 1 && signal_seen == SIGUSR1 && pid_seen == getpid() && code_seen == 0x10001);
    CHECK(pc_seen == (u64)place_of_call && sp_seen == sp);
    CHECK(mask_seen == (1u << (SIGUSR1 - 1) | 1u << (SIGUSR2 - 1)));
    sigset_t after;
    CHECK(sigprocmask(SIG_BLOCK, NULL, &after) == 0 && after.bits[0] == 0);
    struct sigaction action;
    CHECK(sigaction(SIGUSR1, NULL, &action) == 0 && action.sa_sigaction == on_signal && action.sa_flags == SA_SIGINFO);
    CHECK(action.sa_mask.bits[0] == 1u << (SIGUSR2 - 1));
    CHECK(sigaction(SIGKILL, &action, NULL) == -1 && errno == EINVAL);
    CHECK(sigaction(129, NULL, &action) == -1 && errno == EINVAL);
}

static void block(void) {
    // Signal 100 is in the upper half of the set.
    catch(100, SA_NODEFER | SA_RESETHAND, 0);
    sigset_t set = {{0, 0, 0, 1u << 3}}, none = {{0}};
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    calls = 0;
    CHECK(raise(100) == 0 && raise(100) == 0 && calls == 0);
    CHECK(sigprocmask(SIG_SETMASK, &none, NULL) == 0 && calls == 1 && mask_seen == 0);
    struct sigaction action;
    CHECK(sigaction(100, NULL, &action) == 0 && !action.sa_handler);
    // sigsuspend returns after the handler.
    catch(SIGUSR2, 0, 0);
    sigset_t two = {{1u << (SIGUSR2 - 1)}};
    CHECK(sigprocmask(SIG_BLOCK, &two, NULL) == 0 && raise(SIGUSR2) == 0);
    CHECK(sigsuspend(&none) == -1 && errno == EINTR && calls == 2);
    CHECK(sigprocmask(SIG_SETMASK, &none, &set) == 0 && set.bits[0] == two.bits[0]);
}

static char alternate[16384];
static void stack(void) {
    stack_t new = {alternate, sizeof alternate, 0}, old;
    CHECK(sigaltstack(&new, &old) == 0 && old.ss_flags == 4);
    catch(SIGUSR1, SA_ONSTACK, 0);
    CHECK(raise(SIGUSR1) == 0);
    CHECK(stack_of_handler - (u64)alternate < sizeof alternate);
    catch(SIGUSR1, 0, 0);
    CHECK(raise(SIGUSR1) == 0 && stack_of_handler - (u64)alternate >= sizeof alternate);
    CHECK(sigaltstack(NULL, &old) == 0 && old.ss_sp == alternate && old.ss_flags == 0);
}

static void on_fault(int signal, siginfo_t *info, void *context) {
    calls++;
    address_seen = info->si_addr;
    signal_seen = signal;
    CONTEXT_PC(context) += 3; // the length of the mov instruction below
}

static void fault(void) {
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
    calls = 0;
    __asm__ volatile(".byte 0x48, 0x89, 0x07" : : "D"(0x1230), "a"(0) : "memory");
    CHECK(calls == 1 && signal_seen == SIGSEGV && address_seen == (void *)0x1230);
}

static volatile int nested;
static void on_old(int signal, int code, void *context, char *address) {
    (void)address;
    CHECK(signal == SIGUSR1 && code != 0 && CONTEXT_PC(context) != 0);
    if (nested++ < 3) raise(SIGUSR1);
}

static void without_siginfo(void) {
    struct sigaction action = {.sa_handler = (void (*)(int))on_old, .sa_flags = SA_NODEFER};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0 && raise(SIGUSR1) == 0 && nested == 4);
}

int main(void) {
    send();
    block();
    stack();
    fault();
    without_siginfo();
    // The default actions of SIGCHLD, and of SIGUSR2 after a reset of its action.
    CHECK(kill(getpid(), SIGCHLD) == 0);
    struct sigaction fresh = {.sa_flags = 0};
    CHECK(sigaction(SIGUSR2, &fresh, NULL) == 0);
    raise(SIGUSR2);
    return 1;
}
