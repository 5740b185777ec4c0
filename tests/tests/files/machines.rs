//! Images of other machines, and profiles without results: the reports and the warnings.

use std::fs;
use std::path::{Path, PathBuf};

use gmon::{Arc, Encoding, Form, Histogram, Order, Profile, Unit, Word};
use gmon_tests::{compile, directory, gprof, read, run};

/// A section: name, type, flags, address, bytes, link, and entry size.
type Section<'a> = (&'a str, u32, u64, u64, Vec<u8>, u32, u64);

/// Numbers in the byte order and the word size of a machine.
#[derive(Clone, Copy)]
struct Machine {
    number: u16,
    flags: u32,
    wide: bool,
    big: bool,
}

impl Machine {
    fn number(self, value: u64, size: usize) -> Vec<u8> {
        let bytes = value.to_le_bytes();
        if self.big { bytes[..size].iter().rev().copied().collect() } else { bytes[..size].to_vec() }
    }

    fn word(self, value: u64) -> Vec<u8> {
        self.number(value, if self.wide { 8 } else { 4 })
    }

    /// A global function.
    fn symbol(self, name: u64, section: u64, value: u64) -> Vec<u8> {
        let (info, other) = (vec![0x12_u8], vec![0_u8]);
        let (name, section, value) = (self.number(name, 4), self.number(section, 2), self.word(value));
        let parts = if self.wide {
            [name, info, other, section, value, self.word(0)]
        } else {
            [name, value, self.word(0), info, other, section]
        };
        parts.concat()
    }

