// FreeBSD's system calls on arm64, by Linux's.
#include "host.h"

// FreeBSD's flags of open in Linux's terms.
static long open_flags(u64 flags) {
    static const struct { u32 bsd, here; } pairs[] = {
        {4, 0x800}, {8, 0x400}, {0x80, 0x101000}, {0x100, 0x8000}, {0x200, 0x40}, {0x400, 0x200}, {0x800, 0x80},
        {0x20000, 0x4000}, {0x40000, 0x200000}, {0x100000, 0x80000},
    };
    long result = flags & 3;
    for (u64 at = 0; at < sizeof pairs / sizeof pairs[0]; at++) {
        if (flags & pairs[at].bsd) result |= pairs[at].here;
        flags &= ~(u64)pairs[at].bsd;
    }
    if (flags & ~3ul) die("open with the flags", flags);
    return result;
}

static long map(u64 *x) {
    static const struct { u32 bsd, here; } pairs[] = {{1, 1}, {2, 2}, {0x10, 0x10}, {0x400, 0}, {0x1000, 0x20}, {0x4000, 0x100000}, {0x20000, 0}};
    u64 flags = x[3] & 0xffffffff;
    long result = 0;
    for (u64 at = 0; at < sizeof pairs / sizeof pairs[0]; at++) {
        if (flags & pairs[at].bsd) result |= pairs[at].here;
        flags &= ~(u64)pairs[at].bsd;
    }
    if (flags) die("mmap with the flags", flags);
    return linux_call(L_MMAP, (long)x[0], (long)x[1], (long)x[2], result, (int)x[4], (long)x[5]);
}

struct linux_stat { u64 dev, ino; u32 mode, nlink, uid, gid; u64 rdev, pad, size; int blksize, pad2; u64 blocks, times[6]; u32 spare[2]; };

// struct stat of FreeBSD: 224 bytes.
static long status(long result, const struct linux_stat *from, u64 *to) {
    if (result) return result;
    for (int at = 0; at < 28; at++) to[at] = 0;
    to[0] = from->dev, to[1] = from->ino, to[2] = from->nlink;
    to[3] = (from->mode & 0xffff) | (u64)from->uid << 32;
    to[4] = from->gid;
    for (int at = 0; at < 6; at++) to[6 + at] = from->times[at];
    to[14] = from->size, to[15] = from->blocks, to[16] = (u64)from->blksize;
    return 0;
}

// kern.proc.pathname, kern.proc.vmmap, and kern.proc.args. A static program has no shared objects, so the list of
// mappings is empty. The arguments are empty too, as after setproctitle.
static long process_information(u32 kind, char *old, u64 *size) {
    if (kind == 32 || kind == 7) {
        *size = 0;
        return 0;
    }
    u64 length = 0;
    while (program.path[length++]) {}
    if (kind != 12 || *size < length) return -12;
    copy(old, program.path, length);
    *size = length;
    return 0;
}

// kern.clockrate, hw.ncpu, kern.hostname, and kern.proc.
static long sysctl(const u32 *name, u64 count, u32 *old, u64 *size) {
    if (count == 4 && name[0] == 1 && name[1] == 14) return process_information(name[2], (char *)old, size);
    static const u32 rates[] = {1000, 1000, 0, 127, 8128}, processors = 2;
    static const char host[] = "arm.example";
    static const struct { u32 name[2]; const void *value; u64 length; } values[] = {
        {{1, 12}, rates, sizeof rates}, {{6, 3}, &processors, sizeof processors}, {{1, 10}, host, sizeof host},
    };
    for (u64 at = 0; at < sizeof values / sizeof values[0]; at++) {
        if (count != 2 || name[0] != values[at].name[0] || name[1] != values[at].name[1]) continue;
        if (old && *size < values[at].length) return -12;
        if (old) copy(old, values[at].value, values[at].length);
        *size = values[at].length;
        return 0;
    }
    complain("unsupported sysctl", name[1]);
    return -2;
}

// F_KINFO: the path in struct kinfo_file, which is the part that the runtime reads.
static long information(u64 fd, u8 *place) {
    char link[24] = "/proc/self/fd/", digits[8];
    size_t length = 14, count = 0;
    do digits[count++] = (char)('0' + fd % 10); while (fd /= 10);
    while (count) link[length++] = digits[--count];
    if (*(u32 *)place != 1392) return -22;
    long size = LINUX(L_READLINKAT, AT_FDCWD, link, place + 368, 1023);
    if (size >= 0) place[368 + size] = 0;
    return size < 0 ? size : 0;
}

static long control(u64 fd, u64 command, u64 argument) {
    const u64 copy_and_close = 17;
    if (command == 22) return information(fd, (u8 *)argument);
    if (command > 3 && command != copy_and_close) die("fcntl with the command", command);
    return LINUX(L_FCNTL, fd, command == copy_and_close ? 1030 : command, argument, 0);
}

