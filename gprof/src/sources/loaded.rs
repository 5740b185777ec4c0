//! The result of loading: everything that was read.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use gmon::Profile;
use gmon::side_file::SideFile;
use self_cell::self_cell;

use super::input_files::{ImageFile, InputFiles};
use super::on_demand::OnDemand;
use super::profile_file::FileInfo;
use super::shared_objects::OutsideImages;
use super::side_info::SideInfo;
use super::side_sum::Conservation;
use super::stacks::Stacks;
use crate::program::image::address_space::Images;
use crate::program::image::{CodeBytes, ProgramCode};
use crate::program::symbols::file_map::FileMap;
use crate::question::reports::Contents;

/// What borrows from the content of the files.
pub(super) struct Parsed<'data> {
    pub(super) images: Images<'data>,
    pub(super) file_map: Option<FileMap<'data>>,
}

self_cell!(
    /// The content of all files, with what was parsed from it.
    pub(super) struct ParsedFiles {
        owner: InputFiles,
        #[covariant]
        dependent: Parsed,
    }
);

/// All input of a report: the images, the sum of all profiles, and what is known about their files.
///
/// [`crate::load()`] returns one.
pub struct Loaded {
    /// Shared by all that was read of the same images.
    pub(super) parsed: Arc<ParsedFiles>,
    pub(super) profile: Profile,
    /// The calls of all threads, if the profile has only those of the threads that the user chose (`--thread`).
    pub(super) all_calls: Option<Vec<gmon::Arc>>,
    pub(super) contents: Contents,
    pub(super) files: Vec<FileInfo>,
    pub(super) outside_images: OutsideImages,
    pub(super) stacks: Option<Stacks>,
    pub(super) sides: LoadedSides,
    pub(super) mismatches: Vec<String>,
    /// The first warnings about the files.
    pub(super) said: Vec<String>,
}

/// What was read from side files.
#[derive(Default)]
pub(super) struct LoadedSides {
    /// For each program that ran, the sum of its side files.
    pub(super) files: Vec<SideFile>,
    /// For each of these files, what the file contains.
    pub(super) infos: Vec<SideInfo>,
    /// The number of profiles without a side file.
    pub(super) without: usize,
    /// The samples of all profiles, and their CPU time.
    pub(super) conservation: Conservation,
    /// What was counted on demand.
    pub(super) on_demand: Option<OnDemand>,
}

impl LoadedSides {
    /// Warns that a file lacks counts of the profiles without a side file, if there are such profiles.
    pub(super) fn warn_without(&self, file: &str, counts: &str, warnings: &mut dyn Write) {
        let (without, plural) = (self.without, if self.without == 1 { "" } else { "s" });
        if without > 0 {
            // A warning that cannot be written is dropped: nobody can read it.
            let _ = writeln!(
                warnings,
                "gprof: warning: {file}: lacks the {counts} of {without} profile{plural} without a side file"
            );
        }
    }
}

impl Loaded {
    /// Images with the sum of their profiles, whose runs left nothing else.
    pub(super) fn without_sides(parsed: ParsedFiles, profile: Profile, contents: Contents) -> Loaded {
        Loaded {
            parsed: Arc::new(parsed),
            profile,
            all_calls: None,
            contents,
            files: Vec::new(),
            outside_images: OutsideImages::default(),
            stacks: None,
            sides: LoadedSides::default(),
            mismatches: Vec::new(),
            said: Vec::new(),
        }
    }

    /// Takes a part of the samples and of their stacks in place of all. Calls are not of stacks, so none are left.
    pub(crate) fn replace_counts(&mut self, profile: Profile, stacks: Stacks) {
        let all = std::mem::replace(&mut self.profile, profile);
        self.all_calls.get_or_insert_with(|| all.arcs().to_vec());
        self.contents = Contents { samples: true, callers: true, ..Contents::default() };
        self.outside_images = OutsideImages::default();
        self.sides.conservation = Conservation::default();
        self.sides.on_demand = None;
        self.stacks = Some(stacks);
    }

    /// The images, each at its place in the common address space.
    pub(crate) fn images(&self) -> &Images<'_> {
        &self.parsed.borrow_dependent().images
    }

    /// The sum of all profiles, with addresses in the common address space.
    pub(crate) fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The calls of all threads, with addresses in the common address space: which functions were entered with each
    /// return address.
    pub(crate) fn all_calls(&self) -> &[gmon::Arc] {
        self.all_calls.as_deref().unwrap_or(self.profile.arcs())
    }

    /// What kinds of data the profiles contain.
    pub(crate) fn contents(&self) -> Contents {
        self.contents
    }

    /// The contents of each profile's file: first the profiles of the images that the user named, then the profiles
    /// of shared objects.
    #[must_use]
    pub fn files(&self) -> &[FileInfo] {
        &self.files
    }

    /// Returns why profiles may not belong to their images: other builds or other programs may have written the
    /// profiles. Every output begins with these warnings.
    #[must_use]
    pub fn mismatches(&self) -> &[String] {
        &self.mismatches
    }

    /// Returns the first warnings about the files, each once.
    pub(crate) fn said(&self) -> &[String] {
        &self.said
    }

    /// Samples and calls outside all images.
    pub(crate) fn outside_images(&self) -> OutsideImages {
        self.outside_images
    }

    /// What the side files contain, for each program that ran.
    #[must_use]
    pub fn side_files(&self) -> &[SideInfo] {
        &self.sides.infos
    }

    /// The samples of the runs whose CPU time is known, and this time.
    #[must_use]
    pub fn conservation(&self) -> &Conservation {
        &self.sides.conservation
    }

    /// What was counted on demand; `None` if all calls were counted.
    pub(crate) fn on_demand(&self) -> Option<&OnDemand> {
        self.sides.on_demand.as_ref()
    }

    /// Adds the stacks of the profile's samples, in place of the stacks that were read. Their addresses are those of
    /// the profile.
    #[must_use]
    pub fn with_stacks(self, stacks: Stacks) -> Loaded {
        Loaded { stacks: Some(stacks), ..self }
    }

    /// The stacks of the samples, if any profile has stacks.
    #[must_use]
    pub fn stacks(&self) -> Option<&Stacks> {
        self.stacks.as_ref()
    }

    /// The machine code of all images, in the common address space.
    pub(crate) fn code(&self) -> ProgramCode<'_> {
        let (files, images) = (self.parsed.borrow_owner(), self.images());
        let objects = files.shared_objects.get().into_iter().flatten();
        let objects: HashMap<&Path, &ImageFile> = objects.map(|file| (file.path.as_path(), file)).collect();
        let file = |at: usize, path: &Path| match files.named.get(at) {
            Some(file) => file.unread.as_ref(),
            // The code of shared objects was not read, and their files were closed.
            None => objects.get(path)?.reopened(),
        };
        let places = images.code().map(|code| code.start);
        let code = images.iter().zip(images.paths()).zip(places).enumerate();
        let code = code.map(|(at, ((image, path), start))| (CodeBytes::new(image, file(at, path)), start));
        ProgramCode::new(code)
    }

    /// The content of the file of symbols (`-S`), if there is one.
    pub(crate) fn symbols(&self) -> Option<&[u8]> {
        self.parsed.borrow_owner().symbols.as_deref()
    }

    /// The map of object files (`-R`), if there is one.
    pub(crate) fn file_map(&self) -> Option<&FileMap<'_>> {
        self.parsed.borrow_dependent().file_map.as_ref()
    }

    /// The total length of all profiles in bytes.
    pub(crate) fn length(&self) -> u64 {
        self.files.iter().fold(0, |sum, file| sum.saturating_add(file.length))
    }
}
