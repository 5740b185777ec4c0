//! Reports about profiles whose samples have stacks. The stacks of `testdata/bsd/knots` are made up; the numbers of the
//! goldens follow from [`knots::KNOTS`].

use std::collections::BTreeMap;
use std::io::sink;
use std::path::Path;

use crate::knots::{BURN, DATA, SITES, knots, options, push, with_analysis};
use gmon::side_file::CutReason;
use gprof::{Analysis, Endpoint, Format, FunctionId, LineKind, Node, Options, Place, Stacks, Terminal};

fn text(analysis: &Analysis<'_>, format: Format) -> String {
    let mut text = Vec::new();
    gprof::render(analysis, format, &Terminal::default(), &mut text, &mut sink()).unwrap();
    String::from_utf8(text).unwrap().replace(DATA, "")
}

fn compare(name: &str, found: &str) {
    let path = Path::new(DATA).join("stacks").join(name);
    if std::env::var_os("GOLDENS").is_some_and(|what| what == "write") {
        std::fs::write(&path, found).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(golden == found, "{name}:\n{found}");
}

fn named(analysis: &Analysis<'_>, name: &str) -> FunctionId {
    analysis.functions().find(|id| analysis.function(*id).symbol == name.as_bytes()).unwrap()
}

/// The self time and the time of called functions of a function, and of each line of its entry, in ticks.
fn entry(analysis: &Analysis<'_>, name: &str) -> BTreeMap<String, (u64, u64)> {
    let ticks = |time: f64| (time * 100.0).round() as u64;
    let line_name = |kind: LineKind, id: FunctionId| {
        let name = String::from_utf8(analysis.function(id).symbol.to_vec()).unwrap();
        match kind {
            LineKind::Caller => format!("from {name}"),
            LineKind::Primary(_) => name,
            LineKind::Callee => format!("to {name}"),
        }
    };
    let lines = analysis.entry(Node::Function(named(analysis, name)));
    let lines = lines.iter().filter_map(|line| {
        let Endpoint::Function(id) = line.endpoint else { return None };
        let (own, children) = line.times?;
        Some((line_name(line.kind, id), (ticks(own), ticks(children))))
    });
    lines.collect()
}

#[test]
fn goldens() {
    let of = |options: Options, format| with_analysis(options, Some(knots()), |analysis| text(analysis, format));
    compare("knots.b.txt", &of(options(), Format::Text));
    compare("knots.txt", &of(options().brief(false), Format::Text));
    compare("knots.b.errors.txt", &of(options().errors(true), Format::Text));
    compare("knots.b.errors.table.txt", &of(options().errors(true), Format::Table));
    compare("knots.json", &of(options().errors(true), Format::Json));
}

#[test]
fn contexts_and_callers() {
    let of = |options: Options, format| with_analysis(options, Some(knots()), |analysis| text(analysis, format));
    compare("knots.contexts.txt", &of(options().brief(false).contexts(usize::MAX), Format::Text));
    compare("knots.b.contexts.3.txt", &of(options().contexts(3), Format::Text));
    compare("knots.b.contexts.top.txt", &of(options().contexts(usize::MAX).top(7), Format::Text));
    let callers = options().add_callers("burn").unwrap().add_callers("od*").unwrap().min_percent(5.0);
    compare("knots.callers.txt", &of(callers.clone().brief(false), Format::Text));
    compare("knots.callers.json", &of(callers.contexts(2), Format::Json));
    let tree = options().contexts(3);
    for format in [Format::Text, Format::Json] {
        let (measured, estimated) = (of(tree.clone(), format), of(tree.clone().propagate(true), format));
        assert!(measured.contains("199") && estimated.contains("199"), "{estimated}");
        assert!(format == Format::Json || measured == estimated, "{estimated}");
    }
    let without = gprof::load(&options().contexts(1), &mut sink()).unwrap();
    let error = gprof::analyze(&without, &options().contexts(1), &mut sink()).unwrap_err();
    assert!(matches!(error, gprof::Error::NoStacks), "{error}");
    assert!(error.to_string().contains("GMON_STACKS=0") && error.to_string().contains("GMON_CHILDREN=sum"), "{error}");
    assert!(options().add_callers("a/b").is_err());
}

/// The text below a tree is one of the explanations that `-b` leaves out. The mark is not.
#[test]
fn the_mark_of_a_doubt_is_explained() {
    // The call instruction names `red`, and `red` does not jump to `burn`.
    let mut stacks = Stacks::new();
    let caller = stacks.push(None, Place::Code(SITES[0].2), 0);
    stacks.push(caller, Place::Code(BURN), 1).unwrap();
    stacks.add_profile(1, true);
    for is_brief in [true, false] {
        with_analysis(options().contexts(9).brief(is_brief), Some(stacks.clone()), |analysis| {
            let text = text(analysis, Format::Text);
            // `red` was called. What called `burn` is in doubt.
            assert!(text.contains(" red\n") && text.contains(" burn (?)\n"), "{text}");
            assert_eq!(text.contains("(?) A tail call removed"), !is_brief, "{text}");
        });
    }
    // Samples without a stack have no time in the tree.
    let mut stacks = Stacks::new();
    stacks.add_cut(CutReason::NO_STACK, 1);
    stacks.add_profile(1, true);
    with_analysis(options().contexts(9), Some(stacks), |analysis| {
        assert!(text(analysis, Format::Text).contains("\n no time accumulated\n"));
    });
}

/// Functions without calls and without self time have entries where stacks show them below other functions.
#[test]
fn the_index_has_all_entries() {
    let mut stacks = knots();
    let start = with_analysis(options(), None, |analysis| analysis.function(named(analysis, "_start")).address);
    let parent = stacks.push(None, Place::Code(start + 1), 0);
    stacks.push(parent, Place::Code(BURN), 3).unwrap();
    with_analysis(options(), Some(stacks), |analysis| {
        let text = text(analysis, Format::Text);
        let (graph, index) = text.split_once("Index by function name").unwrap();
        let entries = graph.lines().filter(|line| line.starts_with('[')).map(|line| line.split(']').next().unwrap());
        let missing: Vec<&str> = entries.filter(|number| !index.contains(&format!("{number}]"))).collect();
        assert!(graph.contains(" _start [") && missing.is_empty(), "{missing:?}: {text}");
    });
}

#[test]
fn each_caller_gets_the_time_of_its_calls() {
    with_analysis(options(), Some(knots()), |analysis| {
        let of = |name: &str| entry(analysis, name);
        let times = |pairs: &[(&str, u64, u64)]| -> BTreeMap<String, (u64, u64)> {
            pairs.iter().map(|(name, own, children)| ((*name).to_owned(), (*own, *children))).collect()
        };
        // Recursion counts once. A call of a function by itself has no time.
        assert_eq!(of("depth"), times(&[("from main", 0, 20), ("depth", 0, 24), ("to burn", 24, 0)]));
        // Members of a cycle have times of their own: the estimate is 43 ticks for main and 0 for others.
        let red = [("from main", 0, 89), ("from green", 0, 0), ("from blue", 0, 8), ("red", 0, 89)];
        assert_eq!(of("red"), times(&[red.as_slice(), &[("to burn", 18, 0), ("to green", 0, 79)]].concat()));
        let even = [("from blue", 0, 37), ("from odd", 0, 50), ("even", 0, 87), ("to burn", 75, 0), ("to odd", 0, 12)];
        assert_eq!(of("even"), times(&even));
        let callers = [("from depth", 24, 0), ("from red", 18, 0), ("from green", 20, 0), ("from blue", 20, 0)];
        let more = [("from even", 75, 0), ("from odd", 42, 0), ("burn", 201, 0)];
        assert_eq!(of("burn"), times(&[callers.as_slice(), &more].concat()));
    });
}

/// The inclusive ticks of functions, and all ticks, with options of a command line.
fn restricted(words: &str, names: [&str; 4]) -> ([u64; 4], u64) {
    let files = ["", ".gmon"].map(|suffix| format!("{DATA}bsd/knots{suffix}"));
    let words = words.split(' ').map(str::to_owned).chain(files);
    with_analysis(Options::parse(words).unwrap(), Some(knots()), |analysis| {
        let inclusive = |name: &str| entry(analysis, name).get(name).map_or(0, |(own, children)| own + children);
        (names.map(inclusive), analysis.graph_samples().round() as u64)
    })
}

#[test]
fn the_choices_of_the_user_apply_to_each_stack() {
    let names = ["main", "red", "even", "burn"];
    let of = |words: &str| restricted(words, names);
    assert_eq!(of("-b"), ([195, 89, 87, 201], 201));
    // Without `even` and what it called: 25, 12 and 50 ticks. `burn` loses the same part of its 199 ticks with stacks.
    assert_eq!(of("-b -N even"), ([108, 52, 0, 113], 113));
    assert_eq!(of("-b -E even"), ([108, 52, 0, 113], 113));
    // Only `even` and what it called.
    assert_eq!(of("-b -n even"), ([87, 37, 87, 88], 88));
    // The arc from `blue` to `even` hands no time to `blue` and its callers.
    assert_eq!(of("-b -k blue/even"), ([158, 52, 87, 201], 201));
    assert_eq!(of("-b -k main/red"), ([106, 89, 87, 201], 201));
    // A call of a function by itself hands no time to other functions.
    assert_eq!(restricted("-b -k depth/depth", ["main", "depth", "burn", "red"]).0, [195, 24, 201, 89]);
}

#[test]
fn the_choices_of_the_user_apply_to_trees() {
    let files = ["", ".gmon"].map(|suffix| format!("{DATA}bsd/knots{suffix}"));
    let of = |words: &str| {
        let words = format!("-b --contexts --callers=burn {words}");
        let words = words.split_whitespace().map(str::to_owned).chain(files.clone());
        with_analysis(Options::parse(words).unwrap(), Some(knots()), |analysis| {
            let ticks = |time: f64| (time * 100.0).round() as u64;
            let main =
                analysis.contexts().unwrap().rows.iter().find(|row| analysis.context_name(row).starts_with(b"main"));
            (ticks(main.unwrap().inclusive), ticks(analysis.callers().unwrap().rows[0].inclusive))
        })
    };
    assert_eq!(of(""), (195, 199));
    // Without `even` and what it called, as in the call graph.
    assert_eq!((of("-N even"), of("-E even")), ((108, 112), (108, 112)));
    assert_eq!((of("-n even"), of("-F even")), ((87, 87), (87, 87)));
    // The chain of callers ends at the arc: `main` loses the 37 ticks, and `burn` has all of its own.
    assert_eq!((of("-k blue/even"), of("-k main/red")), ((158, 199), (106, 199)));
    assert_eq!(of("-k depth/depth"), of(""));
}

#[test]
fn a_tree_without_an_arc() {
    let words = "-b --contexts=2 --callers=even --min-percent=0 -k blue/even -k odd/even".split(' ').map(str::to_owned);
    let files = ["", ".gmon"].map(|suffix| format!("{DATA}bsd/knots{suffix}"));
    with_analysis(Options::parse(words.chain(files)).unwrap(), Some(knots()), |analysis| {
        let rows = |table: &gprof::ContextTable<'_>| -> Vec<(usize, String, u64, Option<u64>)> {
            let row = |row: &gprof::ContextRow<'_>| {
                let name = String::from_utf8(analysis.context_name(row).into_owned()).unwrap();
                (row.depth, name, (row.inclusive * 100.0).round() as u64, row.calls)
            };
            table.rows.iter().map(row).collect()
        };
        let contexts = rows(analysis.contexts().unwrap());
        // `blue` called `even` for 37 ticks, and `odd` for 50: one row.
        let even = contexts.iter().position(|row| row.1 == "even").unwrap();
        let below = [(0, "even", 87, None), (1, "burn", 75, Some(420)), (1, "odd", 12, Some(360))];
        assert_eq!(
            contexts[even..even + 3],
            below.map(|(depth, name, ticks, calls)| (depth, name.to_owned(), ticks, calls))
        );
        assert_eq!(contexts[0], (0, "main".to_owned(), 108, None));
        // No caller of `even` is left.
        assert_eq!(rows(analysis.callers().unwrap()), [(0, "even".to_owned(), 87, None)]);
    });
}

