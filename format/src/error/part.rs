//! The parts of files, as errors name them.

use core::fmt;

/// A part of a profile file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Part {
    /// The header.
    Header,
    /// A GNU histogram record.
    Histogram,
    /// The samples of a 4.4BSD file or of a side file.
    Samples,
    /// One arc.
    Arc,
    /// The arcs of a 4.4BSD file.
    Arcs,
    /// The calls of functions in `mon.out`.
    Functions,
    /// A GNU record of basic-block counts.
    Blocks,
    /// The header of a part of a side file.
    PartHeader,
    /// The properties of a side file.
    Properties,
    /// The objects of a side file.
    Objects,
    /// The threads of a side file.
    Threads,
    /// The calls of a side file.
    Calls,
    /// The calling contexts of a side file.
    Contexts,
    /// The cuts of a side file.
    Cuts,
    /// The mappings of a side file.
    Mappings,
    /// A part of a side file that the reader does not know, or the filler.
    Other,
    /// The end of a side file.
    End,
    /// A record of a tagged Darwin or NeXT file.
    Record,
    /// The list of loaded images in such a file.
    Images,
    /// An object of a `PROF` file.
    Object,
    /// A module in such an object.
    Module,
    /// The path of an image or a module.
    Path,
    /// The whole file.
    File,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Header => "header",
            Part::Histogram => "histogram",
            Part::Samples => "samples",
            Part::Arc => "arc",
            Part::Arcs => "arcs",
            Part::Functions => "calls of functions",
            Part::Blocks => "basic-block counts",
            Part::PartHeader => "header of a part",
            Part::Properties => "properties",
            Part::Objects => "objects",
            Part::Threads => "threads",
            Part::Calls => "calls",
            Part::Contexts => "calling contexts",
            Part::Cuts => "cut chains",
            Part::Mappings => "mappings",
            Part::Other => "part",
            Part::End => "end",
            Part::Record => "record",
            Part::Images => "images",
            Part::Object => "object",
            Part::Module => "module",
            Part::Path => "path",
            Part::File => "file",
        })
    }
}
