//! `--image`: a program and shared objects in one report. The report says of each function what the report of its image
//! alone says.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use gmon::{Arc, DataModel, Encoding, Form, Histogram, Order, Profile, Unit};
use gmon_tests::random::{Random, Stage};
use gmon_tests::{compile, gprof, read, run};

/// An image with a file for profiles.
#[derive(Clone)]
struct Image {
    path: PathBuf,
    stage: Stage,
}

impl Image {
    fn new(name: &str, file: &str, sources: &[&str], flags: &[&str]) -> Image {
        let image = compile(&format!("several_images_{name}"), sources, &[&["-g"], flags].concat());
        let path = image.with_file_name(file);
        fs::rename(image, &path).unwrap();
        let stage = Stage::of(&fs::read(&path).unwrap());
        Image { path, stage }
    }

    fn name(&self) -> &str {
        self.path.to_str().unwrap()
    }

    /// Stores a profile beside the image and returns the words that name both.
    fn words(&self, option: &str, profile: &Profile) -> Vec<String> {
        let encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
        let path = self.path.with_extension("gmon");
        fs::write(&path, gmon::write(profile, encoding).unwrap()).unwrap();
        let words = [option, self.name(), path.to_str().unwrap()];
        words.into_iter().filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }

    fn address(&self, name: &str) -> u64 {
        let bytes = fs::read(&self.path).unwrap();
        let room = gprof::internals::ImageStorage::default();
        let image = gprof::internals::Image::parse(&bytes, gprof::internals::Policy::Full, &room).unwrap();
        image.symbols.iter().find(|symbol| symbol.name == name.as_bytes()).unwrap().address
    }
}

/// A program, and two shared objects with functions of the same names.
fn images(name: &str) -> [Image; 3] {
    let shared = ["-shared", "-fPIC"];
    [
        Image::new(&format!("{name}_program"), "program", &["cycles.c"], &["-no-pie"]),
        Image::new(&format!("{name}_leaf"), "libleaf.so", &["leaf.c"], &shared),
        Image::new(&format!("{name}_same"), "libsame.so", &["same_one.c", "same_two.c"], &shared),
    ]
}

