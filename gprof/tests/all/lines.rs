//! Reports by line, with inlined functions, with blocks, and with files of symbols.

use std::ffi::OsString;
use std::fs;
use std::io::sink;
use std::path::{Path, PathBuf};

use gmon::{Block, Profile};
use gprof::internals::Symbol;
use gprof::{Analysis, Format, Options, Place, Stacks, Terminal};

use crate::common::{LOW, Table, image};
use crate::knots::DATA;

/// The text that a command line writes, and its warnings. The last word is a program of the test data.
fn written(line: &str) -> (String, String) {
    let (options, program) = line.rsplit_once(' ').unwrap();
    let files = ["", ".gmon"].map(|suffix| format!("{DATA}{program}{suffix}"));
    let words = ["gprof"].into_iter().chain(options.split(' ')).map(str::to_owned).chain(files).map(OsString::from);
    let (mut text, mut warnings) = (Vec::new(), Vec::new());
    gprof::run(words, &mut text, &mut warnings, &Terminal::default()).unwrap();
    (String::from_utf8(text).unwrap(), String::from_utf8(warnings).unwrap())
}

/// A file in a directory of its own.
fn file(name: &str, content: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lines");
    fs::create_dir_all(&directory).unwrap();
    let path = directory.join(name);
    fs::write(&path, content).unwrap();
    path
}

