//! What a run left beside its profile: profiles of the shared objects that it used, and a list of them.
//!
//! docs/format.md has the layout of the list. It is believed only where it belongs to the profile, and the profiles of
//! objects only where they belong to the list: files of an earlier run may lie there.

mod list;

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use gmon::{Arc, Hints, Profile};

use crate::cli::options::{Options, ProfilePath, ProfiledImage};
use crate::image;
use crate::image::address_space::Images;
use crate::image::files::{self, FileKey};
use crate::load::outside::OutsideImages;
use crate::load::profile_file;
use list::{Header, ListedObject, ObjectList};

/// A shared object with its profiles.
pub(crate) struct Object {
    /// The file, and the profiles of all runs.
    pub(crate) group: ProfiledImage,
    /// What is in the file.
    pub(crate) bytes: Vec<u8>,
    /// Which file that is, whatever paths lead there.
    key: Option<FileKey>,
}

/// All that is beside the profiles of one program.
#[derive(Default)]
pub(crate) struct SharedObjects {
    /// The objects.
    pub(crate) objects: Vec<Object>,
    /// Calls from one to another, by the places of images: the program's is 0, and the objects' follow.
    calls: Vec<Call>,
    /// What is in no image.
    pub(crate) outside_images: OutsideImages,
    /// Whether the machine code of objects is to be read.
    with_code: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Call {
    from: (usize, u64),
    to: (usize, u64),
    count: u64,
}

/// Finds what is beside the profiles of a program. What cannot be taken is said among the warnings.
pub(crate) fn find(options: &Options, warnings: &mut dyn Write) -> SharedObjects {
    let mut found = SharedObjects { with_code: options.static_calls, ..SharedObjects::default() };
    if let [group] = options.images.as_slice()
        && options.objects
    {
        for source in &group.profiles {
            if let ProfilePath::File(profile) = source
                && let Err(why) = found.add(profile, warnings)
            {
                let _ = writeln!(warnings, "gprof: warning: {}: {why}", beside(profile, "objects").display());
            }
        }
    }
    found
}

/// The file beside a profile that has this behind its name.
fn beside(profile: &Path, suffix: impl AsRef<OsStr>) -> PathBuf {
    let mut name = OsString::from(profile);
    name.push(".");
    name.push(suffix.as_ref());
    name.into()
}

/// The bytes of a file, if it is one.
fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    files::regular(path).map_err(|error| error.to_string())
}

impl SharedObjects {
    /// Adds what is beside a profile; nothing if there is no list.
    fn add(&mut self, profile: &Path, warnings: &mut dyn Write) -> Result<(), String> {
        let path = beside(profile, "objects");
        if !fs::metadata(&path).is_ok_and(|kind| kind.is_file()) {
            return Ok(());
        }
        let list = bytes(&path)?;
        if list.is_empty() {
            return Ok(()); // there was no room for it
        }
        let list =
            ObjectList::parse(&list).map_err(|line| format!("line {line} is none of a list of objects, left out"))?;
        // What is wrong with the profile itself is said when it is read.
        let Ok(own) = bytes(profile) else { return Ok(()) };
        if !list.head.is_of(&own) {
            return Err(format!("is of another run than {}, left out", profile.display()));
        }
        drop(own);
        let mut places = HashMap::from([(0, 0)]);
        let mut taken = HashSet::new();
        for listed in &list.objects {
            let suffix = listed.suffix();
            let object = match taken.insert(suffix.clone()) {
                true => self.object(profile, listed),
                // No two objects of one run share a profile, and a list of a thousand equal lines is not read a thousand times.
                false => Err(format!("left out: {} is another object's", beside(profile, suffix).display())),
            };
            match object {
                Ok(place) => _ = places.insert(listed.number, place),
                Err(why) => _ = writeln!(warnings, "gprof: warning: {}: {why}", listed.path.display()),
            }
        }
        let mut lost = 0_u64;
        for ([from, frompc, to, selfpc], count) in list.arcs {
            match (places.get(&from), places.get(&to)) {
                (Some(from), Some(to)) => self.calls.push(Call { from: (*from, frompc), to: (*to, selfpc), count }),
                (_, None) => lost = lost.saturating_add(count),
                // A call from nowhere, as the profile has it.
                (None, _) => {}
            }
        }
        self.outside_images.add(&OutsideImages { calls: lost, ..OutsideImages::default() });
        self.outside_images.add(&list.outside_images);
        Ok(())
    }

