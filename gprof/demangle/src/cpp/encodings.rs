//! Parses whole symbols.

use super::options::MAX_DEPTH;
use super::parser::{self, Parser};
use super::tree::{Id, Node};

impl<'a> Parser<'a> {
    /// Parses the whole name. Only suffixes of compilers' copies may follow.
    pub(super) fn symbol(&mut self) -> Option<Id> {
        let mut symbol = self.encoding()?;
        while self.peek() == Some(b'.') {
            let suffix = self.clone_suffix()?;
            symbol = self.add(Node::Clone(symbol, suffix));
        }
        self.peek().is_none().then_some(symbol)
    }

    /// Parses the function that runs the constructors or destructors of global objects, and the name in its key. Text
    /// after a mangled name is ignored, as in GNU's demangler.
    pub(super) fn keyed_function(&mut self) -> Option<Id> {
        let rest = self.rest().strip_prefix(b"_GLOBAL_")?;
        let words = match rest.first_chunk::<3>()? {
            [b'.' | b'_' | b'$', b'I', b'_'] => "global constructors keyed to ",
            [b'.' | b'_' | b'$', b'D', b'_'] => "global destructors keyed to ",
            _ => return None,
        };
        self.skip(b"_GLOBAL__I_".len());
        let key = if self.eat(b"_Z") {
            self.encoding()?
        } else {
            let name = Some(self.rest()).filter(|name| !name.is_empty())?;
            self.add(Node::Text(name))
        };
        Some(self.add(Node::Special(words, key)))
    }

    /// Parses the suffix of a function's copy: a dot with a word or a number, and more numbers, each after a dot.
    fn clone_suffix(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        self.expect(b".")?;
        let word = self.count(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        self.skip(word);
        if word == 0 {
            return None;
        }
        while self.peek() == Some(b'.') && self.peek_next().is_some_and(|next| next.is_ascii_digit()) {
            self.skip(1);
            self.digits();
        }
        self.text.get(start..self.at)
    }

    /// Parses a function with its signature, or the name of anything else.
    pub(super) fn encoding(&mut self) -> Option<Id> {
        self.nested(|parser| {
            if matches!(parser.peek(), Some(b'G' | b'T')) {
                return parser.special();
            }
            let name = parser.name()?;
            if matches!(parser.peek(), None | Some(b'E')) {
                return Some(name);
            }
            let conditions =
                if parser.is_newest && parser.eat(b"Ua9enable_ifI") { Some(parser.argument_list()?) } else { None };
            let return_type = parser.has_return_type(name);
            let signature = parser.bare_function(return_type)?;
            let signature = parser.add(Node::Signature(signature));
            let function = parser.add(Node::Function(name, signature));
            let function = parser.constrained(function)?;
            Some(match conditions {
                Some(conditions) => parser.add(Node::Enabled(function, conditions)),
                None => function,
            })
        })
    }

    /// Whether the signature of a function with this name starts with the return type. That of a template does,
    /// except for names that imply the return type.
    fn has_return_type(&self, name: Id) -> bool {
        let Node::Template(mut name, _) = *self.node(self.tree.bare(name)) else {
            return false;
        };
        for _ in 0..MAX_DEPTH {
            match self.node(name) {
                Node::Member(_, inner) | Node::Local(_, inner) | Node::Friend(inner) => name = *inner,
                Node::Constructor(_) | Node::Destructor(_) | Node::Conversion(_) => return false,
                _ => return true,
            }
        }
        true
    }

    fn special(&mut self) -> Option<Id> {
        let kind = (self.bump()?, self.bump()?);
        let (words, subject) = match kind {
            (b'T', b'V') => ("vtable for ", self.ty()?),
            (b'T', b'T') => ("VTT for ", self.ty()?),
            (b'T', b'I') => ("typeinfo for ", self.ty()?),
            (b'T', b'S') => ("typeinfo name for ", self.ty()?),
            (b'T', b'F') => ("typeinfo fn for ", self.ty()?),
            (b'T', b'J') => ("java Class for ", self.ty()?),
            (b'T', b'H') => ("TLS init function for ", self.name()?),
            (b'T', b'W') => ("TLS wrapper function for ", self.name()?),
            (b'T', b'A') => ("template parameter object for ", self.template_argument()?),
            (b'T', b'h') => {
                self.offset(b'h')?;
                ("non-virtual thunk to ", self.encoding()?)
            }
            (b'T', b'v') => {
                self.offset(b'v')?;
                ("virtual thunk to ", self.encoding()?)
            }
            (b'T', b'c') => {
                for _ in 0..2 {
                    let kind = self.bump()?;
                    self.offset(kind)?;
                }
                ("covariant return thunk to ", self.encoding()?)
            }
            (b'T', b'C') => return self.construction_vtable(),
            (b'G', b'V') => ("guard variable for ", self.name()?),
            (b'G', b'R') => return self.reference_temporary(),
            (b'G', b'I') => ("initializer for module ", self.module(None)??),
            (b'G', b'A') => ("hidden alias for ", self.encoding()?),
            (b'G', b'T') => match self.bump()? {
                b'n' => ("non-transaction clone for ", self.encoding()?),
                _ => ("transaction clone for ", self.encoding()?),
            },
            _ => return None,
        };
        Some(self.add(Node::Special(words, subject)))
    }

    fn construction_vtable(&mut self) -> Option<Id> {
        let derived = self.ty()?;
        self.number()?;
        self.expect(b"_")?;
        let base = self.ty()?;
        Some(self.add(Node::ConstructionVtable(base, derived)))
    }

    fn reference_temporary(&mut self) -> Option<Id> {
        let name = self.name()?;
        let number = parser::value(self.digits()).unwrap_or(0);
        Some(self.add(Node::ReferenceTemporary(number, name)))
    }

    /// Parses the offset of a thunk, which is not printed.
    fn offset(&mut self, kind: u8) -> Option<()> {
        self.signed_number()?;
        self.expect(b"_")?;
        if kind == b'v' {
            self.signed_number()?;
            self.expect(b"_")?;
        }
        matches!(kind, b'h' | b'v').then_some(())
    }
}
