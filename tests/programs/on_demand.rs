//! Calls that are counted on demand in Rust code: on_demand [LIST]. Counts the calls of the functions that a list
//! selects, or of all functions, in several intervals, and prints the calls of each function in the intervals, as the
//! functions counted themselves.

use std::ffi::{CString, c_char, c_int};
use std::ptr::null;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

unsafe extern "C" {
    /// `int gmon_calls(int on, const char *pattern)` of `<gmon.h>`.
    fn gmon_calls(on: c_int, pattern: *const c_char) -> c_int;
}

static CALLS: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];
const NAMES: [&str; 4] = ["leaf", "Parser::parse", "convert", "of_thread"];

fn called(function: usize) {
    CALLS[function].fetch_add(1, SeqCst);
}

#[inline(never)]
fn leaf(number: u64) -> u64 {
    called(0);
    number.rotate_left(3) ^ 5
}

struct Parser {
    limit: u64,
}

impl Parser {
    #[inline(never)]
    fn parse(&self, number: u64) -> u64 {
        called(1);
        if number < self.limit { leaf(number) + leaf(number + 1) } else { leaf(number) }
    }
}

/// Is compiled twice.
#[inline(never)]
fn convert<T: Into<u64>>(number: T) -> u64 {
    called(2);
    leaf(number.into())
}

#[inline(never)]
fn of_thread(times: u64) -> u64 {
    called(3);
    let parser = Parser { limit: times / 2 };
    (0..times).map(|number| parser.parse(number) ^ convert(number as u8) ^ convert(number)).fold(0, u64::wrapping_add)
}

fn turn(times: u64) -> u64 {
    let threads: Vec<_> = (0..4).map(|number| std::thread::spawn(move || of_thread(times + number))).collect();
    threads.into_iter().map(|thread| thread.join().unwrap()).fold(0, u64::wrapping_add)
}

fn main() {
    let list = std::env::args().nth(1).map(|list| CString::new(list).unwrap());
    let list = list.as_ref().map_or(null(), |list| list.as_ptr());
    let mut calls = [0; 4];
    for interval in 1..=3 {
        let now = || [0, 1, 2, 3].map(|function: usize| CALLS[function].load(SeqCst));
        turn(100);
        let before = now();
        // SAFETY: the list is a string or null.
        assert_eq!(unsafe { gmon_calls(1, list) }, 0);
        turn(1000 * interval);
        // SAFETY: all functions.
        assert_eq!(unsafe { gmon_calls(0, null()) }, 0);
        let after = now();
        for (calls, (after, before)) in calls.iter_mut().zip(after.into_iter().zip(before)) {
            *calls += after - before;
        }
        turn(100);
    }
    for (name, calls) in NAMES.iter().zip(calls) {
        println!("calls {name} {calls}");
    }
}
