//! A Linux process that runs the code of one thread: access to registers and memory, and Linux system calls in the
//! process.

use std::fs::File;
use std::io::{IoSlice, IoSliceMut};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::personality::{self, Persona};
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::uio::{RemoteIoVec, process_vm_readv, process_vm_writev};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// The general registers.
pub type Registers = libc::user_regs_struct;
/// Linux's numbers for the sets of x87 and vector registers.
const XSAVE: usize = 0x202;
const FXSAVE: usize = 2;

/// The page in each process that has the signal trampoline and an instruction for this tracer's system calls.
pub const KERNEL_PAGE: u64 = 0x7fff_0000_0000;
/// The next page, for data such as paths.
pub const SCRATCH: u64 = KERNEL_PAGE + 0x1000;
/// The address of the `syscall` instruction in the page, for [`Task::call`].
const OWN_SYSCALL: u64 = KERNEL_PAGE + 0x800;
const SYSCALL_INSTRUCTION: [u8; 2] = [0x0f, 0x05];

/// A Linux process that this tracer traces. The process is stopped unless [`Task::resume`] was the last call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task(pub Pid);

/// The reason for which a running task stopped.
#[derive(Clone, Copy, Debug)]
pub enum Stop {
    /// A system call, which Linux did not execute.
    Call,
    /// A signal that Linux sends to the task.
    Signal(Signal),
    /// The task ended.
    Gone,
}

impl Task {
    /// Starts a program. The task is stopped at the program's entry point, with the segments loaded.
    ///
    /// Linux loads any static ELF file, whatever the file's OS ABI.
    ///
    /// # Errors
    ///
    /// When Linux cannot execute the file.
    pub fn start(program: &Path) -> std::io::Result<Task> {
        let mut command = Command::new(program);
        command.env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let prepare = || {
            // Without randomization, addresses are the same in each run.
            personality::set(Persona::ADDR_NO_RANDOMIZE)?;
            ptrace::traceme()?;
            Ok(())
        };
        // SAFETY: between fork and exec the closure makes two system calls and nothing else.
        unsafe { command.pre_exec(prepare) };
        let child = command.spawn()?;
        let task = Task(Pid::from_raw(i32::try_from(child.id()).expect("process ids are positive")));
        // From now on, the tracer waits for the task by ID.
        std::mem::forget(child);
        let status = waitpid(task.0, Some(WaitPidFlag::__WALL))?;
        assert!(matches!(status, WaitStatus::Stopped(_, Signal::SIGTRAP)), "after exec: {status:?}");
        let options = Options::PTRACE_O_TRACESYSGOOD
            | Options::PTRACE_O_TRACEEXEC
            | Options::PTRACE_O_TRACECLONE
            | Options::PTRACE_O_TRACEFORK
            | Options::PTRACE_O_TRACEVFORK
            | Options::PTRACE_O_EXITKILL;
        ptrace::setoptions(task.0, options)?;
        Ok(task)
    }

    /// Maps the kernel's page, with the given code at its start, into a program that was just executed.
    pub fn map_kernel_page(self, code: &[u8]) {
        // The program does not have the tracer's `syscall` instruction yet, so the call temporarily replaces bytes at
        // the entry point.
        let entry = self.registers().rip;
        let memory = File::options().read(true).write(true).open(format!("/proc/{}/mem", self.0));
        let memory = memory.expect("the memory of a traced process opens");
        let mut saved = [0; 2];
        memory.read_exact_at(&mut saved, entry).expect("the entry point is mapped");
        memory.write_all_at(&SYSCALL_INSTRUCTION, entry).expect("a tracer may write text");
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        let arguments = [KERNEL_PAGE, 0x2000, protection as u64, flags as u64, u64::MAX, 0];
        let mapped = self.call_at(entry, libc::SYS_mmap, arguments);
        assert_eq!(mapped, Ok(KERNEL_PAGE), "the page of the kernel");
        memory.write_all_at(&saved, entry).expect("a tracer may write text");
        self.write(KERNEL_PAGE, code).expect("the page is writable");
        self.write(OWN_SYSCALL, &SYSCALL_INSTRUCTION).expect("the page is writable");
        let protection = libc::PROT_READ | libc::PROT_EXEC;
        let protected = self.call(libc::SYS_mprotect, [KERNEL_PAGE, 0x1000, protection as u64, 0, 0, 0]);
        assert_eq!(protected, Ok(0), "the page of the kernel");
    }

    /// The registers of the stopped task.
    #[must_use]
    pub fn registers(self) -> Registers {
        ptrace::getregs(self.0).expect("a stopped task has registers")
    }

    /// Sets the registers of the stopped task.
    pub fn set_registers(self, registers: &Registers) {
        // Linux must not treat the stop as a system call to restart.
        ptrace::setregs(self.0, Registers { orig_rax: u64::MAX, ..*registers })
            .expect("the registers of a stopped task can be set");
    }

