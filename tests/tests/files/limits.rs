//! Memory, time, and output in proportion to the input: files that name one file many times, that decompress to a
//! thousand times their length, or that have no end. Each reader here gets an address space that the former
//! implementation would exceed.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use gmon::side_file::{Checksum, Kind, Object, SideFile};
use gmon::{Arc, Counter, CounterWidth, DataModel, Encoding, Form, Histogram, Order, Profile, Unit, Word};
use gmon_tests::{compile, directory, gprof, run};

/// The address space of a reader, in kilobytes, besides the input files.
const ROOM: u64 = 200_000;

/// The address space of a thread in kilobytes: its stack, and the part of the heap that the C library reserves for a
/// thread.
const THREAD: u64 = 68 << 10;

/// The number of threads beyond two that read objects at once. `ROOM` is enough for two threads.
fn further_threads() -> u64 {
    std::thread::available_parallelism().map_or(0, |cores| cores.get().saturating_sub(2)) as u64
}

/// Runs `gprof` in a directory with at most this many kilobytes of address space.
fn within(kilobytes: u64, directory: &Path, words: &[&str]) -> Output {
    command_within(kilobytes, directory, words).output().unwrap()
}

fn command_within(kilobytes: u64, directory: &Path, words: &[&str]) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit -v {kilobytes}; exec \"$0\" \"$@\"")]).arg(gprof()).args(words);
    shell.current_dir(directory);
    shell
}

/// Standard output and standard error of a successful run.
fn texts(output: Output) -> (String, String) {
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(output.status.success(), "{}: {err}", output.status);
    (out, err)
}

fn encoding(form: Form) -> Encoding {
    Encoding::new(form, DataModel::Lp64, Order::Little)
}

/// A file as object lists mark it: its length and the sum of the marks of its bytes.
fn mark(bytes: &[u8]) -> String {
    let marks = (0..).zip(bytes).map(|(position, byte)| gmon::layout::mark(position, *byte));
    format!("{} {:016x}", bytes.len(), marks.fold(0, u64::wrapping_add))
}

#[test]
fn one_shared_object_of_many_names() {
    const NAMES: usize = 60;
    let image = compile("one_object", &["leaf.c"], &["-Wl,--build-id=none"]);
    let (profile, directory) = (fs::read(run(&image)).unwrap(), image.parent().unwrap());
    // Any file with symbols works; this one gets a hole at its end.
    let large = 32 << 20;
    fs::create_dir(directory.join("d")).unwrap();
    fs::copy(&image, directory.join("d/large")).unwrap();
    File::options().write(true).open(directory.join("d/large")).unwrap().set_len(large).unwrap();
    let object = gmon::write(&Profile::default(), encoding(Form::Gnu)).unwrap();
    let list = |paths: &[(usize, String)]| {
        let mut list = format!("gmon objects 1\nprofile {}\n", mark(&profile));
        for (number, (twins, path)) in (1..).zip(paths) {
            writeln!(list, "object {number} {twins} {} - {path}", mark(&object)).unwrap();
        }
        fs::write(directory.join("gmon.out.objects"), list + "end\n").unwrap();
    };
    let path = |count: usize| format!("{}/d/{}large", directory.display(), "../d/".repeat(count));
    let paths: Vec<(usize, String)> = (0..NAMES).map(|at| (at, path(at))).collect();
    for at in 0..NAMES {
        let number = if at == 0 { String::new() } else { format!(".{}", at + 1) };
        fs::write(directory.join(format!("gmon.out.large{number}")), &object).unwrap();
    }
    list(&paths);
    let room = ROOM + 2 * large / 1024 + further_threads() * (large / 1024 + THREAD);
    let (report, said) = texts(within(room, directory, &["-b", "a.out"]));
    assert_eq!(said, "");
    // A thread with a stack of all the room cannot start: one thread reads all objects.
    let mut without_threads = command_within(room, directory, &["-b", "a.out"]);
    let without_threads = without_threads.env("RUST_MIN_STACK", (room * 1024).to_string()).output().unwrap();
    assert_eq!(texts(without_threads), (report, said));
    let (parts, _) = texts(within(room, directory, &["-i", "a.out"]));
    assert_eq!(parts.matches("File `").count(), NAMES + 1, "{parts}");
    // One profile cannot belong to a hundred objects.
    list(&vec![(0, path(0)); 100]);
    let (parts, said) = texts(within(room, directory, &["-i", "a.out"]));
    assert_eq!(parts.matches("File `").count(), 2, "{parts}");
    assert_eq!(said.matches("gmon.out.large is the profile of another object\n").count(), 99, "{said}");
}