    /// Adds one object's profile; gives the place of its image, or why it is left out. Its samples are then in no image.
    fn object(&mut self, profile: &Path, listed: &ListedObject<'_>) -> Result<usize, String> {
        let path = beside(profile, listed.suffix());
        let told = bytes(&path).map_err(|why| format!("left out: {}: {why}", path.display()))?;
        if !listed.profile.is_of(&told) {
            return Err(format!("left out: {} is of another run", path.display()));
        }
        let key = files::key(&listed.path);
        let is_known = |object: &&mut Object| key.is_some() && object.key == key;
        let source = ProfilePath::File(path);
        let ran = match (1..).zip(&mut self.objects).find(|(_, object)| is_known(object)) {
            Some((place, object)) => match check_build(&object.bytes, listed) {
                Ok(()) => {
                    object.group.profiles.push(source);
                    return Ok(place);
                }
                Err(why) => Err(why),
            },
            None => read_object(listed, self.with_code),
        };
        match ran {
            Ok(bytes) => {
                let group = ProfiledImage { image: listed.path.clone(), profiles: vec![source] };
                self.objects.push(Object { group, bytes, key });
                Ok(self.objects.len())
            }
            Err(why) => {
                self.outside_images.add(&samples(&[source]));
                Err(format!("{why}: its time is outside"))
            }
        }
    }

    /// Gives an object up whose file is no image, so that what it has is in none. The places of those behind it change.
    pub(crate) fn give_up(&mut self, at: usize) {
        if at >= self.objects.len() {
            return;
        }
        let object = self.objects.remove(at);
        self.outside_images.add(&samples(&object.group.profiles));
        let gone = at + 1;
        self.calls.retain(|call| call.from.0 != gone && call.to.0 != gone);
        for call in &mut self.calls {
            for place in [&mut call.from.0, &mut call.to.0] {
                *place -= usize::from(*place > gone);
            }
        }
    }

    /// Takes those calls out of the images' profiles that come from nowhere there, and whose callers the lists tell.
    pub(crate) fn settle(&self, profiles: &mut [Profile], code: &[Range<u64>]) {
        let mut known: HashMap<(usize, u64), u64> = HashMap::new();
        for call in &self.calls {
            let count = known.entry(call.to).or_default();
            *count = count.saturating_add(call.count);
        }
        for (place, (profile, code)) in profiles.iter_mut().zip(code).enumerate() {
            profile.arcs.retain_mut(|arc| {
                // A shared object may begin at 0, but with its header and no code.
                let is_from_nowhere = arc.frompc == 0 || !code.contains(&arc.frompc);
                let Some(left) = known.get_mut(&(place, arc.selfpc)).filter(|left| is_from_nowhere && **left > 0)
                else {
                    return true;
                };
                let told = arc.count.min(*left);
                arc.count -= told;
                *left -= told;
                arc.count > 0
            });
        }
    }

    /// The calls from one image to another, with the addresses of their places.
    pub(crate) fn arcs(&self, images: &Images<'_>) -> impl Iterator<Item = Arc> {
        let at = |(image, address)| images.place(image, address);
        self.calls.iter().map(move |call| Arc { frompc: at(call.from), selfpc: at(call.to), count: call.count })
    }
}

/// The file of an object, if it is the one that was loaded as far as that can be told.
fn read_object(listed: &ListedObject<'_>, with_code: bool) -> Result<Vec<u8>, String> {
    let bytes = image::read(&listed.path, with_code).map_err(|error| error.to_string())?;
    check_build(&bytes, listed).map(|()| bytes)
}

