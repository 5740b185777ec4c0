//! Universal files of Darwin, which hold an image for each of several architectures.

use object::macho::{self, FatArch32, FatArch64};
use object::read::macho::{FatArch, MachOFatFile};

use crate::program::image::error::ImageError;

/// The largest number of slices: Java class files start with the same four bytes, and a larger number.
const MOST: u32 = 40;

/// The image for one architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slice<'data> {
    /// The name of the architecture, as `lipo` spells it.
    pub(crate) name: &'static str,
    /// The bytes of the image.
    pub(crate) data: &'data [u8],
}

/// Whether a file begins as a universal file.
pub(super) fn begins(data: &[u8]) -> bool {
    let word = |at: usize| data.get(at..)?.first_chunk().copied().map(u32::from_be_bytes);
    matches!(word(0), Some(macho::FAT_MAGIC | macho::FAT_MAGIC_64)) && word(4).is_some_and(|count| count <= MOST)
}

/// The slices of a universal file; `None` for a file of another format.
///
/// # Errors
///
/// When the file is damaged.
pub(crate) fn slices(data: &[u8]) -> Result<Option<Vec<Slice<'_>>>, ImageError> {
    if !begins(data) {
        return Ok(None);
    }
    let is_wide = data.get(3) == Some(&(macho::FAT_MAGIC_64 as u8));
    let slices = if is_wide { read::<FatArch64>(data) } else { read::<FatArch32>(data) };
    slices.map(Some).map_err(|source| ImageError::Damaged { format: "Mach-O", source })
}

/// The names of slices, for messages.
pub(crate) fn names(slices: &[Slice<'_>]) -> String {
    slices.iter().map(|slice| slice.name).collect::<Vec<_>>().join(", ")
}

fn read<Fat: FatArch>(data: &[u8]) -> object::Result<Vec<Slice<'_>>> {
    let file = MachOFatFile::<Fat>::parse(data)?;
    let slice = |part: &Fat| Ok(Slice { name: name(part.cputype()), data: part.data(data)? });
    file.arches().iter().map(slice).collect()
}

fn name(machine: macho::CpuType) -> &'static str {
    match machine {
        macho::CPU_TYPE_X86 => "i386",
        macho::CPU_TYPE_X86_64 => "x86_64",
        macho::CPU_TYPE_ARM => "arm",
        macho::CPU_TYPE_ARM64 => "arm64",
        macho::CPU_TYPE_POWERPC => "ppc",
        macho::CPU_TYPE_POWERPC64 => "ppc64",
        macho::CPU_TYPE_MC680X0 => "m68k",
        _ => "another architecture",
    }
}