#[test]
fn side_files_with_many_names_and_much_code() {
    const NAMES: u32 = 1500;
    let image = compile("one_side", &["leaf.c"], &["-Wl,--build-id=none"]);
    let (profile, directory) = (fs::read(run(&image)).unwrap(), image.parent().unwrap());
    let large = 8 << 20;
    fs::copy(&image, directory.join("large")).unwrap();
    File::options().write(true).open(directory.join("large")).unwrap().set_len(large).unwrap();
    let mut side = SideFile::new(Word::W64);
    side.set_profile(Some(Checksum::of(&profile)));
    for number in 1..=NAMES {
        let path = format!("{}/{}large", directory.display(), "./".repeat(number as usize));
        let mut object = Object::new(Kind::Shared, path.as_bytes());
        // More code than any file has.
        object.code = 0..1 << 62;
        side.add_object(number, object).unwrap();
        side.add_samples(None, number, 1, 0x1000, 1).unwrap();
        side.add_samples(None, number, 1, 1 << 61, 1).unwrap();
    }
    fs::write(directory.join("gmon.out.side"), side.write()).unwrap();
    let room = ROOM + 2 * large / 1024;
    let (report, said) = texts(within(room, directory, &["a.out"]));
    assert_eq!(said, "");
    assert!(report.contains(&format!("{NAMES}  more samples outside of the program")), "{report}");
    let (_, said) = texts(within(room, directory, &["--extract=7", "--output=extracted", "a.out"]));
    assert!(said.is_empty(), "{said}");
    let extracted = fs::metadata(directory.join("extracted")).unwrap().len();
    assert!(extracted < 1000, "{extracted} bytes for two samples");
}

/// Some bytes and then many equal bytes, compressed by zlib's fixed codes: 158 bytes in one.
fn packed(start: &[u8], byte: u8, repeats: usize) -> Vec<u8> {
    let mut bits = Vec::new();
    // Codes start with the most significant bit, everything else with the least. One block, the last, with fixed codes.
    let mut code = |value: u32, length: u32| bits.extend((0..length).rev().map(|at| value >> at & 1 == 1));
    code(0b110, 3);
    for byte in start.iter().chain([&byte]) {
        let value = u32::from(*byte);
        if value < 144 { code(0x30 + value, 8) } else { code(0x190 + value - 144, 9) }
    }
    for _ in 0..repeats {
        // 258 bytes like the previous one.
        code(0xc5, 8);
        code(0, 5);
    }
    code(0, 7);
    let bytes = || start.iter().chain(std::iter::repeat_n(&byte, 1 + 258 * repeats));
    let (mut low, mut high) = (1_u32, 0_u32);
    for byte in bytes() {
        low = (low + u32::from(*byte)) % 65521;
        high = (high + low) % 65521;
    }
    let mut out = [b"ZLIB", &(bytes().count() as u64).to_be_bytes()[..], &[0x78, 0x01]].concat();
    out.extend(bits.chunks(8).map(|byte| (0..).zip(byte).map(|(at, bit)| u8::from(*bit) << at).sum::<u8>()));
    out.extend((high << 16 | low).to_be_bytes());
    out
}

/// A compressed version 2 line table with one file and rows of one byte each.
fn packed_lines(rows: usize) -> Vec<u8> {
    let head = [&[1, 1, 0xfb, 14, 10][..], &[0, 1, 1, 1, 1, 0, 0, 0, 1], b"\0a.c\0\0\0\0\0"].concat();
    let to_start = [&[0, 9, 2][..], &0x1000_u64.to_le_bytes()].concat();
    let rest = [&2_u16.to_le_bytes()[..], &(head.len() as u32).to_le_bytes(), &head, &to_start].concat();
    let repeats = rows / 258;
    let length = (rest.len() + 1 + 258 * repeats) as u32;
    packed(&[&length.to_le_bytes()[..], &rest].concat(), 30, repeats)
}

