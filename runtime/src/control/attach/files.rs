//! The files of a request: see [`gmon::layout::request`].

use gmon::layout::request::{
    ANSWER_OFFSET, Answer, DIRECTORIES, LONGEST_TEXT, NAME, PROFILE, QUESTION_SIZE, SIDE_FILE,
};

use crate::os::{CURRENT, Fd, effective_user};
use crate::ownership::PROCESS;
use crate::text::Text;
use core::sync::atomic::Ordering::Relaxed;

/// The open files of a request.
pub(super) struct Files {
    request: Fd,
    profile: Fd,
    side_file: Fd,
}

impl Files {
    /// Opens the files of a request to this process, if there is a request. The files belong to the user of the
    /// process: another user must not choose where the copy goes, nor what is counted.
    #[inline(never)]
    pub(super) fn open() -> Option<Files> {
        DIRECTORIES.iter().find_map(|directory| {
            let request = open(directory, "")?;
            let rest = open(directory, PROFILE).zip(open(directory, SIDE_FILE));
            if rest.is_none() {
                let _ = request.close();
            }
            let (profile, side_file) = rest?;
            Some(Files { request, profile, side_file })
        })
    }

    /// Reads the question. The result is its size in bytes.
    pub(super) fn read(&self, question: &mut [u8; QUESTION_SIZE]) -> usize {
        self.request.read_at(question, 0).unwrap_or(0)
    }

    /// The files for the copy: the profile and the side file.
    pub(super) fn copy(&self) -> (Fd, Fd) {
        (self.profile, self.side_file)
    }

    /// Writes the answer, and closes the files. Nobody else could hear of an error.
    #[inline(never)]
    pub(super) fn answer(self, is_done: bool, why: &Text<LONGEST_TEXT>) {
        let answer = if is_done { Answer::Done } else { Answer::Refused(why.as_bytes()) };
        let _ = self.request.write_all_at(&answer.encode(), ANSWER_OFFSET);
        for file in [self.request, self.profile, self.side_file] {
            let _ = file.close();
        }
    }
}

/// Opens a file of a request, if there is one of this user.
#[inline(never)]
fn open(directory: &str, suffix: &str) -> Option<Fd> {
    let mut path = Text::<64>::new();
    path.push(directory.as_bytes());
    path.push(NAME.as_bytes());
    path.push_decimal(PROCESS.load(Relaxed) as u64);
    path.push(suffix.as_bytes());
    let file = CURRENT.open_existing_to_change(path.as_c_str()?).ok()?;
    let is_own = file.status().is_ok_and(|status| status.is_regular() && status.owner == effective_user());
    if !is_own {
        let _ = file.close();
    }
    is_own.then_some(file)
}
