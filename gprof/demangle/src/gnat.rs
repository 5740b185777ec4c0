//! Demangles Ada names as GNAT encodes them: in lower case, with `__` between parts, and upper-case letters for other
//! properties.
//!
//! In this style every name is treated as an Ada name. A name that is not valid is put in angle brackets.

use alloc::vec::Vec;

/// The encodings of operators.
const OPERATORS: [(&[u8], &[u8]); 19] = [
    (b"Oabs", b"abs"),
    (b"Oadd", b"+"),
    (b"Oand", b"and"),
    (b"Oconcat", b"&"),
    (b"Odivide", b"/"),
    (b"Oeq", b"="),
    (b"Oexpon", b"**"),
    (b"Oge", b">="),
    (b"Ogt", b">"),
    (b"Ole", b"<="),
    (b"Olt", b"<"),
    (b"Omod", b"mod"),
    (b"Omultiply", b"*"),
    (b"One", b"/="),
    (b"Onot", b"not"),
    (b"Oor", b"or"),
    (b"Orem", b"rem"),
    (b"Osubtract", b"-"),
    (b"Oxor", b"xor"),
];

/// The suffixes of compiler-generated entities of a package or a type, after three underscores.
const MADE: [(&[u8], &[u8]); 5] = [
    (b"_elabb", b"'Elab_Body"),
    (b"_elabs", b"'Elab_Spec"),
    (b"_size", b"'Size"),
    (b"_alignment", b"'Alignment"),
    (b"_assign", b".\":=\""),
];

/// The stream operations of a type.
const STREAMS: [(&[u8], &[u8]); 4] = [(b"SR", b"'Read"), (b"SW", b"'Write"), (b"SI", b"'Input"), (b"SO", b"'Output")];

/// The source form of a name.
pub(super) fn demangle(name: &[u8]) -> Vec<u8> {
    let unit = name.strip_prefix(b"_ada_").unwrap_or(name);
    match (Reader { rest: unit, text: Vec::new() }).read() {
        Some(text) => text,
        None if unit.starts_with(b"<") => unit.to_vec(),
        None => [b"<", unit, b">"].concat(),
    }
}

/// What follows a part of a name.
enum Next {
    Part,
    End,
}

/// Parses a name part by part.
struct Reader<'a> {
    rest: &'a [u8],
    text: Vec<u8>,
}

impl Reader<'_> {
    fn read(mut self) -> Option<Vec<u8>> {
        self.peek(0).filter(u8::is_ascii_lowercase)?;
        loop {
            self.part()?;
            if let Next::End = self.behind_part()? {
                return Some(self.text);
            }
        }
    }

    fn peek(&self, at: usize) -> Option<u8> {
        self.rest.get(at).copied()
    }

    fn eat(&mut self, text: &[u8]) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Parses any of these encodings.
    fn eat_any(&mut self, known: &[(&[u8], &'static [u8])]) -> Option<&'static [u8]> {
        known.iter().find(|(code, _)| self.eat(code)).map(|(_, text)| *text)
    }

    fn eat_while(&mut self, is: impl Fn(u8) -> bool) -> usize {
        let length = self.rest.iter().take_while(|byte| is(**byte)).count();
        self.rest = self.rest.get(length..).unwrap_or_default();
        length
    }

    /// Parses an identifier or an operator.
    fn part(&mut self) -> Option<()> {
        let is_letter = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        if self.peek(0)?.is_ascii_lowercase() {
            while is_letter(self.peek(0)) || (self.peek(0) == Some(b'_') && is_letter(self.peek(1))) {
                self.text.extend(self.peek(0));
                self.rest = self.rest.get(1..).unwrap_or_default();
            }
            return Some(());
        }
        let operator = self.eat_any(&OPERATORS)?;
        self.text.push(b'"');
        self.text.extend_from_slice(operator);
        self.text.push(b'"');
        Some(())
    }

    /// Parses the letters after a part, and returns what follows; `None` if the letters have no meaning.
    fn behind_part(&mut self) -> Option<Next> {
        if self.eat(b"TK") {
            // The body of a task, or an entity in it.
            return if self.rest == b"B" { Some(Next::End) } else { self.eat(b"__").then(|| self.next_part()) };
        }
        if matches!(self.rest, b"P" | b"N") {
            return Some(Next::End);
        }
        self.nesting();
        if self.peek(0) == Some(b'S') && matches!(self.peek(2), None | Some(b'_')) {
            let stream = self.eat_any(&STREAMS)?;
            self.text.extend_from_slice(stream);
        } else if self.peek(0) == Some(b'D') {
            let controlled: &[u8] = match self.peek(1)? {
                b'F' => b".Finalize",
                b'A' => b".Adjust",
                _ => return None,
            };
            self.text.extend_from_slice(controlled);
            return Some(Next::End);
        }
        self.separator()
    }

    /// The nesting of bodies, which is not printed.
    fn nesting(&mut self) {
        if self.eat(b"X") {
            self.eat_while(|byte| matches!(byte, b'n' | b'b'));
        }
    }

    fn next_part(&mut self) -> Next {
        self.text.push(b'.');
        Next::Part
    }

    fn separator(&mut self) -> Option<Next> {
        if self.eat(b"__") {
            if self.peek(0).is_some_and(|byte| byte.is_ascii_digit()) {
                self.overload();
            } else if self.peek(0) == Some(b'_') && self.peek(1) != Some(b'_') {
                let made = self.eat_any(&MADE)?;
                self.text.extend_from_slice(made);
                return Some(Next::End);
            } else {
                return Some(self.next_part());
            }
        } else if self.eat(b"_B") || self.eat(b"_E") {
            // The body or the barrier of an entry.
            self.eat_while(|byte| byte.is_ascii_digit());
            return (self.rest == b"s").then_some(Next::End);
        }
        if self.peek(0) == Some(b'.') && self.peek(1).is_some_and(|byte| byte.is_ascii_digit()) {
            self.rest = self.rest.get(1..).unwrap_or_default();
            self.eat_while(|byte| byte.is_ascii_digit());
        }
        self.rest.is_empty().then_some(Next::End)
    }

    /// Parses the number of an overloaded function.
    fn overload(&mut self) {
        while self.eat_while(|byte| byte.is_ascii_digit()) > 0 {
            if self.peek(0) == Some(b'_') && self.peek(1).is_some_and(|byte| byte.is_ascii_digit()) {
                self.rest = self.rest.get(1..).unwrap_or_default();
            }
        }
        self.nesting();
    }
}
