//! Runs a program and its children: waits for stops, serves calls, resumes threads.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::Signal;

use crate::calls::exec::{Words, enter, name_of};
use crate::calls::test_calls;
use crate::clock::IntervalTimer;
use crate::credentials::Credentials;
use crate::descriptors::{Descriptors, Open};
use crate::image::Image;
use crate::kernel::{INIT, Kernel, Outcome, Personality, Process, State, SystemCall, ThreadId, Wait};
use crate::profil::Profil;
use crate::record::{Kind, Record};
use crate::signal::{Action, Info, SIGCHLD, SIGSEGV, SignalSet};
use crate::task::{Stop, Task};
use crate::visibility::Unveiled;

/// The parameters of a run.
#[derive(Debug)]
pub struct Run {
    /// The system.
    pub personality: &'static Personality,
    /// The program.
    pub program: PathBuf,
    /// The arguments, with the program's name.
    pub arguments: Vec<Vec<u8>>,
    /// The environment.
    pub environment: Vec<Vec<u8>>,
    /// Whether issetugid(2) returns 1.
    pub is_set_id: bool,
    /// The number of processors.
    pub processors: u64,
    /// The user of the program.
    pub credentials: Credentials,
    /// Whether the program runs in a jail whose users have no privileges and may not look into their own processes.
    pub is_in_jail: bool,
}

impl Run {
    /// Runs the program to its end, and returns its status as wait4(2) does.
    ///
    /// # Errors
    ///
    /// If the program is not a program of the system, or if Linux cannot start the program.
    pub fn run(self, record: Record) -> io::Result<i32> {
        let mut kernel = Kernel::new(self.personality, record);
        kernel.processors = self.processors;
        start(&mut kernel, self)?;
        while !kernel.threads.is_empty() {
            settle(&mut kernel);
            let is_running = kernel.threads.values().any(|thread| matches!(thread.state, State::Running { .. }));
            if is_running {
                let (task, stop) = wait(&mut kernel);
                handle(&mut kernel, task, stop);
            } else if !kernel.threads.is_empty() && !kernel.pass_time() {
                end_deadlock(&mut kernel);
            }
        }
        Ok(kernel.status.expect("the first process ended"))
    }
}

/// Starts the first process.
fn start(kernel: &mut Kernel, run: Run) -> io::Result<()> {
    let image = Image::read(&run.program, &run.personality.brand)?;
    let task = Task::start(&run.program)?;
    let words = Words { arguments: run.arguments, environment: run.environment };
    let registers = enter(kernel, task, &image, &words);
    let mut descriptors = Descriptors::default();
    let inherited = [io::stdin().as_fd().try_clone_to_owned(), io::stdout().as_fd().try_clone_to_owned()];
    for file in inherited.into_iter().chain([io::stderr().as_fd().try_clone_to_owned()]) {
        descriptors.add(Rc::new(Open::File(file?)), false, 0);
    }
    let path = run.program.as_os_str().as_bytes().to_vec();
    let process = Process {
        id: kernel.new_process_id(),
        parent: INIT,
        name: name_of(&path, run.personality.name_length),
        path,
        arguments: words.arguments,
        image,
        space: kernel.new_space(),
        descriptors: Rc::new(RefCell::new(descriptors)),
        directory: Rc::new(std::fs::File::open(".")?.into()),
        root: None,
        credentials: run.credentials,
        unveiled: Unveiled::default(),
        actions: Rc::new(RefCell::new(vec![Action::default(); run.personality.signals as usize + 1])),
        pending: Vec::new(),
        profil: Profil::default(),
        intervals: [IntervalTimer::default(); 2],
        timers: BTreeMap::new(),
        profils_user: None,
        kernel_file: None,
        promises: [None, None],
        immutable: Vec::new(),
        stacks: Vec::new(),
        is_in_capability_mode: false,
        is_set_id: run.is_set_id,
        inheritance: Vec::new(),
        limits: BTreeMap::new(),
        mask: 0o022,
        ticks: 0,
        system_ticks: 0,
        exit_signal: SIGCHLD,
        is_in_jail: run.is_in_jail,
    };
    // Each traced process has its own umask, which the tracer applies when it creates a file.
    nix::sys::stat::umask(nix::sys::stat::Mode::empty());
    let id = process.id;
    kernel.processes.insert(id, process);
    let thread = kernel.add_thread(id, task, registers, SignalSet::default());
    kernel.begin_program(thread, registers.rsp);
    Ok(())
}

/// Ends waits, delivers signals, and resumes all threads that can run.
fn settle(kernel: &mut Kernel) {
    loop {
        kernel.end_undescribed();
        kernel.expire_timers();
        kernel.end_waits();
        let threads: Vec<ThreadId> = kernel.threads.keys().copied().collect();
        for id in threads {
            let_go_on(kernel, id);
        }
        // The end of a process by a signal may end the wait of its parent.
        kernel.end_waits();
        if !kernel.threads.values().any(|thread| matches!(thread.state, State::Ready)) {
            return;
        }
    }
}

