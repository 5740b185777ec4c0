//! The items that the runtime needs of an architecture in the crate `gmon-unwind`. `tests/tests/house/architectures.rs`
//! compiles this file; nothing runs it.
#![allow(unused_variables, clippy::all)]

use super::architecture::{Architecture, Returning};
use super::memory::Memory;

pub struct Other;

impl Architecture for Other {
    const STACK_POINTER: u8 = 2;
    const FRAME_POINTER: u8 = 8;
    const RECORD_BELOW: usize = 16;
    const BASE: u8 = 9;
    const RETURN_ADDRESS: u8 = 1;
    const HAS_LINK_REGISTER: bool = true;
    const ADDRESS_BITS: usize = usize::MAX;
    const AUTHENTICATION: &'static [u8] = &[];
    const LATE_TABLE: Option<usize> = None;

    fn follows_call(memory: &impl Memory, pc: usize) -> bool {
        false
    }

    fn keeps_frame_pointer(memory: &impl Memory, pc: usize) -> bool {
        false
    }

    fn ends_coroutine(memory: &impl Memory, pc: usize, is_start: bool) -> bool {
        false
    }

    fn enters_at(memory: &impl Memory, pc: usize, frame: Returning) -> Option<Returning> {
        None
    }

    fn leaf(memory: &impl Memory, frame: Returning) -> Option<Returning> {
        None
    }

    fn callee(memory: &impl Memory, pc: usize) -> Option<usize> {
        None
    }

    fn returns_at(memory: &impl Memory, pc: usize, frame: Returning) -> Option<Returning> {
        None
    }
}
