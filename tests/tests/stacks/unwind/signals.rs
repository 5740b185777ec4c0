//! The signal frames of this system.

use gmon_runtime::os::{CONTEXT_ABOVE_STACK, CONTEXT_PC, CONTEXT_REGISTERS, SIGNAL_TRAMPOLINE, SIGNAL_TRAMPOLINE_CALL};
use gmon_unwind::SignalFrames;

pub(crate) const SIGNALS: SignalFrames = SignalFrames {
    trampoline: SIGNAL_TRAMPOLINE,
    last_instruction: SIGNAL_TRAMPOLINE_CALL,
    context: CONTEXT_ABOVE_STACK,
    registers: CONTEXT_REGISTERS,
    program_counter: CONTEXT_PC,
};
