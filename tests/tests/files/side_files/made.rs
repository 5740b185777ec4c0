//! Runs that no runtime made: counts of a program and of shared objects, written in both forms.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Output;

use gmon::side_file::{Call, Checksum, Identity, KERNEL, Kind, Object, Place, SideFile, property};
use gmon::{Arc, DataModel, Encoding, Form, Histogram, Order, Profile, Unit, Word};
use gmon_tests::random::{Random, Stage};
use gmon_tests::{compile, gprof, read};
use gprof::internals::Headers;

/// The bytes of code of a bin.
pub(crate) const BIN: u64 = 4;
pub(crate) const RATE: u32 = 100;

/// A program or a shared object.
pub(crate) struct Image {
    pub(crate) path: PathBuf,
    pub(crate) build_id: Option<String>,
    /// The addresses of the code that is sampled.
    pub(crate) code: Range<u64>,
    pub(crate) functions: Vec<u64>,
}

/// A program, and shared objects. One of the objects has no build ID.
pub(crate) fn images(name: &str) -> Vec<Image> {
    let image = |file: &str, sources: &[&str], flags: &[&str]| {
        let path = compile(&format!("side_files_{name}_{file}"), sources, &[&["-g"], flags].concat());
        let bytes = fs::read(&path).unwrap();
        let Stage { lowpc, highpc, functions, .. } = Stage::of(&bytes);
        let build_id = Headers::read(&bytes).unwrap().build_id;
        Image { path, build_id, code: lowpc & !15..highpc.next_multiple_of(16), functions }
    };
    let shared = ["-shared", "-fPIC"];
    vec![
        image("program", &["cycles.c"], &["-no-pie", "-Wl,--build-id"]),
        image("leaf", &["leaf.c"], &[&shared[..], &["-Wl,--build-id"]].concat()),
        image("same", &["same_one.c", "same_two.c"], &[&shared[..], &["-Wl,--build-id=none"]].concat()),
    ]
}

/// The counts of a run.
#[derive(Default)]
pub(crate) struct Run {
    /// The ticks of bins of each image, by the index of the bin.
    pub(crate) ticks: BTreeMap<usize, BTreeMap<u64, u64>>,
    /// Calls: the caller's image and address, the called function's image and address. No image is 99.
    pub(crate) calls: BTreeMap<(usize, u64, usize, u64), u64>,
    pub(crate) kernel: u64,
    pub(crate) vdso: u64,
    pub(crate) elsewhere: u64,
}

pub(crate) const NO_IMAGE: usize = 99;

impl Run {
    pub(crate) fn random(images: &[Image], random: &mut Random) -> Run {
        let mut run =
            Run { kernel: random.below(9), vdso: random.below(3), elsewhere: random.below(5), ..Run::default() };
        let function = |random: &mut Random, image: usize| {
            if image == NO_IMAGE { 0 } else { *random.pick(&images[image].functions) }
        };
        for image in 0..images.len() {
            for _ in 0..12 {
                let bin = function(random, image) / BIN;
                *run.ticks.entry(image).or_default().entry(bin).or_default() += 1 + random.below(50);
            }
        }
        for _ in 0..60 {
            let (from, to) = (*random.pick(&[0, 1, 2, NO_IMAGE]), *random.pick(&[0, 0, 1, 1, 2, 2, NO_IMAGE]));
            let frompc = if from == NO_IMAGE { 0 } else { function(random, from) + 1 };
            let call = (from, frompc, to, function(random, to));
            *run.calls.entry(call).or_default() += 1 + random.below(1000);
        }
        run
    }

