//! Profiles in the forms of other systems: Darwin's tagged files, illumos' PROF files, and the profiles of illumos'
//! run-time linker give the same report as GNU's form with the same content.
#![cfg(target_pointer_width = "64")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gmon::{Arc, Bins, DataModel, Encoding, Form, Histogram, Image, Order, Profile, Unit};
use gmon_tests::symbols::Symbols;

const ORDER: Order = if cfg!(target_endian = "little") { Order::Little } else { Order::Big };

/// Samples and calls in three functions of the program `leaf.c`. Each sample is in a bin of four bytes that is in one
/// function, because a function of four bytes is too short for the compiler.
fn profile(image: &Path) -> Profile {
    let symbols = Symbols::of(image);
    let [heavy, light, middle] = ["heavy", "light", "middle"].map(|name| symbols.address(name));
    let start = heavy.min(light).min(middle) & !3;
    let end = (heavy.max(light).max(middle) + 64) & !3;
    let mut bins = vec![0_u16; usize::try_from((end - start) / 4).unwrap()];
    for (function, count) in [(heavy, 700), (light, 20), (middle, 3)] {
        // The first whole bin of the function.
        bins[usize::try_from((function + 4 - start) / 4).unwrap()] = count;
    }
    let samples = Histogram::new(start..end, Unit::seconds(100), bins).unwrap();
    let arcs = [(middle + 9, heavy + 4, 3000), (middle + 5, light + 4, 6000), (0, middle + 4, 3000)];
    Profile::of_samples([samples])
        .unwrap()
        .with_arcs(arcs.map(|(frompc, selfpc, count)| Arc::new(frompc, selfpc, count)))
}

/// Writes a profile beside the program.
fn write(image: &Path, profile: &Profile, form: Form) -> PathBuf {
    let path = image.with_file_name(format!("{form}.profile").replace(' ', "-"));
    fs::write(&path, gmon::write(profile, Encoding::new(form, DataModel::Lp64, ORDER)).unwrap()).unwrap();
    path
}