/// Where frames in the middle of a stack are missing, the functions on both sides have their time, and no arc leads
/// over the gap.
#[test]
fn a_gap_in_the_middle_of_a_stack_takes_no_time_from_the_outer_end() {
    let mut stacks = Stacks::new();
    push(&mut stacks, "main depth burn", 5);
    push(&mut stacks, "main red ... depth burn", 196);
    stacks.add_profile(201, true);
    with_analysis(options(), Some(stacks), |analysis| {
        let of = |name: &str, line: &str| entry(analysis, name).get(line).copied();
        assert_eq!(of("main", "main"), Some((0, 201)));
        assert_eq!((of("red", "red"), of("red", "from main")), (Some((0, 196)), Some((0, 196))));
        assert_eq!((of("depth", "depth"), of("depth", "from main")), (Some((0, 201)), Some((0, 5))));
        let sums = analysis.stacks().unwrap();
        assert_eq!((sums.stacks, sums.whole), (201, 5));
    });
}

/// Files for other programs have the stacks as the trees show them.
#[test]
fn stacks_in_files_end_at_an_arc_that_is_left_out() {
    let files = ["", ".gmon"].map(|suffix| format!("{DATA}bsd/knots{suffix}"));
    let ticks = |words: &str, start: &str| -> u64 {
        let words = words.split_whitespace().map(str::to_owned).chain(files.clone());
        let folded = with_analysis(Options::parse(words).unwrap(), Some(knots()), |all| text(all, Format::Folded));
        let of_line = |line: &str| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap();
        folded.lines().filter(|line| line.starts_with(start)).map(of_line).sum()
    };
    assert_eq!((ticks("", "main;red;"), ticks("", "red;")), (89, 0));
    assert_eq!((ticks("-k main/red", "main;red;"), ticks("-k main/red", "red;")), (0, 89));
    assert_eq!(ticks("-k main/red", "main;"), 106);
}

