//! The program's bounds and headers, for a runtime in a shared object: the linker's symbols would be the object's own.
//! The kernel passes the address of the program headers. The items are those of `linked.rs`.

use core::ffi::{c_ulong, c_void};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::program_header::{EXECUTABLE, ProgramHeader, SEGMENT_HEADERS, SEGMENT_LOAD};
use crate::state::Inherited;

const AT_PHDR: c_ulong = 3;
const AT_PHENT: c_ulong = 4;
const AT_PHNUM: c_ulong = 5;

unsafe extern "C" {
    fn getauxval(kind: c_ulong) -> c_ulong;
}

/// The addresses of the program's first byte and of the end of its code; 0 before [`text`] has found them.
static BASE: Inherited<AtomicUsize> = Inherited::new("the program stays where it is", AtomicUsize::new(0));
static END: Inherited<AtomicUsize> = Inherited::new("the program stays where it is", AtomicUsize::new(0));

/// The run-time addresses of the program's first byte and of the end of its code; both are 0 if the kernel does not
/// tell. The first call is at the start-up, when the C library can be called.
pub(crate) fn text() -> (usize, usize) {
    if BASE.load(Relaxed) == 0 {
        find();
    }
    (BASE.load(Relaxed), END.load(Relaxed))
}

fn find() {
    // SAFETY: the C library is initialized as far as `getauxval` needs it.
    let [start, size, number] = [AT_PHDR, AT_PHENT, AT_PHNUM].map(|kind| unsafe { getauxval(kind) } as usize);
    if start == 0 || size < size_of::<ProgramHeader>() {
        return;
    }
    // SAFETY: the kernel has loaded this number of program headers of this size there, and nobody changes them.
    let headers = (0..number).map(|index| unsafe {
        &*core::ptr::with_exposed_provenance::<ProgramHeader>(start.wrapping_add(index * size))
    });
    let (mut bias, mut base, mut end) = (0, 0, 0);
    for header in headers {
        match header.kind {
            SEGMENT_HEADERS => bias = start.wrapping_sub(header.address as usize),
            SEGMENT_LOAD => {
                if header.offset == 0 {
                    base = bias.wrapping_add(header.address as usize);
                }
                if header.flags & EXECUTABLE != 0 {
                    end = bias.wrapping_add((header.address as usize).wrapping_add(header.memory_size as usize));
                }
            }
            _ => {}
        }
    }
    if base != 0 && base < end {
        BASE.store(base, Relaxed);
        END.store(end, Relaxed);
    }
}

/// The place at which a sample counts: no address of the program is the runtime's.
#[inline]
pub(crate) fn sampled(pc: usize) -> usize {
    pc
}

/// The address of the program's ELF header, which is loaded with the first segment. Call this after [`text`] has found
/// the program.
pub(crate) fn headers() -> *const c_void {
    core::ptr::with_exposed_provenance(BASE.load(Relaxed))
}
