//! New processes: fork, vfork, rfork, pdfork.
//!
//! Source: FreeBSD's sys/kern/kern_fork.c (`fork1`, `do_fork`), sys/kern/kern_resource.c, sys/sys/resourcevar.h
//! (`struct pstats`). Seen on FreeBSD 15.1 (amd64): fork(2), whose child inherits the profile.

use std::cell::RefCell;
use std::rc::Rc;

use nix::errno::Errno;

use crate::calls::mapping::apply_inheritance;
use crate::clock::IntervalTimer;
use crate::descriptors::{Descriptors, Open};
use crate::kernel::{Described, INIT, Kernel, Outcome, Process, ProcessId, Reply, ThreadId, Wait};
use crate::record::Kind;
use crate::returning::{CARRY, lose};
use crate::signal::SIGCHLD;

/// How a child inherits its parent's descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    /// A copy.
    Copied,
    /// The same table.
    Shared,
    /// None.
    Closed,
}

impl Files {
    /// Returns the descriptors of a child.
    #[must_use]
    pub fn inherited(self, parents: &Rc<RefCell<Descriptors>>) -> Rc<RefCell<Descriptors>> {
        match self {
            Files::Copied => Rc::new(RefCell::new(parents.borrow().clone())),
            Files::Shared => Rc::clone(parents),
            Files::Closed => Rc::new(RefCell::new(Descriptors::default())),
        }
    }
}

/// The variant of fork.
#[derive(Clone, Copy, Debug)]
pub struct Copy {
    /// Whether the child shares its parent's memory.
    pub shares_memory: bool,
    /// Whether the parent waits for the child's exec or end.
    pub waits: bool,
    /// How the child inherits the descriptors.
    pub files: Files,
    /// Whether parent and child share the actions of signals.
    pub shares_actions: bool,
    /// Whether the child has init for its parent.
    pub is_abandoned: bool,
    /// The signal that the parent gets when the child ends; 0 for none.
    pub exit_signal: u32,
}

/// fork(2).
pub const FORK: Copy = Copy {
    shares_memory: false,
    waits: false,
    files: Files::Copied,
    shares_actions: false,
    is_abandoned: false,
    exit_signal: SIGCHLD,
};
/// vfork(2).
pub const VFORK: Copy = Copy { shares_memory: true, waits: true, ..FORK };

/// Copies the process of a thread. The child has only that thread.
///
/// # Errors
///
/// As fork(2).
pub fn copy(kernel: &mut Kernel, id: ThreadId, how: Copy) -> Result<ProcessId, crate::error::Error> {
    let parent_task = kernel.task(id);
    let flags = if how.shares_memory { libc::CLONE_VM } else { 0 };
    let task = parent_task.copy(flags)?;
    let child = kernel.new_process_id();
    let new_space = kernel.new_space();
    let parent = kernel.process_of(id);
    let descriptors = how.files.inherited(&parent.descriptors);
    let process = Process {
        id: child,
        parent: if how.is_abandoned { INIT } else { parent.id },
        name: parent.name.clone(),
        path: parent.path.clone(),
        arguments: parent.arguments.clone(),
        image: parent.image.clone(),
        space: if how.shares_memory { parent.space } else { new_space },
        descriptors,
        directory: Rc::clone(&parent.directory),
        root: parent.root.clone(),
        credentials: parent.credentials,
        unveiled: parent.unveiled.clone(),
        actions: if how.shares_actions {
            Rc::clone(&parent.actions)
        } else {
            Rc::new(RefCell::new(parent.actions.borrow().clone()))
        },
        pending: Vec::new(),
        // The child inherits the profiling state and parameters.
        profil: parent.profil,
        intervals: [IntervalTimer::default(); 2],
        timers: std::collections::BTreeMap::new(),
        profils_user: parent.profils_user,
        kernel_file: parent.kernel_file.clone(),
        promises: parent.promises.clone(),
        immutable: parent.immutable.clone(),
        stacks: parent.stacks.clone(),
        is_in_capability_mode: parent.is_in_capability_mode,
        is_set_id: parent.is_set_id,
        inheritance: parent.inheritance.clone(),
        limits: parent.limits.clone(),
        mask: parent.mask,
        ticks: 0,
        system_ticks: 0,
        exit_signal: how.exit_signal,
        is_in_jail: parent.is_in_jail,
    };
    kernel.processes.insert(child, process);
    let (mut registers, mask, alternate) = {
        let thread = kernel.thread(id);
        (thread.registers, thread.mask, thread.alternate)
    };
    (registers.rax, registers.rdx) = (0, 1);
    registers.eflags &= !CARRY;
    lose(&mut registers, kernel.personality.zeroes_registers);
    let thread = kernel.add_thread(child, task, registers, mask);
    kernel.thread(thread).alternate = alternate;
    kernel.note(id, Kind::Process, &format!("has the child {child}"));
    if !how.shares_memory {
        apply_inheritance(kernel, thread)?;
    }
    Ok(child)
}

/// fork and vfork.
///
/// # Errors
///
/// As fork(2).
pub fn call(kernel: &mut Kernel, id: ThreadId, how: Copy) -> Outcome {
    let child = copy(kernel, id, how)?;
    if how.waits {
        return Ok(Reply::Wait(Wait::Vfork(child)));
    }
    Ok(Reply::Pair(u64::from(child), 0))
}

/// The flags of pdfork(2).
const PD_DAEMON: u64 = 1;
const PD_CLOEXEC: u64 = 2;

/// Makes a child with a process descriptor, whose number goes to an address. If the last descriptor is closed, the
/// child ends by SIGKILL, unless the flags have PD_DAEMON. As long as a descriptor is open, the child's end sends no
/// signal, and only a wait for its own number finds the child.
///
/// Source: sys/kern/sys_procdesc.c, sys/kern/kern_exit.c (`proc_to_reap`), pdfork(2). Not seen on a real kernel.
///
/// # Errors
///
/// EINVAL for other flags, EFAULT, and the errors of fork(2).
pub fn with_descriptor(kernel: &mut Kernel, id: ThreadId, number: u64, flags: u64, how: Copy) -> Outcome {
    if flags & 0xffff_ffff & !(PD_DAEMON | PD_CLOEXEC) != 0 {
        return Err(Errno::EINVAL.into());
    }
    kernel.task(id).write(number, &[0; 4])?;
    let child = copy(kernel, id, how)?;
    let open = Rc::new(Open::Process(child));
    kernel.described.push(Described { id: child, open: Rc::downgrade(&open), is_daemon: flags & PD_DAEMON != 0 });
    let closes_at_exec = flags & PD_CLOEXEC != 0;
    let fd = kernel.process_of(id).descriptors.borrow_mut().add(open, closes_at_exec, 0);
    kernel.task(id).write(number, &fd.to_le_bytes())?;
    if how.waits {
        return Ok(Reply::Wait(Wait::Vfork(child)));
    }
    Ok(Reply::Pair(u64::from(child), 0))
}
