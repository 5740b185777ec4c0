//! The state of the kernel: processes, threads, and the interface of a personality.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::rc::{Rc, Weak};
use std::time::Duration;

use nix::errno::Errno;

use crate::clock::{Clock, IntervalTimer, Rates, Reload, Timer};
use crate::credentials::Credentials;
use crate::descriptors::{Descriptors, Open};
use crate::error::Error;
use crate::image::{Brand, Image, auxiliary_vector};
use crate::profil::Profil;
use crate::record::{Kind, Record};
use crate::signal::{Action, AlternateStack, Info, SignalSet};
use crate::task::{Registers, Task};
use crate::visibility::Unveiled;

/// A process ID.
pub type ProcessId = u32;
/// A thread ID.
pub type ThreadId = i64;

/// The outcome of a system call.
#[derive(Debug)]
pub enum Reply {
    /// The call returned a value.
    Value(u64),
    /// The call returned two values, in rax and rdx.
    Pair(u64, u64),
    /// The call returns later.
    Wait(Wait),
    /// The registers are already set, or the thread ended.
    Switched,
}

/// The result of a system call for the dispatcher.
pub type Outcome = Result<Reply, Error>;

/// The event for which a thread in the kernel waits.
#[derive(Debug)]
pub enum Wait {
    /// The end of a child.
    Child {
        /// The child, or -1 for any.
        which: i64,
        /// The address for the child's status, unless 0.
        status: u64,
        /// Whether the wait is for children with another exit signal than SIGCHLD.
        is_clone: bool,
    },
    /// The exec or the end of a vfork child.
    Vfork(ProcessId),
    /// A wake-up of a word in memory, or a time since boot.
    Word {
        /// The address space.
        space: u64,
        /// The address of the word.
        address: u64,
        /// The time since boot.
        deadline: Option<u64>,
    },
    /// A time since boot.
    Time(u64),
    /// A signal.
    Signal,
    /// One signal of a set, which the thread accepts.
    AnyOf {
        /// The signals.
        set: SignalSet,
        /// The address for the signal's number; 0 returns the number.
        number: u64,
        /// The address for the siginfo, unless 0.
        info: u64,
        /// The end of the wait, as a time since boot.
        deadline: Option<u64>,
    },
    /// Input.
    Readable {
        /// The file to read.
        open: Rc<Open>,
        /// The address for the bytes.
        buffer: u64,
        /// The maximum number of bytes.
        length: usize,
    },
    /// The turn of a thread that requests ticks: all threads that earlier ticks woke must wait again.
    Turn,
}

/// The state of a thread.
#[derive(Debug)]
pub enum State {
    /// The task runs.
    Running {
        /// Whether the tracer already requested a stop to deliver a signal.
        is_interrupted: bool,
    },
    /// The task is stopped and may resume.
    Ready,
    /// The task is stopped in a system call.
    Waiting(Wait),
}

/// A thread.
#[derive(Debug)]
pub struct Thread {
    /// The thread's number.
    pub id: ThreadId,
    /// The thread's process.
    pub process: ProcessId,
    /// The Linux process that runs the thread's code.
    pub task: Task,
    /// The registers of a thread that does not run.
    pub registers: Registers,
    /// The thread's state.
    pub state: State,
    /// Blocked signals.
    pub mask: SignalSet,
    /// The mask to restore when a handler returns, after sigsuspend.
    pub suspended_mask: Option<SignalSet>,
    /// Signals that are pending for this thread.
    pub pending: Vec<Info>,
    /// The alternate signal stack.
    pub alternate: AlternateStack,
    /// Whether a wake-up came for the word that the thread waits for.
    pub is_woken: bool,
    /// Whether other threads' ticks wait until this thread waits, returns from a handler, requests ticks or ends,
    /// because the thread is new or a tick woke the thread. On a real machine, such threads run long before the next
    /// tick.
    pub is_owed: bool,
    /// The CPU time of the task when the thread last resumed, for threads with `is_owed`.
    pub began: Duration,
    /// Ticks charged.
    pub ticks: u64,
    /// Ticks in the current system call, which the profile does not have yet.
    pub system_ticks: u64,
}