    /// The x87 and vector registers, as XSAVE stores them; as FXSAVE stores them on a processor without XSAVE.
    #[must_use]
    pub fn floating_point(self) -> Vec<u8> {
        /// More than any processor's area of XSAVE.
        const MOST: usize = 1 << 16;
        let mut bytes = vec![0; MOST];
        let mut vector = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: MOST };
        let read = |kind: usize, vector: &mut libc::iovec| {
            // SAFETY: the vector describes `bytes`, which Linux fills, and Linux writes the number of bytes into the
            // vector.
            Errno::result(unsafe {
                libc::ptrace(libc::PTRACE_GETREGSET, self.0.as_raw(), kind, std::ptr::from_mut(vector))
            })
        };
        read(XSAVE, &mut vector).or_else(|_| read(FXSAVE, &mut vector)).expect("a stopped task has registers");
        bytes.truncate(vector.iov_len);
        bytes
    }

    /// Sets the x87 and vector registers.
    pub fn set_floating_point(self, bytes: &[u8]) {
        const SIZE_OF_FXSAVE: usize = 512;
        let kind = if bytes.len() > SIZE_OF_FXSAVE { XSAVE } else { FXSAVE };
        let mut vector = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        // Linux refuses values that the processor does not accept, from a forged context; the task then keeps its
        // registers.
        // SAFETY: the vector describes `bytes`, which Linux only reads.
        let _ = unsafe { libc::ptrace(libc::PTRACE_SETREGSET, self.0.as_raw(), kind, &raw mut vector) };
    }

    /// Returns whether a range of addresses is mapped, readable and writable.
    #[must_use]
    pub fn has_writable(self, range: Range<u64>) -> bool {
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", self.0)).unwrap_or_default();
        let mut next = range.start;
        for line in maps.lines() {
            let Some((addresses, rest)) = line.split_once(' ') else { continue };
            let Some((start, end)) = addresses.split_once('-') else { continue };
            let number = |digits| u64::from_str_radix(digits, 16).unwrap_or(0);
            if (number(start)..number(end)).contains(&next) && rest.starts_with("rw") {
                next = number(end);
            }
        }
        next >= range.end
    }

    /// Reads memory.
    ///
    /// # Errors
    ///
    /// EFAULT if the program cannot read a part.
    pub fn read(self, address: u64, length: usize) -> Result<Vec<u8>, Errno> {
        let mut bytes = vec![0; length];
        let remote = [RemoteIoVec { base: usize::try_from(address).map_err(|_| Errno::EFAULT)?, len: length }];
        let read = process_vm_readv(self.0, &mut [IoSliceMut::new(&mut bytes)], &remote);
        if read == Ok(length) || length == 0 { Ok(bytes) } else { Err(Errno::EFAULT) }
    }

    /// Writes memory.
    ///
    /// # Errors
    ///
    /// EFAULT if the program cannot write a part.
    pub fn write(self, address: u64, bytes: &[u8]) -> Result<(), Errno> {
        let base = usize::try_from(address).map_err(|_| Errno::EFAULT)?;
        let remote = [RemoteIoVec { base, len: bytes.len() }];
        let written = process_vm_writev(self.0, &[IoSlice::new(bytes)], &remote);
        if written == Ok(bytes.len()) || bytes.is_empty() { Ok(()) } else { Err(Errno::EFAULT) }
    }

    /// Reads a 64-bit number.
    ///
    /// # Errors
    ///
    /// EFAULT as for [`Task::read`].
    pub fn read_u64(self, address: u64) -> Result<u64, Errno> {
        Ok(u64::from_le_bytes(self.read(address, 8)?.try_into().map_err(|_| Errno::EFAULT)?))
    }

    /// Reads a string that ends with a zero byte, without the zero.
    ///
    /// # Errors
    ///
    /// EFAULT when the string cannot be read, ENAMETOOLONG when it is longer than 64 KiB.
    pub fn read_string(self, address: u64) -> Result<Vec<u8>, Errno> {
        let mut string = Vec::new();
        while string.len() < 0x10000 {
            let at = address.wrapping_add(string.len() as u64);
            // Read up to the end of the page, because the next page may be unmapped.
            let part = self.read(at, 0x1000 - (at % 0x1000) as usize)?;
            if let Some(end) = part.iter().position(|byte| *byte == 0) {
                string.extend_from_slice(&part[..end]);
                return Ok(string);
            }
            string.extend(part);
        }
        Err(Errno::ENAMETOOLONG)
    }

    /// Makes the stopped task execute a Linux system call. The caller must set the registers before the task resumes.
    ///
    /// # Errors
    ///
    /// The error of the call.
    pub fn call(self, number: libc::c_long, arguments: [u64; 6]) -> Result<u64, Errno> {
        self.call_at(OWN_SYSCALL, number, arguments)
    }

    fn call_at(self, instruction: u64, number: libc::c_long, arguments: [u64; 6]) -> Result<u64, Errno> {
        let mut registers = self.registers();
        let kept = registers;
        registers.rip = instruction;
        registers.rax = number as u64;
        let [rdi, rsi, rdx, r10, r8, r9] = arguments;
        (registers.rdi, registers.rsi, registers.rdx) = (rdi, rsi, rdx);
        (registers.r10, registers.r8, registers.r9) = (r10, r8, r9);
        self.set_registers(&registers);
        let mut has_entered = false;
        // After a stop for a system call of the program, the first stop is the end of the program's call. The entry and
        // the end of the tracer's call follow.
        loop {
            ptrace::syscall(self.0, None).expect("a stopped task goes on");
            match waitpid(self.0, Some(WaitPidFlag::__WALL)).expect("a traced task is waited for") {
                WaitStatus::PtraceSyscall(_) => {
                    let info = ptrace::syscall_info(self.0).expect("a task at a system call");
                    if info.op == libc::PTRACE_SYSCALL_INFO_ENTRY {
                        has_entered = true;
                    } else if has_entered {
                        break;
                    }
                }
                // Signals that interrupt a task are already handled. The result of the call reports an exec or a new
                // task.
                WaitStatus::Stopped(..) | WaitStatus::PtraceEvent(..) => {}
                status => panic!("a task in a system call of the tracer: {status:?}"),
            }
        }
        let result = self.registers().rax as i64;
        // After exec the registers are those of the new program.
        if number != libc::SYS_execve || result < 0 {
            self.set_registers(&kept);
        }
        if (-4095..0).contains(&result) { Err(Errno::from_raw(-result as i32)) } else { Ok(result as u64) }
    }

    /// Makes a copy of the stopped task, as clone(2) with these flags and no new stack.
    ///
    /// # Errors
    ///
    /// The error of clone(2).
    pub fn copy(self, flags: i32) -> Result<Task, Errno> {
        // The tracer is the parent of all tasks. For Linux, no task is a thread of another task.
        let flags = (flags | libc::CLONE_PARENT | libc::SIGCHLD) as u64;
        let id = self.call(libc::SYS_clone, [flags, 0, 0, 0, 0, 0])?;
        let task = Task(Pid::from_raw(id as i32));
        let status = waitpid(task.0, Some(WaitPidFlag::__WALL)).expect("a new task is traced");
        assert!(matches!(status, WaitStatus::Stopped(_, Signal::SIGSTOP)), "a new task: {status:?}");
        Ok(task)
    }

    /// Resumes the task until its next system call or signal.
    pub fn resume(self, registers: &Registers) {
        self.set_registers(registers);
        ptrace::sysemu(self.0, None).expect("a stopped task goes on");
    }

    /// Requests a stop of a running task, with a signal that the program never sees.
    pub fn interrupt(self) {
        let _ = kill(self.0, Signal::SIGUSR2);
    }

    /// Returns the code and the address of the signal for which the task stopped.
    #[must_use]
    pub fn fault(self) -> (i32, u64) {
        let info = ptrace::getsiginfo(self.0).expect("a task that stopped for a signal");
        // SAFETY: the signal is a fault signal, for which Linux fills in the address.
        (info.si_code, unsafe { info.si_addr() } as u64)
    }

    /// Ends the task and waits for its end.
    pub fn kill(self) {
        let _ = kill(self.0, Signal::SIGKILL);
        while let Ok(status) = waitpid(self.0, Some(WaitPidFlag::__WALL)) {
            if matches!(status, WaitStatus::Signaled(..) | WaitStatus::Exited(..)) {
                break;
            }
        }
    }

    /// The CPU time that the task spent in user mode, in steps of Linux's clock tick.
    #[must_use]
    pub fn cpu_time(self) -> Duration {
        const USER_TIME: usize = 11;
        const TICK: u64 = 10;
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.0)).unwrap_or_default();
        // The fields follow the name, which may contain blanks.
        let fields = text.rsplit_once(')').map_or("", |(_, fields)| fields);
        let ticks = fields.split_whitespace().nth(USER_TIME).and_then(|ticks| ticks.parse::<u64>().ok());
        Duration::from_millis(ticks.unwrap_or(0) * TICK)
    }

    /// Waits for the next task that stops.
    ///
    /// # Panics
    ///
    /// When no task is left.
    #[must_use]
    pub fn wait() -> (Task, Stop) {
        Task::look_with(WaitPidFlag::__WALL).expect("a task that stops")
    }

    /// The next task that stopped, if one did.
    ///
    /// # Panics
    ///
    /// When no task is left.
    #[must_use]
    pub fn look() -> Option<(Task, Stop)> {
        Task::look_with(WaitPidFlag::__WALL | WaitPidFlag::WNOHANG)
    }

    fn look_with(flags: WaitPidFlag) -> Option<(Task, Stop)> {
        let status = waitpid(None, Some(flags)).expect("a task runs");
        let stop = match status {
            WaitStatus::StillAlive => return None,
            WaitStatus::PtraceSyscall(_) => Stop::Call,
            WaitStatus::Stopped(_, signal) => Stop::Signal(signal),
            WaitStatus::Exited(..) | WaitStatus::Signaled(..) => Stop::Gone,
            other => panic!("a running task: {other:?}"),
        };
        Some((Task(status.pid().expect("a task that stopped")), stop))
    }
}