/// What gprof prints. gprof must have nothing to warn about.
fn gprof(image: &Path, profile: &Path, options: &[&str]) -> String {
    let words = [options, &[image.to_str().unwrap(), profile.to_str().unwrap()]].concat();
    let output = gmon_tests::read(gmon_tests::gprof(), image.parent().unwrap(), &words);
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{words:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

fn program(name: &str) -> PathBuf {
    gmon_tests::compile(name, &["leaf.c"], &["-O1", "-no-pie", "-fno-pie"])
}

#[test]
fn darwin() {
    let image = program("other-systems-darwin");
    let mut profile = profile(&image);
    let gnu = write(&image, &profile, Form::Gnu);
    for arc in profile.arcs().to_vec() {
        profile.set_order(arc.frompc, arc.selfpc, 7);
    }
    profile.add_image(Image::new("/usr/lib/libSystem.B.dylib").with_header(0x7fff_9000_0000));
    profile.add_image(Image::new("/usr/lib/old.dylib").with_slide(0x1000));
    let darwin = write(&image, &profile, Form::Darwin);
    for options in [&["-b"][..], &["-b", "--compat=gnu"], &["--bsd", "-b"]] {
        let report = gprof(&image, &gnu, options);
        assert!(report.contains("7.00"), "{report}");
        assert_eq!(gprof(&image, &darwin, options), report, "{options:?}");
    }
    let info = gprof(&image, &darwin, &["-i"]);
    for line in [
        "1 histogram record",
        "3 call-graph records",
        "image /usr/lib/libSystem.B.dylib, header at 0x7fff90000000",
        "image /usr/lib/old.dylib, moved by 0x1000",
    ] {
        assert!(info.lines().any(|known| known.trim() == line), "{line}: {info}");
    }
}

/// The lines of a report that name a function of the program.
fn rows(report: &str) -> Vec<&str> {
    report.lines().filter(|line| ["heavy", "light", "middle"].iter().any(|name| line.contains(name))).collect()
}

#[test]
fn illumos_prof() {
    let image = program("other-systems-prof");
    let profile = profile(&image);
    let gnu = write(&image, &profile, Form::Gnu);
    // The form keeps one address of each sample. Other samples are in a module of the process, as in each real profile.
    let mut raw: Vec<(u64, u64)> = Vec::new();
    for (bin, count) in profile.histograms()[0].hit() {
        raw.push((profile.histograms()[0].bin_range(bin).start, u64::try_from(count).unwrap()));
    }
    raw.push((0xfee0_1000_0000, 5));
    let bins = Bins::sparse(u64::MAX, raw).unwrap();
    let samples = Histogram::new(0..u64::MAX, Unit::seconds(0), bins).unwrap();
    let mut whole = Profile::of_samples([samples]).unwrap().with_arcs(profile.arcs().iter().copied());
    whole.add_image(Image::new("/usr/bin/leaf").with_range(0x40_0000..0x40_2000));
    whole.add_image(Image::new("/lib/libc.so.1").with_range(0xfee0_0000_0000..0xfee0_2000_0000));
    let prof = write(&image, &whole, Form::IllumosProf);
    for options in [&["-b", "-p"][..], &["-b", "-p", "--compat=gnu"]] {
        let (expected, found) = (gprof(&image, &gnu, options), gprof(&image, &prof, options));
        assert_eq!(rows(&found), rows(&expected), "{options:?}\n{expected}\n{found}");
        assert!(rows(&found)[0].contains("7.00"), "{found}");
    }
    let stats = gprof(&image, &prof, &["-b", "-p", "--stats"]);
    assert!(stats.lines().any(|line| line.trim().starts_with("5  more samples outside of the program")), "{stats}");
    let info = gprof(&image, &prof, &["-i"]);
    assert!(info.contains("image /lib/libc.so.1, at 0xfee000000000..0xfee020000000"), "{info}");
}

#[test]
fn illumos_profile_of_another_program() {
    let image = program("other-systems-foreign");
    let bins = Bins::sparse(u64::MAX, vec![(0xfee0_1000_0000, 5)]).unwrap();
    let samples = Histogram::new(0..u64::MAX, Unit::seconds(0), bins).unwrap();
    let prof = write(&image, &Profile::of_samples([samples]).unwrap(), Form::IllumosProf);
    let words = [image.to_str().unwrap(), prof.to_str().unwrap()];
    let output = gmon_tests::read(gmon_tests::gprof(), image.parent().unwrap(), &words);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && said.contains("no sample in the profile is in the program"), "{said}");
}

#[test]
fn illumos_run_time_linker() {
    let directory = gmon_tests::directory("other-systems-rtld");
    let library = directory.join("libleaf.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/leaf.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-shared", "-fPIC", "-Dmain=run", "-o"]).args([&library, &source]);
    assert!(compiler.status().unwrap().success());
    let known = profile(&library);
    // The range starts at the start of the library.
    let samples = &known.histograms()[0];
    let first = usize::try_from(samples.lowpc() / 4).unwrap();
    let mut bins = vec![0_u16; first];
    bins.extend((0..samples.len()).map(|bin| u16::try_from(samples.count(bin)).unwrap()));
    let samples = Histogram::new(0..samples.highpc(), Unit::seconds(100), bins).unwrap();
    let whole = Profile::of_samples([samples]).unwrap().with_arcs(known.arcs().iter().copied());
    let (gnu, rtld) = (write(&library, &whole, Form::Gnu), write(&library, &whole, Form::IllumosRtld));
    let report = |profile: &Path| {
        let words = ["-b", library.to_str().unwrap(), profile.to_str().unwrap()];
        String::from_utf8(gmon_tests::read(gmon_tests::gprof(), &directory, &words).stdout).unwrap()
    };
    assert!(report(&gnu).contains("7.00"), "{}", report(&gnu));
    assert_eq!(report(&rtld), report(&gnu));
}
