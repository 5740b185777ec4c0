//! Looks for the number whose hailstone sequence is the longest: n/2 after an even n, 3n + 1 after an odd one.
//!
//! Each thread searches its part. The program knows how often its functions were called, and prints it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;

static LENGTHS: AtomicU64 = AtomicU64::new(0);
static STEPS: AtomicU64 = AtomicU64::new(0);

#[inline(never)]
fn step(n: u64) -> u64 {
    if n % 2 == 0 { n / 2 } else { 3 * n + 1 }
}

#[inline(never)]
fn length(start: u64) -> u64 {
    let (mut n, mut steps) = (start, 0);
    while n != 1 {
        n = step(n);
        steps += 1;
    }
    LENGTHS.fetch_add(1, Relaxed);
    STEPS.fetch_add(steps, Relaxed);
    steps
}

#[inline(never)]
fn longest(range: std::ops::Range<u64>) -> (u64, u64) {
    range.map(|start| (length(start), start)).max().unwrap_or((0, 0))
}

fn main() {
    let limit: u64 = std::env::args().nth(1).and_then(|limit| limit.parse().ok()).unwrap_or(300_000);
    let other = thread::spawn(move || longest(1..limit / 2));
    let best = longest(limit / 2..limit).max(other.join().unwrap_or((0, 0)));
    println!("the longest is that of {}, {} steps", best.1, best.0);
    println!("calls longest 2\ncalls length {}\ncalls step {}", LENGTHS.load(Relaxed), STEPS.load(Relaxed));
}
