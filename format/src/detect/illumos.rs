//! Detects the files of Solaris and illumos that have a magic.

use alloc::vec;

use super::candidates::ORDERS;
use super::detection::Detection;
use super::evidence::Evidence;
use super::file::File;
use crate::layout::illumos::{PROF_MAGIC, RTLD_MAGIC, RTLD_VERSION_32, RTLD_VERSION_64};
use crate::read::Result;
use crate::read::cursor::Cursor;
use crate::{DataModel, Encoding, Form, Hints, Order, Word};

/// The encoding of a `PROF` file, or of the run-time linker's profile; `None` for other files.
pub(super) fn find(file: &impl File, hints: &Hints) -> Option<Result<Detection>> {
    let start = file.start();
    let (form, model, order, version) = prof(start).or_else(|| rtld(start))?;
    // All addresses of `PROF` files have 64 bits, for programs of either word size: the caller may know that of the program.
    let hinted = hints.model().or(hints.word().map(DataModel::from));
    let model = if form == Form::IllumosProf { hinted.unwrap_or(model) } else { model };
    let is_hinted = hints.word().is_none_or(|word| word == model.word());
    if !is_hinted || hints.order().is_some_and(|hint| hint != order) {
        return None;
    }
    let magic = start.first_chunk().copied().unwrap_or_default();
    let evidence = vec![Evidence::Magic { magic }, Evidence::Version { version, offset: 4, order }];
    Some(Ok(Detection::new(Encoding { form, model, order }, evidence)))
}

fn prof(start: &[u8]) -> Option<(Form, DataModel, Order, u32)> {
    ORDERS.into_iter().find_map(|order| {
        let mut cursor = Cursor::new(start, Word::W64, order);
        let is_prof = cursor.u32().ok()? == PROF_MAGIC;
        let version = cursor.u16().map_or(0, u32::from);
        is_prof.then_some((Form::IllumosProf, DataModel::Lp64, order, version))
    })
}

fn rtld(start: &[u8]) -> Option<(Form, DataModel, Order, u32)> {
    ORDERS.into_iter().find_map(|order| {
        let mut cursor = Cursor::new(start, Word::W64, order);
        let (magic, version) = (cursor.u32().ok()?, cursor.u32().ok()?);
        let model = match version {
            RTLD_VERSION_32 => DataModel::Ilp32,
            RTLD_VERSION_64 => DataModel::Lp64,
            _ => return None,
        };
        (magic == RTLD_MAGIC).then_some((Form::IllumosRtld, model, order, version))
    })
}
