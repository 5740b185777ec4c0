//! The objects of a side file, and where they are mapped.

use gmon::encode::side_file::{IdentityBytes, ObjectItem, mapping, object};
use gmon::layout::side_file::{IS_CLOSED, IS_PROGRAM, IS_VDSO, MAPPINGS, OBJECTS};

use super::run::program_path;
use crate::file::writer::Writer;
use crate::objects::{Listed, PROGRAM, VDSO, for_each_mapping, for_each_object, program};
use crate::os::VDSO_PATH;

/// The longest build ID that is written.
const MOST_BUILD_ID: usize = 64;

/// Writes the program, the vDSO and all other known objects.
pub(super) fn put(out: &mut Writer) {
    out.part(OBJECTS, |out| {
        put_program(out);
        // SAFETY: `control` lets only one thread write files.
        unsafe {
            for_each_object(&mut |listed: &Listed| object(out, &item(listed)));
        }
    });
}

/// The item of an object.
pub(super) fn item(listed: &Listed) -> ObjectItem<'static> {
    let build_id = listed.object.build_id.as_bytes();
    ObjectItem {
        number: listed.number as u32,
        flags: if listed.is_closed { IS_CLOSED } else { 0 },
        generation: listed.generation as u32,
        lowpc: listed.object.lowpc as u64,
        highpc: listed.object.highpc as u64,
        identity: if build_id.is_empty() { IdentityBytes::Unknown } else { IdentityBytes::BuildId(build_id) },
        path: listed.object.path.as_bytes(),
    }
}

/// Writes the program and the vDSO, which every file has.
pub(super) fn put_program(out: &mut Writer) {
    let code = program::code();
    let identity = match program::build_id() {
        Some(bytes) if (1..=MOST_BUILD_ID).contains(&bytes.len()) => IdentityBytes::BuildId(bytes),
        _ => IdentityBytes::Headers(program::layout_sum()),
    };
    let (number, lowpc, highpc) = (PROGRAM as u32, code.start as u64, code.end as u64);
    let path = program_path();
    object(out, &ObjectItem { number, flags: IS_PROGRAM, lowpc, highpc, identity, path, ..ObjectItem::default() });
    let (number, flags, path) = (VDSO as u32, IS_VDSO, VDSO_PATH);
    object(out, &ObjectItem { number, flags, path, ..ObjectItem::default() });
}

/// Writes where the objects are mapped now.
pub(super) fn put_mappings(out: &mut Writer) {
    out.part(MAPPINGS, |out| {
        // SAFETY: `control` lets only one thread write files.
        unsafe {
            for_each_mapping(&mut |start, end, bias, object| {
                mapping(out, start as u64, end as u64, bias as u64, object as u32);
            });
        }
    });
}
