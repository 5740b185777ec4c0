//! `-s`: the sum of profiles is the same in every grouping and order.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use gmon::{Block, DataModel, Encoding, Form, Hints, Histogram, Order, Profile};
use gmon_tests::profiles::replace_counts;
use gmon_tests::random::{Random, Stage};
use gmon_tests::{assert_same, compile, directory, gprof, read, system_gprof};
use gprof::internals::{Image, ImageStorage, Policy};

/// Profiles that can be added up: one range and rate, different counts, some of them too wide for the form's fields.
/// Some have no samples, some no calls.
fn profiles(stage: &Stage, random: &mut Random) -> Vec<Profile> {
    let first = stage.profile(random);
    let count = |random: &mut Random| {
        let most = *random.pick(&[1, 3, 100, 70_000, 1 << 33]);
        random.below(most)
    };
    let mut all = Vec::new();
    for _ in 0..3 + random.below(3) {
        let mut profile = first.clone();
        replace_counts(&mut profile, |_, _| {
            if random.below(10) == 0 { random.below(*random.clone().pick(&[3, 70_000, 200_000])) } else { 0 }
        });
        let others = stage.profile(random).arcs().to_vec();
        profile.retain_arcs(|_| random.below(2) == 0);
        profile.add_arcs(others);
        profile.arcs_mut().iter_mut().for_each(|arc| arc.count = count(random));
        if random.below(5) == 0 {
            profile.take_histograms();
        } else if random.below(5) == 0 {
            profile.take_arcs();
        }
        all.push(profile);
    }
    all
}

/// The output of `gprof -s` for files, in a directory of its own.
fn sum(image: &Path, folder: &Path, files: &[PathBuf]) -> PathBuf {
    fs::create_dir_all(folder).unwrap();
    let mut words = vec![Path::new("-s"), image];
    words.extend(files.iter().map(PathBuf::as_path));
    let output = read(gprof(), folder, &words);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && output.stdout.is_empty(), "{words:?}: {stderr}");
    folder.join("gmon.sum")
}

/// The contents of a profile, in an order that does not depend on the order of reading.
fn contents(path: &Path) -> Profile {
    let mut profile = gmon::read(&fs::read(path).unwrap(), &Hints::default()).unwrap();
    let mut histograms = profile.take_histograms();
    histograms.sort_by_key(Histogram::lowpc);
    histograms.into_iter().for_each(|histogram| profile.add_histogram(histogram).unwrap());
    profile.arcs_mut().sort();
    profile
}

#[test]
fn any_grouping_and_any_order() {
    let image = compile("sums_grouped", &["many.c"], &["-g"]);
    let stage = Stage::of(&fs::read(&image).unwrap());
    for seed in 0..25 {
        let mut random = Random::new(seed);
        let folder = directory(&format!("sums_grouped_{seed}"));
        let mut files: Vec<PathBuf> = Vec::new();
        for (at, profile) in profiles(&stage, &mut random).iter().enumerate() {
            let encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
            files.push(folder.join(format!("profile{at}")));
            fs::write(&files[at], gmon::write(profile, encoding).unwrap()).unwrap();
        }
        let whole = sum(&image, &folder.join("whole"), &files);
        let bytes = fs::read(&whole).unwrap();

        // Grouped in any way, in the same order: the same bytes.
        for at in 0..=files.len() {
            let (first, second) = files.split_at(at);
            let mut parts = Vec::new();
            for (name, part) in [("first", first), ("second", second)].into_iter().filter(|(_, part)| !part.is_empty())
            {
                parts.push(sum(&image, &folder.join(format!("{name}{at}")), part));
            }
            let grouped = sum(&image, &folder.join(format!("grouped{at}")), &parts);
            assert!(fs::read(grouped).unwrap() == bytes, "{seed}: grouping at {at} gives another sum");
        }
        // One by one, each added to the previous sum.
        let mut so_far = files[0].clone();
        for (at, file) in files.iter().enumerate().skip(1) {
            so_far = sum(&image, &folder.join(format!("step{at}")), &[so_far, file.clone()]);
        }
        assert!(fs::read(so_far).unwrap() == bytes, "{seed}: adding one by one gives another sum");

        // In any order: the same contents, in the order of the files.
        for round in 0..3 {
            let mut shuffled = files.clone();
            for at in (1..shuffled.len()).rev() {
                shuffled.swap(at, random.below(at as u64 + 1) as usize);
            }
            let shuffled = sum(&image, &folder.join(format!("shuffled{round}")), &shuffled);
            assert!(contents(&shuffled) == contents(&whole), "{seed}: another order gives another sum");
        }
        // The report of the sum is the report of all profiles, behind the warnings, which name the files: the program
        // does not have the profiles' calls.
        let report = |files: &[PathBuf]| {
            let mut words = vec![PathBuf::from("-bz"), image.clone()];
            words.extend(files.iter().cloned());
            let text = String::from_utf8(read(gprof(), &folder, &words).stdout).unwrap();
            let report: Vec<&str> =
                text.lines().skip_while(|line| line.starts_with("warning: ") || line.is_empty()).collect();
            report.join("\n")
        };
        assert_same(report(&files).as_bytes(), report(&[whole]).as_bytes(), "the report of the sum");
        fs::remove_dir_all(&folder).unwrap();
    }
}

