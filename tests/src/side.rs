//! Reads side files, as docs/side-file.md describes them.

use std::ffi::OsStr;
use std::fs;
use std::ops::Deref;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use gmon::side_file::{Call, Calls, Checksum, ELSEWHERE, Identity, KERNEL, Kind, PROGRAM, Place, Samples, SideFile};
use gmon::{Arc, DataModel, Encoding, Form, Histogram, Order, Profile, Unit};

/// A side file that belongs to its profile.
#[derive(Debug)]
pub struct Side(SideFile);

impl Deref for Side {
    type Target = SideFile;

    fn deref(&self) -> &SideFile {
        &self.0
    }
}

impl Side {
    /// The side file of a profile.
    ///
    /// # Panics
    ///
    /// If there is none, or if it is not the side file of this profile.
    #[must_use]
    pub fn of(profile: &Path) -> Side {
        let path = format!("{}.side", profile.display());
        let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let side = SideFile::parse(&bytes).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(side.is_of(&fs::read(profile).expect("the profile")), "{path} must belong to the profile");
        Side(side)
    }

    /// The number of the object with this file name.
    ///
    /// # Panics
    ///
    /// If there is none or several.
    #[must_use]
    pub fn number(&self, name: &str) -> u32 {
        let numbers = self.numbers(name);
        let [number] = numbers[..] else { panic!("{name} must appear once: {numbers:?} in {:?}", self.0) };
        number
    }

    /// The numbers of all objects with this file name.
    #[must_use]
    pub fn numbers(&self, name: &str) -> Vec<u32> {
        self.objects().filter(|(number, _)| self.path(*number).ends_with(name)).map(|(number, _)| number).collect()
    }

    /// The path of an object.
    ///
    /// # Panics
    ///
    /// If there is no such object.
    #[must_use]
    pub fn path(&self, number: u32) -> &Path {
        Path::new(OsStr::from_bytes(&self.object(number).expect("an object").path))
    }

    /// The build ID of an object in hexadecimal; empty if there is none.
    ///
    /// # Panics
    ///
    /// If there is no such object.
    #[must_use]
    pub fn build_id(&self, number: u32) -> String {
        match &self.object(number).expect("an object").identity {
            Identity::BuildId(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
            _ => String::new(),
        }
    }

    /// The shared objects with samples or calls.
    #[must_use]
    pub fn counted(&self) -> Vec<u32> {
        let shared = self.objects().filter(|(_, object)| object.kind == Kind::Shared).map(|(number, _)| number);
        shared.filter(|number| self.samples_of(*number) + self.calls_to(*number) > 0).collect()
    }

    /// The samples of all threads in an object, in the kernel, or elsewhere.
    #[must_use]
    pub fn samples_of(&self, object: u32) -> u64 {
        self.samples().iter().filter(|samples| samples.object() == object).map(Samples::total).sum()
    }

    /// All samples that the profile does not have.
    #[must_use]
    pub fn samples_outside(&self) -> u64 {
        self.samples().iter().map(Samples::total).sum()
    }

    /// The calls of all threads that the file has.
    pub fn all_calls(&self) -> impl Iterator<Item = &Call> {
        self.calls().iter().filter(|calls| calls.thread().is_none()).flat_map(Calls::calls)
    }

    /// The number of calls of functions of an object, or elsewhere.
    #[must_use]
    pub fn calls_to(&self, object: u32) -> u64 {
        self.all_calls().filter(|call| call.callee.object == object).map(|call| call.count).sum()
    }

    /// What a profile of one object has, by file name: see [`Side::profile_of_number`].
    ///
    /// # Panics
    ///
    /// If there is no object with this name, or several.
    #[must_use]
    pub fn profile_of_object(&self, name: &str) -> Profile {
        self.profile_of_number(self.number(name))
    }

    /// What a profile of one object has. Calls from other objects come from address 0.
    ///
    /// # Panics
    ///
    /// If there is no such object, or if its samples are outside its code.
    #[must_use]
    pub fn profile_of_number(&self, number: u32) -> Profile {
        let code = self.object(number).expect("an object").code.clone();
        let mut bins = vec![0; ((code.end - code.start) / 4) as usize];
        for samples in self.samples().iter().filter(|samples| samples.object() == number) {
            assert_eq!(samples.bin_size(), 4);
            for (range, ticks) in samples.bins() {
                bins[((range.start - code.start) / 4) as usize] += ticks;
            }
        }
        let (lowpc, highpc, profrate) = (code.start, code.end, self.rate().expect("a rate"));
        let histogram = Histogram::new(lowpc..highpc, Unit::seconds(profrate), bins).expect("a histogram");
        let calls = self.all_calls().filter(|call| call.callee.object == number);
        let arcs = calls.map(|call| {
            let frompc = if call.caller.object == number { call.caller.address } else { 0 };
            Arc::new(frompc, call.callee.address, call.count)
        });
        Profile::of_samples(vec![histogram]).expect("histograms of one profile").with_arcs(arcs)
    }

    /// Replaces the side file of a profile by what older runtimes wrote: a list of objects, and a profile for each
    /// object. The names of the objects must differ.
    ///
    /// # Panics
    ///
    /// If a file cannot be written.
    pub fn replace_by_list(&self, profile: &Path) {
        let beside = |name: &str| format!("{}.{name}", profile.display());
        let known = |bytes: &[u8]| format!("{} {:016x}", bytes.len(), Checksum::of(bytes).sum);
        let of_profile = known(&fs::read(profile).expect("the profile"));
        let mut list = format!("gmon objects 2\nprofile {of_profile}\n");
        list += &format!("program {} {}\n", self.build_id(PROGRAM), self.path(PROGRAM).display());
        let counted = self.counted();
        for number in &counted {
            let (path, encoding) = (self.path(*number), Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little));
            let bytes = gmon::write(&self.profile_of_number(*number), encoding).expect("a profile");
            fs::write(beside(&path.file_name().expect("a name").to_string_lossy()), &bytes).expect("the profile");
            list += &format!("object {number} 0 {} {} {}\n", known(&bytes), self.build_id(*number), path.display());
        }
        let is_described = |place: Place| place.object == PROGRAM || counted.contains(&place.object);
        for Call { caller, callee, count } in self.all_calls().filter(|call| call.caller.object != call.callee.object) {
            if is_described(*caller) && is_described(*callee) {
                let places = [caller.object.into(), caller.address, callee.object.into(), callee.address];
                list += &format!("arc {} {count}\n", places.map(|number| number.to_string()).join(" "));
            }
        }
        for (what, number) in [("samples kernel", KERNEL), ("samples elsewhere", ELSEWHERE)] {
            list += &format!("{what} {}\n", self.samples_of(number));
        }
        fs::write(beside("objects"), list + "end\n").expect("the list");
        fs::remove_file(beside("side")).expect("the side file");
    }
}
