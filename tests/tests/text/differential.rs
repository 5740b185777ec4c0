//! Our `gprof` against the system's: the same program and profile must give the same bytes.

use std::fs;
use std::path::{Path, PathBuf};

use gmon::{Counter, CounterWidth, DataModel, Encoding, Form, Hints, Order, Profile};
use gmon_tests::profiles::replace_counts;
use gmon_tests::random::{Random, Stage};
use gmon_tests::{OPTIONS, assert_same, compare, compile, gprof, read, run, start_objects, system_gprof};

/// Compares all options for one profile of a program.
fn compare_all(image: &Path, profiles: &[&Path]) {
    for options in OPTIONS {
        compare(image, profiles, options);
    }
}

/// Compiles, runs, and compares with our runtime and the C library's, and returns the C library's program and profile.
fn check(name: &str, sources: &[&str], flags: &[&str]) -> (PathBuf, PathBuf) {
    let ours = format!("-B{}", start_objects().display());
    let image = compile(&format!("{name}_ours"), sources, &[flags, &[&ours]].concat());
    let profile = run(&image);
    assert_eq!(gmon::detect(&fs::read(&profile).unwrap(), &Hints::default()).unwrap().encoding().form, Form::OpenBsd);
    compare_all(&image, &[&profile]);

    let image = compile(name, sources, flags);
    let profile = run(&image);
    assert_eq!(gmon::detect(&fs::read(&profile).unwrap(), &Hints::default()).unwrap().encoding().form, Form::Gnu);
    compare_all(&image, &[&profile]);
    (image, profile)
}

const FREEBSD_16: Form = Form::FreeBsd(Counter { width: CounterWidth::Bits16, signed: false });

fn store(path: &Path, profile: &Profile, form: Form) {
    let encoding = Encoding::new(form, DataModel::Lp64, Order::Little);
    fs::write(path, gmon::write(profile, encoding).unwrap()).unwrap();
}

#[test]
fn a_leaf_in_a_loop() {
    check("leaf", &["leaf.c"], &[]);
}

#[test]
fn two_cycles() {
    check("cycles", &["cycles.c"], &["-g"]);
}

#[test]
fn a_cycle_that_nobody_calls() {
    check("orphan", &["orphan.c"], &["-O1", "-fno-inline", "-fno-ipa-icf"]);
}

#[test]
fn classes() {
    check("classes", &["classes.cc"], &["-g"]);
}

#[test]
fn statics_of_one_name() {
    check("statics", &["same_one.c", "same_two.c"], &["-g"]);
    check("statics_dwarf4", &["same_one.c", "same_two.c"], &["-gdwarf-4"]);
    check("statics_without_lines", &["same_one.c", "same_two.c"], &[]);
}

#[test]
fn aliases() {
    check("aliases", &["aliases.c"], &["-g"]);
}

#[test]
fn names_from_assembly() {
    check("labels", &["labels.c"], &["-g"]);
    made_up("made_up_labels", &["labels.c"], 3000..3060);
}

#[test]
fn the_runtime_is_not_in_reports() {
    check("runtime_names", &["runtime_names.c"], &[]);
    made_up("made_up_runtime_names", &["runtime_names.c"], 4000..4100);
}

#[test]
fn ways_to_link() {
    for (name, flags) in [
        ("linked_pie", ["-g", "-fPIE", "-pie"].as_slice()),
        ("linked_no_pie", &["-g", "-no-pie"]),
        ("linked_static", &["-g", "-static"]),
        ("linked_sections", &["-g", "-ffunction-sections", "-Wl,--gc-sections"]),
    ] {
        check(name, &["cycles.c"], flags);
    }
}

#[test]
fn several_profiles() {
    let (image, first) = check("several", &["cycles.c"], &["-g"]);
    let second = image.with_file_name("second");
    fs::rename(first, &second).unwrap();
    let third = run(&image);
    compare_all(&image, &[&second, &third]);
    compare_all(&image, &[&third, &second, &third]);
}

#[test]
fn every_form_of_one_profile() {
    for (name, program) in [("forms_cycles", "cycles.c"), ("forms_leaf", "leaf.c")] {
        let (image, profile) = check(name, &[program], &["-g"]);
        let profile = gmon::read(&fs::read(profile).unwrap(), &Hints::default()).unwrap();
        for (file, form) in
            [("gnu", Form::Gnu), ("bsd", Form::Bsd), ("openbsd", Form::OpenBsd), ("freebsd", FREEBSD_16)]
        {
            let path = image.with_file_name(file);
            store(&path, &profile, form);
            compare_all(&image, &[&path]);
        }
    }
}