    /// The profile of an image. Calls from other images come from address 0.
    pub(crate) fn profile(&self, images: &[Image], image: usize) -> Vec<u8> {
        let code = &images[image].code;
        let mut bins = vec![0; ((code.end - code.start) / BIN) as usize];
        for (bin, ticks) in self.ticks.get(&image).into_iter().flatten() {
            bins[(bin - code.start / BIN) as usize] += ticks;
        }
        let (lowpc, highpc) = (code.start, code.end);
        let histogram = Histogram::new(lowpc..highpc, Unit::seconds(RATE), bins).unwrap();
        let calls = self.calls.iter().filter(|((_, _, to, _), _)| *to == image);
        let arc = |((from, frompc, to, selfpc), count): (&(usize, u64, usize, u64), &u64)| {
            Arc::new(if from == to { *frompc } else { 0 }, *selfpc, *count)
        };
        let profile = Profile::of_samples(vec![histogram]).unwrap().with_arcs(calls.map(arc));
        gmon::write(&profile, Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little)).unwrap()
    }

    /// Writes the profile of the program.
    pub(crate) fn write_profile(&self, images: &[Image], path: &Path) -> Vec<u8> {
        let bytes = self.profile(images, 0);
        fs::write(path, &bytes).unwrap();
        bytes
    }

    /// The number of samples inside and outside of the images.
    pub(crate) fn total(&self) -> u64 {
        let inside: u64 = self.ticks.values().flat_map(BTreeMap::values).sum();
        inside + self.kernel + self.vdso + self.elsewhere
    }

    fn between(&self) -> impl Iterator<Item = ((usize, u64, usize, u64), u64)> {
        let known =
            self.calls.iter().filter(|((from, _, to, _), _)| from != to && *from != NO_IMAGE && *to != NO_IMAGE);
        known.map(|(call, count)| (*call, *count))
    }

    /// Writes the profile of the program, and beside it the list and the profiles of the objects.
    pub(crate) fn write_list(&self, images: &[Image], path: &Path) {
        let sum = |bytes: &[u8]| format!("{} {:016x}", bytes.len(), Checksum::of(bytes).sum);
        let program = images[0].build_id.as_deref().unwrap();
        let profile = self.write_profile(images, path);
        let mut list = format!("gmon objects 2\nprofile {}\n", sum(&profile));
        writeln!(list, "program {program} {}", images[0].path.display()).unwrap();
        for (number, image) in images.iter().enumerate().skip(1) {
            // All images are files of the same name.
            let twins = number - 1;
            let suffix = if twins == 0 { String::new() } else { format!(".{number}") };
            let bytes = self.profile(images, number);
            fs::write(format!("{}.a.out{suffix}", path.display()), &bytes).unwrap();
            let build_id = image.build_id.as_deref().unwrap_or("-");
            writeln!(list, "object {number} {twins} {} {build_id} {}", sum(&bytes), image.path.display()).unwrap();
        }
        for ((from, frompc, to, selfpc), count) in self.between() {
            writeln!(list, "arc {from} {frompc} {to} {selfpc} {count}").unwrap();
        }
        let elsewhere: u64 =
            self.calls.iter().filter(|((_, _, to, _), _)| *to == NO_IMAGE).map(|(_, count)| count).sum();
        for (what, count) in [("samples kernel", self.kernel), ("samples vdso", self.vdso)] {
            writeln!(list, "{what} {count}").unwrap();
        }
        writeln!(list, "samples elsewhere {}\ncalls elsewhere {elsewhere}\nend", self.elsewhere).unwrap();
        fs::write(beside(path, "objects"), list).unwrap();
    }

    /// The side file of the profile with these bytes.
    pub(crate) fn side_file(&self, images: &[Image], profile: &[u8]) -> SideFile {
        const VDSO: u32 = 9;
        let mut side = SideFile::new(Word::W64);
        side.set_profile(Some(Checksum::of(profile)));
        side.add_property(property::RATE, RATE.to_string().as_bytes()).unwrap();
        for (number, image) in (0..).zip(images) {
            let kind = if number == 0 { Kind::Program } else { Kind::Shared };
            let mut object = Object::new(kind, image.path.as_os_str().as_encoded_bytes());
            object.code = image.code.clone();
            if let Some(build_id) = &image.build_id {
                object.identity = Identity::BuildId(bytes(build_id));
            }
            side.add_object(number, object).unwrap();
        }
        side.add_object(VDSO, Object::new(Kind::Vdso, b"")).unwrap();
        for (image, bins) in self.ticks.iter().filter(|(image, _)| **image > 0) {
            for (bin, ticks) in bins {
                side.add_samples(None, *image as u32, BIN, *bin, *ticks).unwrap();
            }
        }
        for (number, ticks) in [(KERNEL, self.kernel), (VDSO, self.vdso), (gmon::side_file::ELSEWHERE, self.elsewhere)]
        {
            side.add_samples(None, number, 1, 0, ticks).unwrap();
        }
        let place = |image: usize, address| match u32::try_from(image).unwrap() {
            99 => Place { object: gmon::side_file::ELSEWHERE, address: 0 },
            object => Place { object, address },
        };
        // The profile has the calls of the program's functions, except who called from an object.
        let is_in_side = |from: usize, to: usize| to != 0 || !matches!(from, 0 | NO_IMAGE);
        for ((from, frompc, to, selfpc), count) in &self.calls {
            if is_in_side(*from, *to) {
                let call = Call { caller: place(*from, *frompc), callee: place(*to, *selfpc), count: *count };
                side.add_call(None, call).unwrap();
            }
        }
        side
    }

    /// Writes the profile of the program, and the side file.
    pub(crate) fn write_side(&self, images: &[Image], path: &Path) {
        let profile = self.write_profile(images, path);
        fs::write(beside(path, "side"), self.side_file(images, &profile).write()).unwrap();
    }
}

/// The bytes of a build ID.
fn bytes(digits: &str) -> Vec<u8> {
    (0..digits.len() / 2).map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap()).collect()
}

pub(crate) fn beside(profile: &Path, suffix: &str) -> PathBuf {
    format!("{}.{suffix}", profile.display()).into()
}

/// What gprof prints about the program with these words, in this directory.
pub(crate) fn printed(images: &[Image], directory: &Path, words: &[&str]) -> Output {
    let output = ran(images, directory, words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The error with which gprof refuses these words. Warnings may precede it.
pub(crate) fn refused(images: &[Image], directory: &Path, words: &[&str]) -> String {
    let output = ran(images, directory, words);
    assert!(!output.status.success() && output.stdout.is_empty(), "{words:?}");
    String::from_utf8(output.stderr).unwrap().lines().last().unwrap().to_owned()
}

fn ran(images: &[Image], directory: &Path, words: &[&str]) -> Output {
    let (options, profiles): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| word.starts_with('-'));
    let program = images[0].path.to_str().unwrap();
    let words: Vec<&str> = options.into_iter().chain([program]).chain(profiles).collect();
    read(gprof(), directory, &words)
}
