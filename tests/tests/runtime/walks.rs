//! How handlers walk: the order of what they do.

use std::process::Command;

/// The bins get no tick without a stack at the end, because a handler announces its walk and then looks whether ticks are counted.
/// AArch64 keeps this order only if the look is a load-acquire.
#[test]
fn a_walk_is_announced_before_the_handler_looks_whether_ticks_are_counted() {
    let Some(library) = gmon_tests::start_objects_for("aarch64") else { return };
    let object = library.join("gcrt1.o");
    let disassembled = |tool: &&str| {
        let output = Command::new(tool).arg("-d").arg(&object).output().ok()?;
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
    };
    let tools = ["aarch64-linux-gnu-objdump", "llvm-objdump", "objdump"];
    let Some(listing) = tools.iter().filter_map(disassembled).find(|listing| listing.contains("bins5count17")) else {
        println!("\nSKIPPED: the order of loads: no disassembler for aarch64 here");
        return;
    };
    let is_start = |line: &&str| line.ends_with(">:") && line.contains("samples4bins5count17");
    let mut lines = listing.lines().skip_while(|line| !is_start(line)).skip(1);
    let function: Vec<_> = lines.by_ref().take_while(|line| !line.trim().is_empty()).collect();
    assert!(function.iter().any(|line| line.contains("ldar")), "{function:#?}");
}
