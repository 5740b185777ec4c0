//! musl on x86-64, dynamic and static, by `gmon-cc`.

use crate::core::core_tests;
use crate::kit::{Kit, PIE, STATIC, is_there, words, wrapper};

fn musl() -> Option<Kit> {
    if !is_there("musl-gcc") {
        println!("\nSKIPPED: musl: no musl-gcc here");
        return None;
    }
    Some(Kit {
        name: "musl".to_owned(),
        profiling: words(&["env", "CC=musl-gcc", wrapper()]),
        plain: words(&["musl-gcc"]),
        runner: Vec::new(),
        modes: vec![PIE, STATIC],
    })
}

core_tests!(musl);
