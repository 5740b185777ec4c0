//! Side files of other runs, damaged side files, and objects that are not there any more.

use std::fs;
use std::path::Path;

use gmon::side_file::{Checksum, SideFile};
use gmon_tests::directory;
use gmon_tests::random::Random;
use gprof::Options;

use super::made::{BIN, Image, Run, beside, images, printed};

/// The warnings and the report.
fn told(images: &[Image], directory: &Path, words: &[&str]) -> (String, String) {
    let output = printed(images, directory, words);
    (String::from_utf8(output.stderr).unwrap(), String::from_utf8(output.stdout).unwrap())
}

/// The number before a text in the statistics.
fn statistic(printed: &str, text: &str) -> f64 {
    let line = printed.split("Statistics:").nth(1).unwrap().lines().find(|line| line.contains(text));
    line.map_or(0.0, |line| line.split_whitespace().next().unwrap().parse().unwrap())
}

#[test]
fn files_of_other_runs_and_damaged_files_are_left_out() {
    let images = images("faults");
    let directory = directory("side_files_faults");
    let (path, mut random) = (directory.join("gmon.out"), Random::new(1));
    let [other, run] = [(); 2].map(|()| Run::random(&images, &mut random));
    other.write_side(&images, &path);
    let stale = fs::read(beside(&path, "side")).unwrap();
    run.write_profile(&images, &path);
    fs::remove_file(beside(&path, "side")).unwrap();
    let (warnings, alone) = told(&images, &directory, &["gmon.out"]);
    assert_eq!(warnings, "");
    let cut = [&stale[..stale.len() - 8], b"\x88\xff\xff\xff\xff\xff\xff\xff"].concat();
    for (bytes, why) in [
        (&stale[..], "belongs to another run than gmon.out; gprof ignores the side file"),
        (
            &stale[..40],
            "truncated header of a part (needs 0x10 bytes, 0x8 left at offset 0x20); gprof ignores the side file",
        ),
        (&cut, "damaged side file"),
        (b"text", "gprof ignores the side file"),
        (b"", ""),
    ] {
        fs::write(beside(&path, "side"), bytes).unwrap();
        let (warnings, printed) = told(&images, &directory, &["gmon.out"]);
        assert_eq!(printed, alone);
        let expected = if why.is_empty() { 0 } else { 1 };
        assert!(warnings.lines().count() == expected && warnings.contains(why), "{why}: {warnings}");
        assert!(warnings.is_empty() || warnings.starts_with("gprof: warning: gmon.out.side: "), "{warnings}");
        assert_eq!(told(&images, &directory, &["--compat=gnu", "gmon.out"]).0, "");
    }
    // The list of an older runtime counts if the side file is of another run, and not if the side file is of this run.
    run.write_list(&images, &path);
    let (_, with_list) = told(&images, &directory, &["gmon.out"]);
    fs::write(beside(&path, "side"), stale).unwrap();
    assert_eq!(told(&images, &directory, &["gmon.out"]), (String::new(), with_list.clone()));
    run.write_side(&images, &path);
    fs::write(beside(&path, "objects"), "gmon objects 2\n").unwrap();
    assert_eq!(told(&images, &directory, &["gmon.out"]), (String::new(), with_list));
}

#[test]
fn the_file_of_a_live_profile_names_its_start() {
    let images = images("live");
    let directory = directory("side_files_live");
    let path = directory.join("gmon.out");
    let run = Run::random(&images, &mut Random::new(2));
    run.write_side(&images, &path);
    let whole = told(&images, &directory, &["gmon.out"]);
    let profile = fs::read(&path).unwrap();
    let mut live = run.side_file(&images, &profile);
    live.set_live(true);
    live.set_profile(Some(Checksum::of(&profile[..20])));
    let bytes = live.write();
    // The program was killed before it wrote the end.
    fs::write(beside(&path, "side"), &bytes[..bytes.len() - 24]).unwrap();
    assert_eq!(told(&images, &directory, &["gmon.out"]), whole);
}

