//! Reads the sections of the debug information, compressed or not.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use gimli::{Dwarf, EndianSlice, RunTimeEndian, SectionId};
use object::Endianness;
use object::read::{CompressedData, CompressionFormat};

/// The type through which gimli reads bytes.
pub(super) type Reader<'data> = EndianSlice<'data, RunTimeEndian>;

/// The maximum ratio of a section's size to its compressed size. No compression in use achieves more on code and
/// text, and a hostile file must not fill the memory.
const GAIN: u64 = 1100;

/// The maximum ratio of the size of all decompressed sections to the length of the file. Debug information of
/// compilers shrinks to a third or a fifth, and several section names may share the same compressed bytes.
pub(super) const TOTAL_GAIN: u64 = 10;

/// The total size that decompressed sections may always have.
pub(super) const SLACK: u64 = 1 << 20;

/// The sections that are read.
const SECTIONS: [SectionId; 12] = [
    SectionId::DebugAbbrev,
    SectionId::DebugAddr,
    SectionId::DebugAranges,
    SectionId::DebugInfo,
    SectionId::DebugLine,
    SectionId::DebugLineStr,
    SectionId::DebugRanges,
    SectionId::DebugRngLists,
    SectionId::DebugStr,
    SectionId::DebugStrOffsets,
    SectionId::DebugTypes,
    SectionId::DebugMacro,
];

/// The sections of files with split units. The index of a package is useful only if all sections are there that it
/// refers to.
const SPLIT_SECTIONS: [SectionId; 13] = [
    SectionId::DebugAbbrev,
    SectionId::DebugCuIndex,
    SectionId::DebugInfo,
    SectionId::DebugLine,
    SectionId::DebugLoc,
    SectionId::DebugLocLists,
    SectionId::DebugMacinfo,
    SectionId::DebugMacro,
    SectionId::DebugRngLists,
    SectionId::DebugStr,
    SectionId::DebugStrOffsets,
    SectionId::DebugTuIndex,
    SectionId::DebugTypes,
];

/// A section as it is stored in a file.
struct Section<'data> {
    id: SectionId,
    stored: &'data [u8],
    format: CompressionFormat,
    /// The decompressed size that the file claims.
    size: u64,
    unpacked: OnceLock<Vec<u8>>,
}

impl<'data> Section<'data> {
    fn new(id: SectionId, stored: &CompressedData<'data>) -> Section<'data> {
        let CompressedData { format, data, uncompressed_size } = *stored;
        Section { id, stored: data, format, size: uncompressed_size, unpacked: OnceLock::new() }
    }

    /// The content of the section; empty if it is damaged or claims to be larger than it can be.
    fn bytes(&self) -> &[u8] {
        if self.format == CompressionFormat::None {
            return self.stored;
        }
        self.unpacked.get_or_init(|| {
            if self.size > (self.stored.len() as u64).saturating_mul(GAIN) {
                return Vec::new();
            }
            let packed = CompressedData { format: self.format, data: self.stored, uncompressed_size: self.size };
            packed.decompress().map(Cow::into_owned).unwrap_or_default()
        })
    }
}

/// All debug information sections of one file.
pub(super) struct Sections<'data> {
    present: Vec<Section<'data>>,
    endian: RunTimeEndian,
    /// The size of an address in bytes.
    pub(super) address_size: u8,
    /// The address ranges of code, ascending and without overlaps; empty if unknown.
    pub(super) code: Vec<Range<u64>>,
    /// Whether a part of the line tables could not be read, among the parts that were read.
    pub(super) has_damaged_lines: AtomicBool,
    /// Whether there is debug information in stabs, which this crate does not read.
    pub(super) has_stabs: bool,
}

