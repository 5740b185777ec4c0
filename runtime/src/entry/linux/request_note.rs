//! The note by which gprof knows that a program can answer requests: see [`gmon::layout::request`].

use gmon::layout::request::{NOTE_OWNER, NOTE_TYPE, VERSION};

use crate::state::Inherited;

/// A note as executables have them.
#[repr(C, align(4))]
struct Note {
    owner_size: u32,
    description_size: u32,
    kind: u32,
    owner: [u8; 8],
    description: u32,
}

#[used]
#[unsafe(link_section = ".note.gmon")]
static NOTE: Inherited<Note> = Inherited::new(
    "never changes",
    Note {
        owner_size: NOTE_OWNER.len() as u32,
        description_size: size_of::<u32>() as u32,
        kind: NOTE_TYPE,
        owner: *b"gmon\0\0\0\0",
        description: VERSION,
    },
);
