//! The fields of side files, as errors name them.

use core::fmt;

/// A field of a side file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Field {
    /// The size of an address.
    WordSize,
    /// The byte order.
    ByteOrder,
    /// A property without a name; the value is its length.
    Property,
    /// The number of an object that is reserved, or given twice.
    ObjectNumber,
    /// The flags of an object: it is both the program and the vDSO, or the program's number is not 0.
    ObjectFlags,
    /// The size of an object's code, or of a mapping, which ends beyond the highest address.
    Size,
    /// The kind of an object's identity.
    IdentityKind,
    /// An object that is not listed before.
    Object,
    /// A thread that is not listed before.
    Thread,
    /// The generation of an object, or the code of a reason, of more than 32 bits.
    Code,
    /// The number of bytes of code for each bin.
    BinSize,
    /// A bin beyond the highest address, or not above the bin before it.
    Bin,
    /// The distance of a node to its parent, or the parent, which is not before the node.
    Parent,
    /// An address that does not fit the words of the file.
    Address,
    /// A count whose sum with others does not fit 64 bits.
    Count,
    /// The first number of raw nodes, which are not in a row with the others.
    FirstNode,
    /// The size of raw nodes, which are not whole.
    NodesSize,
    /// More items than numbers for them.
    Items,
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Field::WordSize => "size of an address",
            Field::ByteOrder => "byte order",
            Field::Property => "property",
            Field::ObjectNumber => "number of an object",
            Field::ObjectFlags => "flags of an object",
            Field::Size => "size of an address range",
            Field::IdentityKind => "kind of identity",
            Field::Object => "object",
            Field::Thread => "thread",
            Field::Code => "code",
            Field::BinSize => "size of a bin",
            Field::Bin => "bin",
            Field::Parent => "parent of a node",
            Field::Address => "address",
            Field::Count => "count",
            Field::FirstNode => "number of the first node",
            Field::NodesSize => "size of nodes",
            Field::Items => "number of items",
        })
    }
}