/// Analyzes a profile of a program without debug information: `main`, `f`, a copy of `f`, and a label.
fn in_memory(words: &str, profile: &Profile, check: impl FnOnce(&Analysis<'_>, &str)) {
    let symbol = |at: u64, name, is_static, is_func| Symbol { address: LOW + 8 * at, name, is_static, is_func };
    let names: [(&[u8], bool, bool); 4] =
        [(b"main", false, true), (b"f", false, true), (b"f.part.0", true, true), (b"label", true, false)];
    let symbols = (0..).zip(names).map(|(at, (name, is_static, is_func))| symbol(at, name, is_static, is_func));
    let table = Table { symbols: symbols.collect(), end: LOW + 32 };
    let words = words.split_whitespace().map(str::to_owned);
    let options = Options::parse(words.chain(["image".to_owned(), "profile".to_owned()])).unwrap();
    let loaded = gprof::from_memory(&options, image(&table), profile.clone()).unwrap();
    let mut warnings = Vec::new();
    let analysis = gprof::analyze(&loaded, &options, &mut warnings).unwrap();
    check(&analysis, &String::from_utf8(warnings).unwrap());
}

fn text(analysis: &Analysis<'_>) -> String {
    let mut text = Vec::new();
    gprof::render(analysis, Format::Text, &Terminal::default(), &mut text, &mut sink()).unwrap();
    String::from_utf8(text).unwrap()
}

fn symbols(analysis: &Analysis<'_>) -> Vec<String> {
    let name = |id| String::from_utf8(analysis.function(id).symbol.to_vec()).unwrap();
    analysis.functions().map(name).collect()
}

#[test]
fn blocks_are_in_reports_by_line_only() {
    let blocks = Profile::default().with_blocks([Block::new(LOW + 8, 7), Block::new(LOW + 12, 5)]);
    let left_out = "the counts of basic blocks are left out";
    in_memory("-C", &blocks, |analysis, warnings| {
        assert!(warnings.contains(left_out), "{warnings}");
        assert!(!text(analysis).contains("executions"));
    });
    in_memory("-l -C", &blocks, |analysis, warnings| {
        assert!(!warnings.contains(left_out) && !warnings.contains("nothing but a header"), "{warnings}");
        let text = text(analysis);
        assert!(text.contains("(f:0x1008) 7 executions") && text.contains("(f:0x100c) 5 executions"), "{text}");
    });
}

#[test]
fn a_profile_without_anything_to_report_has_a_warning() {
    let warned = |words: &str, profile: &Profile| {
        let mut text = String::new();
        in_memory(words, profile, |_, warnings| warnings.clone_into(&mut text));
        text
    };
    assert!(warned("-p", &Profile::default()).contains("nothing but a header"));
    let samples = |range, bins: Vec<u64>| {
        let histogram = gmon::Histogram::new(range, gmon::Unit::seconds(100), bins).unwrap();
        Profile::of_samples(vec![histogram]).unwrap()
    };
    let elsewhere = "no sample is in any function";
    assert!(warned("-p", &samples(LOW + 64..LOW + 72, vec![5])).contains(elsewhere));
    // The samples are in functions that the user left out.
    let in_f = samples(LOW..LOW + 32, vec![0, 5, 0, 0]);
    assert!(warned("-Pf", &in_f).is_empty() && warned("-p", &in_f).is_empty(), "{}", warned("-Pf", &in_f));
}

#[test]
fn copies_that_are_merged_have_no_entries() {
    let histogram = gmon::Histogram::new(LOW..LOW + 32, gmon::Unit::seconds(100), vec![1_u64, 2, 4, 8]).unwrap();
    let arcs = vec![gmon::Arc::new(LOW + 1, LOW + 8, 3), gmon::Arc::new(LOW + 1, LOW + 24, 2)];
    let profile = Profile::of_samples(vec![histogram]).unwrap().with_arcs(arcs);
    let entries = |words: &str| {
        let mut names = Vec::new();
        in_memory(words, &profile, |analysis, _| {
            let name = |node| match node {
                gprof::Node::Function(id) => String::from_utf8(analysis.function(id).symbol.to_vec()).unwrap(),
                gprof::Node::Cycle(_) => "cycle".to_owned(),
            };
            names = analysis.all_entries().map(name).collect();
            names.sort();
        });
        names
    };
    assert_eq!(entries("-q --merge-clones"), ["f", "label", "main"]);
    assert_eq!(entries("-q"), ["f", "f.part.0", "label", "main"]);
    // Labels are no functions.
    assert_eq!(entries("-q -l"), ["f", "f.part.0", "main"]);
}

#[test]
fn local_labels_may_be_left_out() {
    let of = |words: &str| {
        let mut names = Vec::new();
        in_memory(words, &Profile::default(), |analysis, _| names = symbols(analysis));
        names
    };
    assert_eq!(of("-p"), ["main", "f", "f.part.0", "label"]);
    assert_eq!(of("-p -D"), ["main", "f", "f.part.0"]);
    assert_eq!(of("-p -a"), ["main", "f"]);
}

#[test]
fn lists_of_records_need_no_analysis() {
    let histogram = gmon::Histogram::new(LOW..LOW + 32, gmon::Unit::seconds(100), vec![1_u64, 2, 4, 8]).unwrap();
    let profile = Profile::of_samples(vec![histogram]).unwrap();
    in_memory("-i", &profile, |analysis, _| {
        assert_eq!((analysis.functions().count(), analysis.stats().samples), (0, 0.0));
    });
    in_memory("-p", &profile, |analysis, _| {
        assert_eq!((analysis.functions().count(), analysis.stats().samples), (4, 15.0));
        // The text for programmers tells which parts were computed.
        let text = format!("{analysis:?}");
        assert!(text.contains("flat_profile: OnceLock(FlatProfile { ") && text.contains("samples: 15.0"), "{text}");
        for part in ["entries", "index", "blocks", "bounds", "counts", "order", "all_sources", "flame", "sample_trees"]
        {
            let is_computed = !text.contains(&format!(" {part}: OnceLock(<uninit>)"));
            assert_eq!(is_computed, part == "bounds", "{part}: {text}");
        }
        // A part is computed when somebody asks.
        assert_eq!(analysis.entries().count(), 0);
        assert!(format!("{analysis:?}").contains(" entries: OnceLock(Entries { "));
    });
}

#[test]
fn without_line_tables_functions_stay_whole() {
    let of = |by_line| {
        let options = Options::new(format!("{DATA}gnu/classes"), [format!("{DATA}gnu/classes.gmon")]).by_line(by_line);
        let loaded = gprof::load(&options, &mut sink()).unwrap();
        symbols(&gprof::analyze(&loaded, &options, &mut sink()).unwrap())
    };
    assert_eq!(of(true), of(false));
}

#[test]
fn a_choice_by_line_has_all_lines_of_its_function() {
    let rows = |words: &str| {
        let (text, _) = written(words);
        let names = text.lines().skip_while(|line| !line.contains("  name")).skip(1);
        names.map(|line| line.rsplit("  ").next().unwrap().trim().to_owned()).collect::<Vec<_>>()
    };
    let (all, some) = (rows("-b -p -l gnu/cycles"), rows("-b -pburn -l gnu/cycles"));
    let expected: Vec<_> = all.iter().filter(|row| row.starts_with("burn")).cloned().collect();
    assert!(expected.len() > 1 && all.len() > expected.len(), "{all:?}");
    assert_eq!(some, expected);
    // Code that was inlined is among the lines of its function.
    let some = rows("-b -pouter -l gnu/inlined");
    assert!(some.iter().any(|row| row.starts_with("square")), "{some:?}");
}

#[test]
fn cycles_have_entries_by_line_unless_the_rules_are_those_of_gnu() {
    let has_cycles = |line: &str| written(line).0.contains(" as a whole>");
    assert!(has_cycles("-b -q -l bsd/knots"));
    assert!(!has_cycles("--compat=gnu -b -q -l bsd/knots") && has_cycles("--compat=gnu -b -q bsd/knots"));
}

/// Functions in a file of symbols have no lines.
#[test]
fn symbols_of_a_file_have_no_lines() {
    let symbols = file("symbols", "11c9 T one\n120d T other\n13a0 t last\n");
    let of = |by_line: &str| written(&format!("-b -p{by_line} -S {} gnu/cycles", symbols.display())).0;
    assert!(of("").contains(" other\n") && of("").contains(" one\n"), "{}", of(""));
    assert_eq!(of(" -l"), of(""));
}

#[test]
fn object_files_have_an_order() {
    let map = file("map", "one.o:00000000 T burn\none.o:00000000 T d\nother.o:00000000 T main\nlast.o:00000000 T a\n");
    let (order, _) = written(&format!("-b -R {} gnu/cycles", map.display()));
    let lines: Vec<&str> = order.lines().collect();
    assert_eq!(lines.len(), 3, "{order}");
    assert!(["one.o", "other.o", "last.o"].iter().all(|name| lines.contains(name)), "{order}");
    // GNU gprof applies a map to the symbols of the program only, and not to those of a file.
    let symbols = file("symbols_of_map", "11c9 T burn\n120d T d\n132c T main\n1282 T a\n");
    let gnu = |more: &str| written(&format!("--compat=gnu -b -p -R {}{more} gnu/cycles", map.display())).0;
    assert!(gnu("").contains(" one.o"), "{}", gnu(""));
    assert!(gnu(&format!(" -S {}", symbols.display())).contains(" burn"));
    assert!(!gnu(&format!(" -S {}", symbols.display())).contains(" one.o"));
}

/// In the code of `outer`, two instructions of an inlined function take the samples.
#[test]
fn inlined_functions_are_frames_of_trees() {
    let files = ["", ".gmon"].map(|suffix| format!("{DATA}gnu/inlined{suffix}"));
    let mut stacks = Stacks::new();
    let outer = stacks.push(None, Place::Code(0x1084), 0);
    stacks.push(outer, Place::Code(0x11fb), 30).unwrap();
    stacks.push(outer, Place::Code(0x11e4), 10).unwrap();
    stacks.add_profile(40, true);
    for inlines in [false, true] {
        let options = Options::new(&files[0], [&files[1]]).contexts(9).inlines(inlines);
        let loaded = gprof::load(&options, &mut sink()).unwrap().with_stacks(stacks.clone());
        let analysis = gprof::analyze(&loaded, &options, &mut sink()).unwrap();
        let name = |row| String::from_utf8(analysis.context_name(row).into_owned()).unwrap();
        let table = analysis.contexts().unwrap();
        let rows: Vec<_> = table.rows.iter().map(|row| (row.depth, name(row), row.inlined)).collect();
        assert_eq!((rows[0].1.as_str(), rows[1].1.as_str()), ("main", "outer"), "{rows:?}");
        if inlines {
            assert_eq!((rows.len(), rows[2].0, rows[2].2), (3, 2, Some(&b"square"[..])), "{rows:?}");
        } else {
            assert_eq!(rows.len(), 2, "{rows:?}");
        }
    }
}

#[test]
fn reports_by_line_name_the_inlined_calls() {
    let (plain, _) = written("-b -p -l gnu/inlined");
    let (with_calls, _) = written("-b -p -l --inlines gnu/inlined");
    assert!(with_calls != plain && with_calls.contains("square"), "{with_calls}");
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/programs");
    let (source, _) = written(&format!("-b -A --source-times -I {} gnu/inlined", programs.display()));
    let line = source.lines().find(|line| line.contains("sum += n * n")).unwrap();
    assert!(line.trim_start().starts_with(|letter: char| letter.is_ascii_digit()), "{source}");
}

/// A profile without samples has no clock, and no time.
#[test]
fn a_bsd_report_of_calls_alone_has_times_of_zero() {
    let bytes = fs::read(format!("{DATA}bsd/knots.gmon")).unwrap();
    let hints = gmon::Hints::new().with_word(gmon::Word::W64).with_order(gmon::Order::Little);
    let arcs = gmon::read(&bytes, &hints).unwrap().arcs().to_vec();
    let encoding = gmon::Encoding::new(gmon::Form::Gnu, gmon::DataModel::Lp64, gmon::Order::Little);
    let calls = file("calls", "");
    fs::write(&calls, gmon::write(&Profile::default().with_arcs(arcs), encoding).unwrap()).unwrap();
    let words = ["gprof", "--bsd=freebsd", "-b"].map(OsString::from).into_iter();
    let words = words.chain([format!("{DATA}bsd/knots").into(), calls.into_os_string()]);
    let (mut text, mut warnings) = (Vec::new(), Vec::new());
    gprof::run(words, &mut text, &mut warnings, &Terminal::default()).unwrap();
    let (text, warnings) = (String::from_utf8(text).unwrap(), String::from_utf8(warnings).unwrap());
    assert!(warnings.contains("time is in ticks"), "{warnings}");
    assert!(text.contains("burn") && !text.contains("nan") && !text.contains("NaN") && !text.contains("inf"), "{text}");
}
