//! The objects of this process, and the signal frames of this system.

use std::ffi::c_void;
use std::slice;

use gmon_runtime::os::{CONTEXT_ABOVE_STACK, CONTEXT_PC, CONTEXT_REGISTERS, SIGNAL_TRAMPOLINE, SIGNAL_TRAMPOLINE_CALL};
use gmon_runtime::unwind::{Object, Section, SignalFrames};

pub(crate) const SIGNALS: SignalFrames = SignalFrames {
    trampoline: SIGNAL_TRAMPOLINE,
    last_instruction: SIGNAL_TRAMPOLINE_CALL,
    context: CONTEXT_ABOVE_STACK,
    registers: CONTEXT_REGISTERS,
    program_counter: CONTEXT_PC,
};

/// The objects that are loaded now, by address. No object of this process is unloaded.
pub(crate) fn objects() -> Vec<Object<'static>> {
    let mut found: Vec<Object<'static>> = Vec::new();
    // SAFETY: the callback gets the pointer to the vector, which lives longer than the call.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut found).cast()) };
    found.sort_by_key(Object::start);
    found
}

unsafe extern "C" fn add(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> i32 {
    // SAFETY: the dynamic linker passes valid headers, and `found` is the vector of `objects`.
    let (info, found) = unsafe { (&*info, &mut *found.cast::<Vec<Object<'static>>>()) };
    // SAFETY: as above.
    let headers = unsafe { slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    let range = |header: &libc::Elf64_Phdr| {
        let start = (info.dlpi_addr + header.p_vaddr) as usize;
        start..start + header.p_memsz as usize
    };
    let loads = || headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
    let code = loads().filter(|header| header.p_flags & libc::PF_X != 0).map(range);
    let Some(code) = code.reduce(|all, next| all.start..next.end) else { return 0 };
    let Some(header) = headers.iter().find(|header| header.p_type == libc::PT_GNU_EH_FRAME) else { return 0 };
    let header = range(header).start;
    let segment = loads().map(range).find(|range| range.contains(&header)).expect("a segment with the tables");
    // SAFETY: the segment is mapped, readable, and not written to.
    let bytes = unsafe { slice::from_raw_parts(std::ptr::with_exposed_provenance(segment.start), segment.len()) };
    found.push(Object::new(code, Section { address: segment.start, bytes }, Some(header - segment.start)));
    0
}