/// An image with additional sections.
fn add_sections(image: &Path, sections: &[(&str, &[u8])]) {
    let mut objcopy = Command::new("objcopy");
    objcopy.current_dir(image.parent().unwrap());
    for (name, bytes) in sections {
        fs::write(image.with_file_name(format!("section{name}")), bytes).unwrap();
        objcopy.arg("--add-section").arg(format!("{name}=section{name}"));
    }
    assert!(objcopy.arg(image).status().unwrap().success());
}

#[test]
fn sections_that_decompress_to_far_more_than_the_file() {
    let image = compile("unpacked", &["leaf.c"], &["-O0"]);
    let _ = run(&image);
    let directory = image.parent().unwrap();
    let names = ["abbrev", "addr", "aranges", "info", "line", "line_str", "ranges", "rnglists", "str", "str_offsets"];
    let names = names.map(|name| format!(".zdebug_{name}"));
    // Each section has 25 megabytes.
    let blob = packed(&[], 0, 100_000);
    let sections: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), blob.as_slice())).collect();
    add_sections(&image, &sections);
    texts(within(ROOM, directory, &["-b", "-l", "a.out"]));
    let image = compile("unpacked_lines", &["leaf.c"], &["-O0"]);
    let _ = run(&image);
    add_sections(&image, &[(".zdebug_line", &packed_lines(25_000_000))]);
    texts(within(ROOM, image.parent().unwrap(), &["-b", "-l", "a.out"]));
}

#[test]
fn one_source_file_of_many_names() {
    const NAMES: usize = 40;
    let directory = directory("one_source");
    fs::create_dir(directory.join("d")).unwrap();
    // Empty lines, so that the cost for each line counts.
    fs::write(directory.join("d/large.c"), vec![b'\n'; 256 << 10]).unwrap();
    let mut source = String::new();
    for at in 0..NAMES {
        writeln!(source, "#line 1 \"d/{}large.c\"\nint f{at}(void) {{ return {at}; }}", "../d/".repeat(at)).unwrap();
    }
    let calls: String = (0..NAMES).map(|at| format!("f{at}() + ")).collect();
    writeln!(source, "#line 1 \"main.c\"\nint main(void) {{ return ({calls} 0) == 0; }}").unwrap();
    fs::write(directory.join("source.c"), source).unwrap();
    let cc = Command::new("cc").args(["-pg", "-g", "-O0", "source.c"]).current_dir(&directory).status().unwrap();
    assert!(cc.success());
    let _ = run(&directory.join("a.out"));
    let (shown, said) = texts(within(ROOM, &directory, &["-b", "-A", "a.out"]));
    // A quarter of a megabyte at first, and then as much plus four megabytes.
    const SHOWN: usize = 1 + 1 + 16;
    assert_eq!(shown.matches("*** File ").count(), SHOWN);
    assert_eq!(shown.matches("return").count(), 0, "the large file is shown and not the one that was compiled");
    assert_eq!(
        said.matches(": left out: the same source file is shown under many other names\n").count(),
        NAMES - SHOWN
    );
}