/// Whether the bytes of a file are of the build that was loaded.
fn check_build(bytes: &[u8], listed: &ListedObject<'_>) -> Result<(), String> {
    let build_id = image::build_id(bytes).map_err(|error| error.to_string())?;
    match (build_id, listed.build_id) {
        (found, ran) if found.as_deref() != ran => {
            let name = |id: Option<&str>| id.unwrap_or("no build ID").to_owned();
            Err(format!("of another build ({}) than what ran ({})", name(found.as_deref()), name(ran)))
        }
        _ => Ok(()),
    }
}

/// The program that a profile is of by the list beside it: its identity and its path. `None` where there is no such list, or
/// one of another run.
///
/// `is_wanted` says whether an identity is of interest; the profile is read only then.
pub(crate) fn program(profile: &Path, is_wanted: impl FnOnce(&str) -> bool) -> Option<Option<(String, PathBuf)>> {
    /// More than the first lines of a list are.
    const HEADER: u64 = 1 << 15;
    let path = beside(profile, "objects");
    let file = fs::metadata(&path).ok().filter(fs::Metadata::is_file).and_then(|_| fs::File::open(&path).ok())?;
    let mut head = Vec::new();
    file.take(HEADER).read_to_end(&mut head).ok()?;
    let head = Header::parse(&head).ok()?;
    let (identity, path) = head.program.as_ref()?;
    if !is_wanted(identity) {
        return Some(None);
    }
    head.is_of(&bytes(profile).ok()?).then(|| Some(((*identity).to_owned(), path.clone())))
}

/// The samples of profiles, as ones in no image.
fn samples(sources: &[ProfilePath]) -> OutsideImages {
    let profiles = sources.iter().filter_map(|source| profile_file::profile(source, &Hints::default()).ok());
    let histograms = profiles.flat_map(|(profile, ..)| profile.histograms);
    let totals = histograms.map(|histogram| u64::try_from(histogram.total()).unwrap_or(0));
    OutsideImages { elsewhere: totals.fold(0, u64::saturating_add), ..OutsideImages::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(from: usize, to: usize, count: u64) -> Call {
        Call { from: (from, 0x1010), to: (to, 0x1000), count }
    }

    #[test]
    fn calls_from_nowhere_that_are_known_better_are_taken_out_once() {
        let beside =
            SharedObjects { calls: vec![call(1, 0, 5), call(2, 0, 2), call(0, 1, 9)], ..SharedObjects::default() };
        let arc = |frompc, selfpc, count| Arc { frompc, selfpc, count };
        let arcs = vec![arc(0, 0x1000, 8), arc(0x1100, 0x1000, 4), arc(0, 0x1200, 3)];
        let profile = Profile { arcs, ..Profile::default() };
        let other = Profile { arcs: vec![arc(0, 0x1000, 4)], ..Profile::default() };
        let mut profiles = [profile, other];
        beside.settle(&mut profiles, &[0x1000..0x2000, 0x1000..0x2000]);
        let [profile, other] = profiles;
        assert_eq!(profile.arcs, [arc(0, 0x1000, 1), arc(0x1100, 0x1000, 4), arc(0, 0x1200, 3)]);
        assert_eq!(other.arcs, [], "never more than there are");
    }

    #[test]
    fn places_follow_when_an_object_is_given_up() {
        let object = |image: &str| Object {
            group: ProfiledImage { image: image.into(), profiles: Vec::new() },
            bytes: Vec::new(),
            key: None,
        };
        let calls = vec![call(0, 1, 1), call(0, 2, 2), call(2, 3, 3), call(3, 0, 4)];
        let mut beside =
            SharedObjects { objects: ["a", "b", "c"].map(object).into(), calls, ..SharedObjects::default() };
        beside.give_up(0);
        assert_eq!(beside.calls, [call(0, 1, 2), call(1, 2, 3), call(2, 0, 4)]);
        beside.give_up(1);
        assert_eq!(beside.calls, [call(0, 1, 2)]);
        beside.give_up(1);
        assert_eq!(beside.objects.len(), 1);
    }
}
