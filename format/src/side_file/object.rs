//! The program and the shared objects of a run.

use alloc::vec::Vec;
use core::ops::Range;

use crate::encode::side_file::{IdentityBytes, ObjectItem};
use crate::layout::side_file::{IS_CLOSED, IS_GENERATED, IS_PROGRAM, IS_VDSO};

/// A file with code that was loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Object {
    /// What the object is.
    pub kind: Kind,
    /// Whether the program closed the object.
    pub is_closed: bool,
    /// The number of other objects of the same path that were loaded before: a file that was replaced while the
    /// program ran.
    pub generation: u32,
    /// The addresses of its code, as the linker gave them.
    pub code: Range<u64>,
    /// What identifies its file.
    pub identity: Identity,
    /// The path of its file when it was loaded; empty if unknown.
    pub path: Vec<u8>,
}

/// The kinds of objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// The program that ran.
    Program,
    /// A shared object.
    #[default]
    Shared,
    /// The vDSO, code of the kernel that every process has.
    Vdso,
    /// Code that the program generated while it ran. Such an object has no file, but may have
    /// [functions](crate::side_file::SideFile::functions).
    Generated,
}

/// What identifies the file of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Identity {
    /// Nothing.
    #[default]
    Unknown,
    /// The build ID, padded with zeros to a multiple of four bytes.
    BuildId(Vec<u8>),
    /// The sum of its headers, for an object without a build ID.
    Headers(u64),
}

/// Addresses at which an object was mapped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mapping {
    /// The addresses when the program ran.
    pub addresses: Range<u64>,
    /// The load bias: the difference, modulo 2^64, to the addresses that the linker gave.
    pub bias: u64,
    /// The number of the object.
    pub object: u32,
}

/// By what the objects of several runs are the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    /// A program comes first.
    kind: Kind,
    identity: Identity,
    /// Empty if the identity suffices.
    path: Vec<u8>,
    generation: u32,
}

impl Object {
    /// Makes an object of which only the kind and the path are known.
    #[must_use]
    pub fn new(kind: Kind, path: &[u8]) -> Object {
        Object { kind, path: path.to_vec(), ..Object::default() }
    }

    /// The key of the object. A build ID identifies any object. The sum of headers identifies a program, which no
    /// other object of a run can be taken for.
    pub(super) fn key(&self) -> Key {
        let suffices = match self.identity {
            Identity::BuildId(_) => true,
            Identity::Headers(_) => self.kind == Kind::Program,
            Identity::Unknown => false,
        };
        let (path, generation) = if suffices { (Vec::new(), 0) } else { (self.path.clone(), self.generation) };
        Key { kind: self.kind, identity: self.identity.clone(), path, generation }
    }

    /// The object with this number as the encoder takes it.
    pub(super) fn item(&self, number: u32) -> ObjectItem<'_> {
        let kind = match self.kind {
            Kind::Program => IS_PROGRAM,
            Kind::Shared => 0,
            Kind::Vdso => IS_VDSO,
            Kind::Generated => IS_GENERATED,
        };
        ObjectItem {
            number,
            flags: kind | if self.is_closed { IS_CLOSED } else { 0 },
            generation: self.generation,
            lowpc: self.code.start,
            highpc: self.code.end,
            identity: match &self.identity {
                Identity::Unknown => IdentityBytes::Unknown,
                Identity::BuildId(bytes) => IdentityBytes::BuildId(bytes),
                Identity::Headers(sum) => IdentityBytes::Headers(*sum),
            },
            path: &self.path,
        }
    }
}

impl Mapping {
    /// Makes a mapping.
    #[must_use]
    pub fn new(addresses: Range<u64>, bias: u64, object: u32) -> Mapping {
        Mapping { addresses, bias, object }
    }
}