fn shown(words: &[String]) -> String {
    let output = read(gprof(), Path::new("."), words);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

fn complaint(words: &[String]) -> String {
    let output = read(gprof(), Path::new("."), words);
    let text = String::from_utf8(output.stderr).unwrap();
    let said: Vec<&str> = text.lines().filter(|line| !line.starts_with("gprof: warning: ")).collect();
    assert!(output.status.code() == Some(1) && output.stdout.is_empty() && said.len() == 1, "{text}");
    said[0].to_owned()
}

/// Each of some words, alone and with another one after it.
fn with(words: &[Vec<String>], options: &[&str]) -> Vec<String> {
    options.iter().map(|option| (*option).to_owned()).chain(words.iter().flatten().cloned()).collect()
}

/// A text without the parts that depend on the rest of the report: numbers of entries and cycles, percentages, labels.
fn alone(line: &str) -> String {
    let mut line = line.to_owned();
    for label in [" (program)", " (libleaf.so)", " (libsame.so)", " (libinlined.so)"] {
        line = line.replace(label, "");
    }
    if line.starts_with('[') {
        // The number and the percentage.
        let rest = line[6..].trim_start();
        line = rest[rest.find(' ').unwrap_or(0)..].to_owned();
    }
    let words = line.split_whitespace().filter(|word| !(word.starts_with(['[', '(']) && word.ends_with([']', ')'])));
    let mut kept: Vec<&str> = Vec::new();
    for word in words {
        // The number of a cycle.
        let is_number = kept.last() == Some(&"<cycle");
        kept.push(if is_number { "N" } else { word });
    }
    kept.join(" ").replace("N>", "N")
}

/// The entries of the call graph, in any order.
fn entries(text: &str) -> Vec<Vec<String>> {
    let graph = text.split_once("called     name\n").unwrap().1.split("\u{c}\n").next().unwrap();
    let entries = graph.split("-----------------------------------------------\n");
    let mut entries: Vec<Vec<String>> = entries.map(|entry| entry.lines().map(alone).collect()).collect();
    entries.retain(|lines: &Vec<String>| !lines.is_empty());
    entries.sort();
    entries
}

/// The rows of the flat profile without percentages and sums, in any order: self time, calls, and name.
fn rows(text: &str) -> Vec<String> {
    let mut head = text.lines().skip_while(|line| !line.contains("name"));
    // The columns before the names are as wide as their numbers.
    let names = head.next().unwrap().find("name").unwrap();
    let row = |line: &str| {
        let own = line[17..25].trim().to_owned();
        let (calls, name) = (line[25..34].trim(), &line[names..]);
        format!("{own} {calls} {}", alone(name))
    };
    let mut rows: Vec<String> =
        head.take_while(|line| !line.is_empty() && !line.starts_with('\u{c}')).map(row).collect();
    rows.sort();
    rows
}

/// The numbers of `--stats` by their texts, except those that are not sums.
fn stats(text: &str) -> BTreeMap<String, f64> {
    let line = |line: &str| {
        let (number, what) = line.trim().split_once("  ")?;
        // The total time and its error are not sums.
        let what = what.split(" (").next()?.split(": ").next()?.to_owned();
        Some((what, number.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

#[test]
fn each_function_has_what_it_has_alone() {
    let mut images = images("alone").to_vec();
    images.push(Image::new("alone_inlined", "libinlined.so", &["inlined.c"], &["-shared", "-fPIC", "-O1"]));
    let choices =
        [["-b"].as_slice(), &["-b", "-c", "-z"], &["-b", "-l"], &["-b", "--inlines"], &["-b", "-l", "--inlines"]];
    let mut everything = String::new();
    for (seed, options) in (0..25).zip(choices.into_iter().cycle()) {
        let mut random = Random::new(seed);
        let mut all = Vec::new();
        let (mut expected_entries, mut expected_rows, mut expected_stats) = (Vec::new(), Vec::new(), BTreeMap::new());
        for image in &images {
            let mut profile = image.stage.profile(&mut random);
            profile.set_unit(Unit::seconds(100));
            let words = image.words("", &profile);
            let text = shown(&with(&[words], options));
            expected_entries.extend(entries(&text));
            expected_rows.extend(rows(&text));
            let words = image.words("--image", &profile);
            for (what, number) in stats(&shown(&with(std::slice::from_ref(&words), &["--stats"]))) {
                *expected_stats.entry(what).or_insert(0.0) += number;
            }
            all.push(words);
        }
        assert!(expected_entries.len() > 5 && expected_rows.len() > 5, "{seed}");
        expected_entries.sort();
        expected_rows.sort();
        for _ in 0..2 {
            let text = shown(&with(&all, options));
            let (entries, rows) = (entries(&text), rows(&text));
            for (one, other) in entries.iter().zip(&expected_entries) {
                assert_eq!(one, other, "{seed}: {text}");
            }
            assert_eq!(entries.len(), expected_entries.len());
            assert_eq!(rows, expected_rows, "{seed}: {text}");
            assert_eq!(stats(&shown(&with(&all, &["--stats"]))), expected_stats, "{seed}");
            all.reverse();
            everything.push_str(&text);
        }
    }
    for text in ["[inlined in outer", " in outer (inlined.c:", "<cycle 2>", "<outside>"] {
        assert!(everything.contains(text), "{text}");
    }
}

/// A profile of one call and one sample.
fn small(caller: u64, called: u64) -> Profile {
    let low = called & !3;
    let histogram = Histogram::new(low..low + 8, Unit::seconds(100), vec![0_u16, 1]).unwrap();
    let arcs = vec![Arc::new(caller, called, 1)];
    Profile::of_samples(vec![histogram]).unwrap().with_arcs(arcs)
}

#[test]
fn names_that_clash_say_where_they_are_from() {
    let images = images("names");
    let [program, leaf, same] = &images;
    let words: Vec<Vec<String>> = [(program, "burn"), (leaf, "heavy"), (same, "only_here")]
        .map(|(image, name)| image.words("--image", &small(image.address(name), image.address("main"))))
        .into();
    let has = |text: &str, name: &str| text.lines().any(|line| line.ends_with(&format!("  {name}")));
    let text = shown(&with(&words, &["-bzp"]));
    for name in ["main (program)", "main (libleaf.so)", "main (libsame.so)", "heavy", "burn", "only_here"] {
        assert!(has(&text, name), "{name}: {text}");
    }
    assert!(!has(&text, "main") && !has(&text, "heavy (libleaf.so)"));
    // A name selects all functions of that name; a name with an image selects one.
    let rows = |spec: &str| rows(&shown(&with(&words, &["-bz", spec]))).len();
    assert_eq!([rows("-pmain"), rows("-pmain (libleaf.so)"), rows("-pheavy")], [3, 1, 1]);
    // Directories distinguish two images of the same name.
    let copy = leaf.path.parent().unwrap().join("copy/libleaf.so");
    fs::create_dir_all(copy.parent().unwrap()).unwrap();
    fs::copy(&leaf.path, &copy).unwrap();
    let copied = vec![words[1].clone(), vec!["--image".into(), copy.to_str().unwrap().into(), words[1][2].clone()]];
    let text = shown(&with(&copied, &["-bp"]));
    assert!(
        has(&text, &format!("main ({})", copy.display())) && has(&text, &format!("main ({})", leaf.name())),
        "{text}"
    );
    // The same image named twice is one image with two profiles.
    let twice = [words[1].clone(), words[0].clone(), words[1].clone()];
    assert!(
        shown(&with(&twice, &["-bp"])).lines().any(|line| line.contains(" 2 ") && line.ends_with("main (libleaf.so)"))
    );
}

#[test]
fn places_in_the_sources_and_addresses_are_the_images_own() {
    let images = images("sources");
    let words: Vec<Vec<String>> = images
        .iter()
        .map(|image| image.words("--image", &small(image.address("main"), image.address("main"))))
        .collect();
    let text = shown(&with(&words, &["-zC"]));
    for (image, name, label) in [(0, "burn", ""), (1, "heavy", ""), (2, "main", " (libsame.so)")] {
        let expected = format!("({name}{label}:0x{:x}) ", images[image].address(name));
        assert!(text.contains(&expected), "{expected}: {text}");
    }
    // Static functions have the name of their file in the index. All files can be annotated and can select functions.
    let text = shown(&with(&words, &["-bzq"]));
    assert!(text.contains("work (same_one.c)") && text.contains("work (same_two.c)"), "{text}");
    let text = shown(&with(&words, &["-zA"]));
    assert_eq!(text.matches("*** File ").count(), 4, "{text}");
    assert!(rows(&shown(&with(&words, &["-bz", "-pleaf.c:"]))).len() >= 4);
}

#[test]
fn a_program_and_a_shared_object_in_one_run() {
    let program = compile("several_images_run", &["cycles.c"], &["-g"]);
    let profile = run(&program);
    let leaf = Image::new("run_leaf", "libleaf.so", &["leaf.c"], &["-shared", "-fPIC"]);
    let words = leaf.words("--image", &small(leaf.address("main"), leaf.address("heavy")));
    let both = [vec![program.to_str().unwrap().to_owned(), profile.to_str().unwrap().to_owned()], words];
    let text = shown(&with(&both, &["-b"]));
    let single = shown(&with(&both[..1], &["-b"]));
    assert!(entries(&single).iter().all(|entry| entries(&text).contains(entry)));
    assert!(text.contains("main (a.out)") && text.lines().any(|line| line.ends_with("  heavy")), "{text}");
}

#[test]
fn incompatible_options() {
    let images = images("errors");
    let [program, leaf, _] = &images;
    let small = |image: &Image| small(image.address("main"), image.address("main"));
    let first = program.words("--image", &small(program));
    let mut other = small(leaf);
    other.set_unit(Unit::seconds(1000));
    let text = complaint(&with(&[first.clone(), leaf.words("--image", &other)], &[]));
    assert!(text.starts_with(&format!("gprof: {}: ", leaf.path.with_extension("gmon").display())), "{text}");
    assert!(text.contains("1000"), "{text}");
    // Bins of another size are allowed.
    let mut other = small(leaf);
    let low = other.take_histograms()[0].lowpc();
    other.add_histogram(Histogram::new(low..low + 8, Unit::seconds(100), vec![0_u16, 1, 3]).unwrap()).unwrap();
    assert!(shown(&with(&[first.clone(), leaf.words("--image", &other)], &["--stats"])).contains("5.0  samples"));
    // The address space can hold one image with such a profile, not two.
    let wide = |image: &Image, highpc: u64| {
        let mut profile = small(image);
        profile.take_histograms();
        let bins = vec![1_u16; 4];
        profile.add_histogram(Histogram::new(0..highpc, Unit::seconds(100), bins).unwrap()).unwrap();
        image.words("--image", &profile)
    };
    let fits = [wide(program, 1 << 62), wide(leaf, 1 << 62)];
    assert!(shown(&with(&fits, &["--stats"])).contains("8.0  samples"));
    let text = complaint(&with(&[wide(program, 1 << 63), wide(leaf, u64::MAX)], &[]));
    assert!(text.contains("libleaf.so: the image and its profile cover more addresses"), "{text}");
    let files = [wide(leaf, u64::MAX)];
    assert!(shown(&with(&files, &["--stats"])).contains("4.0  samples"));
}
