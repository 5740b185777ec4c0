//! A handler walks the stack from its signal context. libgcc's unwinder, in the same handler, must find the same
//! frames.

use std::ffi::{CString, c_int, c_void};
use std::process::Command;
use std::sync::{Mutex, Once};

use gmon_runtime::objects::publish;
use gmon_runtime::unwind::walk;
use gmon_unwind::{Cut, Ending, Frame, MOST_FRAMES, OUTERMOST_FRAMES};

use crate::unwind::compiled::programs;

/// What a probe found: the walk's frames, its ending, and libgcc's frames.
type Probed = (Vec<Frame>, Ending, Vec<Frame>);

/// The results of the probes of the running test.
static PROBED: Mutex<Vec<Probed>> = Mutex::new(Vec::new());
/// Tests that use the handler take turns.
static TURN: Mutex<()> = Mutex::new(());
/// The test's object is loaded after what is published.
static PUBLISHED: Once = Once::new();

unsafe extern "C" {
    fn _Unwind_Backtrace(each: extern "C" fn(*mut c_void, *mut c_void) -> c_int, data: *mut c_void) -> c_int;
    fn _Unwind_GetIPInfo(context: *mut c_void, is_exact: *mut c_int) -> usize;
}

extern "C" fn each(context: *mut c_void, frames: *mut c_void) -> c_int {
    let mut is_exact = 0;
    // SAFETY: libgcc passes its context and the vector of `theirs`.
    let (pc, frames) = unsafe { (_Unwind_GetIPInfo(context, &raw mut is_exact), &mut *frames.cast::<Vec<Frame>>()) };
    if pc != 0 {
        frames.push(Frame { pc, is_exact: is_exact != 0 });
    }
    0
}

/// libgcc's frames from the interrupted code on.
fn theirs(pc: usize) -> Vec<Frame> {
    let mut frames: Vec<Frame> = Vec::new();
    // SAFETY: `each` gets the vector.
    unsafe { _Unwind_Backtrace(each, (&raw mut frames).cast()) };
    let start = frames.iter().position(|frame| frame.is_exact && frame.pc == pc);
    frames.split_off(start.unwrap_or(frames.len()))
}

/// The signal comes from `raise` at known places, so this handler may allocate.
extern "C" fn on_signal(_: c_int, _: *mut c_void, context: *mut c_void) {
    let mut ours = Vec::new();
    let ending = walk(context, |frame| {
        ours.push(frame);
        true
    });
    let mut left = 2;
    let stopped = walk(context, |_| {
        left -= 1;
        left > 0
    });
    assert_eq!((left, stopped), (0, Ending::Cut(Cut::TooDeep)), "the caller wants no more");
    let theirs = theirs(ours[0].pc);
    PROBED.lock().unwrap().push((ours, ending, theirs));
}

extern "C" fn probe() {
    // SAFETY: the handler is installed.
    unsafe { libc::raise(libc::SIGUSR1) };
}

/// Runs a function of `handlers.cc`, and returns what its probes found.
fn run(scenario: &str) -> Vec<Probed> {
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    PUBLISHED.call_once(|| publish(true));
    let library = gmon_tests::directory(&format!("unwind_{scenario}")).join("handlers.so");
    let source = programs().join("handlers.cc");
    let made = Command::new("g++").args(["-O2", "-shared", "-fPIC", "-o"]).args([&library, &source]).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let text = |text: &str| CString::new(text).unwrap();
    // SAFETY: the object's constructors do nothing, and the function has this type.
    let function: extern "C-unwind" fn(extern "C" fn()) = unsafe {
        let object = libc::dlopen(text(library.to_str().unwrap()).as_ptr(), libc::RTLD_NOW);
        assert!(!object.is_null());
        std::mem::transmute(libc::dlsym(object, text(scenario).as_ptr()))
    };
    // SAFETY: a handler with this signature is installed with SA_SIGINFO.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_signal as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        assert_eq!(libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()), 0);
    }
    function(probe);
    std::mem::take(&mut *PROBED.lock().unwrap())
}

/// Runs a function whose probes find what libgcc finds.
fn agree(scenario: &str, probes: usize) {
    let probed = run(scenario);
    assert_eq!(probed.len(), probes, "{scenario}");
    for (ours, ending, theirs) in probed {
        assert_eq!(ours, theirs, "{scenario}: {ending:?}");
        assert_eq!(ending, Ending::Outermost, "{scenario}");
        assert!(ours.len() > 4, "{scenario}: {ours:?}");
    }
}

#[test]
fn callbacks_of_the_c_library_are_walked_through() {
    agree("in_qsort", 1);
}

#[test]
fn cleanups_of_an_exception_are_walked_through() {
    agree("in_cleanup", 4);
}

#[test]
fn signal_frames_on_other_stacks_are_walked_through() {
    agree("on_signal_stack", 1);
    agree("on_signal_stack_inside", 1);
}

#[test]
fn a_thread_with_a_small_stack_is_walked() {
    agree("in_small_thread", 1);
}

#[test]
fn coroutines_end_where_they_were_made() {
    agree("in_coroutine", 3);
}

#[test]
fn recursion_is_walked_up_to_the_documented_depth() {
    agree("deep", 1);
    for (ours, ending, theirs) in run("deeper") {
        // The innermost frames are all there, then levels of the recursion are left out, then come the outermost
        // frames.
        assert_eq!(ending, Ending::Outermost);
        let inner = (MOST_FRAMES - OUTERMOST_FRAMES) as usize;
        assert_eq!(ours[..inner], theirs[..inner]);
        let outer = ours.len() - inner - 2;
        assert!(outer > 4 && outer < 100, "{outer}");
        assert_eq!(ours[ours.len() - outer..], theirs[theirs.len() - outer..]);
    }
    for (ours, ending, theirs) in run("irregular") {
        assert_eq!(ending, Ending::Cut(Cut::TooDeep));
        assert_eq!(ours.len(), MOST_FRAMES as usize);
        assert_eq!(ours, theirs[..ours.len()]);
    }
}

#[test]
fn garbage_in_the_frame_pointer_does_no_harm_where_there_is_a_table() {
    agree("garbage_with_table", 1);
}

#[test]
fn garbage_in_the_frame_pointer_cuts_the_chain_where_there_is_no_table() {
    let probed = run("garbage_without_table");
    assert_eq!(probed.len(), 9);
    for (ours, ending, theirs) in probed {
        assert_eq!(ending, Ending::Cut(Cut::NoTable));
        assert!(ours.len() >= theirs.len() && ours.len() < 12, "{ours:?} {theirs:?}");
    }
}

/// The chain is whole, and libgcc's ends where there is no table.
fn goes_on(scenario: &str) {
    let probed = run(scenario);
    assert_eq!(probed.len(), 1, "{scenario}");
    let (ours, ending, theirs) = &probed[0];
    assert_eq!(*ending, Ending::Outermost, "{scenario}: {ours:?}");
    assert!(ours.len() > theirs.len() + 4 && ours.starts_with(theirs), "{scenario}: {ours:?} {theirs:?}");
}

#[test]
fn a_function_without_a_table_is_passed_by_its_frame_pointer() {
    goes_on("frame_without_table");
}

#[test]
fn a_function_without_a_table_that_is_about_to_return_is_passed_by_its_instructions() {
    goes_on("return_without_table");
}

#[test]
fn code_of_a_jit_compiler_with_a_frame_pointer_is_passed() {
    goes_on("jit");
}
