//! The calling contexts of samples, in the side file.

use gmon_tests::profiles::samples;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use gmon::Profile;
use gmon::side_file::{CutReason, PROGRAM, Samples, SideFile, THREAD};

use crate::objects_closed::closers;
use crate::support::{Program, Symbols, quiet, read};

fn compile(name: &str, flags: &[&str]) -> Program {
    Program::compile(&format!("contexts-{name}"), "contexts.c", flags)
}

/// The ticks of each chain of functions, from the outermost on, as `main dear spin`. A function of a shared object is
/// the name of the object in brackets.
pub(crate) type Chains = BTreeMap<String, u64>;

pub(crate) fn side_file(path: &Path) -> SideFile {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    SideFile::parse(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub(crate) fn chains(side: &SideFile, symbols: &Symbols) -> Chains {
    let nodes = side.contexts().nodes();
    let name = |index: usize, is_caller: bool| {
        let place = nodes[index].place();
        let reason = nodes[index].cut();
        match side.object(place.object) {
            Some(_) if place.object == PROGRAM => symbols.function(place.address - u64::from(is_caller)).to_owned(),
            Some(object) => {
                let path = String::from_utf8_lossy(&object.path).into_owned();
                format!("[{}]", path.rsplit('/').next().unwrap().split('.').next().unwrap())
            }
            None => reason.map_or("?".to_owned(), |reason| format!("cut({})", reason.code())),
        }
    };
    let mut chains = Chains::new();
    for (index, node) in nodes.iter().enumerate().filter(|(_, node)| node.ticks() > 0) {
        let mut words = vec![name(index, false)];
        let mut at = node.parent();
        while let Some(parent) = at {
            words.push(name(parent, true));
            at = nodes[parent].parent();
        }
        words.reverse();
        *chains.entry(words.join(" ")).or_default() += node.ticks();
    }
    chains
}

/// The ticks of the chains that end with these functions.
fn ending(chains: &Chains, functions: &str) -> u64 {
    let is_it = |chain: &str| chain == functions || chain.ends_with(&format!(" {functions}"));
    chains.iter().filter(|(chain, _)| is_it(chain)).map(|(_, ticks)| ticks).sum()
}

/// Checks that every tick of a run is in the tree or in a sum, and that no chain was cut.
pub(crate) fn check_sums(side: &SideFile, profile: &Profile) {
    let in_bins: u64 = samples(profile);
    let outside: u64 = side.samples().iter().map(Samples::total).sum();
    let unwalked: u64 = side.unwalked().map(|(_, ticks)| ticks).sum();
    assert_eq!(side.contexts().total() + unwalked, in_bins + outside);
}

/// The chains of a run, none of which may be cut.
fn whole(program: &Program, arguments: &[&str]) -> Chains {
    program.run(arguments);
    let side = side_file(&program.directory.join("gmon.out.side"));
    check_sums(&side, &program.profile());
    let chains = chains(&side, program.symbols());
    assert!(!chains.keys().any(|chain| chain.contains("cut")), "{chains:#?}");
    chains
}

#[test]
fn a_chain_of_callers_has_the_samples_of_its_callee() {
    for flags in [&["-O1"][..], &["-O2"], &["-O1", "-static"], &["-O1", "-no-pie"], &["-O2", "-mfentry"]] {
        if flags.contains(&"-mfentry") && cfg!(not(target_arch = "x86_64")) {
            continue;
        }
        let program = compile(&format!("chain{}", flags.concat()), &[flags, &["-Wl,--eh-frame-hdr"]].concat());
        let chains = whole(&program, &["chain"]);
        assert!(ending(&chains, "main dear spin") >= 30 && ending(&chains, "main cheap spin") >= 5, "{chains:#?}");
    }
}

#[test]
fn chains_go_through_the_c_library() {
    let program = compile("library", &["-O1"]);
    let chains = whole(&program, &["library"]);
    let found = chains.keys().find(|chain| chain.contains("main sorted [libc]") && chain.ends_with(" compare spin"));
    assert!(found.is_some(), "{chains:#?}");
}

#[test]
fn recursion_is_a_chain_of_its_depth() {
    let program = compile("recursion", &["-O1"]);
    for depth in [1, 10, 3000] {
        let chains = whole(&program, &["recursion", &depth.to_string()]);
        let calls = |calls: usize| format!("main{} spin", " descend".repeat(calls));
        assert!(ending(&chains, &calls(depth)) >= 10, "{depth}");
        if depth > 3 {
            assert!(ending(&chains, &calls(depth - 3)) >= 3, "{depth}");
        }
    }
}

#[test]
fn a_recursion_that_is_too_deep_keeps_both_ends() {
    let program = compile("deep", &["-O1"]);
    let chains = whole(&program, &["recursion", "50000"]);
    let levels = |chain: &str| chain.split(' ').filter(|word| *word == "descend").count();
    let is_it = |chain: &str| chain.contains(" main descend ") && chain.ends_with(" descend spin");
    let deep = chains.iter().filter(|(chain, _)| is_it(chain) && (3000..4096).contains(&levels(chain)));
    assert!(deep.map(|(_, ticks)| ticks).sum::<u64>() >= 10);
}

/// The chains of a recursion whose levels have many sizes, once below `outer_caller` and once below `again`. Each of
/// them has its own outer end, and none has that of the other.
fn irregular(program: &Program, levels: u32, samples: u32, rate: &str) -> Option<Chains> {
    let words = ["irregular".to_owned(), levels.to_string(), samples.to_string()];
    let output = program.command(&[]).args(&words).env("GMON_HZ", rate).output().unwrap();
    if output.status.code() == Some(77) {
        println!("\nSKIPPED: a recursion of {levels} levels: the limit of the stack is too low");
        return None;
    }
    assert!(output.status.success(), "{output:?}");
    let side = side_file(&program.directory.join("gmon.out.side"));
    check_sums(&side, &program.profile());
    let chains = chains(&side, program.symbols());
    let is_sampled = |chain: &&String| chain.ends_with(" take spin") || chain.ends_with(" take dear spin");
    // At rates above the kernel's tick, the ring has samples too, with a part of the stack or with the innermost frames
    // of the part.
    let of_ring = [CutReason::COPY_TOO_SMALL, CutReason::TOO_DEEP].map(|reason| format!("cut({})", reason.code()));
    let is_ended = |chain: &String| chain.contains(" main ") || of_ring.iter().any(|cut| chain.contains(cut));
    assert!(chains.keys().filter(is_sampled).all(is_ended), "{levels}: {chains:#?}");
    let is_mixed = |chain: &&String| chain.contains(" outer_caller ") && chain.contains(" dear ");
    assert_eq!(chains.keys().find(is_mixed), None);
    Some(chains)
}

/// The ticks of chains with these functions, with and without a gap in the middle.
fn with_ends(chains: &Chains, outer: &str, inner: &str) -> (u64, u64) {
    let gap = format!(" cut({}) ", CutReason::MIDDLE.code());
    let found = chains.iter().filter(|(chain, _)| chain.contains(outer) && chain.ends_with(inner));
    found.fold(
        (0, 0),
        |(with, without), (chain, ticks)| {
            if chain.contains(&gap) { (with + ticks, without) } else { (with, without + ticks) }
        },
    )
}

#[test]
fn a_recursion_of_a_million_levels_keeps_both_ends_whatever_its_levels_are() {
    let program = compile("irregular", &["-O1"]);
    // Each sample pays for so many frames that every walk may go to the end.
    let Some(chains) = irregular(&program, 1_000_000, 10, "1") else { return };
    let (gaps, wholes) = with_ends(&chains, " main outer_caller enters ", " take spin");
    assert!(gaps >= 20 && wholes == 0, "{gaps} {wholes}");
    let (gaps, wholes) = with_ends(&chains, " main again enters ", " take dear spin");
    assert!(gaps >= 20 && wholes == 0, "{gaps} {wholes}");
}

#[test]
fn deep_chains_keep_both_ends_where_there_is_no_time_for_whole_ones() {
    let program = compile("brief", &["-O1"]);
    let Some(chains) = irregular(&program, 3700, 300, "10000") else { return };
    let (gaps, wholes) = with_ends(&chains, " main outer_caller enters ", " take spin");
    assert!(gaps >= 100 && wholes >= 5 && gaps + wholes >= 600, "{gaps} {wholes}");
}

#[test]
fn a_recursion_with_many_paths_does_not_fill_the_memory() {
    let program = compile("paths", &["-O1"]);
    program.run(&["paths", "1000"]);
    let side = side_file(&program.directory.join("gmon.out.side"));
    check_sums(&side, &program.profile());
    let nodes = side.contexts().nodes();
    assert!((900_000..1_048_576).contains(&nodes.len()), "{}", nodes.len());
    let chains = chains(&side, program.symbols());
    // The callers that the tree has stay, and the innermost frames.
    let of_reason = format!(" cut({}) ", CutReason::NO_MEMORY.code());
    let mut short = 0;
    for (chain, ticks) in &chains {
        let Some((outer, inner)) = chain.split_once(&of_reason) else { continue };
        let is_kept = outer.split(' ').any(|frame| frame == "main") && inner.split(' ').count() <= 8;
        assert!(is_kept, "{chain}");
        short += ticks;
    }
    assert!(chains.iter().all(|(chain, _)| !chain.starts_with("cut(3)")), "no chain has lost its callers");
    let spun: u64 = chains.iter().filter(|(chain, _)| chain.ends_with(" spin")).map(|(_, ticks)| ticks).sum();
    assert!(short > 50 && spun >= 1000, "{short} of {spun}");
}

#[test]
fn threads_with_small_stacks_have_chains() {
    let program = compile("threads", &["-O1"]);
    let chains = whole(&program, &["threads"]);
    assert!(ending(&chains, "worker spin") >= 40, "{chains:#?}");
}

#[test]
fn threads_can_be_told_apart() {
    let program = compile("by-thread", &["-O1"]);
    quiet(&program.command(&["threads"]).env("GMON_THREADS", "1").output().unwrap());
    let side = side_file(&program.directory.join("gmon.out.side"));
    check_sums(&side, &program.profile());
    let (nodes, inclusive) = (side.contexts().nodes(), side.contexts().inclusive());
    let mut ticks = Vec::new();
    for (node, inclusive) in nodes.iter().zip(&inclusive).filter(|(node, _)| node.parent().is_none()) {
        assert_eq!(node.place().object, THREAD);
        let thread = &side.threads()[node.place().address as usize];
        assert_eq!((thread.ticks, thread.threads), (*inclusive, 1));
        ticks.push((String::from_utf8(thread.name.clone()).unwrap(), *inclusive));
    }
    for name in ["first", "second", "third", "fourth"] {
        assert!(ticks.iter().any(|(thread, ticks)| thread == name && *ticks >= 10), "{name}: {ticks:?}");
    }
    let numbers: BTreeSet<_> = side.threads().iter().map(|thread| thread.number).collect();
    assert_eq!(numbers.len(), side.threads().len());
}

#[test]
fn a_forked_child_starts_from_zero() {
    let program = compile("fork", &["-O1"]);
    let parent = whole(&program, &["fork"]);
    assert!(ending(&parent, "main parent spin") >= 3 && ending(&parent, "child spin") == 0, "{parent:#?}");
    let names = fs::read_dir(&program.directory).unwrap().map(|entry| entry.unwrap().path());
    let of_child = names
        .filter(|path| path.to_str().unwrap().ends_with(".side") && !path.ends_with("gmon.out.side"))
        .collect::<Vec<_>>();
    let [of_child] = &of_child[..] else { panic!("{of_child:?}") };
    let side = side_file(of_child);
    check_sums(&side, &read(&of_child.with_extension("")));
    let child = chains(&side, program.symbols());
    assert!(ending(&child, "main child spin") >= 7 && ending(&child, "parent spin") == 0, "{child:#?}");
}

#[test]
fn an_executed_program_starts_from_zero() {
    let program = compile("exec", &["-O1"]);
    let chains = whole(&program, &["exec"]);
    assert!(ending(&chains, "main dear spin") >= 30 && ending(&chains, "before spin") == 0, "{chains:#?}");
}

#[test]
fn chains_go_through_signal_handlers_on_small_stacks() {
    let program = compile("handler", &["-O1"]);
    let chains = whole(&program, &["handler"]);
    let found = chains.keys().find(|chain| chain.contains(" main raises ") && chain.ends_with(" on_signal spin"));
    assert!(found.is_some(), "{chains:#?}");
}

#[test]
fn coroutines_have_chains_of_their_own() {
    let program = compile("coroutine", &["-O1"]);
    let chains = whole(&program, &["coroutine"]);
    assert!(ending(&chains, "coroutine spin") >= 10 && ending(&chains, "main coroutine spin") == 0, "{chains:#?}");
}

#[test]
fn a_snapshot_has_the_contexts_so_far_and_the_end_all() {
    let program = compile("dump", &["-O1"]);
    let killed = program.command(&["dump", "killed"]).output().unwrap();
    assert!(!killed.status.success());
    let side = side_file(&program.directory.join("gmon.out.side"));
    check_sums(&side, &program.profile());
    let snapshot = chains(&side, program.symbols());
    assert!(ending(&snapshot, "main dear spin") >= 30 && ending(&snapshot, "cheap spin") == 0, "{snapshot:#?}");
    let end = whole(&program, &["dump"]);
    assert!(ending(&end, "main dear spin") >= 30 && ending(&end, "main cheap spin") >= 5, "{end:#?}");
}

#[test]
fn what_is_not_profiled_has_no_contexts() {
    let program = compile("stopped", &["-O1"]);
    let chains = whole(&program, &["stopped"]);
    assert!((4..9).contains(&ending(&chains, "main dear spin")), "{chains:#?}");
    assert!(ending(&chains, "main cheap spin") >= 5, "{chains:#?}");
}

#[test]
fn no_tick_is_lost_while_threads_open_and_close_objects() {
    let program = closers("contexts-closers");
    let mut command = program.command(&["8", "300"]);
    quiet(&command.envs([("GMON_CLOCK", "wall"), ("GMON_HZ", "5000")]).output().unwrap());
    check_sums(&side_file(&program.directory.join("gmon.out.side")), &program.profile());
}

#[test]
fn stacks_can_be_switched_off() {
    let program = compile("off", &["-O1"]);
    quiet(&program.command(&["chain"]).env("GMON_STACKS", "0").output().unwrap());
    let side = side_file(&program.directory.join("gmon.out.side"));
    assert!(side.contexts().nodes().is_empty() && side.unwalked().next().is_none());
    let output = program.command(&["chain"]).env("GMON_STACKS", "yes").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "gmon: GMON_STACKS=yes is not 0 or 1: using 1\n");
    let side = side_file(&program.directory.join("gmon.out.side"));
    assert!(!side.contexts().nodes().is_empty());
}

#[test]
fn all_samplers_have_stacks_or_say_why_not() {
    let program = compile("samplers", &["-O1"]);
    // At its rate, the ring has room for the samples of three seconds: no machine is too busy to let the program read
    // the ring in time.
    let ways = [("timer", "cpu", "100"), ("itimer", "cpu", "100"), ("perf", "cpu", "10"), ("timer", "wall", "100")];
    for (sampler, clock, rate) in ways {
        let variables = [("GMON_SAMPLER", sampler), ("GMON_CLOCK", clock), ("GMON_HZ", rate)];
        let output = program.command(&["chain"]).envs(variables).output().unwrap();
        if String::from_utf8_lossy(&output.stderr).contains("cannot use the perf_event ring") {
            println!("\nSKIPPED: the ring: perf_event_open is forbidden here");
            continue;
        }
        quiet(&output);
        let side = side_file(&program.directory.join("gmon.out.side"));
        check_sums(&side, &program.profile());
        // The signals that the program sends itself have stacks with every sampler.
        let sent = chains(&side, program.symbols());
        assert!(ending(&sent, "main dear spin") >= 30, "{variables:?}: {sent:#?}");
        quiet(&program.command(&["busy"]).envs(variables).output().unwrap());
        let side = side_file(&program.directory.join("gmon.out.side"));
        check_sums(&side, &program.profile());
        let taken = chains(&side, program.symbols());
        let is_whole = |chain: &&String| chain.ends_with(" main busy burn") && !chain.contains("cut");
        let of_burn: Vec<_> = taken.keys().filter(|chain| chain.ends_with(" burn")).collect();
        assert!(of_burn.len() == 1 && of_burn.iter().all(is_whole), "{variables:?}: {taken:#?}");
    }
}