#[test]
fn a_sum_is_in_proportion_to_its_input() {
    let image = compile("large_sum", &["leaf.c"], &[]);
    let directory = image.parent().unwrap();
    let sum = |count: u64| {
        let arcs = vec![Arc::new(0x40_1000, 0x40_1004, count), Arc::new(1, 1, 1)];
        let bytes = gmon::write(&Profile::new().with_arcs(arcs), encoding(Form::Bsd)).unwrap();
        fs::write(directory.join("huge"), bytes).unwrap();
        let _ = fs::remove_file(directory.join("gmon.sum"));
        (within(ROOM, directory, &["-s", "a.out", "huge"]), fs::metadata(directory.join("gmon.sum")))
    };
    // Calls that would take years to make, in records of 21 bytes with 32-bit counts.
    let (output, stored) = sum(200_000_000_000_000_000);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && stored.is_err(), "{said}");
    let expected = "gprof: gmon.sum: counts too high for the form (";
    assert!(said.lines().any(|line| line.starts_with(expected)), "{said}");
    // One 32-bit bin among many, with samples of half an hour of 64 threads.
    let mut bins = vec![0_u64; 250_000];
    bins[5] = 11_000_000;
    let histogram = Histogram::new(0x40_0000..0x4f_4240, Unit::seconds(100), bins).unwrap();
    let wide = Form::FreeBsd(Counter { width: CounterWidth::Bits32, signed: false });
    let bytes = gmon::write(&Profile::of_samples(vec![histogram]).unwrap(), encoding(wide)).unwrap();
    fs::write(directory.join("wide"), bytes).unwrap();
    let output = within(ROOM + 300_000, directory, &["-s", "-i", "a.out", "wide"]);
    assert!(output.status.success(), "{output:?}");
    fs::remove_file(directory.join("gmon.sum")).unwrap();
    // A hundred days of one call each nanosecond.
    let (output, stored) = sum(8_640_000_000_000_000 / 10);
    assert!(output.status.success(), "{output:?}");
    assert!((4 << 20..5 << 20).contains(&stored.unwrap().len()));
}

