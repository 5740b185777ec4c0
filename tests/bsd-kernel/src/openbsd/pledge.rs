//! Pinned system calls, the check of the stack pointer, and pledge(2).

use nix::errno::Errno;

use super::contexts::SIGRETURN_PC;
use crate::image::Image;
use crate::kernel::{Allowed, Kernel, Outcome, Reply, SystemCall, ThreadId};
use crate::record::Kind;
use crate::returning::INSTRUCTION;
use crate::signal::{SIGABRT, SIGSEGV};

/// The highest system call number plus 1: SYS_MAXSYSCALL of `sys/syscall.h` 1.283 (2025-05-24).
const CALLS: u32 = 331;
/// The most entries in a table of pinned calls (`kern/exec_elf.c`, read in November 2026; not seen on a real kernel).
const MOST_ENTRIES: usize = 2 * CALLS as usize;
const SIGRETURN: u64 = 103;
/// The promises that the served calls need (`kern/kern_pledge.c`, August 2025; not seen on a real kernel).
const PROMISES: [&str; 10] = ["stdio", "rpath", "wpath", "cpath", "proc", "exec", "tmppath", "fattr", "id", "unveil"];

/// Ends a process that makes a call from an address that is not pinned, or that its promises do not allow.
///
/// The signal that nobody can catch, for a call that is not pinned: `sys/syscall_mi.h` 1.37 (2024-12-27). The signal
/// for a broken promise: `kern/kern_pledge.c`. The stack pointer must be in memory of MAP_STACK: `uvm/uvm_map.c`. Not
/// seen on a real kernel.
pub(super) fn refuse(kernel: &mut Kernel, id: ThreadId, call: Option<&SystemCall>) -> Option<Outcome> {
    let registers = kernel.thread(id).registers;
    let (pc, number, pointer) = (registers.rip, registers.rax, registers.rsp);
    let is_on_stack = kernel.process_of(id).stacks.iter().any(|stack| stack.contains(&pointer));
    let mut signal = SIGABRT;
    let name = call.map_or("?", |call| call.name);
    let promised = |promises: &[String]| match call.map(|call| call.allowed) {
        Some(Allowed::Always) | None => true,
        Some(Allowed::Never) => false,
        Some(Allowed::With(any)) => promises.iter().any(|promise| any.contains(&promise.as_str())),
    };
    let process = kernel.process_of(id);
    let reason = if !is_pinned_here(&process.image, pc, number) {
        format!("{name} ({number}) from pc {pc:#x}, where the call is not pinned")
    } else if process.promises[0].as_deref().is_some_and(|promises| !promised(promises)) {
        format!("{name} against the promises {:?}", process.promises[0])
    } else if !is_on_stack {
        signal = SIGSEGV;
        format!("{name} with the stack pointer {pointer:#x}, which is in no memory of MAP_STACK")
    } else {
        return None;
    };
    kernel.note(id, Kind::Refused, &reason);
    let process = kernel.thread(id).process;
    kernel.end_by_signal(process, signal);
    Some(Ok(Reply::Switched))
}

/// Returns whether a program may make a call at an address. One entry in the table pins the call to its address; two or
/// more entries allow the whole text. A program without a table, or with a bad one, can make no call.
///
/// The rules of calls are from `sys/syscall_mi.h` 1.37 (2024-12-27), the rules of the table from `kern/exec_elf.c`,
/// read in November 2026. Not seen on a real kernel.
fn is_pinned_here(image: &Image, pc: u64, number: u64) -> bool {
    if number == SIGRETURN {
        return pc == SIGRETURN_PC;
    }
    let instruction = pc.wrapping_sub(INSTRUCTION).wrapping_sub(image.bias);
    let text = image.text.0..image.text.1;
    let Some(table) = &image.pinned else {
        return false;
    };
    let is_bad_entry =
        |(address, number): &(u32, u32)| !(1..CALLS).contains(number) || !text.contains(&u64::from(*address));
    let is_bad = table.len() > MOST_ENTRIES || table.iter().any(is_bad_entry);
    let mut entries = table.iter().filter(|(_, pinned)| u64::from(*pinned) == number);
    match (is_bad, entries.next(), entries.next()) {
        (false, Some((address, _)), None) => u64::from(*address) == instruction,
        (false, Some(_), Some(_)) => text.contains(&instruction),
        (true, ..) | (false, None, _) => false,
    }
}

/// pledge(promises, execpromises): a process can only drop promises (`kern/kern_pledge.c`; not seen on a real kernel).
pub(super) fn call(kernel: &mut Kernel, id: ThreadId, [promises, after_exec, ..]: [u64; 6]) -> Outcome {
    let task = kernel.task(id);
    for (slot, address) in [promises, after_exec].into_iter().enumerate().filter(|(_, address)| *address != 0) {
        let words = String::from_utf8(task.read_string(address)?).map_err(|_| Errno::EINVAL)?;
        let wanted: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        if wanted.iter().any(|word| !PROMISES.contains(&word.as_str())) {
            return Err(Errno::EINVAL.into());
        }
        let current = &mut kernel.process_of(id).promises[slot];
        if current.as_ref().is_some_and(|current| wanted.iter().any(|word| !current.contains(word))) {
            return Err(Errno::EPERM.into());
        }
        *current = Some(wanted);
    }
    Ok(Reply::Value(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_made_where_the_table_says() {
        let image = |table: &[(u32, u32)], bias| Image {
            pinned: Some(table.to_vec()),
            text: (0x1000, 0x2000),
            bias,
            ..Image::default()
        };
        let allows = |table: &[(u32, u32)], pc, number| is_pinned_here(&image(table, 0), pc, number);
        assert!(allows(&[(0x1100, 4)], 0x1102, 4));
        assert!(!allows(&[(0x1100, 4)], 0x1104, 4), "another place");
        assert!(!allows(&[(0x1100, 4)], 0x1102, 5), "no entry");
        assert!(allows(&[(0x1100, 4), (0x1200, 4)], 0x1302, 4), "two entries");
        assert!(!allows(&[(0x1100, 4), (0x1200, 4)], 0x2002, 4), "behind text");
        assert!(!allows(&[(0x1100, 4), (0x1200, 0)], 0x1102, 4), "a bad table is none");
        assert!(!allows(&[(0x1100, 4), (0x2000, 5)], 0x1102, 4), "a bad table is none");
        assert!(!allows(&[(0x1100, 4), (0xfff, 5)], 0x1102, 4), "a bad table is none");
        assert!(!allows(&[(0x1100, 4), (0x1200, 331)], 0x1102, 4), "a bad table is none");
        let most = [&[(0x1100, 4)][..], &[(0x1200, 5); 661]].concat();
        assert!(allows(&most, 0x1102, 4));
        assert!(!allows(&[&most[..], &[(0x1200, 5)]].concat(), 0x1102, 4), "a table with too many entries is none");
        assert!(is_pinned_here(&image(&[(0x1100, 4)], 0x7000_0000), 0x7000_1102, 4), "a dynamic linker");
        assert!(!is_pinned_here(&image(&[(0x1100, 4)], 0x7000_0000), 0x1102, 4), "the program of a dynamic linker");
        assert!(!is_pinned_here(&Image { text: (0x1000, 0x2000), ..Image::default() }, 0x1102, 4), "no table");
    }
}