#[test]
fn how_much_has_stacks() {
    let mut stacks = knots();
    stacks.add_profile(67, false);
    with_analysis(options(), Some(stacks), |analysis| {
        let sums = analysis.stacks().unwrap();
        assert_eq!((sums.stacks, sums.whole, sums.without_stack, sums.doubtful), (199, 195, 2, 0));
        assert_eq!(sums.uncovered_percent(), 25.0);
        let line = "children: measured from 199 stacks, 98.0 % whole; 2 samples without a stack; 1 of 2 profiles, with \
                    25.0 % of the samples, has no stacks\n";
        assert!(text(analysis, Format::Text).contains(line));
    });
}

/// Times for each call are too short if runs without stacks have a part of the calls.
#[test]
fn the_flat_profile_tells_that_runs_have_no_stacks() {
    let line = "total: measured from 199 stacks, 98.0 % whole; 2 samples without a stack; 1 of 2 profiles, with 25.0 % \
                of the samples, has no stacks\n";
    let words = |words: &str| {
        let files = ["", ".gmon"].map(|suffix| format!("{DATA}bsd/knots{suffix}"));
        Options::parse(words.split(' ').map(str::to_owned).chain(files)).unwrap()
    };
    let (flat, estimated) = (words("-b -p"), words("-b -p --propagate"));
    let of = |options: &Options, stacks, format| with_analysis(options.clone(), stacks, |all| text(all, format));
    for format in [Format::Text, Format::Table] {
        let mut stacks = knots();
        stacks.add_profile(67, false);
        assert!(of(&flat, Some(stacks.clone()), format).contains(line));
        assert!(!of(&flat, Some(knots()), format).contains("measured"));
        assert_eq!(of(&estimated, Some(stacks), format), of(&flat, None, format));
    }
}

