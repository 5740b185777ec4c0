//! Files that are not profiles.

use core::fmt;

/// Files that are sometimes mistaken for a profile of one of the [forms](crate::Form).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Foreign {
    /// The call trace of glibc's `libpcprofile.so`.
    PcProfile,
    /// The counters of Linux's kernel, `/proc/profile`.
    KernelProfile,
    /// An executable, or another ELF file.
    Elf,
    /// The [side file](crate::side_file) of a profile.
    SideFile,
    /// Text.
    Text,
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Foreign::PcProfile => "a pcprofile call trace, not a profile",
            Foreign::KernelProfile => "a profile of Linux's kernel, which readprofile reads",
            Foreign::Elf => "an ELF file, not a profile",
            Foreign::SideFile => "the side file of a profile, not a profile",
            Foreign::Text => "a text file, not a profile",
        })
    }
}
