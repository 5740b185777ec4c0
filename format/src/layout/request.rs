//! The request by which `gprof --attach` asks a running program for a copy of its profile.
//!
//! gprof creates three files in one of the [`DIRECTORIES`], as the program sees them: the request, which is named
//! [`NAME`] and the number that the process has in its own PID namespace, and two empty files for the copy, with
//! [`PROFILE`] and [`SIDE_FILE`] behind this name. Only the user of the process may open the files. Then gprof sends
//! [`SIGNAL`]. The runtime opens the files, does what the [`Question`] asks, and writes its [`Answer`] behind the
//! question. Numbers are in the byte order of the machine, on which both processes run.
//!
//! A program that can answer has a note of type [`NOTE_TYPE`] with the owner [`NOTE_OWNER`]; its description is
//! [`VERSION`], four bytes.

/// The owner of the note that an executable or a shared object with the runtime has.
pub const NOTE_OWNER: [u8; 5] = *b"gmon\0";
/// The type of this note.
pub const NOTE_TYPE: u32 = 1;
/// The version of requests.
pub const VERSION: u32 = 1;

/// The signal that tells the runtime to look for a request. The timers of the runtime send the same signal.
pub const SIGNAL: i32 = 60;
/// The directories that may have a request, in the order in which the runtime searches them.
pub const DIRECTORIES: [&str; 3] = ["/tmp/", "/var/tmp/", "/dev/shm/"];
/// The name of a request up to the number of the process.
pub const NAME: &str = ".gmon-request-";
/// What the name of the copy of the profile has behind the name of the request.
pub const PROFILE: &str = ".out";
/// What the name of the copy of the side file has behind the name of the request.
pub const SIDE_FILE: &str = ".out.side";

/// The longest list of functions in bytes.
pub const LONGEST_LIST: usize = 1024;
/// The longest text of an answer in bytes.
pub const LONGEST_TEXT: usize = 512;
/// The size of a question in bytes.
pub const QUESTION_SIZE: usize = 40 + LONGEST_LIST;
/// The offset of the answer in the file of the request.
pub const ANSWER_OFFSET: usize = QUESTION_SIZE;
/// The size of an answer in bytes.
pub const ANSWER_SIZE: usize = 8 + LONGEST_TEXT;

const MAGIC: [u8; 8] = *b"\x89gmon?\r\n";

/// What gprof asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// To write a copy of the profile. What the question wants switched on stays on.
    Begin = 1,
    /// To write another copy, and to switch off what `Begin` of the same session has switched on.
    End = 2,
}

/// A question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question<'a> {
    /// What gprof asks for.
    pub action: Action,
    /// A number that the questions of one run of gprof have in common. No two runs have the same number.
    pub session: u64,
    /// The nanoseconds from `Begin` on after which the program switches off by itself what it has switched on.
    pub limit: u64,
    /// The functions whose calls are to be counted on demand, as a list of patterns; empty for all functions. `None`
    /// leaves the counting of calls as it is.
    pub calls: Option<&'a [u8]>,
}

/// How a question ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    /// The copy is complete.
    Done,
    /// Nothing has changed, and there is no copy. The text says why.
    Refused(&'a [u8]),
}

impl<'a> Question<'a> {
    /// The bytes of the question. A list that is too long is cut.
    #[must_use]
    pub fn encode(&self) -> [u8; QUESTION_SIZE] {
        let list = self.calls.unwrap_or_default();
        let length = list.len().min(LONGEST_LIST);
        let mut bytes = [0; QUESTION_SIZE];
        put(&mut bytes, 0, &MAGIC);
        put(&mut bytes, 8, &VERSION.to_ne_bytes());
        put(&mut bytes, 12, &(self.action as u32).to_ne_bytes());
        put(&mut bytes, 16, &u32::from(self.calls.is_some()).to_ne_bytes());
        put(&mut bytes, 20, &(length as u32).to_ne_bytes());
        put(&mut bytes, 24, &self.session.to_ne_bytes());
        put(&mut bytes, 32, &self.limit.to_ne_bytes());
        put(&mut bytes, 40, list.get(..length).unwrap_or_default());
        bytes
    }

    /// The question that these bytes are; `None` if they are none, or one of another version.
    #[must_use]
    pub fn decode(bytes: &'a [u8]) -> Option<Question<'a>> {
        if bytes.get(..8)? != MAGIC || word(bytes, 8)? != VERSION {
            return None;
        }
        let action = match word(bytes, 12)? {
            1 => Action::Begin,
            2 => Action::End,
            _ => return None,
        };
        let list = bytes.get(40..QUESTION_SIZE)?.get(..word(bytes, 20)? as usize)?;
        let calls = if word(bytes, 16)? != 0 { Some(list) } else { None };
        Some(Question { action, session: long(bytes, 24)?, limit: long(bytes, 32)?, calls })
    }
}

impl<'a> Answer<'a> {
    /// The bytes of the answer. A text that is too long is cut.
    #[must_use]
    pub fn encode(&self) -> [u8; ANSWER_SIZE] {
        let (outcome, text) = match self {
            Answer::Done => (1_u32, &[][..]),
            Answer::Refused(text) => (2, *text),
        };
        let length = text.len().min(LONGEST_TEXT);
        let mut bytes = [0; ANSWER_SIZE];
        put(&mut bytes, 0, &outcome.to_ne_bytes());
        put(&mut bytes, 4, &(length as u32).to_ne_bytes());
        put(&mut bytes, 8, text.get(..length).unwrap_or_default());
        bytes
    }

    /// The answer that these bytes are; `None` if there is none yet.
    #[must_use]
    pub fn decode(bytes: &'a [u8]) -> Option<Answer<'a>> {
        let text = bytes.get(8..)?.get(..word(bytes, 4)? as usize)?;
        match word(bytes, 0)? {
            1 => Some(Answer::Done),
            2 => Some(Answer::Refused(text)),
            _ => None,
        }
    }
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes.iter_mut().skip(at).zip(value).for_each(|(byte, value)| *byte = *value);
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_read_as_it_was_written() {
        for (action, calls) in [(Action::Begin, None), (Action::End, Some(&b""[..])), (Action::Begin, Some(b"f*,!g"))] {
            let question = Question { action, session: u64::MAX - 1, limit: 11_000_000_000, calls };
            assert_eq!(Question::decode(&question.encode()), Some(question));
        }
    }

    #[test]
    fn other_bytes_are_no_question() {
        let whole = Question { action: Action::End, session: 7, limit: 8, calls: Some(b"f") }.encode();
        for (at, value) in [(0, 0), (8, 9), (12, 3), (23, 0x7f), (22, 0x7f)] {
            let mut bytes = whole;
            bytes[at] = value;
            bytes[if cfg!(target_endian = "big") { at ^ 3 } else { at }] = value;
            assert_eq!(Question::decode(&bytes), None, "{at}");
        }
        for length in 0..QUESTION_SIZE {
            assert_eq!(Question::decode(&whole[..length]), None, "{length}");
        }
    }

    #[test]
    fn an_answer_is_read_as_it_was_written() {
        for answer in [Answer::Done, Answer::Refused(b""), Answer::Refused(b"no function matches f")] {
            assert_eq!(Answer::decode(&answer.encode()), Some(answer));
        }
        assert_eq!(Answer::decode(&[0; ANSWER_SIZE]), None);
        assert_eq!(Answer::decode(&[]), None);
        let long = [b'x'; LONGEST_TEXT + 1];
        assert_eq!(Answer::decode(&Answer::Refused(&long).encode()), Some(Answer::Refused(&long[1..])));
    }
}
