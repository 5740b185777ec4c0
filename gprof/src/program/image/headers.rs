//! The headers of an image.

use std::ops::Range;

use super::error::ImageError;
use super::format;

/// The headers of an image, which can be read long before the symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headers {
    /// The size of an address.
    pub word: gmon::Word,
    /// The byte order.
    pub order: gmon::Order,
    /// What the image tells about its profiles.
    pub hints: gmon::Hints,
    /// The value of [`super::Image::code`], if the file has code.
    pub code: Option<Range<u64>>,
    /// The build ID in hexadecimal, if the file has one.
    pub build_id: Option<String>,
}

impl Headers {
    /// Reads the headers of an executable or a shared object from its bytes.
    ///
    /// # Errors
    ///
    /// When the bytes are not an image, or are damaged.
    pub fn read(data: &[u8]) -> Result<Headers, ImageError> {
        let file = format::open(data)?;
        Ok(Headers {
            word: file.word(),
            order: file.order(),
            hints: file.hints(),
            code: file.text().map(|text| text.loaded),
            build_id: file.links().build_id.map(hexadecimal),
        })
    }
}

/// Formats a build ID in hexadecimal.
pub(super) fn hexadecimal(id: &[u8]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}
