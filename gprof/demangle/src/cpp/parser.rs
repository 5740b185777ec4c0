//! The state of the parser, and the smallest parts that it reads.

use alloc::vec::Vec;

use super::options::{Failure, Grammar, MAX_DEPTH};
use super::tree::{Id, Node, Tree};

/// Parses a mangled name from front to back. A `None` anywhere ends the parsing.
pub(super) struct Parser<'a> {
    pub(super) text: &'a [u8],
    pub(super) at: usize,
    pub(super) tree: Tree<'a>,
    /// The nodes that `S_`, `S0_`, … stand for.
    pub(super) substitutions: Vec<Id>,
    /// The last name, which is also the name of a constructor.
    pub(super) last_name: Option<Id>,
    pub(super) depth: usize,
    /// The number of steps that are left: a name that needs more is hostile. The parser sometimes backtracks.
    pub(super) steps_left: usize,
    pub(super) in_expression: bool,
    pub(super) in_conversion: bool,
    /// Whether to parse names that GNU binutils 2.40 leaves mangled.
    pub(super) is_newest: bool,
    /// The error that ended the parsing, if one did.
    failure: Failure,
    /// The deepest level of template parameters since the start of the constraint.
    pub(super) deepest_level: usize,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a [u8], max_length: usize, grammar: Grammar) -> Parser<'a> {
        Parser {
            text,
            at: 0,
            tree: Tree::default(),
            substitutions: Vec::new(),
            last_name: None,
            depth: 0,
            steps_left: max_length,
            in_expression: false,
            in_conversion: false,
            is_newest: grammar == Grammar::Newest,
            failure: Failure::Unreadable,
            deepest_level: 0,
        }
    }

    pub(super) fn into_tree(self) -> Tree<'a> {
        self.tree
    }

    /// The reason why the name could not be parsed.
    pub(super) fn failure(&self) -> Failure {
        self.failure
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    pub(super) fn peek_next(&self) -> Option<u8> {
        self.rest().get(1).copied()
    }

    /// Skips a text if it comes next.
    pub(super) fn eat(&mut self, text: &[u8]) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.skip(text.len());
        }
        found
    }

    pub(super) fn expect(&mut self, text: &[u8]) -> Option<()> {
        self.eat(text).then_some(())
    }

    /// Skips some bytes.
    pub(super) fn skip(&mut self, count: usize) {
        self.at = self.at.saturating_add(count);
    }

    /// The rest of the input.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The number of bytes of one kind that come next.
    pub(super) fn count(&self, is: impl Fn(u8) -> bool) -> usize {
        self.rest().iter().take_while(|byte| is(**byte)).count()
    }

    pub(super) fn bump(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.skip(1);
        Some(byte)
    }

    pub(super) fn add(&mut self, node: Node<'a>) -> Id {
        let id = self.tree.nodes.len();
        self.tree.nodes.push(node);
        id
    }

    pub(super) fn node(&self, id: Id) -> &Node<'a> {
        self.tree.node(id)
    }

    /// Adds a node to those that later text may abbreviate.
    pub(super) fn remember(&mut self, id: Id) -> Id {
        self.substitutions.push(id);
        id
    }

    /// Parses a node that may contain nodes of its kind, up to the maximum depth.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let left = self.steps_left.checked_sub(1).filter(|_| self.depth < MAX_DEPTH);
        let Some(left) = left else {
            self.failure = Failure::TooMuch;
            return None;
        };
        self.steps_left = left;
        self.depth = self.depth.saturating_add(1);
        let result = read(self);
        self.depth = self.depth.saturating_sub(1);
        result
    }

    /// Parses, and backtracks on failure.
    pub(super) fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let (at, nodes, known, last_name) = (self.at, self.tree.nodes.len(), self.substitutions.len(), self.last_name);
        let result = read(self);
        if result.is_none() {
            self.at = at;
            self.tree.nodes.truncate(nodes);
            self.substitutions.truncate(known);
            self.last_name = last_name;
        }
        result
    }

    /// Parses a length and that number of bytes.
    pub(super) fn identifier(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok().filter(|length| *length > 0)?;
        let text = self.text.get(self.at..self.at.checked_add(length)?)?;
        self.skip(length);
        Some(text)
    }

    pub(super) fn number(&mut self) -> Option<u64> {
        let start = self.at;
        let number = value(self.digits());
        if number.is_none() {
            self.at = start;
        }
        number
    }

    pub(super) fn signed_number(&mut self) -> Option<u64> {
        self.eat(b"n");
        self.number()
    }

    /// Parses digits.
    pub(super) fn digits(&mut self) -> &'a [u8] {
        let count = self.count(|byte| byte.is_ascii_digit());
        let digits = self.rest().get(..count).unwrap_or_default();
        self.skip(count);
        digits
    }

    /// Parses the text before an `E`, and skips the `E`.
    pub(super) fn up_to_end(&mut self) -> Option<&'a [u8]> {
        self.up_to(b'E')
    }

    /// Parses the text before a byte, and skips the byte.
    fn up_to(&mut self, end: u8) -> Option<&'a [u8]> {
        let rest = self.rest();
        let text = rest.get(..rest.iter().position(|byte| *byte == end)?)?;
        self.skip(text.len().saturating_add(1));
        Some(text)
    }

    /// Parses a number of the sequence `_`, `0_`, `1_`, …
    pub(super) fn compact_number(&mut self) -> Option<u64> {
        if self.eat(b"_") {
            return Some(0);
        }
        let number = self.number()?.checked_add(1)?;
        self.expect(b"_")?;
        Some(number)
    }

    /// Parses a number of the sequence `_`, `0_`, …, `9_`, `A_`, …
    pub(super) fn sequence(&mut self) -> Option<u64> {
        let digits = self.up_to(b'_')?;
        if digits.is_empty() {
            return Some(0);
        }
        if digits.iter().any(u8::is_ascii_lowercase) {
            return None;
        }
        in_base(36, digits)?.checked_add(1)
    }

    /// Parses a discriminator, which distinguishes entities of one name in a function and is not printed.
    pub(super) fn discriminator(&mut self) -> Option<()> {
        if !self.eat(b"_") {
            return Some(());
        }
        let long = self.eat(b"_");
        let number: u64 = value(self.digits()).unwrap_or(0);
        if long && number >= 10 { self.expect(b"_") } else { Some(()) }
    }
}

/// The value of digits; `None` if there are no digits or the value is too large.
pub(super) fn value(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() { None } else { in_base(10, digits) }
}

fn in_base(base: u32, digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0_u64, |number, digit| {
        let digit = char::from(*digit).to_digit(base)?;
        number.checked_mul(u64::from(base))?.checked_add(u64::from(digit))
    })
}