#[test]
fn objects_that_are_gone_count_as_outside() {
    let images = images("gone");
    let directory = directory("side_files_gone");
    let path = directory.join("gmon.out");
    let mut run = Run::random(&images, &mut Random::new(3));
    run.elsewhere = 0;
    run.write_side(&images, &path);
    fs::rename(&images[1].path, images[1].path.with_extension("old")).unwrap();
    let (warnings, printed) = told(&images, &directory, &["gmon.out"]);
    let expected = "No such file or directory (os error 2): the time in this object counts as outside the program";
    assert_eq!(warnings, format!("gprof: warning: {}: {expected}\n", images[1].path.display()));
    let ticks: u64 = run.ticks[&1].values().sum();
    assert_eq!(statistic(&printed, "more samples outside") as u64, ticks);
    fs::copy(&images[2].path, &images[1].path).unwrap();
    let (warnings, printed) = told(&images, &directory, &["gmon.out"]);
    assert!(warnings.contains(": another build (no build ID) than in the run ("), "{warnings}");
    assert_eq!(statistic(&printed, "more samples outside") as u64, ticks);
}

#[test]
fn ticks_in_no_code_of_an_object_are_not_lost() {
    let images = images("beyond");
    let directory = directory("side_files_beyond");
    let path = directory.join("gmon.out");
    let run = Run { ticks: [(1, [(images[1].code.start / BIN, 3)].into())].into(), ..Run::default() };
    let profile = run.write_profile(&images, &path);
    let mut side: SideFile = run.side_file(&images, &profile);
    for bin in [1 << 50, images[1].code.end / BIN] {
        side.add_samples(None, 1, BIN, bin, 4).unwrap();
    }
    fs::write(beside(&path, "side"), side.write()).unwrap();
    let (warnings, printed) = told(&images, &directory, &["gmon.out"]);
    assert_eq!(warnings, "");
    assert_eq!((statistic(&printed, "samples at a profrate"), statistic(&printed, "more samples outside")), (3.0, 8.0));
}

#[test]
fn no_side_file_stops_a_report() {
    use gmon::side_file::{CutReason, Place, THREAD, Thread};
    let images = images("mutated");
    let directory = directory("side_files_mutated");
    let path = directory.join("gmon.out");
    let mut random = Random::new(4);
    let run = Run::random(&images, &mut random);
    let profile = run.write_profile(&images, &path);
    let mut side = run.side_file(&images, &profile);
    side.set_live(true);
    let thread = side.add_thread(Thread::new(7, b"one"));
    let level = side.add_context(None, Place { object: THREAD, address: thread as u64 }, 0).unwrap();
    let main = side.add_context(Some(level), Place { object: 0, address: images[0].functions[0] }, 3).unwrap();
    side.add_context(Some(main), Place { object: 1, address: images[1].functions[0] }, 4).unwrap();
    let cut = side.add_context(Some(level), CutReason::TOO_DEEP.place(), 0).unwrap();
    side.add_context(Some(cut), Place { object: 2, address: images[2].functions[0] }, 5).unwrap();
    let whole = side.write();
    // A live file needs no end, and so no checksum.
    let whole = &whole[..whole.len() - 24];
    for _ in 0..150 {
        let mut bytes = whole.to_vec();
        for _ in 0..1 + random.below(3) {
            let at = 32 + random.below(bytes.len() as u64 - 32) as usize;
            bytes[at] = random.number() as u8;
        }
        fs::write(beside(&path, "side"), bytes).unwrap();
        for options in [Options::new(&images[0].path, [&path]), Options::new(&images[0].path, [&path]).thread("one")] {
            // Whether the file is valid is luck; the program's own counts are there unless a thread is chosen.
            let Ok(loaded) = gprof::load(&options, &mut std::io::sink()) else { continue };
            if let Ok(analysis) = gprof::analyze(&loaded, &options, &mut std::io::sink()) {
                let samples = analysis.stats().samples;
                let own: u64 = run.ticks[&0].values().sum();
                assert!(options == options.clone().thread("one") || samples >= own as f64, "{samples}");
            }
        }
    }
}