    /// An executable with these sections; the last one must be the table of section names.
    fn file(self, sections: &[Section<'_>]) -> Vec<u8> {
        let head: usize = if self.wide { 64 } else { 52 };
        let names: String = sections.iter().map(|section| format!("\0{}", section.0)).collect::<String>() + "\0";
        let mut body = Vec::new();
        let mut table = vec![0; if self.wide { 64 } else { 40 }];
        let mut name = 1;
        for (title, kind, flags, address, bytes, link, entry) in sections {
            let bytes = if *title == ".shstrtab" { names.as_bytes() } else { bytes };
            table.extend([self.number(name, 4), self.number(u64::from(*kind), 4)].concat());
            let at = (head + body.len()) as u64;
            table.extend([*flags, *address, at, bytes.len() as u64].map(|word| self.word(word)).concat());
            table.extend(
                [self.number(u64::from(*link), 4), self.number(0, 4), self.word(1), self.word(*entry)].concat(),
            );
            body.extend(bytes);
            name += title.len() as u64 + 1;
        }
        let mut file = b"\x7fELF".to_vec();
        file.extend([if self.wide { 2 } else { 1 }, if self.big { 2 } else { 1 }, 1]);
        file.resize(16, 0);
        file.extend([self.number(2, 2), self.number(u64::from(self.number), 2), self.number(1, 4)].concat());
        file.extend([0, 0, (head + body.len()) as u64].map(|word| self.word(word)).concat());
        file.extend(self.number(u64::from(self.flags), 4));
        let count = sections.len() as u64 + 1;
        let sizes = [head as u64, 0, 0, if self.wide { 64 } else { 40 }, count, count - 1];
        file.extend(sizes.map(|size| self.number(size, 2)).concat());
        [file, body, table].concat()
    }

    /// Writes an image with the functions `first` and `second` at 0x1000 and 0x1040, and a profile of both: 30 and 70
    /// samples, and 5 calls of the second by the first. `values` are the symbols' values, in the section with that
    /// number.
    fn stage(self, name: &str, section: u64, values: [u64; 2], more: Option<Section<'_>>) -> PathBuf {
        let place = directory(name);
        let none = self.symbol(0, 0, 0).into_iter().map(|_| 0).collect::<Vec<u8>>();
        let symbols = [none, self.symbol(1, section, values[0]), self.symbol(7, section, values[1])].concat();
        let entry = if self.wide { 24 } else { 16 };
        let mut sections: Vec<Section<'_>> = vec![(".text", 1, 6, 0x1000, vec![0; 0x80], 0, 0)];
        sections.extend(more);
        let strings = sections.len() as u32 + 2;
        sections.push((".symtab", 2, 0, 0, symbols, strings, entry));
        sections.push((".strtab", 3, 0, 0, b"\0first\0second\0".to_vec(), 0, 0));
        sections.push((".shstrtab", 3, 0, 0, Vec::new(), 0, 0));
        fs::write(place.join("a.out"), self.file(&sections)).unwrap();
        let mut bins = vec![0_u64; 32];
        (bins[4], bins[20]) = (30, 70);
        let profile = samples(0x1000..0x1080, bins).with_arcs([Arc::new(0x1011, 0x1045, 5)]);
        self.write(&place.join("gmon.out"), &profile);
        place
    }

    fn write(self, path: &Path, profile: &Profile) {
        let word = if self.wide { Word::W64 } else { Word::W32 };
        let order = if self.big { Order::Big } else { Order::Little };
        fs::write(path, gmon::write(profile, Encoding::new(Form::Gnu, word.into(), order)).unwrap()).unwrap();
    }
}

fn samples(range: std::ops::Range<u64>, bins: Vec<u64>) -> Profile {
    let histogram = Histogram::new(range.start..range.end, Unit::seconds(100), bins).unwrap();
    Profile::of_samples(vec![histogram]).unwrap()
}

/// gprof's standard error and standard output; gprof must succeed.
fn report(place: &Path, words: &[&str]) -> (String, String) {
    let output = read(gprof(), place, words);
    assert!(output.status.success(), "{output:?}");
    [output.stderr, output.stdout].map(|text| String::from_utf8(text).unwrap()).into()
}

/// Checks that the report has the samples and the calls of both functions.
fn is_told(place: &Path) {
    is_told_with(place, &[&["-b", "-p"], &["-b", "-p", "--compat=gnu"]], "");
}

/// `gnu_prefix` is what GNU gprof puts before the names.
fn is_told_with(place: &Path, all_options: &[&[&str]], gnu_prefix: &str) {
    for options in all_options {
        let (said, printed) = report(place, options);
        assert_eq!(said, "");
        let row = |name: &str| {
            let name = if options.len() == 2 { name.to_owned() } else { format!("{gnu_prefix}{name}") };
            let line = printed.lines().find(|line| line.split_whitespace().last() == Some(&*name));
            line.unwrap_or_else(|| panic!("no {name}: {printed}"))
                .split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(row("first")[2], "0.30", "{printed}");
        // GNU gives the last function no samples.
        let seconds = if options.len() == 2 { "0.70" } else { "0.00" };
        assert_eq!((row("second")[2].as_str(), row("second")[3].as_str()), (seconds, "5"), "{printed}");
    }
    let (_, printed) = report(place, &["-b", "-q"]);
    assert!(printed.lines().any(|line| line.contains("5/5") && line.contains("second")), "{printed}");
}

const POWER: Machine = Machine { number: 21, flags: 1, wide: true, big: true };

#[test]
fn function_descriptors() {
    let entries = |addresses: [u64; 2]| {
        addresses.map(|address| [address, 0x9000, 0].map(|word| POWER.word(word)).concat()).concat()
    };
    let descriptors = |bytes| Some((".opd", 1, 3, 0x2000, bytes, 0, 0));
    // GNU names the code, and the symbols are those of the descriptors.
    let dotted = |place: PathBuf| is_told_with(&place, &[&["-b", "-p"], &["-b", "-p", "--compat=gnu"]], ".");
    dotted(POWER.stage("machines-opd", 2, [0x2000, 0x2018], descriptors(entries([0x1000, 0x1040]))));
    // Without an ABI in the header; and the second ABI, which has no descriptors.
    let silent = Machine { flags: 0, ..POWER };
    dotted(silent.stage("machines-opd-silent", 2, [0x2000, 0x2018], descriptors(entries([0x1000, 0x1040]))));
    let second = Machine { flags: 2, big: false, ..POWER };
    is_told(&second.stage("machines-ppc64le", 1, [0x1000, 0x1040], None));
    // Descriptors that lead nowhere or are truncated are not functions.
    for (name, bytes) in [("nowhere", entries([0x5000, u64::MAX])), ("cut", vec![0; 7])] {
        let place = POWER.stage(&format!("machines-opd-{name}"), 2, [0x2000, 0x2018], descriptors(bytes));
        let output = read(gprof(), &place, &["-b"]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains("no symbols of functions"), "{said}");
    }
}

#[test]
fn thumb_code() {
    let arm = Machine { number: 40, flags: 0x0500_0000, wide: false, big: false };
    // The bin at 0x1040 belongs to the second function only if the function does not begin at 0x1041.
    let place = arm.stage("machines-thumb", 1, [0x1001, 0x1041], None);
    is_told(&place);
    let mut bins = vec![0_u64; 0x80];
    (bins[0], bins[0x40]) = (30, 70);
    let profile = samples(0x1000..0x1080, bins).with_arcs([Arc::new(0x1011, 0x1041, 5)]);
    arm.write(&place.join("gmon.out"), &profile);
    // (GNU cannot use bins of one byte.)
    is_told_with(&place, &[&["-b", "-p"]], "");
}

#[test]
fn profiles_without_results() {
    let place = POWER.stage("machines-nothing", 1, [0x1000, 0x1040], None);
    let nothing = "gprof: warning: a.out: no samples and no calls: the profile has nothing but a header\n";
    let elsewhere =
        "gprof: warning: a.out: no sample is in any function: does the profile belong to another program?\n";
    let mut before = vec![0; 32];
    before[3] = 9;
    for (profile, expected) in [
        (Profile::default(), nothing),
        (samples(0x1000..0x1080, vec![0; 32]), nothing),
        (samples(0xf00..0x1000, before.clone()), elsewhere),
        (samples(0x1000..0x1080, before), ""),
    ] {
        POWER.write(&place.join("gmon.out"), &profile);
        for options in [&["-b"][..], &[], &["-b", "--compat=gnu"]] {
            let (said, _) = report(&place, options);
            let ours: String =
                said.lines().filter(|line| line.contains(": no sample")).map(|line| format!("{line}\n")).collect();
            assert_eq!(ours, expected, "{options:?} {said}");
        }
    }
}

#[test]
fn damaged_line_tables() {
    let image = compile("machines-lines", &["leaf.c"], &["-g", "-gno-as-loc-support"]);
    let place = image.parent().unwrap();
    assert!(run(&image).exists());
    let warning = "gprof: warning: damaged: the section .debug_line is damaged: some source lines are not known\n";
    let sections = std::process::Command::new("readelf").args(["-SW", image.to_str().unwrap()]).output().unwrap();
    let sections = String::from_utf8(sections.stdout).unwrap();
    let line = sections.lines().find(|line| line.contains(" .debug_line ")).unwrap();
    let words: Vec<&str> = line.split(']').nth(1).unwrap().split_whitespace().collect();
    let number = |at: usize| usize::from_str_radix(words[at], 16).unwrap();
    let (offset, size) = (number(3), number(4));
    let bytes = fs::read(&image).unwrap();
    let said = |bytes: &[u8]| {
        let built = fs::metadata(&image).unwrap().modified().unwrap();
        fs::write(place.join("damaged"), bytes).unwrap();
        fs::File::options().append(true).open(place.join("damaged")).unwrap().set_modified(built).unwrap();
        report(place, &["-b", "-p", "-l", "damaged"]).0
    };
    assert_eq!(said(&bytes), "");
    // A length that leads outside; an unknown version; garbage after the last table.
    for (at, byte) in [(offset + 2, 0x7f), (offset + 4, 0x77)] {
        let mut damaged = bytes.clone();
        damaged[at] = byte;
        assert_eq!(said(&damaged), warning, "{at}");
    }
    let mut cut = bytes.clone();
    cut[offset + size - 3..offset + size].fill(3);
    assert_eq!(said(&cut), warning, "an instruction is truncated at the end");
}