#[test]
fn half_of_a_profile() {
    let (image, profile) = check("half", &["cycles.c"], &["-g"]);
    let profile = gmon::read(&fs::read(profile).unwrap(), &Hints::default()).unwrap();
    let parts = [
        ("samples", Profile::of_samples(profile.histograms().to_vec()).unwrap()),
        ("calls", Profile::new().with_arcs(profile.arcs().to_vec())),
    ];
    for (file, part) in parts {
        let path = image.with_file_name(file);
        store(&path, &part, Form::Gnu);
        compare_all(&image, &[&path]);
        if !part.histograms().is_empty() {
            store(&path, &part, Form::Bsd);
            compare_all(&image, &[&path]);
        }
    }
}

#[test]
fn a_header_without_a_rate() {
    let (image, profile) = check("no_rate", &["cycles.c"], &["-g"]);
    let mut profile = gmon::read(&fs::read(profile).unwrap(), &Hints::default()).unwrap();
    for rate in [0, 1, 1_000_000] {
        profile.set_unit(gmon::Unit::seconds(rate));
        let path = image.with_file_name("rate");
        store(&path, &profile, Form::Bsd);
        compare_all(&image, &[&path]);
        if rate != 0 {
            // If the form has no rate, the system's tool reads beyond a table.
            store(&path, &profile, Form::Gnu);
            compare_all(&image, &[&path]);
        }
    }
}

#[test]
fn wide_counters_say_the_same() {
    let (image, profile) = check("wide_counters", &["cycles.c"], &["-g"]);
    let profile = gmon::read(&fs::read(profile).unwrap(), &Hints::default()).unwrap();
    let directory = image.parent().unwrap();
    let narrow = read(gprof(), directory, &["-b", "a.out", "gmon.out"]);
    for width in [CounterWidth::Bits32, CounterWidth::Bits64] {
        for signed in [false, true] {
            store(&directory.join("wide"), &profile, Form::FreeBsd(Counter { width, signed }));
            let wide = read(gprof(), directory, &["-b", "a.out", "wide"]);
            assert_same(&narrow.stdout, &wide.stdout, &format!("{width:?}, signed: {signed}"));
        }
    }
}

/// Synthetic profiles of a program: cycles and ties of every kind.
fn made_up(name: &str, sources: &[&str], seeds: std::ops::Range<u64>) {
    let image = compile(name, sources, &["-g"]);
    let stage = Stage::of(&fs::read(&image).unwrap());
    for seed in seeds {
        let mut random = Random::new(seed);
        let path = image.with_file_name(format!("made-up-{seed}"));
        let options = OPTIONS[random.below(OPTIONS.len() as u64) as usize];
        let profile = stage.profile(&mut random);
        // The BSD forms have room for one histogram.
        let form = if profile.histograms().len() == 1 { *random.pick(&[Form::Gnu, Form::Bsd]) } else { Form::Gnu };
        store(&path, &profile, form);
        compare(&image, &[&path], options);
        compare(&image, &[&path], &["-b", "-q"]);
    }
}

#[test]
fn made_up_profiles_of_many_functions() {
    made_up("made_up_many", &["many.c"], 0..300);
}

#[test]
fn made_up_profiles_of_cycles() {
    made_up("made_up_cycles", &["cycles.c"], 1000..1150);
}

#[test]
fn made_up_profiles_of_classes() {
    made_up("made_up_classes", &["classes.cc"], 2000..2060);
}

#[test]
fn made_up_profiles_that_are_summed() {
    let image = compile("made_up_sums", &["many.c"], &["-g"]);
    let stage = Stage::of(&fs::read(&image).unwrap());
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let first = stage.profile(&mut random);
        // Only histograms with the same shape can be added up.
        let arcs = stage.profile(&mut random).arcs().to_vec();
        let second = Profile::of_samples(first.histograms().to_vec()).unwrap().with_arcs(arcs);
        let paths = [image.with_file_name("one"), image.with_file_name("two")];
        store(&paths[0], &first, Form::Gnu);
        store(&paths[1], &second, Form::Gnu);
        let profiles = [paths[0].as_path(), paths[1].as_path()];
        compare(&image, &profiles, &["-b"]);
        sums_agree(&image, &profiles);
    }
}

