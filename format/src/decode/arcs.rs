//! Reads arcs of 4.4BSD's layout up to the end of the file: two addresses and a C `long` each.

use alloc::vec::Vec;

use super::Result;
use super::cursor::{Cursor, u32_of, u64_of};
use crate::{Arc, DataModel, Error, Part, Record};

/// The next arc, `None` at the end of the file.
pub(crate) fn next_arc(cursor: &mut Cursor<'_>, model: DataModel) -> Result<Option<Record>> {
    let (size, left) = (model.word().arc_size(), cursor.left());
    cursor.require(size, Part::Arc)?;
    if left == 0 {
        return Ok(None);
    }
    if left < size {
        return Err(Error::PartialArc { left, size, offset: cursor.offset() });
    }
    let (frompc, selfpc) = (cursor.word()?, cursor.word()?);
    let count = match model {
        DataModel::Llp64 => {
            let count = cursor.u32()?;
            // Uninitialized memory: the end of the C structure.
            cursor.u32()?;
            count.into()
        }
        DataModel::Ilp32 | DataModel::Lp64 => cursor.word()?,
    };
    Ok(Some(Record::Arc(Arc::new(frompc, selfpc, count))))
}

/// Reads all whole arcs.
pub(crate) fn all_arcs(cursor: &mut Cursor<'_>, model: DataModel, arcs: &mut Vec<Arc>) {
    let order = cursor.order();
    let part = |record: &[u8], at: usize| record.get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or([0; 8]);
    let half = |record: &[u8], at: usize| record.get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or([0; 4]);
    match model {
        DataModel::Ilp32 => arcs.extend(cursor.pieces(|_: &[u8; 12]| true).map(|record| {
            let [frompc, selfpc, count] = [0, 4, 8].map(|at| u64::from(u32_of(half(record, at), order)));
            Arc::new(frompc, selfpc, count)
        })),
        DataModel::Lp64 => arcs.extend(cursor.pieces(|_: &[u8; 24]| true).map(|record| {
            let [frompc, selfpc, count] = [0, 8, 16].map(|at| u64_of(part(record, at), order));
            Arc::new(frompc, selfpc, count)
        })),
        DataModel::Llp64 => arcs.extend(cursor.pieces(|_: &[u8; 24]| true).map(|record| {
            let [frompc, selfpc] = [0, 8].map(|at| u64_of(part(record, at), order));
            Arc::new(frompc, selfpc, u32_of(half(record, 16), order).into())
        })),
    }
}
