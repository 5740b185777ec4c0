//! Everything that was read.

use gmon::Profile;
use self_cell::self_cell;

use super::input_files::InputFiles;
use super::outside::OutsideImages;
use super::profile_file::FileInfo;
use crate::cli::options::Contents;
use crate::image::address_space::Images;
use crate::symbols::file_map::FileMap;

/// What borrows from the bytes of the files.
pub(super) struct Parsed<'data> {
    pub(super) images: Images<'data>,
    pub(super) file_map: Option<FileMap<'data>>,
}

self_cell!(
    /// The bytes of all files with what was made of these bytes.
    pub(super) struct ParsedFiles {
        owner: InputFiles,
        #[covariant]
        dependent: Parsed,
    }
);

/// Everything that was read for a report: the images, the sum of all profiles, and what is known of their files.
///
/// [`crate::load()`] makes one.
pub struct Loaded {
    pub(super) parsed: ParsedFiles,
    pub(super) profile: Profile,
    pub(super) contents: Contents,
    pub(super) files: Vec<FileInfo>,
    pub(super) outside_images: OutsideImages,
}

impl Loaded {
    /// The images, each at a place of its own.
    pub(crate) fn images(&self) -> &Images<'_> {
        &self.parsed.borrow_dependent().images
    }

    /// The sum of all profiles, with the addresses that the images have side by side.
    pub(crate) fn profile(&self) -> &Profile {
        &self.profile
    }

    /// What the profiles have room for.
    pub(crate) fn contents(&self) -> Contents {
        self.contents
    }

    /// What each of the profiles consists of: those of the images that the user named, and then those of shared objects.
    #[must_use]
    pub fn files(&self) -> &[FileInfo] {
        &self.files
    }

    /// What was counted in none of the images.
    pub(crate) fn outside_images(&self) -> OutsideImages {
        self.outside_images
    }

    /// The text that gives the symbols instead of the program, if the user has one.
    pub(crate) fn symbols(&self) -> Option<&[u8]> {
        self.parsed.borrow_owner().symbols.as_deref()
    }

    /// What tells the object file of each function, if the user has that.
    pub(crate) fn file_map(&self) -> Option<&FileMap<'_>> {
        self.parsed.borrow_dependent().file_map.as_ref()
    }

    /// The length of all profiles in bytes.
    pub(crate) fn length(&self) -> u64 {
        self.files.iter().fold(0, |sum, file| sum.saturating_add(file.length))
    }
}
