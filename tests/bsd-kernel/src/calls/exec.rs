//! The start of programs: the first program, and programs that execve starts.
//!
//! Source: FreeBSD's sys/kern/kern_exec.c (`do_execve`, of 2015 for the end of profil(2)). Seen on FreeBSD 15.1
//! (amd64): the start of programs.

use std::cell::RefCell;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::rc::Rc;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::stat::Mode;

use crate::calls::descriptor_calls::{file, open_of};
use crate::calls::place::{AT_FDCWD, place};
use crate::image::{Image, InitialStack, auxiliary_vector};
use crate::kernel::{Kernel, Outcome, Reply, ThreadId};
use crate::record::Kind;
use crate::signal::{Action, AlternateStack};
use crate::task::{Registers, SCRATCH, Task};
use crate::visibility::{Access, Unveiled};

/// The arguments and environment of a new program.
#[derive(Debug)]
pub struct Words {
    /// The arguments.
    pub arguments: Vec<Vec<u8>>,
    /// The environment.
    pub environment: Vec<Vec<u8>>,
}

/// Prepares a program that Linux just executed: sets up the stack and the registers of the personality.
#[must_use]
pub fn enter(kernel: &Kernel, task: Task, image: &Image, words: &Words) -> Registers {
    task.map_kernel_page(kernel.personality.trampoline);
    let from_linux = task.registers();
    let auxiliary = (kernel.personality.auxiliary)(image, &auxiliary_vector(task));
    // The new stack goes below everything that Linux put on the stack.
    let below = from_linux.rsp & !0xf;
    let stack = InitialStack::lay_out(below, &words.arguments, &words.environment, auxiliary.as_deref());
    task.write(stack.address, &stack.bytes).expect("the stack of a new program has room");
    let mut registers = Registers { rax: 0, rbx: 0, rcx: 0, rdx: 0, rsi: 0, rdi: 0, rbp: 0, ..from_linux };
    (registers.r8, registers.r9, registers.r10, registers.r11) = (0, 0, 0, 0);
    (registers.r12, registers.r13, registers.r14, registers.r15) = (0, 0, 0, 0);
    (registers.fs_base, registers.gs_base) = (0, 0);
    (kernel.personality.start)(&mut registers, stack.address);
    registers
}

/// Returns the system's name for a program.
#[must_use]
pub fn name_of(path: &[u8], longest: usize) -> Vec<u8> {
    let base = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    base[..base.len().min(longest)].to_vec()
}

/// Reads the strings of an array that ends with a null pointer.
fn strings(task: Task, array: u64) -> Result<Vec<Vec<u8>>, Errno> {
    const MOST: u64 = 4096;
    let mut strings = Vec::new();
    if array == 0 {
        return Ok(strings);
    }
    for index in 0..MOST {
        match task.read_u64(array + 8 * index)? {
            0 => return Ok(strings),
            address => strings.push(task.read_string(address)?),
        }
    }
    Err(Errno::E2BIG)
}

/// The file of a program to execute.
struct Executable {
    /// This tracer's descriptor of the file.
    descriptor: i32,
    /// The path in the kernel's state.
    path: Vec<u8>,
}

/// execve(path, arguments, environment).
///
/// # Errors
///
/// As execve(2).
pub fn call(kernel: &mut Kernel, id: ThreadId, [path, arguments, environment, ..]: [u64; 6]) -> Outcome {
    let place = place(kernel, id, AT_FDCWD as u64, path)?;
    let path = place.path.to_bytes().to_vec();
    let program = place.open(OFlag::O_PATH, Mode::empty(), Access::EXECUTE)?;
    execute(kernel, id, Executable { descriptor: program.as_raw_fd(), path }, [arguments, environment])
}

/// fexecve(descriptor, arguments, environment).
///
/// # Errors
///
/// As fexecve(2).
pub fn by_descriptor(kernel: &mut Kernel, id: ThreadId, [number, arguments, environment, ..]: [u64; 6]) -> Outcome {
    let open = open_of(kernel, id, number)?;
    let descriptor = file(&open)?.as_raw_fd();
    let path = std::fs::read_link(format!("/proc/self/fd/{descriptor}")).map_err(|_| Errno::ENOENT)?;
    let program = Executable { descriptor, path: path.into_os_string().into_vec() };
    execute(kernel, id, program, [arguments, environment])
}

/// Replaces the program of a process.
fn execute(kernel: &mut Kernel, id: ThreadId, program: Executable, [arguments, environment]: [u64; 2]) -> Outcome {
    let task = kernel.task(id);
    let words = Words { arguments: strings(task, arguments)?, environment: strings(task, environment)? };
    let descriptor = program.descriptor;
    let image = Image::read(&PathBuf::from(format!("/proc/self/fd/{descriptor}")), &kernel.personality.brand)?;
    task.write(SCRATCH, format!("/proc/{}/fd/{descriptor}\0", std::process::id()).as_bytes())?;
    task.call(libc::SYS_execve, [SCRATCH, 0, 0, 0, 0, 0])?;
    let process = kernel.thread(id).process;
    for other in kernel.threads_of(process).into_iter().filter(|other| *other != id) {
        kernel.end_thread(other);
    }
    let registers = enter(kernel, task, &image, &words);
    kernel.release_vfork_parent(process);
    let space = kernel.new_space();
    let name = name_of(&program.path, kernel.personality.name_length);
    let state = kernel.process_of(id);
    state.image = image;
    state.name = name;
    state.space = space;
    let descriptors = state.descriptors.borrow().clone();
    state.descriptors = Rc::new(RefCell::new(descriptors));
    state.descriptors.borrow_mut().close_at_exec();
    // Ignored signals stay ignored. exec ends the sharing of actions.
    let kept = |action: &Action| {
        if action.handler == 1 { Action { handler: 1, ..Action::default() } } else { Action::default() }
    };
    let actions = state.actions.borrow().iter().map(kept).collect();
    state.actions = Rc::new(RefCell::new(actions));
    // Interval timers survive, profiling and other timers do not.
    state.profil = Default::default();
    // OpenBSD: `kern/subr_prof.c` 1.43 (2025-08-15), not seen on a real kernel.
    state.profils_user = None;
    state.kernel_file = None;
    state.unveiled = Unveiled::default();
    state.promises[0] = state.promises[1].take();
    state.timers.retain(|timer, _| *timer < 0);
    state.inheritance.clear();
    state.path = program.path;
    state.arguments = words.arguments;
    let text = format!("executes {}", String::from_utf8_lossy(&state.path));
    let thread = kernel.thread(id);
    (thread.registers, thread.alternate) = (registers, AlternateStack::default());
    kernel.begin_program(id, registers.rsp);
    kernel.note(id, Kind::Process, &text);
    Ok(Reply::Switched)
}