#[test]
fn files_without_end() {
    let image = compile("endless", &["leaf.c"], &[]);
    let _ = run(&image);
    let directory = image.parent().unwrap();
    let complaint = |words: &[&str]| {
        let output = within(ROOM, directory, words);
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    for words in [&["@/dev/zero"][..], &["-b", "a.out", "@/dev/zero"], &["@/dev/zero", "-b"], &["/dev/zero"]] {
        assert_eq!(complaint(words), "gprof: /dev/zero: not a regular file\n");
    }
    assert_eq!(complaint(&["-S", "/dev/zero", "a.out"]), "gprof: /dev/zero: not a regular file\n");
    // Regular files, according to the system, that block their readers or never end.
    if File::open("/proc/kmsg").is_ok() {
        assert_eq!(complaint(&["/proc/kmsg"]), "gprof: /proc/kmsg: empty file, not an ELF, PE, or Mach-O executable\n");
        assert!(complaint(&["a.out", "/proc/kmsg"]).starts_with("gprof: /proc/kmsg: "));
    }
    let zero = File::open("/dev/zero").unwrap();
    let mut reader = Command::new(gprof());
    reader.args(["a.out", "-"]).current_dir(directory).stdin(zero).stdout(Stdio::null());
    let said = String::from_utf8(reader.output().unwrap().stderr).unwrap();
    assert_eq!(said, "gprof: standard input: not a regular file\n");
    // Argument files that name themselves, and those that shells make of commands.
    fs::write(directory.join("itself"), "@itself @itself ".repeat(20_000)).unwrap();
    assert_eq!(within(2 * ROOM, directory, &["@itself"]).status.code(), Some(1));
    let mut shell = Command::new("bash");
    shell.args(["-c", "\"$0\" @<(echo -b -p) a.out <(cat gmon.out)"]).arg(gprof()).current_dir(directory);
    let (shown, _) = texts(shell.output().unwrap());
    assert!(shown.starts_with("Flat profile:") && !shown.contains("granularity"), "{shown}");
}

/// Long files with almost no contents: making one takes no disk space.
#[test]
fn programs_that_are_longer_than_memory() {
    const LENGTH: u64 = 1 << 36;
    let image = compile("long", &["leaf.c"], &["-Wl,--build-id=none"]);
    let (profile, directory) = (fs::read(run(&image)).unwrap(), image.parent().unwrap());
    fs::copy(&image, directory.join("elf")).unwrap();
    fs::write(directory.join("none"), "").unwrap();
    for name in ["elf", "none"] {
        File::options().write(true).open(directory.join(name)).unwrap().set_len(LENGTH).unwrap();
    }
    let refused = |kilobytes: u64, name: &str| {
        let output = within(kilobytes, directory, &["-b", name, "gmon.out"]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        said
    };
    let expected = format!("no memory for the {LENGTH} bytes of the file");
    assert_eq!(refused(ROOM, "elf"), format!("gprof: elf: {expected}\n"));
    // A file that is not a program is refused as such, whether there is enough memory for it or not.
    for room in [ROOM, 2 * (LENGTH >> 10)] {
        assert_eq!(
            refused(room, "none"),
            "gprof: none: not an ELF, PE, or Mach-O executable (magic \\x00\\x00\\x00\\x00 at offset 0)\n"
        );
    }
    // One large shared object must not prevent the rest of the report.
    let object = gmon::write(&Profile::default(), encoding(Form::Gnu)).unwrap();
    let path = directory.join("elf");
    let list = format!("object 1 0 {} - {}", mark(&object), path.display());
    fs::write(directory.join("gmon.out.objects"), format!("gmon objects 1\nprofile {}\n{list}\nend\n", mark(&profile)))
        .unwrap();
    fs::write(directory.join("gmon.out.elf"), &object).unwrap();
    let (report, said) = texts(within(ROOM, directory, &["-b", "a.out"]));
    assert!(report.contains("main"), "{report}");
    assert_eq!(
        said,
        format!(
            "gprof: warning: {}: {expected}: the time in this object counts as outside the program\n",
            path.display()
        )
    );
}

/// Parts that nobody reads are not read, except for the first 64 kilobytes: they are 0 in memory. The rest is as in the
/// file.
#[test]
fn only_function_data_of_programs_is_read() {
    let directory = directory("partial");
    let source = r#"__asm__(".pushsection .text; .fill 300000, 1, 0x90; .popsection");
        __asm__(".pushsection .rodata; .fill 200000, 1, 7; .popsection");
        int main(void) { return 0; }"#;
    fs::write(directory.join("source.c"), source).unwrap();
    let cc = Command::new("cc").args(["-pg", "-g", "source.c"]).current_dir(&directory).status().unwrap();
    assert!(cc.success());
    let path = directory.join("a.out");
    let whole = fs::read(&path).unwrap();
    // Different bytes, and how many of them each of the long runs accounts for.
    let differing = |read: &[u8], byte: u8| {
        assert_eq!(read.len(), whole.len());
        let pairs = read.iter().zip(&whole).filter(|(one, other)| one != other);
        pairs.inspect(|(one, _)| assert_eq!(**one, 0)).filter(|(_, other)| **other == byte).count()
    };
    let read = |with_code| gprof::internals::read(&path, with_code).unwrap();
    let (without, with) = (read(false), read(true));
    assert!(differing(&without, 0x90) >= 230_000 && differing(&without, 7) >= 200_000);
    assert!(differing(&with, 0x90) < 1000 && differing(&with, 7) >= 200_000);
    let symbols = |bytes: &[u8]| {
        let room = gprof::internals::ImageStorage::default();
        let image = gprof::internals::Image::parse(bytes, gprof::internals::Policy::Full, &room).unwrap();
        let lines = image.files.lines().within(0..u64::MAX).count();
        (
            format!("{:?}", image.symbols),
            lines,
            image.code.clone(),
            gprof::internals::Headers::read(bytes).unwrap().build_id,
        )
    };
    assert_eq!(symbols(&without), symbols(&whole));
    // A section that shares its bytes with an unread one is read.
    let mut shared = whole.clone();
    let heads = u64::from_le_bytes(whole[40..48].try_into().unwrap()) as usize;
    let number = |at: usize| u64::from_le_bytes(whole[at..at + 8].try_into().unwrap());
    let count = usize::from(u16::from_le_bytes(whole[60..62].try_into().unwrap()));
    let of_size = |least: u64| (0..count).map(|at| heads + 64 * at).find(|head| number(head + 32) >= least).unwrap();
    let (text, other) = (of_size(300_000), heads + 64);
    shared.copy_within(text + 24..text + 40, other + 24);
    fs::write(&path, &shared).unwrap();
    let read = gprof::internals::read(&path, false).unwrap();
    let start = number(text + 24) as usize;
    assert_eq!(read[start..start + 300_000], shared[start..start + 300_000]);
    // A file that is not a program is read as it is.
    for bytes in [&b""[..], b"\x7fELF", &whole[..64], &whole[..whole.len() / 2], source.as_bytes()] {
        fs::write(&path, bytes).unwrap();
        assert_eq!(gprof::internals::read(&path, false).unwrap(), bytes);
    }
}