/// A process.
#[derive(Debug)]
pub struct Process {
    /// The process's number.
    pub id: ProcessId,
    /// The parent's number.
    pub parent: ProcessId,
    /// The system's name for the program.
    pub name: Vec<u8>,
    /// The path of the program.
    pub path: Vec<u8>,
    /// The words of the command line.
    pub arguments: Vec<Vec<u8>>,
    /// The parts of the program's file that the kernel uses.
    pub image: Image,
    /// The ID of the address space, which is equal for processes that share memory.
    pub space: u64,
    /// Open files.
    pub descriptors: Rc<RefCell<Descriptors>>,
    /// The current directory.
    pub directory: Rc<OwnedFd>,
    /// The root directory, if chroot(2) set a root directory.
    pub root: Option<Rc<OwnedFd>>,
    /// The user.
    pub credentials: Credentials,
    /// The paths that OpenBSD's unveil(2) leaves.
    pub unveiled: Unveiled,
    /// The action of each signal, by number. Processes may share the actions (RFSIGSHARE of FreeBSD's rfork).
    pub actions: Rc<RefCell<Vec<Action>>>,
    /// Signals that are pending for the process, because every thread blocks the signals.
    pub pending: Vec<Info>,
    /// The state of profil(2).
    pub profil: Profil,
    /// The user of the first call of OpenBSD's profil(2).
    pub profils_user: Option<Credentials>,
    /// The data for the file that OpenBSD's kernel writes when the process ends.
    pub kernel_file: Option<KernelFile>,
    /// OpenBSD's promises, if the process made any, and the promises after exec.
    pub promises: [Option<Vec<String>>; 2],
    /// Memory that OpenBSD makes immutable: ranges of mimmutable(2) and loaded segments.
    pub immutable: Vec<Range<u64>>,
    /// Memory where OpenBSD allows the stack pointer to be at a system call.
    pub stacks: Vec<Range<u64>>,
    /// ITIMER_VIRTUAL and ITIMER_PROF.
    pub intervals: [IntervalTimer; 2],
    /// ktimer_create(2), and ITIMER_REAL under [`REAL_TIMER`].
    pub timers: BTreeMap<i32, Timer>,
    /// Whether cap_enter was called.
    pub is_in_capability_mode: bool,
    /// Whether the program's privileges changed at exec.
    pub is_set_id: bool,
    /// Memory that a child gets as zeros, and memory that a child does not inherit.
    pub inheritance: Vec<(Range<u64>, Inheritance)>,
    /// The soft and hard limits that the process set, by the number of the resource.
    pub limits: BTreeMap<u64, (u64, u64)>,
    /// The umask.
    pub mask: u32,
    /// Ticks charged.
    pub ticks: u64,
    /// The ticks of these in system calls.
    pub system_ticks: u64,
    /// The signal that the parent gets when the process ends; 0 for none.
    pub exit_signal: u32,
    /// Whether the process is in a jail whose users have no privileges and may not look into their own processes.
    pub is_in_jail: bool,
}

impl Process {
    /// Returns the action of a signal.
    #[must_use]
    pub fn action(&self, signal: u32) -> Action {
        self.actions.borrow()[signal as usize]
    }

    /// Sets the action of a signal.
    pub fn set_action(&self, signal: u32, action: Action) {
        self.actions.borrow_mut()[signal as usize] = action;
    }
}

/// The arguments that OpenBSD's kernel keeps from the first call of profil(2).
#[derive(Clone, Debug)]
pub struct KernelFile {
    /// The address of the header; the samples and the arcs follow.
    pub buffer: u64,
    /// The size of header, samples and arcs together.
    pub length: u64,
    /// The size of the samples.
    pub samples: u64,
    /// The directory of the file.
    pub directory: Rc<OwnedFd>,
    /// The user who owns the file.
    pub credentials: Credentials,
}

/// The timer of ITIMER_REAL among a process's timers.
pub const REAL_TIMER: i32 = -1;

/// How a child inherits a range of memory (minherit(2)). Other ranges are copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inheritance {
    /// Zeros.
    Zero,
    /// Not inherited: the range is unmapped.
    Nothing,
}

/// A zombie: a process that ended before its parent waited for the process.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// The process.
    pub id: ProcessId,
    /// Its parent.
    pub parent: ProcessId,
    /// The status for wait4(2).
    pub status: i32,
    /// The signal of the end.
    pub exit_signal: u32,
}

