//! Profiles with the headers of 4.2BSD: GNU gprof reads and writes one of them.

use std::fs;
use std::path::Path;

use gmon::{DataModel, Encoding, Form, Hints, OldHeader, Order, Profile};
use gmon_tests::{assert_same, compare, compile, gprof, read, run, system_gprof};

fn store(path: &Path, profile: &Profile, form: Form) {
    let encoding = Encoding::new(form, DataModel::Lp64, Order::Little);
    fs::write(path, gmon::write(profile, encoding).unwrap()).unwrap();
}

#[test]
fn gnu_gprof_reads_and_writes_the_packed_header() {
    let image = compile("old_headers", &["cycles.c"], &["-g"]);
    let profile = run(&image);
    let directory = image.parent().unwrap();
    let profile = gmon::read(&fs::read(profile).unwrap(), &Hints::default()).unwrap();
    let path = image.with_file_name("old");
    store(&path, &profile, Form::OldBsd(OldHeader::Packed));
    for options in [&["-b"][..], &["-b", "-O", "bsd"], &["-b", "-l", "-p"]] {
        compare(&image, &[&path], options);
    }
    // The system's tool reads no other header. All headers mean the same.
    let ours = |form: &str| {
        let output = read(gprof(), directory, &["-b", "--profile-form", form, "a.out", "old"]);
        assert!(output.status.success(), "{form}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let packed = ours("old-bsd");
    for (header, form) in [(OldHeader::Padded, "old-bsd-padded"), (OldHeader::Wide, "old-bsd-wide")] {
        store(&path, &profile, Form::OldBsd(header));
        assert_same(&packed, &ours(form), form);
    }
    // What the system's tool writes with an old header means the same to both. GNU gprof 2.40 asks for 16 GiB of memory
    // here and then fails, so the limit saves a minute. A GNU gprof without this fault must agree.
    if system_gprof().is_none() {
        return;
    }
    let limited = ["-c", "ulimit -v 2000000; exec gprof -s -O bsd a.out gmon.out"];
    if read("sh", directory, &limited).status.success() {
        let sum = directory.join("gmon.sum");
        assert_ne!(fs::read(&sum).unwrap()[..4], *b"gmon");
        compare(&image, &[&sum], &["-b"]);
    }
}