#[test]
fn counts_of_stacks_have_the_right_number() {
    let summary = |without: u64, profiles: u64| {
        let mut stacks = Stacks::new();
        push(&mut stacks, "main odd burn", 1);
        stacks.add_cut(CutReason::NO_STACK, without);
        stacks.add_profile(1 + without, true);
        (0..profiles).for_each(|_| stacks.add_profile(1, false));
        with_analysis(options(), Some(stacks), |analysis| {
            text(analysis, Format::Text).lines().find(|line| line.starts_with("children: ")).unwrap().to_owned()
        })
    };
    assert_eq!(summary(0, 0), "children: measured from 1 stack, 100.0 % whole");
    assert_eq!(summary(1, 0), "children: measured from 1 stack, 100.0 % whole; 1 sample without a stack");
    let two = "children: measured from 1 stack, 100.0 % whole; 2 samples without a stack; 2 of 3 profiles, with 40.0 % of \
               the samples, have no stacks";
    assert_eq!(summary(2, 2), two);
}

/// Stacks of which `whole` samples are whole, and `cut` samples are cut for each of these reasons.
fn cut_stacks(whole: u64, cut: u64, reasons: &[CutReason]) -> Stacks {
    let mut stacks = Stacks::new();
    push(&mut stacks, "main odd burn", whole);
    for reason in reasons {
        let top = stacks.push(None, Place::Cut(*reason), 0);
        stacks.push(top, Place::Code(BURN), cut).unwrap();
    }
    stacks.add_profile(whole + cut * reasons.len() as u64, true);
    stacks
}

