//! What errors name: parts and fields of files, and formats that are not profiles.

use core::fmt;

/// Generates an enum, each of whose variants has a text.
macro_rules! texts {
    ($(#[$meta:meta])* $enum:ident { $($(#[doc = $doc:literal])+ $name:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $enum {
            $($(#[doc = $doc])+ $name),+
        }

        impl fmt::Display for $enum {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $($enum::$name => $text),+
                })
            }
        }
    };
}

texts! {
    /// A part of a profile or a side file, or a field of a side file.
    Part {
        /// The header.
        Header = "header",
        /// A GNU histogram record.
        Histogram = "histogram",
        /// The samples of a 4.4BSD file or of a side file.
        Samples = "samples",
        /// One arc.
        Arc = "arc",
        /// The arcs of a 4.4BSD file.
        Arcs = "arcs",
        /// The calls of functions in `mon.out`.
        Functions = "calls of functions",
        /// A GNU record of basic-block counts.
        Blocks = "basic-block counts",
        /// The header of a part of a side file.
        PartHeader = "header of a part",
        /// The properties of a side file.
        Properties = "properties",
        /// The objects of a side file.
        Objects = "objects",
        /// The functions of generated code in a side file.
        GeneratedFunctions = "functions of generated code",
        /// The threads of a side file.
        Threads = "threads",
        /// The calls of a side file.
        Calls = "calls",
        /// The calls that were counted on demand, in a side file.
        Selections = "calls on demand",
        /// The calls that were estimated from windows, in a side file.
        Estimates = "estimates of calls",
        /// The calling contexts of a side file.
        Contexts = "calling contexts",
        /// The cuts of a side file.
        Cuts = "cut chains",
        /// The mappings of a side file.
        Mappings = "mappings",
        /// A part of a side file that the reader does not know, or the filler.
        Other = "part",
        /// The end of a side file.
        End = "end",
        /// A record of a tagged Darwin or NeXT file.
        Record = "record",
        /// The list of loaded images in such a file.
        Images = "images",
        /// An object of a `PROF` file; in a side file, an object that is not listed before.
        Object = "object",
        /// A module in such an object.
        Module = "module",
        /// The path of an image or a module.
        Path = "path",
        /// The whole file.
        File = "file",
        /// The size of an address.
        WordSize = "size of an address",
        /// The byte order.
        ByteOrder = "byte order",
        /// A property without a name; the value is its length.
        Property = "property",
        /// The number of an object that is reserved, or given twice.
        ObjectNumber = "number of an object",
        /// The flags of an object: it is both the program and the vDSO, or the program's number is not 0.
        ObjectFlags = "flags of an object",
        /// The length of a function's name, which is 0.
        FunctionName = "length of a function's name",
        /// The size of an object's code, or of a mapping, which ends beyond the highest address.
        Size = "size of an address range",
        /// The kind of an object's identity.
        IdentityKind = "kind of identity",
        /// A thread that is not listed before.
        Thread = "thread",
        /// The generation of an object, or the code of a reason, of more than 32 bits.
        Code = "code",
        /// The number of bytes of code for each bin.
        BinSize = "size of a bin",
        /// A bin beyond the highest address, or not above the bin before it.
        Bin = "bin",
        /// The distance of a node to its parent, or the parent, which is not before the node.
        Parent = "parent of a node",
        /// An address that does not fit the words of the file.
        Address = "address",
        /// The address of a function whose calls were counted, and that is not above the function before.
        CountedFunction = "counted function",
        /// The begin or the length of an interval that ends after more nanoseconds than 64 bits can count.
        Interval = "interval",
        /// The share of windows, which is more than the whole.
        Share = "share of windows",
        /// The number of windows of a part of estimates, whose windows are not those of the parts before.
        Windows = "number of windows",
        /// The number of windows in which calls were seen: 0, or more than the number of windows.
        SeenWindows = "number of windows with calls",
        /// The address of a function whose calls were estimated, and whose row is not above the row before, or has no
        /// row of all callers.
        EstimatedFunction = "function with estimated calls",
        /// A count whose sum with others does not fit 64 bits.
        Count = "count",
        /// The first number of raw nodes, which are not in a row with the others.
        FirstNode = "number of the first node",
        /// The size of raw nodes, which are not whole.
        NodesSize = "size of nodes",
        /// More items than numbers for them.
        Items = "number of items",
    }
}

texts! {
    /// Files that are sometimes mistaken for a profile of one of the [forms](crate::Form).
    Foreign {
    /// The call trace of glibc's `libpcprofile.so`.
    PcProfile = "a pcprofile call trace, not a profile",
    /// The counters of Linux's kernel, `/proc/profile`.
    KernelProfile = "a profile of Linux's kernel, which readprofile reads",
    /// An executable, or another ELF file.
    Elf = "an ELF file, not a profile",
    /// The [side file](crate::side_file) of a profile.
    SideFile = "the side file of a profile, not a profile",
    /// Text.
    Text = "a text file, not a profile",
    }
}