/// Profiles for the system's tool, whose fields are narrow: block counts, separate ranges, and counts that only the sum
/// exceeds.
fn narrow(stage: &Stage, random: &mut Random, starts: &[u64]) -> Vec<Profile> {
    let first = stage.profile(random);
    let profile = |random: &mut Random| {
        let mut profile = first.clone();
        replace_counts(&mut profile, |_, _| if random.below(10) == 0 { random.below(1 << 16) } else { 0 });
        profile.add_arcs(stage.profile(random).take_arcs());
        for arc in profile.arcs_mut() {
            arc.count = *random.pick(&[0, 1, 1000, u64::from(u32::MAX) - 3]);
        }
        let block = |random: &mut Random| Block::new(*random.pick(starts), random.below(1 << 20));
        let blocks = *random.pick(&[0, 0, 3, 40]);
        profile.take_blocks();
        profile.add_blocks((0..blocks).map(|_| block(random)));
        profile
    };
    (0..1 + random.below(3)).map(|_| profile(random)).collect()
}

/// With `--compat=gnu`, the sum equals the system tool's. The spare bytes of the tool's header contain uninitialized
/// memory.
#[test]
fn sums_of_the_systems_tool() {
    const SPARE: std::ops::Range<usize> = 8..20;
    let Some(system) = system_gprof() else {
        return;
    };
    for (source, flags) in [
        ("calls.c", ["-O0", "-gdwarf-4"]),
        ("nested.c", ["-O2", "-gdwarf-4"]),
        ("aliases.c", ["-O1", "-g"]),
        ("kinds.cc", ["-O0", "-g"]),
        ("classes.cc", ["-O0", "-g0"]),
    ] {
        let image = compile(&format!("sums_gnu_{source}"), &[source], &flags);
        let stage = Stage::of(&fs::read(&image).unwrap());
        let bytes = fs::read(&image).unwrap();
        let room = ImageStorage::default();
        let program = Image::parse(&bytes, Policy::Compat, &room).unwrap();
        let lines = program.files.lines();
        let lines = lines.within(program.text.clone()).map(|range| range.start);
        let starts: Vec<u64> = lines.chain(stage.functions.iter().copied()).collect();
        for seed in 0..8 {
            let mut random = Random::new(seed);
            let folder = directory(&format!("sums_gnu_{source}_{seed}"));
            let mut files = Vec::new();
            for (at, profile) in narrow(&stage, &mut random, &starts).iter().enumerate() {
                let encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
                files.push(folder.join(format!("profile{at}")));
                fs::write(&files[at], gmon::write(profile, encoding).unwrap()).unwrap();
            }
            for options in [["-s"].as_slice(), &["-s", "-a"], &["-s", "-k", "main/main"], &["-s", "-b", "-p"]] {
                let sums = [(Path::new(system), ""), (gprof(), "--compat=gnu")].map(|(reader, compat)| {
                    let mut words: Vec<&OsStr> =
                        std::iter::once(compat).chain(options.iter().copied()).map(OsStr::new).collect();
                    words.retain(|word| !word.is_empty());
                    words.push(image.as_os_str());
                    words.extend(files.iter().map(|file| file.as_os_str()));
                    let _ = fs::remove_file(folder.join("gmon.sum"));
                    let output = read(reader, &folder, &words);
                    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
                    let mut sum = fs::read(folder.join("gmon.sum")).unwrap();
                    sum[SPARE].fill(0);
                    (sum, output.stdout)
                });
                assert_same(&sums[0].1, &sums[1].1, &format!("{source} {seed} {options:?}"));
                assert!(sums[0].0 == sums[1].0, "{source} {seed} {options:?}: {}", folder.display());
            }
            fs::remove_dir_all(&folder).unwrap();
        }
    }
}
