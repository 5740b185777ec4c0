//! Why stacks are cut, in words, and what helps.

use gmon::side_file::CutReason;

/// A reason in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutWords {
    /// A name of a few words, for rows.
    pub name: &'static str,
    /// What happened.
    pub text: &'static str,
    /// What the user can do, as a sentence; empty if nothing is known to help.
    pub help: &'static str,
}

/// Returns the words of a reason; `None` if this version does not know the reason.
pub(crate) fn words(reason: CutReason) -> Option<CutWords> {
    let [name, text, help] = match reason {
        CutReason::NO_STACK => [
            "no stack",
            "the sample came without a stack",
            "A lower rate (GMON_HZ), a less busy machine, and more locked memory (ulimit -l) for copies of stacks help",
        ],
        CutReason::OFF => ["walking is off", "walking was switched off", "Run the program without GMON_STACKS=0"],
        CutReason::NO_MEMORY => [
            "tree of stacks full",
            "the tree of stacks was full (GMON_HZ with a lower rate needs less room)",
            "A lower rate (GMON_HZ) needs less room",
        ],
        CutReason::NO_BUFFER => {
            ["no buffer", "all buffers for walks were in use", "A lower rate (GMON_HZ) needs fewer buffers"]
        }
        CutReason::NO_TABLE => [
            "code without unwind table and frame pointer",
            "code without unwind table and frame pointer",
            "Compile all code with -fasynchronous-unwind-tables, or with -fno-omit-frame-pointer",
        ],
        CutReason::UNSUPPORTED => ["unknown unwind table", "an unwind table with an unknown operation", ""],
        CutReason::BAD_FRAME => ["wrong frame pointer", "a frame below its callee", ""],
        CutReason::UNREADABLE => ["stack not readable", "the stack was not readable", ""],
        CutReason::UNKNOWN_CODE => ["return address in unknown code", "a return address in no known code", ""],
        CutReason::TOO_DEEP => {
            ["stack too deep", "more frames than are walked", "A lower rate (GMON_HZ) leaves more time for each stack"]
        }
        CutReason::UNFINISHED => ["still being written", "the file was read while the run was writing it", ""],
        CutReason::NOT_KEPT => [
            "stacks not kept",
            "the process added its counts to those of other processes (GMON_CHILDREN=sum)",
            "Run the program without GMON_CHILDREN=sum",
        ],
        CutReason::STILL_WALKING => ["walk not ended", "the walk had not ended when the file was written", ""],
        CutReason::MIDDLE => ["middle of a deep stack", "the frames in the middle of a deep stack were left out", ""],
        CutReason::COPY_TOO_SMALL => [
            "copy of the stack too small",
            "the kernel's copy of the stack was too small",
            "A lower rate (GMON_HZ) and more locked memory (ulimit -l) leave room for larger copies, and GMON_SAMPLER=timer needs none",
        ],
        CutReason::COPY_INCOMPLETE => [
            "copy of the stack incomplete",
            "the kernel's copy of the stack ended at a page that the program had never touched",
            "GMON_SAMPLER=timer needs no copies",
        ],
        _ => return None,
    };
    Some(CutWords { name, text, help })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_reasons_of_this_version_have_words() {
        let known = (0..32).filter(|code| words(CutReason::from_code(*code)).is_some());
        assert_eq!(known.collect::<Vec<_>>(), (1..=16).collect::<Vec<u32>>());
        for code in 1..=16 {
            let CutWords { name, text, help } = words(CutReason::from_code(code)).unwrap();
            assert!(!name.is_empty() && !text.is_empty() && !help.ends_with('.'), "{code}");
        }
    }
}
