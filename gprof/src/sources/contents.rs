//! Profiles without their program, of which `-i` tells what the files contain.

use std::path::Path;

use gmon::side_file::SideFile;
use gmon::{Hints, Profile};

use super::profile_file::{self, FileInfo};
use super::side_info::SideInfo;
use crate::error::Error;
use crate::program::image;
use crate::program::image::files::{COMPANIONS, companion};
use crate::question::files::ProfilePath;
use crate::question::options::Options;
use crate::question::reports::{Argument, INFO, Reports};

/// The content of one file.
pub(crate) enum Content {
    Profile(Box<(FileInfo, Profile)>),
    Side(Box<SideInfo>),
}

/// Reads the files that a command line names instead of a program, with the side files beside them. Returns `None` if
/// the first file is neither a profile nor a side file, or if the command line asks for anything but what the files
/// contain.
///
/// # Errors
///
/// When the first file has more than one meaning or is compressed, or when another file cannot be read or is no
/// profile.
pub(crate) fn read(options: &Options) -> Result<Option<Vec<Content>>, Error> {
    let mut alone = Reports::new(options.reports.names_profiles);
    alone.ask(INFO, Argument::None);
    let ([named], true) = (options.images.as_slice(), options.reports == alone) else { return Ok(None) };
    if !named.image.is_file() || image::begins_as_image(&named.image) {
        return Ok(None);
    }
    let first = ProfilePath::File(named.image.clone());
    let mut all = match content(&first, options) {
        Ok(content) => content,
        // A user can do something about these profiles. A compressed file before other profiles may be the program.
        Err(error @ Error::AmbiguousProfile { .. }) => return Err(error),
        Err(error @ Error::Compressed { .. }) if !options.reports.names_profiles => return Err(error),
        Err(_) => return Ok(None),
    };
    // `gmon.*` stands for the files beside the first profile too, which are read with this profile.
    let beside = COMPANIONS.map(|suffix| ProfilePath::File(companion(&named.image, suffix)));
    let others = named.profiles.iter().filter(|path| **path != first && !beside.contains(path));
    for path in others.filter(|_| options.reports.names_profiles) {
        all.extend(content(path, options)?);
    }
    Ok(Some(all))
}

/// The content of a file, and of the side file beside a profile.
fn content(path: &ProfilePath, options: &Options) -> Result<Vec<Content>, Error> {
    let bytes = profile_file::bytes(path)?;
    if let Ok(side) = SideFile::parse(&bytes) {
        return Ok(vec![Content::Side(Box::new(SideInfo::new(&side)))]);
    }
    let file = profile_file::read_profile(path, &bytes, &options.known_form.hints(Hints::new()))?;
    let beside = match path {
        ProfilePath::File(path) => side(path, &bytes),
        ProfilePath::Stdin | ProfilePath::Memory(_) => None,
    };
    let profile = Content::Profile(Box::new((file.info, file.profile)));
    Ok(std::iter::once(profile).chain(beside).collect())
}

/// The side file of a profile, if there is one.
pub(super) fn side_file(profile: &Path) -> Option<SideFile> {
    SideFile::parse(&image::files::regular(&companion(profile, "side")).ok()?).ok()
}

/// The side file of a profile, if there is one that belongs to the profile.
fn side(profile: &Path, bytes: &[u8]) -> Option<Content> {
    let side = side_file(profile)?;
    side.is_of(bytes).then(|| Content::Side(Box::new(SideInfo::new(&side))))
}