impl<'data> Sections<'data> {
    /// Takes the needed sections from `section`, which returns `None` for a missing section: the sections of an
    /// image, or of a file with split units. `length` is the length of the file.
    ///
    /// Compressed sections that claim to be larger than such a file can have count as missing.
    pub(super) fn new(
        endian: Endianness,
        word: gmon::Word,
        is_split: bool,
        length: usize,
        section: impl Fn(&str) -> Option<CompressedData<'data>>,
    ) -> Sections<'data> {
        let mut left = (length as u64).saturating_mul(TOTAL_GAIN).saturating_add(SLACK);
        let mut find = |id: SectionId, name: &str| {
            // The older way to compress a section changes its name and adds a header.
            let old = || section(&name.replacen(".debug_", ".zdebug_", 1)).and_then(old_head);
            let found = section(name).or_else(old)?;
            if found.format != CompressionFormat::None {
                left = left.checked_sub(found.uncompressed_size)?;
            }
            Some(Section::new(id, &found))
        };
        let present = if is_split {
            SPLIT_SECTIONS.into_iter().filter_map(|id| find(id, id.dwo_name()?)).collect()
        } else {
            SECTIONS.into_iter().filter_map(|id| find(id, id.name())).collect()
        };
        Sections {
            present,
            endian: match endian {
                Endianness::Little => RunTimeEndian::Little,
                Endianness::Big => RunTimeEndian::Big,
            },
            address_size: match word {
                gmon::Word::W32 => 4,
                gmon::Word::W64 => 8,
            },
            code: Vec::new(),
            has_damaged_lines: AtomicBool::new(false),
            has_stabs: section(".stab").is_some_and(|found| !found.data.is_empty()),
        }
    }

    /// Sets the address ranges of code from those of sections, in any order.
    pub(super) fn set_code(&mut self, mut code: Vec<Range<u64>>) {
        code.retain(|range| !range.is_empty());
        code.sort_unstable_by_key(|range| range.start);
        code.dedup_by(|next, kept| {
            let joins = next.start <= kept.end;
            if joins {
                kept.end = kept.end.max(next.end);
            }
            joins
        });
        self.code = code;
    }

    /// Whether there is a line table.
    pub(super) fn has_lines(&self) -> bool {
        self.present.iter().any(|section| section.id == SectionId::DebugLine && !section.stored.is_empty())
    }

    /// The decompressed content of a section; empty if the section is missing.
    pub(super) fn get(&self, id: SectionId) -> Reader<'_> {
        let section = self.present.iter().find(|section| section.id == id);
        EndianSlice::new(section.map_or(&[], |section| section.bytes()), self.endian)
    }

    /// The total size of the debug information in bytes, decompressed.
    pub(super) fn len(&self) -> u64 {
        self.present.iter().map(|section| section.bytes().len() as u64).sum()
    }
}

/// The sections of a file, copied so that the file need not stay in memory.
pub(super) struct Owned {
    present: Vec<(SectionId, Vec<u8>)>,
    endian: RunTimeEndian,
}

impl Owned {
    pub(super) fn new(sections: &Sections<'_>) -> Owned {
        let present = sections.present.iter().map(|section| (section.id, section.bytes().to_vec())).collect();
        Owned { present, endian: sections.endian }
    }

    /// The content of a section; empty if the section is missing.
    pub(super) fn get(&self, id: SectionId) -> Reader<'_> {
        let section = self.present.iter().find(|(known, _)| *known == id);
        EndianSlice::new(section.map_or(&[], |(_, bytes)| bytes), self.endian)
    }

    /// A section without content.
    pub(super) fn empty(&self) -> Reader<'_> {
        EndianSlice::new(&[], self.endian)
    }

    /// The whole content, for gimli.
    pub(super) fn dwarf(&self) -> Result<Dwarf<Reader<'_>>, gimli::Error> {
        Dwarf::load(|id| Ok(self.get(id)))
    }

    /// The total size in bytes.
    pub(super) fn len(&self) -> usize {
        self.present.iter().map(|(_, bytes)| bytes.len()).sum()
    }
}

/// Parses the header of a section that is compressed in the older way: a magic word, and the size in big-endian
/// order.
fn old_head(section: CompressedData<'_>) -> Option<CompressedData<'_>> {
    let (size, data) = section.data.strip_prefix(b"ZLIB")?.split_first_chunk()?;
    Some(CompressedData { format: CompressionFormat::Zlib, data, uncompressed_size: u64::from_be_bytes(*size) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sections of a file with a single section of this name and content.
    fn line_section<'data>(name: &str, data: CompressedData<'data>) -> Sections<'data> {
        Sections::new(Endianness::Little, gmon::Word::W64, false, 100, |asked| (asked == name).then_some(data))
    }

    /// `aaaaaaaaaa`, compressed with zlib.
    const PACKED: [u8; 11] = [0x78, 0x9c, 0x4b, 0x84, 0x03, 0x00, 0x14, 0xe1, 0x03, 0xcb, 0x00];

    #[test]
    fn packed_sections() {
        let data = CompressedData { format: CompressionFormat::Zlib, data: &PACKED[..10], uncompressed_size: 10 };
        assert_eq!(line_section(".debug_line", data).get(SectionId::DebugLine).slice(), b"aaaaaaaaaa");
        let old = [b"ZLIB\0\0\0\0\0\0\0\x0a".as_slice(), &PACKED[..10]].concat();
        let sections = line_section(".zdebug_line", CompressedData::none(&old));
        assert_eq!(sections.get(SectionId::DebugLine).slice(), b"aaaaaaaaaa");
        assert!(sections.has_lines());
    }

    #[test]
    fn sizes_that_cannot_be() {
        // A section may claim more than the file can have, whatever its real size.
        for size in [11, 1000 + (1 << 20) + 1, 1 << 40, u64::MAX] {
            let data = CompressedData { format: CompressionFormat::Zlib, data: &PACKED[..10], uncompressed_size: size };
            assert!(line_section(".debug_line", data).get(SectionId::DebugLine).slice().is_empty(), "{size}");
        }
    }
}
