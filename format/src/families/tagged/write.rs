//! Writes the tagged files of Darwin and NeXT: the images, then each range's samples and the arcs into the range.

use alloc::vec;
use alloc::vec::Vec;

use super::layout::{
    ARCS_ORDERS, DYLD_STATE, DYLD2_STATE, MAGIC_32, MAGIC_64, NEXT_DYLD_STATE, NEXT_RLD_STATE, RAWARCS, SAMPLES,
};
use crate::encode::{Sink as _, pieces};
use crate::layout::GMONVERSION;
use crate::output::Output;
use crate::output::pieces::{Repeats, check_path, in_seconds, piece_count, records_of, write_record_of_bins};
use crate::{Arc, Encoding, Error, Form, Histogram, Image, Part, Profile, Word};

pub(super) fn write(
    profile: &Profile,
    encoding: Encoding,
    repeat_limit: u64,
    output: &mut Output<'_>,
) -> Result<(), Error> {
    let histograms = in_seconds(profile)?;
    let is_wide = encoding.word() == Word::W64;
    output.u32(if is_wide { MAGIC_64 } else { MAGIC_32 });
    match encoding.form {
        Form::Next if is_wide => return Err(Error::NoWideAddresses { form: encoding.form }),
        Form::Next => next_images(output, profile.images())?,
        _ => darwin_images(output, profile.images())?,
    }
    let groups = arcs_by_range(histograms, profile.arcs());
    let mut repeats = Repeats::new(repeat_limit);
    for (at, group) in groups.iter().enumerate() {
        match histograms.get(at) {
            Some(histogram) => samples(output, histogram, encoding, &mut repeats)?,
            None if group.is_empty() => continue,
            None => {}
        }
        arcs(output, profile, group, &mut repeats)?;
    }
    Ok(())
}

/// Writes the samples of a histogram, in as many records as the highest bin requires.
fn samples(
    output: &mut Output<'_>,
    histogram: &Histogram,
    encoding: Encoding,
    repeats: &mut Repeats,
) -> Result<(), Error> {
    let words = (encoding.word().size() as u64).saturating_mul(2);
    let header = words.saturating_add(if encoding.form == Form::Next { 4 } else { 24 });
    let size = histogram.len().saturating_mul(2).saturating_add(header);
    let records = records_of(histogram);
    repeats.count(records, size)?;
    for record in 0..records {
        let ncnt = head(output, SAMPLES, Part::Samples, size)?;
        output.word(histogram.lowpc())?;
        output.word(histogram.highpc())?;
        output.u32(ncnt);
        if encoding.form != Form::Next {
            for field in [GMONVERSION as u32, histogram.unit().profrate, 0, 0, 0] {
                output.u32(field);
            }
        }
        write_record_of_bins(output, histogram, record)?;
    }
    Ok(())
}

/// Writes these arcs of a profile, with their order if the profile has the order of any arc.
fn arcs(output: &mut Output<'_>, profile: &Profile, group: &[usize], repeats: &mut Repeats) -> Result<(), Error> {
    let ordered = profile.orders().next().is_some();
    let is_wide = output.word_size() == 8;
    let (most, size) = match (ordered, is_wide) {
        (true, false) => (u64::from(u32::MAX), 16),
        (true, true) => (u64::from(u32::MAX), 24),
        (false, false) => (u64::from(i32::MAX.unsigned_abs()), 12),
        (false, true) => (u64::from(i32::MAX.unsigned_abs()), 24),
    };
    let chosen = || group.iter().filter_map(|at| profile.arcs().get(*at));
    let mut records = 0_u64;
    for arc in chosen() {
        let pieces = piece_count(arc.count, most);
        repeats.count(pieces, size)?;
        records = records.saturating_add(pieces);
    }
    let record_type = if ordered { ARCS_ORDERS } else { RAWARCS };
    head(output, record_type, Part::Arcs, records.saturating_mul(size))?;
    for arc in chosen() {
        let order = profile.order(arc.frompc, arc.selfpc).unwrap_or(0);
        for count in pieces(arc.count, most) {
            output.word(arc.frompc)?;
            output.word(arc.selfpc)?;
            output.u32(count as u32);
            if ordered || is_wide {
                output.u32(order);
            }
        }
    }
    Ok(())
}