/// The system's reader must print the same for our sum as for the profiles.
fn sums_agree(image: &Path, profiles: &[&Path]) {
    let Some(system) = system_gprof() else {
        return;
    };
    let directory = image.parent().unwrap();
    let mut words = vec![Path::new("-s"), image];
    words.extend(profiles);
    let output = read(gprof(), directory, &words);
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    let sum = directory.join("gmon.sum");
    words[0] = Path::new("-b");
    let separate = read(system, directory, &words);
    let summed = read(system, directory, &[Path::new("-b"), image, &sum]);
    assert_same(&separate.stdout, &summed.stdout, "gprof of our gmon.sum");
    compare(image, &[&sum], &["-b"]);
}

#[test]
fn sums_of_real_profiles() {
    let (image, first) = check("sums", &["leaf.c"], &[]);
    let second = image.with_file_name("second");
    fs::rename(first, &second).unwrap();
    let third = run(&image);
    sums_agree(&image, &[&second, &third]);
}

#[test]
fn a_sum_keeps_counts_too_wide_for_the_form() {
    let image = compile("wide", &["leaf.c"], &[]);
    let stage = Stage::of(&fs::read(&image).unwrap());
    let mut profile = stage.profile(&mut Random::new(5));
    replace_counts(&mut profile, |_, _| 60_000);
    for arc in profile.arcs_mut() {
        arc.count = u64::from(u32::MAX) - 1;
    }
    let path = image.with_file_name("wide");
    store(&path, &profile, Form::Gnu);
    let profiles = [path.as_path(); 3];
    compare(&image, &profiles, &["-b"]);
    sums_agree(&image, &profiles);
}

#[test]
fn a_big_image() {
    // Our own reader: thousands of functions, long names, partial debug information.
    let image = compile("big", &["leaf.c"], &[]).with_file_name("image");
    fs::copy(gprof(), &image).unwrap();
    let stage = Stage::of(&fs::read(&image).unwrap());
    assert!(stage.functions.len() > 500);
    let mut random = Random::new(7);
    let mut profile = stage.profile(&mut random);
    let bins = profile.histograms()[0].len();
    let mut hits = vec![0_u64; bins as usize];
    for _ in 0..5_000 {
        let (frompc, selfpc) = (*random.pick(&stage.functions), *random.pick(&stage.functions));
        profile.add_arc(gmon::Arc::new(frompc, selfpc, random.below(100)));
        hits[random.below(bins) as usize] += 1;
    }
    let mut hits = hits.into_iter();
    replace_counts(&mut profile, |_, count| count as u64 + hits.next().unwrap_or(0));
    let path = image.with_file_name("profile");
    store(&path, &profile, Form::Gnu);
    compare(&image, &[&path], &["-b", "--no-demangle"]);
    compare(&image, &[&path], &["-b", "-p", "-z"]);
}

#[test]
fn selections_of_reports() {
    let (image, profile) = check("choices", &["cycles.c"], &[]);
    for options in [
        "-b -P",
        "-b -Q",
        "-b -P -Q",
        "-b -p -P",
        "-b -P -p",
        "-b -P -q",
        "-b -Q -p",
        "-b -q -Q",
        "-bP",
        "-bzp",
        "-zbq",
        "--brief --flat",
        "--bri --no-g",
        "-b --demangle=none",
        "-b --no-demangle --demangle",
    ] {
        compare(&image, &[&profile], &options.split(' ').collect::<Vec<_>>());
    }
}

#[test]
fn explanations_are_where_the_system_has_them() {
    let (image, _) = check("explained", &["cycles.c"], &[]);
    let directory = image.parent().unwrap();
    let explained = read(gprof(), directory, &["a.out"]).stdout;
    let brief = read(gprof(), directory, &["-b", "a.out"]).stdout;
    let parts = |text: &[u8]| text.split(|byte| *byte == 0x0c).map(<[u8]>::to_vec).collect::<Vec<_>>();
    let (explained, brief) = (parts(&explained), parts(&brief));
    assert_eq!((explained.len(), brief.len()), (4, 3));
    assert!(explained[3].starts_with(b"\nStatistics:\n"), "a footer must follow everything else");
    let blurb = explained[0].strip_prefix(brief[0].strip_suffix(b"\n").unwrap()).unwrap();
    assert!(blurb.len() > 500 && blurb.starts_with(b"\n\n"), "the explanation must follow the flat profile");
    let title = |text: &[u8]| text.split(|byte| *byte == b'\n').skip(1).map(<[u8]>::to_vec).collect::<Vec<_>>();
    let (long, short) = (title(&explained[1]), title(&brief[1]));
    assert_eq!(long[0], b"\t\t     Call graph (explanation follows)");
    assert_eq!(long[1..short.len() - 1], short[1..short.len() - 1]);
    assert_eq!(explained[2], brief[2]);
}