/// Every output says at its head that many samples have no whole stack, why, and what helps.
#[test]
fn every_output_tells_that_many_stacks_are_cut() {
    let number = "warning: 101 of 1001 samples (10.1 %) without a whole stack: callers lack their time";
    let why = "warning: 101 samples: the kernel's copy of the stack was too small. A lower rate (GMON_HZ)";
    for format in Format::all().filter(|format| *format != Format::Pprof) {
        let of = |cut, reason| {
            with_analysis(options(), Some(cut_stacks(900, cut, &[reason])), |analysis| text(analysis, format))
        };
        let few = of(100, CutReason::COPY_TOO_SMALL);
        assert!(!few.contains("without a whole stack"), "{format:?}: {few}");
        let many = of(101, CutReason::COPY_TOO_SMALL).replace("&#39;", "'");
        let at = many.find(number).unwrap_or_else(|| panic!("{format:?}: {many}"));
        // Pages have a style before their first word.
        let is_late = matches!(format, Format::Html | Format::Flame | Format::Svg);
        assert!(is_late || many[..at].lines().count() < 6, "{format:?}: {many}");
        // Formats whose only text for people is a title have the number alone.
        let has_title = matches!(format, Format::Flame | Format::Svg | Format::Speedscope | Format::Firefox);
        assert_eq!(many.contains(why), !has_title, "{format:?}: {many}");
    }
    let json = with_analysis(options(), Some(cut_stacks(1, 3, &[CutReason::NO_TABLE])), |analysis| {
        text(analysis, Format::Json)
    });
    let reasons = r#""cut_stacks":[
{"code":5,"reason":"code without unwind table and frame pointer","samples":3}]"#;
    assert!(json.contains(reasons), "{json}");
    // Estimated times do not depend on stacks.
    with_analysis(options().propagate(true), Some(cut_stacks(1, 3, &[CutReason::NO_TABLE])), |analysis| {
        assert!(!text(analysis, Format::Text).contains("without a whole stack"));
    });
}

#[test]
fn the_most_frequent_reasons_have_a_line_each() {
    let reasons: Vec<CutReason> = [5, 7, 8, 9, 99].map(CutReason::from_code).into();
    let heads = |reasons: &[CutReason]| {
        with_analysis(options(), Some(cut_stacks(1, 2, reasons)), |analysis| {
            let text = text(analysis, Format::Text);
            let lines = text.lines().take_while(|line| line.starts_with("warning: "));
            lines.map(str::to_owned).collect::<Vec<_>>()
        })
    };
    let found = heads(&reasons);
    assert_eq!(found.len(), 5, "{found:#?}");
    assert!(found[0].starts_with("warning: 10 of 11 samples (90.9 %) without a whole stack: "), "{found:#?}");
    assert!(found[1].starts_with("warning: 2 samples: code without unwind table"), "{found:#?}");
    assert_eq!(found[2], "warning: 2 samples: a frame below its callee");
    assert_eq!(found[4], "warning: 4 samples: other reasons, which gprof -i lists");
    assert_eq!(heads(&reasons[..3]).len(), 4);
    assert_eq!(heads(&reasons[4..])[1], "warning: 2 samples: reason 99");
    // The program has an index of its unwind tables.
    assert!(
        found[1].ends_with(". Compile all code with -fasynchronous-unwind-tables, or with -fno-omit-frame-pointer")
    );
}

