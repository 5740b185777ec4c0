//! Writes the records that list images.

use alloc::vec::Vec;

use crate::encode::Sink as _;
use crate::layout::darwin::{DYLD_STATE, DYLD2_STATE, NEXT_DYLD_STATE, NEXT_RLD_STATE};
use crate::write::output::Output;
use crate::write::pieces::check_path;
use crate::{Image, Part, WriteError};

/// Writes the list of images whose slide and header are known, and the list of those with only a header.
pub(super) fn next(output: &mut Output<'_>, images: &[Image]) -> Result<(), WriteError> {
    let placed = || images.iter().filter(|image| image.header().is_some());
    let files: Vec<_> = placed().filter(|image| image.slide().is_none()).collect();
    let mapped: Vec<_> = placed().filter(|image| image.slide().is_some()).collect();
    // A state of one file has the header, the number of files, the offset and the size of the name, and the name.
    let size = files.iter().map(|image| name_size(image).saturating_add(16)).fold(4, u64::saturating_add);
    list_head(output, NEXT_RLD_STATE, files.len(), size)?;
    for image in files {
        output.word(image.header().unwrap_or_default())?;
        output.u32(1);
        output.u32(0);
        output.u32(name_size(image) as u32); // The size of the record has 32 bits and is more.
        path(output, image)?;
    }
    let size = mapped.iter().map(|image| name_size(image).saturating_add(8)).fold(4, u64::saturating_add);
    list_head(output, NEXT_DYLD_STATE, mapped.len(), size)?;
    for image in mapped {
        output.word(image.header().unwrap_or_default())?;
        output.word(image.slide().unwrap_or_default())?;
        path(output, image)?;
    }
    Ok(())
}

/// Writes the list of images with a header, and the list of those with only a slide.
pub(super) fn darwin(output: &mut Output<'_>, images: &[Image]) -> Result<(), WriteError> {
    let headers: Vec<_> = images.iter().filter_map(|image| Some((image, image.header()?))).collect();
    let slides = images.iter().filter(|image| image.header().is_none());
    let slides: Vec<_> = slides.filter_map(|image| Some((image, image.slide()?))).collect();
    for (record_type, listed) in [(DYLD2_STATE, headers), (DYLD_STATE, slides)] {
        let word = output.word_size() as u64;
        let size = listed.iter().map(|(image, _)| name_size(image).saturating_add(word)).fold(4, u64::saturating_add);
        list_head(output, record_type, listed.len(), size)?;
        for (image, address) in listed {
            output.word(address)?;
            path(output, image)?;
        }
    }
    Ok(())
}

/// Writes the start of a record that lists images. Writes nothing for a list without images.
fn list_head(output: &mut Output<'_>, record_type: u32, images: usize, size: u64) -> Result<(), WriteError> {
    if images != 0 {
        head(output, record_type, Part::Images, size)?;
        output.u32(images as u32); // The size of the record has 32 bits and is more.
    }
    Ok(())
}

/// The size of a path with its NUL.
fn name_size(image: &Image) -> u64 {
    (image.path().len() as u64).saturating_add(1)
}

fn path(output: &mut Output<'_>, image: &Image) -> Result<(), WriteError> {
    check_path(image)?;
    output.bytes(image.path());
    output.bytes(&[0]);
    Ok(())
}

/// Writes the head of a record.
pub(super) fn head(output: &mut Output<'_>, record_type: u32, part: Part, size: u64) -> Result<u32, WriteError> {
    let limit = u64::from(u32::MAX);
    let size = u32::try_from(size).map_err(|_| WriteError::TooLarge { part, size, limit })?;
    output.u32(record_type);
    output.u32(size);
    Ok(size)
}