/// Waits for the next task that stops. Ticks do not wait for a thread that runs long without a system call, because the
/// thread may be waiting for the thread that requests the ticks.
fn wait(kernel: &mut Kernel) -> (Task, Stop) {
    /// The limit is CPU time, because CPU time passes no faster on a busy machine.
    const LONG: Duration = Duration::from_millis(200);
    loop {
        let has_turns = kernel.threads.values().any(|thread| matches!(thread.state, State::Waiting(Wait::Turn)));
        let mut owed = kernel.threads.values_mut().filter(|thread| thread.is_owed);
        if !has_turns || owed.by_ref().next().is_none() {
            return Task::wait();
        }
        if let Some(stop) = Task::look() {
            return stop;
        }
        for thread in kernel.threads.values_mut().filter(|thread| thread.is_owed) {
            if thread.task.cpu_time().saturating_sub(thread.began) > LONG {
                thread.is_owed = false;
            }
        }
        settle(kernel);
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Delivers a thread's signals and resumes the thread, or stops a running thread to deliver its signals.
fn let_go_on(kernel: &mut Kernel, id: ThreadId) {
    // A signal to an earlier thread may have ended this one.
    let Some(thread) = kernel.threads.get(&id) else {
        return;
    };
    if let State::Running { is_interrupted } = thread.state {
        if !is_interrupted && kernel.deliverable(id).is_some() {
            let thread = kernel.thread(id);
            thread.task.interrupt();
            thread.state = State::Running { is_interrupted: true };
        }
        return;
    }
    kernel.deliver(id);
    if let Some(thread) = kernel.threads.get_mut(&id)
        && matches!(thread.state, State::Ready)
    {
        if thread.is_owed {
            thread.began = thread.task.cpu_time();
        }
        thread.task.resume(&thread.registers);
        thread.state = State::Running { is_interrupted: false };
    }
}

/// Handles a deadlock: ends all processes as if by SIGKILL.
fn end_deadlock(kernel: &mut Kernel) {
    let waits: Vec<_> = kernel.threads.values().map(|thread| format!("{} {:?}", thread.id, thread.state)).collect();
    let processes: Vec<_> = kernel.processes.keys().copied().collect();
    for process in processes {
        kernel.record.note(Kind::Deadlock, process, &waits.join(", "));
        kernel.end_by_signal(process, crate::signal::SIGKILL);
    }
}

/// Serves a thread that stopped.
fn handle(kernel: &mut Kernel, task: Task, stop: Stop) {
    let Some(id) = kernel.threads.values().find(|thread| thread.task == task).map(|thread| thread.id) else {
        return;
    };
    if let Stop::Gone = stop {
        // Linux ended the task: no program can do that to itself.
        panic!("thread {id} was killed from outside");
    }
    let thread = kernel.thread(id);
    thread.registers = task.registers();
    thread.state = State::Ready;
    match stop {
        Stop::Call => {
            thread.registers.rax = thread.registers.orig_rax;
            serve(kernel, id);
        }
        Stop::Signal(signal) => {
            if let Some(number) = fault_number(signal) {
                let (code, address) = task.fault();
                let info = Info { signal: number, code, address, ..Info::default() };
                kernel.deliver_fault(id, info);
            }
        }
        Stop::Gone => {}
    }
}

/// Returns the BSDs' number of a fault signal. The tracer itself creates all other signals.
fn fault_number(signal: Signal) -> Option<u32> {
    match signal {
        Signal::SIGSEGV => Some(SIGSEGV),
        Signal::SIGILL => Some(4),
        Signal::SIGTRAP => Some(5),
        Signal::SIGFPE => Some(8),
        Signal::SIGBUS => Some(10),
        _ => None,
    }
}

/// Serves a system call.
fn serve(kernel: &mut Kernel, id: ThreadId) {
    let registers = kernel.thread(id).registers;
    let arguments = [registers.rdi, registers.rsi, registers.rdx, registers.r10, registers.r8, registers.r9];
    let number = registers.rax;
    let calls = kernel.personality.calls.iter().chain(&test_calls::CALLS);
    let process = kernel.thread(id).process;
    let found: Option<&SystemCall> = calls.into_iter().find(|call| call.number == number);
    let is_own = test_calls::CALLS.iter().any(|call| call.number == number);
    let refused = if is_own { None } else { (kernel.personality.refuse)(kernel, id, found) };
    let outcome = match (refused, found) {
        (Some(outcome), _) => outcome,
        (None, None) => {
            let text = format!("{number} from pc {:#x}", registers.rip);
            kernel.note(id, Kind::UnknownCall, &text);
            Err(Errno::ENOSYS.into())
        }
        (None, Some(call)) => (call.handler)(kernel, id, arguments),
    };
    let name = found.map_or("?", |call| call.name);
    kernel.record.note(Kind::Call, process, &said(id, name, arguments, &outcome));
    if kernel.threads.contains_key(&id) {
        kernel.return_from_call(id, outcome);
    }
}

fn said(id: ThreadId, name: &str, arguments: [u64; 6], outcome: &Outcome) -> String {
    let arguments: Vec<_> = arguments.iter().map(|argument| format!("{argument:#x}")).collect();
    format!("thread {id} {name}({}) = {outcome:x?}", arguments.join(", "))
}