/// Where the runtime's tree of stacks was full, callers keep their time, and the report says so.
#[test]
fn samples_without_room_in_the_tree() {
    let mut stacks = Stacks::new();
    let red = stacks.push(None, Place::Code(SITES[0].2), 0);
    let gap = stacks.push(red, Place::Cut(CutReason::NO_MEMORY), 0);
    stacks.push(gap, Place::Code(BURN), 3).unwrap();
    stacks.push(red, Place::Code(BURN), 4).unwrap();
    stacks.add_cut(CutReason::NO_MEMORY, 2);
    stacks.add_profile(9, true);
    with_analysis(options(), Some(stacks.clone()), |analysis| {
        let sums = analysis.stacks().unwrap();
        assert_eq!((sums.without_room, sums.whole, sums.without_stack), (5, 4, 2));
        assert_eq!(entry(analysis, "main")["main"], (0, 7));
        let text = text(analysis, Format::Text);
        assert!(
            text.contains("5 samples found the tree of stacks full, which a lower rate (GMON_HZ) avoids"),
            "{text}"
        );
    });
    with_analysis(options().contexts(9), Some(stacks), |analysis| {
        let text = text(analysis, Format::Text);
        assert!(text.contains("<cut: tree of stacks full>"), "{text}");
    });
}

#[test]
fn propagation_ignores_stacks() {
    let of = |options: Options, stacks| with_analysis(options, stacks, |analysis| text(analysis, Format::Text));
    let plain = of(options(), None);
    assert_eq!(of(options().propagate(true), Some(knots())), plain);
    assert!(!plain.contains("measured"));
    let by_line = options().by_line(true);
    assert_eq!(of(by_line.clone(), Some(knots())), of(by_line, None));
}

#[test]
fn the_error_of_a_measured_time_is_binomial() {
    with_analysis(options().errors(true), Some(knots()), |analysis| {
        let lines = analysis.entry(Node::Function(named(analysis, "red")));
        let own = lines.iter().find(|line| matches!(line.kind, LineKind::Primary(_))).unwrap();
        // 89 of 201 ticks.
        let error = (89.0 * (1.0 - 89.0 / 201.0_f64)).sqrt() / 100.0;
        assert_eq!((own.error, own.children_error, own.inclusive_error), (0.0, error, error));
    });
}

/// Two trees of many nodes: one chain, and one in which each node has a random parent. A step that takes time in
/// proportion to the square of the nodes would not end.
#[test]
fn many_nodes_take_linear_time() {
    const NODES: u32 = 1 << 18;
    let mut random = 1_u32;
    let mut next = |below: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) % below
    };
    for is_chain in [true, false] {
        let mut stacks = Stacks::new();
        for node in 0..NODES {
            let parent = if is_chain { node.checked_sub(1) } else { (node > 9).then(|| next(node)) };
            let place = Place::Code(SITES[next(18) as usize].2);
            stacks.push(parent, place, u64::from(node % 2)).unwrap();
        }
        let options = options().contexts(1000).add_callers("red").unwrap().min_percent(0.1);
        with_analysis(options, Some(stacks), |analysis| {
            let rows = analysis.contexts().unwrap();
            let sum: f64 = rows.rows.iter().filter(|row| row.depth == 0).map(|row| row.inclusive).sum();
            assert_eq!((sum * 100.0).round(), f64::from(NODES / 2));
            let callers = &analysis.callers().unwrap().rows;
            assert!(callers[0].percent > 10.0 && callers.len() > 1, "{:?}", callers[0]);
        });
    }
}