static long thread_signal(u64 thread, u64 signal) {
    if ((long)thread == LINUX(L_GETTID, 0, 0, 0, 0)) return send(signal);
    return send_to(thread, signal);
}

// Calls on files.
static long serve_files(u64 *x, u64 number) {
    struct linux_stat found;
    switch (number) {
    case 3: return LINUX(L_READ, x[0], x[1], x[2], 0);
    case 4: return LINUX(L_WRITE, x[0], x[1], x[2], 0);
    case 5: return LINUX(L_OPENAT, AT_FDCWD, x[0], open_flags(x[1]), x[2]);
    case 6: return LINUX(L_CLOSE, x[0], 0, 0, 0);
    case 12: return LINUX(L_CHDIR, x[0], 0, 0, 0);
    case 60: return LINUX(L_UMASK, x[0], 0, 0, 0);
    case 92: return control(x[0], x[1], x[2]);
    case 131: return LINUX(L_FLOCK, x[0], x[1], 0, 0);
    case 475: return LINUX(L_PREAD, x[0], x[1], x[2], x[3]);
    case 476: return LINUX(L_PWRITE, x[0], x[1], x[2], x[3]);
    case 478: return LINUX(L_LSEEK, x[0], x[1], x[2], 0);
    case 480: return LINUX(L_FTRUNCATE, x[0], x[1], 0, 0);
    case 499: return LINUX(L_OPENAT, (int)x[0], x[1], open_flags(x[2] & 0xffffffff), x[3]);
    case 501: return LINUX(L_RENAMEAT, (int)x[0], x[1], (int)x[2], x[3]);
    case 503: return LINUX(L_UNLINKAT, (int)x[0], x[1], x[2] & 0x800 ? 0x200 : 0, 0);
    // posix_fallocate returns an error number.
    case 530: return -LINUX(L_FALLOCATE, x[0], 0, x[1], x[2]);
    case 542: return LINUX(L_PIPE2, x[0], open_flags(x[1] & 0xffffffff), 0, 0);
    case 551: return status(LINUX(L_FSTAT, x[0], &found, 0, 0), &found, (u64 *)x[1]);
    case 552: return status(LINUX(L_FSTATAT, (int)x[0], x[1], &found, x[3] & 0x200 ? 0x100 : 0), &found, (u64 *)x[2]);
    default: complain("unknown call", number); return -38;
    }
}

long serve(struct registers *registers, u64 number) {
    u64 *x = registers->x;
    switch (number) {
    case 1: return LINUX(L_EXIT_GROUP, x[0], 0, 0, 0);
    case 2: case 66: return new_process();
    case 59: return execute((const char *)x[0], (char *const *)x[1], (char *const *)x[2]);
    case 7: return wait_for(x[0], (int *)x[1], x[2]);
    case 20: return LINUX(L_GETPID, 0, 0, 0, 0);
    case 24: return LINUX(L_GETUID, 0, 0, 0, 0);
    case 25: return LINUX(L_GETEUID, 0, 0, 0, 0);
    case 37: return (long)x[0] == LINUX(L_GETPID, 0, 0, 0, 0) ? send(x[1]) : -3;
    case 39: return LINUX(L_GETPPID, 0, 0, 0, 0);
    case 44: return start_profil(x[0], x[1], x[2], (u32)x[3]);
    case 73: return LINUX(L_MUNMAP, x[0], x[1], 0, 0);
    case 74: return LINUX(L_MPROTECT, x[0], x[1], x[2], 0);
    // No limit is set, and no call sets a limit: RLIM_INFINITY.
    case 194: ((u64 *)x[1])[0] = ((u64 *)x[1])[1] = ~0ul >> 1; return 0;
    case 202: return sysctl((u32 *)x[0], x[1], (u32 *)x[2], (u64 *)x[3]);
    case 232: return read_clock(x[0], (u64 *)x[1]);
    case 240: return sleep_for((u64 *)x[0]);
    case 250: return inherit(x[0], x[1], x[2]);
    case 253: return 0;
    case 331: return LINUX(L_YIELD, 0, 0, 0, 0);
    case 340: return change_mask(x[0], (u32 *)x[1], (u32 *)x[2]);
    case 343: pending_set((u32 *)x[0]); return 0;
    case 416: return set_action(x[0], (void *)x[1], (void *)x[2]);
    case 417: return SWITCHED;
    case 431: end_thread((u32 *)x[0]);
    case 432: *(long *)x[0] = LINUX(L_GETTID, 0, 0, 0, 0); return 0;
    case 433: return thread_signal(x[0], x[1]);
    case 454: return wait_on_word(x[0], x[1], x[2]);
    case 455: return new_thread((u64 *)x[0]);
    case 464: return 0;
    case 477: return map(x);
    // The tests' calls: `ticks(count)` at the call, and `charge(pc, count)`.
    case 0x676d0001: tick(registers->pc, x[0]); return 0;
    case 0x676d0002: charge(x[0], x[1]); return 0;
    default: return serve_files(x, number);
    }
}
