//! profil with another C library, and on another machine.

use std::process::Command;

use crate::support::{How, directory, has, plain, program, try_one, went_well};

/// Trials that show that ticks come, that they are counted in all threads and in children, and that bad memory is
/// noticed.
const TRIALS: [&str; 6] = [
    "a_tick_counts_where_it_is",
    "all_threads_are_counted",
    "it_is_on_in_parent_and_child_after_fork",
    "memory_that_is_unmapped_ends_it",
    "memory_that_becomes_read_only_ends_it",
    "a_buffer_that_cannot_be_written_is_efault_and_ends_profiling",
];

#[test]
fn with_musl() {
    if Command::new("musl-gcc").arg("--version").output().is_err() {
        println!("\nSKIPPED: no musl-gcc on this machine");
        return;
    }
    for flags in [&[][..], &["-static"]] {
        for trial in TRIALS {
            try_one(How { compiler: "musl-gcc", flags, ..plain("bsd.c") }, &[trial]);
        }
    }
}

#[test]
fn on_aarch64() {
    const CROSS: &str = "aarch64-linux-gnu-gcc";
    if !has(CROSS) || !has("qemu-aarch64") || gmon_tests::start_objects_for("aarch64").is_none() {
        return;
    }
    let how = |source| How { compiler: CROSS, machine: Some("aarch64"), flags: &["-static"], ..plain(source) };
    let emulated = |source, trial: &str| {
        let mut emulator = Command::new("qemu-aarch64");
        emulator.arg(program(how(source))).arg(trial).current_dir(directory());
        went_well(&emulator.output().unwrap());
    };
    for trial in TRIALS {
        emulated("bsd.c", trial);
    }
    for trial in ["a_count_of_32767_stops_it", "pcsample_stores_addresses_and_says_how_many"] {
        emulated("illumos.c", trial);
    }
    for trial in ["buffers_change_under_four_threads", "a_signal_handler_calls_it", "forks_under_four_threads"] {
        emulated("engine.c", trial);
    }
    for trial in ["errors_come_in_the_kernels_order", "a_tick_counts_where_the_relation_says", "stores"] {
        emulated("openbsd.c", trial);
    }
}