/// A process with a process descriptor.
#[derive(Debug)]
pub struct Described {
    /// The process.
    pub id: ProcessId,
    /// What the descriptors refer to.
    pub open: Weak<Open>,
    /// Whether the process lives on when the last descriptor is closed.
    pub is_daemon: bool,
}

/// Serves a system call of a thread.
pub type Handler = fn(&mut Kernel, ThreadId, [u64; 6]) -> Outcome;

/// A system call of a personality.
#[derive(Debug)]
pub struct SystemCall {
    /// The number in rax.
    pub number: u64,
    /// The name.
    pub name: &'static str,
    /// The function that serves the call.
    pub handler: Handler,
    /// The permission to make the call after a process gave up rights.
    pub allowed: Allowed,
}

/// When a process that gave up rights may make a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// Always.
    Always,
    /// Never.
    Never,
    /// With one of these promises (OpenBSD).
    With(&'static [&'static str]),
}

/// A signal frame for the stack and the registers with which the handler begins.
#[derive(Debug)]
pub struct Frame {
    /// The address of the frame.
    pub address: u64,
    /// The frame.
    pub bytes: Vec<u8>,
    /// The registers at the handler's start.
    pub registers: Registers,
}

/// The contents of a signal frame.
#[derive(Debug)]
pub struct Interrupted<'a> {
    /// The registers of the interrupted code.
    pub registers: &'a Registers,
    /// The x87 and vector registers, as [`Task::floating_point`] returns them.
    pub floating_point: &'a [u8],
    /// The mask to restore.
    pub mask: SignalSet,
    /// The signal.
    pub info: Info,
    /// The signal's action.
    pub action: Action,
    /// The thread's alternate stack.
    pub alternate: AlternateStack,
}

/// The state that a return from a handler restores.
#[derive(Debug)]
pub struct Restored {
    /// The general registers.
    pub registers: Registers,
    /// The x87 and vector registers.
    pub floating_point: Vec<u8>,
    /// The signal mask.
    pub mask: SignalSet,
}

/// The tags and values of an auxiliary vector, without the end marker.
pub type AuxiliaryVector = Vec<(u64, u64)>;

/// The differences between systems other than the handlers of calls.
#[derive(Debug)]
pub struct Personality {
    /// The system's name.
    pub name: &'static str,
    /// The brand by which the system recognizes its programs.
    pub brand: Brand,
    /// The rates of the clocks.
    pub rates: Rates,
    /// How interval timers go on after they expired.
    pub reload: Reload,
    /// The system calls.
    pub calls: &'static [SystemCall],
    /// Whether the kernel zeroes r8, r9 and r10 when a call returns.
    pub zeroes_registers: bool,
    /// The code that calls a handler and then sigreturn.
    pub trampoline: &'static [u8],
    /// Sets the registers with which a program starts; the stack pointer is the address of argc.
    pub start: fn(&mut Registers, u64),
    /// Builds the auxiliary vector from Linux's vector and the addresses of argc, argv and the environment.
    pub auxiliary: fn(&Image, &AuxiliaryVector) -> Option<AuxiliaryVector>,
    /// Decides whether a thread may make a call: `None`, or the outcome of the refused call. The argument has no call
    /// if the system does not have the number.
    pub refuse: fn(&mut Kernel, ThreadId, Option<&SystemCall>) -> Option<Outcome>,
    /// Called when a process ends, before its memory is unmapped.
    pub end: fn(&mut Kernel, ProcessId),
    /// The maximum length of a program's name.
    pub name_length: usize,
    /// The number of signals.
    pub signals: u32,
    /// Lays out a signal frame.
    pub frame: fn(&Interrupted) -> Frame,
    /// Lays out a siginfo.
    pub siginfo: fn(&Info) -> Vec<u8>,
    /// Reads the context at an address. The registers are the current registers.
    pub restore: fn(Task, u64, &Registers) -> Result<Restored, Errno>,
}

