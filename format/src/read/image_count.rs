//! Limits the number of images.

use super::Result;
use crate::ReadError;

/// The number of images that each file may have.
const ALWAYS: u64 = 256;
/// The number of bytes of the file for each further image. An image needs more memory than its shortest record has
/// bytes; records of real images are longer, because they have paths of real files.
const BYTES: u64 = 40;

/// The number of images so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ImageCount(u64);

impl ImageCount {
    /// Counts an image. `offset` is the number of bytes of the file up to the end of the image, or more.
    pub(super) fn count(&mut self, offset: u64) -> Result<()> {
        self.0 = self.0.saturating_add(1);
        if self.0 > ALWAYS && self.0.saturating_mul(BYTES) > offset {
            return Err(ReadError::TooManyImages { images: self.0, offset });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_few_images_or_bytes_for_each() {
        let mut images = ImageCount::default();
        assert!((0..ALWAYS).all(|_| images.count(0).is_ok()));
        assert!(images.count((ALWAYS + 1) * BYTES).is_ok());
        assert!(images.count((ALWAYS + 2) * BYTES - 1).is_err());
    }
}