/// The arcs into each histogram's range, and then the arcs into no range; in each the arcs keep their order.
fn arcs_by_range(histograms: &[Histogram], arcs: &[Arc]) -> Vec<Vec<usize>> {
    let mut ranges: Vec<_> = histograms.iter().map(Histogram::range).zip(0..).collect();
    ranges.sort_unstable_by_key(|(range, _)| range.start);
    let mut groups = vec![Vec::new(); histograms.len().saturating_add(1)];
    for (at, arc) in arcs.iter().enumerate() {
        let next = ranges.partition_point(|(range, _)| range.start <= arc.selfpc);
        let range = next.checked_sub(1).and_then(|last| ranges.get(last));
        let group =
            range.filter(|(range, _)| range.contains(&arc.selfpc)).map_or(histograms.len(), |(_, group)| *group);
        if let Some(group) = groups.get_mut(group) {
            group.push(at);
        }
    }
    groups
}

/// Writes the list of images with a header and no slide, and the list of those with a slide.
fn next_images(output: &mut Output<'_>, images: &[Image]) -> Result<(), Error> {
    let (mapped, others): (Vec<_>, Vec<_>) = images.iter().partition(|image| image.slide().is_some());
    let files: Vec<_> = others.into_iter().filter(|image| image.header().is_some()).collect();
    // A state of one file has the header, the number of files, the offset and the size of the name, and the name.
    let size = files.iter().map(|image| name_size(image).saturating_add(16)).fold(4, u64::saturating_add);
    list_head(output, NEXT_RLD_STATE, files.len(), size)?;
    for image in files {
        output.word(image.header().unwrap_or_default())?;
        output.u32(1);
        output.u32(0);
        output.u32(name_size(image) as u32); // The size of the record has 32 bits and is more.
        write_path(output, image)?;
    }
    let size = mapped.iter().map(|image| name_size(image).saturating_add(4)).fold(4, u64::saturating_add);
    list_head(output, NEXT_DYLD_STATE, mapped.len(), size)?;
    for image in mapped {
        output.word(image.slide().unwrap_or_default())?;
        write_path(output, image)?;
    }
    Ok(())
}

/// Writes the list of images with a header, and the list of those with only a slide.
fn darwin_images(output: &mut Output<'_>, images: &[Image]) -> Result<(), Error> {
    let headers: Vec<_> = images.iter().filter_map(|image| Some((image, image.header()?))).collect();
    let slides = images.iter().filter(|image| image.header().is_none());
    let slides: Vec<_> = slides.filter_map(|image| Some((image, image.slide()?))).collect();
    for (record_type, listed) in [(DYLD2_STATE, headers), (DYLD_STATE, slides)] {
        let word = output.word_size() as u64;
        let size = listed.iter().map(|(image, _)| name_size(image).saturating_add(word)).fold(4, u64::saturating_add);
        list_head(output, record_type, listed.len(), size)?;
        for (image, address) in listed {
            output.word(address)?;
            write_path(output, image)?;
        }
    }
    Ok(())
}

/// Writes the start of a record that lists images. Writes nothing for a list without images.
fn list_head(output: &mut Output<'_>, record_type: u32, images: usize, size: u64) -> Result<(), Error> {
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

fn write_path(output: &mut Output<'_>, image: &Image) -> Result<(), Error> {
    check_path(image)?;
    output.bytes(image.path());
    output.bytes(&[0]);
    Ok(())
}

/// Writes the head of a record.
fn head(output: &mut Output<'_>, record_type: u32, part: Part, size: u64) -> Result<u32, Error> {
    let limit = u64::from(u32::MAX);
    let size = u32::try_from(size).map_err(|_| Error::TooLarge { part, size, limit })?;
    output.u32(record_type);
    output.u32(size);
    Ok(size)
}