/// The kernel.
#[derive(Debug)]
pub struct Kernel {
    /// The system.
    pub personality: &'static Personality,
    /// The processes by number.
    pub processes: BTreeMap<ProcessId, Process>,
    /// The threads by number.
    pub threads: BTreeMap<ThreadId, Thread>,
    /// Zombies.
    pub ended: Vec<Ended>,
    /// The children that have a process descriptor, as long as a descriptor is open.
    pub described: Vec<Described>,
    /// The status of the first process, once the process ended.
    pub status: Option<i32>,
    /// The number of processors. Each tick that a program requests interrupts as many threads of the program at the
    /// same address.
    pub processors: u64,
    /// The clock.
    pub clock: Clock,
    /// The record for the test.
    pub record: Record,
    /// The last IDs of a process, of a thread and of an address space.
    pub last: (ProcessId, ThreadId, u64),
}

/// The ID of the first process.
pub const FIRST_PROCESS: ProcessId = 1001;
/// The ID of the first thread. Thread IDs differ from process IDs.
pub const FIRST_THREAD: ThreadId = 100_001;
/// The parent ID of processes without a parent.
pub const INIT: ProcessId = 1;

impl Kernel {
    /// Creates a kernel without processes.
    #[must_use]
    pub fn new(personality: &'static Personality, record: Record) -> Kernel {
        Kernel {
            personality,
            processes: BTreeMap::new(),
            threads: BTreeMap::new(),
            ended: Vec::new(),
            described: Vec::new(),
            status: None,
            processors: 1,
            clock: Clock::new(personality.rates),
            record,
            last: (FIRST_PROCESS - 1, FIRST_THREAD - 1, 0),
        }
    }

    /// Stores the loaded segments and the stack's address of a program that was just executed.
    pub fn begin_program(&mut self, id: ThreadId, stack_pointer: u64) {
        const STACK: u64 = 8 << 20;
        let vector = auxiliary_vector(self.task(id));
        let process = self.process_of(id);
        process.image.set_bias(&vector);
        // The load address of a position-independent program is unknown.
        process.immutable = if process.image.is_pie { Vec::new() } else { process.image.immutable.clone() };
        // The initial data is above the stack pointer.
        process.stacks.clear();
        process.stacks.push(stack_pointer - STACK..stack_pointer + STACK);
    }

    /// Returns a thread, which must exist.
    pub fn thread(&mut self, id: ThreadId) -> &mut Thread {
        self.threads.get_mut(&id).expect("a thread that exists")
    }

    /// The process of a thread.
    pub fn process_of(&mut self, id: ThreadId) -> &mut Process {
        let process = self.thread(id).process;
        self.processes.get_mut(&process).expect("the process of a thread")
    }

    /// The task of a thread.
    #[must_use]
    pub fn task(&self, id: ThreadId) -> Task {
        self.threads[&id].task
    }

    /// The threads of a process.
    #[must_use]
    pub fn threads_of(&self, process: ProcessId) -> Vec<ThreadId> {
        self.threads.values().filter(|thread| thread.process == process).map(|thread| thread.id).collect()
    }

    /// Adds an event of a thread's process to the record.
    pub fn note(&mut self, thread: ThreadId, kind: Kind, text: &str) {
        let process = self.threads[&thread].process;
        self.record.note(kind, process, text);
    }

    /// Returns a new process ID.
    pub fn new_process_id(&mut self) -> ProcessId {
        self.last.0 += 1;
        self.last.0
    }

    /// Returns a new thread ID.
    pub fn new_thread_id(&mut self) -> ThreadId {
        self.last.1 += 1;
        self.last.1
    }

    /// Returns a new ID for an address space.
    pub fn new_space(&mut self) -> u64 {
        self.last.2 += 1;
        self.last.2
    }

    /// Adds a thread that starts with no pending signals.
    pub fn add_thread(&mut self, process: ProcessId, task: Task, registers: Registers, mask: SignalSet) -> ThreadId {
        let id = self.new_thread_id();
        let thread = Thread {
            id,
            process,
            task,
            registers,
            state: State::Ready,
            mask,
            suspended_mask: None,
            pending: Vec::new(),
            alternate: AlternateStack::default(),
            is_woken: false,
            is_owed: true,
            began: Duration::ZERO,
            ticks: 0,
            system_ticks: 0,
        };
        self.threads.insert(id, thread);
        id
    }
}
