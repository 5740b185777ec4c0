//! Signals, as both systems define them: numbers, sets, actions and the information about one signal.

/// A child process stopped or ended.
pub const SIGCHLD: u32 = 20;
/// The profiling interval timer expired.
pub const SIGPROF: u32 = 27;
/// A process ends abnormally, or a system call was made from the wrong place (OpenBSD).
pub const SIGABRT: u32 = 6;
/// Ends a process. Cannot be caught.
pub const SIGKILL: u32 = 9;
/// An address was not valid.
pub const SIGSEGV: u32 = 11;
/// The real-time interval timer expired.
pub const SIGALRM: u32 = 14;
/// The virtual interval timer expired.
pub const SIGVTALRM: u32 = 26;

const SIGSTOP: u32 = 17;
const IGNORED_BY_DEFAULT: [u32; 6] = [16, 19, SIGCHLD, 23, 28, 29];

/// A set of signals: signal n is bit n - 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SignalSet(pub u128);

impl SignalSet {
    /// Returns whether the set contains the signal.
    #[must_use]
    pub fn has(self, signal: u32) -> bool {
        self.0 >> (signal - 1) & 1 == 1
    }

    /// The set with one more signal.
    #[must_use]
    pub fn with(self, signal: u32) -> SignalSet {
        SignalSet(self.0 | 1 << (signal - 1))
    }

    /// The set without the signals that no process can block.
    #[must_use]
    pub fn blockable(self) -> SignalSet {
        SignalSet(self.0 & !(1 << (SIGKILL - 1) | 1 << (SIGSTOP - 1)))
    }
}

/// Use the alternate stack (flag of an action).
pub const SA_ONSTACK: u32 = 1;
/// Restart interrupted system calls.
pub const SA_RESTART: u32 = 2;
/// Reset the action to the default when the handler is called.
pub const SA_RESETHAND: u32 = 4;
/// Do not block the signal while its handler runs.
pub const SA_NODEFER: u32 = 0x10;
/// The handler takes three arguments.
pub const SA_SIGINFO: u32 = 0x40;

/// The action of a process for a signal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Action {
    /// The handler's address; 0 is the default action, 1 ignores the signal.
    pub handler: u64,
    /// `SA_` flags.
    pub flags: u32,
    /// Blocked while the handler runs.
    pub mask: SignalSet,
}

impl Action {
    /// Returns whether the action calls a handler.
    #[must_use]
    pub fn is_caught(&self) -> bool {
        self.handler > 1
    }

    /// Returns whether the process discards the signal.
    #[must_use]
    pub fn is_ignored(&self, signal: u32) -> bool {
        self.handler == 1 || (self.handler == 0 && IGNORED_BY_DEFAULT.contains(&signal))
    }
}

/// The cause of a signal: values of `si_code` that both systems share.
pub mod code {
    /// kill(2).
    pub const USER: i32 = 0x10001;
    /// A timer expired.
    pub const TIMER: i32 = 0x10003;
    /// The kernel.
    pub const KERNEL: i32 = 0x10006;
    /// thr_kill(2).
    pub const THREAD: i32 = 0x10007;
}

/// A signal that was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// The signal's number.
    pub signal: u32,
    /// `si_code`.
    pub code: i32,
    /// The sender's process, or the child.
    pub process: u32,
    /// The child's wait status.
    pub status: i32,
    /// The address of a fault.
    pub address: u64,
    /// The value that came with the signal.
    pub value: u64,
    /// The timer that sent the signal.
    pub timer: i32,
}

/// An alternate signal stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlternateStack {
    /// The lowest address.
    pub base: u64,
    /// The size in bytes; 0 means that there is no alternate stack.
    pub size: u64,
}

impl AlternateStack {
    /// The address behind the stack.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.base.wrapping_add(self.size)
    }

    /// Returns whether a stack pointer is on the alternate stack.
    #[must_use]
    pub fn holds(&self, pointer: u64) -> bool {
        self.size != 0 && pointer.wrapping_sub(self.base) < self.size
    }
}
