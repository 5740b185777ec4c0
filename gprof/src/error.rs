//! Errors: why a run ends without its reports.

use std::fmt;
use std::io;

use crate::program::image::ImageError;
use crate::program::symbols::file_map::MapError;
use crate::terminal::system;

/// The reason why a run ends without its reports. The text of an error is one line.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The command line, or the options, ask for something that does not exist. The string is the message.
    Usage(String),
    /// The pager could not be run, so nobody saw the reports. The string is the message.
    Pager(String),
    /// A file cannot be read.
    Read {
        /// The path of the file.
        file: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file does not exist, and the same directory has a file with a similar name.
    Misspelled {
        /// The path of the file.
        file: String,
        /// The path of the other file.
        near: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The profile with the default name does not exist.
    NoProfile {
        /// The path of the file.
        file: String,
    },
    /// A file cannot be written.
    Write {
        /// The path of the file.
        file: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file is not an image, or the image is damaged.
    Image {
        /// The path of the file.
        file: String,
        /// The fault of the image.
        source: ImageError,
    },
    /// A file is not a profile, the profile is damaged, or it cannot be added to the profiles before it.
    Profile {
        /// The path of the file.
        file: String,
        /// The fault of the profile.
        source: gmon::Error,
    },
    /// A profile has another word size or byte order than the image.
    OtherLayout {
        /// The path of the file.
        file: String,
        /// The word size, the byte order, and the form of the profile.
        found: gmon::Encoding,
        /// What the image, or `--profile-form`, says about the word size.
        word: Option<gmon::Word>,
        /// What the image, or `--profile-form`, says about the byte order.
        order: Option<gmon::Order>,
    },
    /// A profile is compressed.
    Compressed {
        /// The path of the file.
        file: String,
        /// The command that writes the content of the file.
        command: String,
    },
    /// A profile has more than one meaning.
    AmbiguousProfile {
        /// The path of the file.
        file: String,
        /// The values of `--profile-form` that fit.
        forms: Vec<String>,
    },
    /// The map of object files (`-R`) has a fault.
    Map {
        /// The path of the file.
        file: String,
        /// The fault of the map.
        source: MapError,
    },
    /// An image has more addresses than the other images leave free.
    TooLarge {
        /// The path of the file.
        file: String,
    },
    /// The user asked for the flat profile, and no profile has samples.
    NoSamples,
    /// The user asked for the call graph, and no profile has calls.
    NoCalls,
    /// The user asked for the call graph of a thread without calls, and no stacks show its callers.
    NoCallsOfThread,
    /// The user asked for bounds of inclusive times, and no profile has samples, or no profile has calls.
    NoBounds,
    /// The user asked for threads, and no profile has a side file with threads.
    NoThreads,
    /// The user asked for a thread that no side file has.
    NoThread {
        /// The name or the number of the thread.
        wanted: String,
        /// The names and numbers of the threads.
        known: String,
    },
    /// The user asked for a part of a side file, and no profile has a side file.
    NoSideFile {
        /// The path of the first profile.
        file: String,
    },
    /// Profiles may not belong to their images, and the user wants no output then (`--strict`).
    Mismatch,
    /// All profiles of a sum are of other programs or builds than the image.
    NothingToAdd {
        /// The path of the image.
        image: String,
    },
    /// Something needs side files of one program, and the side files are of different programs.
    SideFilesDiffer {
        /// The option or the file.
        what: &'static str,
    },
    /// The user asked for a shared object that no side file has, or that is one of several.
    Objects {
        /// What names the object.
        wanted: String,
        /// Whether there are such objects.
        is_known: bool,
        /// The numbers and paths of the objects to choose from.
        objects: String,
    },
    /// The user asked for the profile of a shared object in which nothing was counted.
    NothingInObject {
        /// The path of the object.
        object: String,
    },
    /// The user asked for calling contexts or callers, and no profile has stacks.
    NoStacks,
    /// The user asked for the profile of a process that has none.
    Process {
        /// The number of the process.
        pid: u32,
        /// What is wrong.
        why: String,
    },
    /// A program that `--repeat` runs cannot be run, failed, or left no profile.
    Program {
        /// The name of the program on the command line.
        program: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// The screen of the terminal cannot be used.
    Terminal(io::Error),
    /// The user asked for a difference, and a profile has no samples.
    NoTimes {
        /// The path of the first profile.
        file: String,
    },
    /// The user asked for a difference of profiles that do not measure the same.
    UnitsDiffer {
        /// The unit of the base's samples.
        base: String,
        /// The unit of the other samples.
        new: String,
    },
    /// A change is beyond a limit (`--fail-if`). This is a result of the comparison, and no fault.
    Changed {
        /// What changed, in one line.
        verdict: String,
    },
    /// The runs could not have shown a change beyond a limit (`--fail-if-unsure`).
    Unsure {
        /// What the runs would have shown, in one line.
        verdict: String,
    },
    /// The reports cannot be written.
    Output(io::Error),
}

impl Error {
    /// Returns whether the reader of the reports closed the pipe early, as `head` does. This is not a fault.
    #[must_use]
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Error::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Returns whether the run did what was asked, and the error is its result.
    #[must_use]
    pub fn is_verdict(&self) -> bool {
        matches!(self, Error::Changed { .. } | Error::Unsure { .. })
    }

    /// Returns the exit status of a program that ends with this error.
    #[must_use]
    pub fn exit_status(&self) -> u8 {
        match self {
            Error::Changed { .. } => 3,
            Error::Unsure { .. } => 4,
            _ => 1,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Usage(what) => write!(f, "{what} (try 'gprof --help')"),
            Error::Pager(what) => f.write_str(what),
            Error::Read { file, source } | Error::Write { file, source } => write!(f, "{file}: {}", system(source)),
            Error::Misspelled { file, near, source } => {
                write!(f, "{file}: {}; did you mean '{near}'?", system(source))
            }
            Error::NoProfile { file } => {
                write!(
                    f,
                    "{file}: No such file or directory: was the program built with -pg, and did it run to its end in this directory?"
                )
            }
            Error::Image { file, source } => write!(f, "{file}: {source}"),
            Error::Profile { file, source: gmon::Error::Empty } => write!(
                f,
                "{file}: empty file: the program still runs, or was killed or executed another program before it wrote its \
                 counts (GMON_LIVE=1 writes them while it runs)"
            ),
            Error::Profile { file, source } => write!(f, "{file}: {source}"),
            Error::OtherLayout { file, found, word, order } => {
                let word = word.unwrap_or(found.word());
                let order = order.unwrap_or(found.order);
                write!(
                    f,
                    "{file}: a profile of a {} {} program, but the image is a {word} {order} one: name the program that wrote \
                     the profile",
                    found.word(),
                    found.order
                )
            }
            Error::Compressed { file, command } => {
                write!(f, "{file}: the profile is compressed: '{command} | gprof PROGRAM -' reads it")
            }
            Error::AmbiguousProfile { file, forms } => {
                let options: Vec<String> = forms.iter().map(|form| format!("--profile-form={form}")).collect();
                write!(f, "{file}: the profile has more than one meaning: choose one ({})", options.join(", "))
            }
            Error::Map { file, source } => write!(f, "{file}: {source}"),
            Error::TooLarge { file } => {
                write!(
                    f,
                    "{file}: the image and its profile cover more addresses than the other images leave free: report on this image alone"
                )
            }
            Error::NoSamples => f.write_str("no flat profile: the profile has no samples"),
            Error::NoCalls => f.write_str("no call graph: the profile has no calls"),
            Error::NoCallsOfThread => f.write_str(
                "no call graph: the side file has no calls of the thread: leave out --thread, or --propagate and -l if the thread has stacks",
            ),
            Error::NoBounds => f.write_str("no bounds: the profile has no samples or no calls"),
            Error::NoThreads => {
                f.write_str("no threads: the profile was not counted by thread; run the program with GMON_THREADS=1")
            }
            Error::NoThread { wanted, known } => write!(f, "no thread has the name or number '{wanted}': {known}"),
            Error::NoSideFile { file } => {
                write!(f, "{file}: the profile has no side file {file}.side, which contains shared objects and threads")
            }
            Error::NothingToAdd { image } => {
                write!(f, "no sum: all profiles are of other programs or builds than {image}: name the program that wrote them")
            }
            Error::Mismatch => f.write_str(
                "--strict: a profile may not belong to its program, as the warning says: run the program again, or leave out --strict",
            ),
            Error::SideFilesDiffer { what } => {
                write!(
                    f,
                    "{what}: the side files are of different programs or builds: name the profiles of one program"
                )
            }
            Error::Objects { wanted, is_known: false, objects } => {
                write!(f, "no shared object has the path, name or number '{wanted}': {objects}")
            }
            Error::Objects { wanted, is_known: true, objects } => {
                write!(f, "more than one shared object has the name '{wanted}': choose one by its number: {objects}")
            }
            Error::NothingInObject { object } => write!(f, "{object}: the run counted nothing in this shared object"),
            Error::NoStacks => f.write_str(
                "no calling contexts: the profile has no stacks: this project's runtime for Linux writes them, except with \
                 GMON_STACKS=0, and in children with GMON_CHILDREN=sum",
            ),
            Error::Process { pid, why } => write!(f, "process {pid}: {why}"),
            Error::Program { program, why } => write!(f, "{program}: {why}"),
            Error::Terminal(source) => {
                write!(f, "the terminal cannot be used: {}: write to a file or a pipe instead", system(source))
            }
            Error::NoTimes { file } => write!(f, "{file}: the profile has no samples, so no times can be compared"),
            Error::UnitsDiffer { base, new } => write!(
                f,
                "'--base': the samples of the base are {base}, those of the other profiles {new}: name profiles of one unit"
            ),
            Error::Changed { verdict } | Error::Unsure { verdict } => f.write_str(verdict),
            Error::Output(source) => write!(f, "standard output: {}", system(source)),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Read { source, .. }
            | Error::Misspelled { source, .. }
            | Error::Write { source, .. }
            | Error::Output(source)
            | Error::Terminal(source) => Some(source),
            Error::Image { source, .. } => Some(source),
            Error::Profile { source, .. } => Some(source),
            Error::Map { source, .. } => Some(source),
            Error::Usage(_)
            | Error::Pager(_)
            | Error::NoProfile { .. }
            | Error::Compressed { .. }
            | Error::AmbiguousProfile { .. }
            | Error::TooLarge { .. }
            | Error::NoSamples
            | Error::NoCalls
            | Error::NoCallsOfThread
            | Error::NoBounds
            | Error::NoThreads
            | Error::NoThread { .. }
            | Error::NoSideFile { .. }
            | Error::NothingToAdd { .. }
            | Error::Mismatch
            | Error::SideFilesDiffer { .. }
            | Error::Objects { .. }
            | Error::NothingInObject { .. }
            | Error::Process { .. }
            | Error::Program { .. }
            | Error::NoStacks
            | Error::NoTimes { .. }
            | Error::UnitsDiffer { .. }
            | Error::Changed { .. }
            | Error::OtherLayout { .. }
            | Error::Unsure { .. } => None,
        }
    }
}
