//! What is watched: a program, its profile, and the process.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::process::{self, ProcessFiles};
use super::status::State;
use crate::error::Error;
use crate::program::image::files::companion;
use crate::question::files::ProfilePath;
use crate::question::options::{Options, Watch};
use crate::sources::side_info::SideInfo;

/// A program and its profile.
pub(super) struct Target {
    /// The options, with the image and the profile of the process.
    pub(super) options: Options,
    /// The process that the user named.
    process: Option<u32>,
    profile: PathBuf,
    host: Option<String>,
}

/// What changes when a file gets other content by a new file or by writing: device, inode, length, and time of the last
/// change. Counting in a mapped file may change none of these.
pub(super) type Stamp = Option<(u64, u64, u64, Option<SystemTime>)>;

/// What a reading knows of the process.
#[derive(Default)]
pub(super) struct Process {
    pub(super) pid: Option<u32>,
    /// The machine, if it is another one.
    pub(super) host: Option<String>,
    pub(super) start: Option<SystemTime>,
    pub(super) state: State,
}

impl Target {
    /// Finds the files of the process, if the user named a process.
    ///
    /// # Errors
    ///
    /// When there is no such process, or the process has no live profile.
    pub(super) fn find(options: &Options, watch: &Watch) -> Result<Target, Error> {
        let mut options = options.clone();
        if let Some(pid) = watch.process {
            let files = ProcessFiles::find(pid)?;
            for named in &mut options.images {
                named.image.clone_from(&files.image);
                named.profiles = vec![ProfilePath::File(files.profile.clone())];
            }
        }
        let profile = match options.images.first().and_then(|named| named.profiles.first()) {
            Some(ProfilePath::File(path)) => path.clone(),
            _ => {
                return Err(Error::Usage(
                    "'--watch' needs a file that can be read again, not the standard input".to_owned(),
                ));
            }
        };
        Ok(Target { options, process: watch.process, profile, host: process::host() })
    }

    /// The path of the program.
    pub(super) fn image(&self) -> &Path {
        self.options.images.first().map_or(Path::new(""), |named| &named.image)
    }

    /// The path of the profile.
    pub(super) fn profile(&self) -> &Path {
        &self.profile
    }

    /// The stamp of the program.
    pub(super) fn image_stamp(&self) -> Stamp {
        stamp(self.image())
    }

    /// The stamps of the profile and of its side file.
    pub(super) fn profile_stamps(&self) -> [Stamp; 2] {
        [stamp(&self.profile), stamp(&companion(&self.profile, "side"))]
    }

    /// When the last of these files was written. Counting in a mapped file is no writing.
    pub(super) fn written(&self) -> Option<SystemTime> {
        self.profile_stamps().into_iter().flatten().filter_map(|(.., written)| written).max()
    }

    /// Tells what is known of the process, after a reading that began when the files had these stamps.
    pub(super) fn process(&self, side: Option<&SideInfo>, before: [Stamp; 2]) -> Process {
        let property = |key: &str| {
            let known = side?.properties.iter().find(|(known, _)| known == key);
            known.map(|(_, value)| value.as_str())
        };
        let host = property("host").filter(|host| Some(*host) != self.host.as_deref()).map(str::to_owned);
        let pid = property("pid").and_then(|pid| pid.parse().ok());
        let nanoseconds = property("start").and_then(|start| start.parse().ok());
        let start =
            nanoseconds.and_then(|start| SystemTime::UNIX_EPOCH.checked_add(std::time::Duration::from_nanos(start)));
        // The number of the process may be of another namespace of processes than this one.
        let local = self.process.or(pid.filter(|_| host.is_none()));
        let is_running = local.map(|pid| process::counts_in(pid, &self.profile));
        let state = match (side.map(|side| side.is_live), is_running) {
            (Some(false), _) => State::Ended,
            (_, Some(Some(true))) => State::Running,
            // The program ended during the reading: the next reading has its last counts.
            (_, Some(Some(false))) if self.profile_stamps() != before => State::Running,
            (Some(true), Some(Some(false))) => State::Killed,
            (None, Some(Some(false))) => State::Ended,
            (_, Some(None) | None) => State::Unknown,
        };
        Process { pid: self.process.or(pid), host, start, state }
    }
}

fn stamp(path: &Path) -> Stamp {
    let file = fs::metadata(path).ok()?;
    Some((file.dev(), file.ino(), file.len(), file.modified().ok()))
}
