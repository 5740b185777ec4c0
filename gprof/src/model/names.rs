//! Names of functions, rows and entries as every output shows them.

use std::borrow::Cow;

use gmon::side_file::CutReason;

use super::analysis::Analysis;
use super::context_rows::ContextRow;
use super::contexts::tree::Frame;
use super::rows::FlatRow;
use crate::program::symbols::functions::FunctionId;
use crate::program::symbols::sources::base;
use crate::sources::side_info::cut_words;

/// What an output names.
#[derive(Clone, Copy)]
pub(super) enum Named<'a> {
    /// A function.
    Function(FunctionId),
    /// A function with its file and line, if the options ask for these.
    Located(FunctionId),
    /// A function of this symbol that was inlined into another function.
    Inside(&'a [u8], FunctionId),
    /// A frame of an inlined function of this symbol.
    Inlined(&'a [u8]),
    /// The cycle with this index.
    Cycle(usize),
    /// Code of the kernel.
    Kernel,
    /// Code outside of all functions.
    Outside,
    /// The outer part of a stack that is not known.
    Cut(CutReason),
    /// Samples without a stack.
    WithoutStack,
    /// Time that several functions share.
    Shared,
    /// Everything.
    All,
    /// What an output leaves out, under this name.
    LeftOut(&'static str),
}

impl Analysis<'_> {
    /// Returns the name of a function as the user wants it: demangled or not. Where functions of several images have
    /// the same name, the image follows the name.
    ///
    /// Names are bytes of the image. Before a terminal gets a name, [`visible`](crate::visible) must escape its control
    /// characters.
    #[must_use]
    pub fn name(&self, id: FunctionId) -> Cow<'_, [u8]> {
        self.spelled(Named::Function(id))
    }

    /// Returns the name of a function, and its file and line if the options ask for these
    /// ([`Options::file_names`](crate::Options::file_names)).
    #[must_use]
    pub fn name_with_location(&self, id: FunctionId) -> Cow<'_, [u8]> {
        self.spelled(Named::Located(id))
    }

    /// Returns the name that a row of the flat profile shows. A row about inlined code names both functions.
    #[must_use]
    pub fn row_name(&self, row: &FlatRow<'_>) -> Cow<'_, [u8]> {
        self.spelled(row.inlined.map_or(Named::Located(row.function), |symbol| Named::Inside(symbol, row.function)))
    }

    /// Returns the name of an inlined function: [`FlatRow::inlined`] as the user wants names. Such a function need not
    /// be one of [`Analysis::functions`].
    #[must_use]
    pub fn inlined_name<'a>(&self, symbol: &'a [u8]) -> Cow<'a, [u8]> {
        self.functions.written(self.readable(symbol))
    }

    /// Returns the name of a row of the calling contexts or callers. Code without a function has a name in angle
    /// brackets.
    #[must_use]
    pub fn context_name(&self, row: &ContextRow<'_>) -> Cow<'_, [u8]> {
        self.spelled(match row.frame {
            Frame::Function(id) => Named::Located(id),
            Frame::Inlined(_) => Named::Inlined(row.inlined.unwrap_or_default()),
            Frame::Kernel => Named::Kernel,
            Frame::Outside => Named::Outside,
            Frame::Cut(reason) => Named::Cut(reason),
        })
    }

    /// Returns the name of code as every output shows it. All other methods that return names call this method.
    pub(super) fn spelled(&self, named: Named<'_>) -> Cow<'_, [u8]> {
        let fixed = |name: &'static str| Cow::Borrowed(name.as_bytes());
        match named {
            Named::Function(id) => self.functions.written(self.whole_name(id)),
            Named::Located(id) => self.functions.written(self.located(id)),
            Named::Inside(symbol, id) => {
                let name = [&self.readable(symbol), &b" [inlined in "[..], &self.located(id), b"]"].concat();
                self.functions.written(Cow::Owned(name))
            }
            Named::Inlined(symbol) => Cow::Owned([&self.inlined_name(symbol), &b" [inlined]"[..]].concat()),
            Named::Cycle(at) => Cow::Owned(format!("<cycle {}>", at + 1).into_bytes()),
            Named::Kernel => fixed("<kernel>"),
            Named::Outside => fixed("<outside>"),
            Named::Cut(reason) => Cow::Owned(format!("<cut: {}>", why_cut(reason)).into_bytes()),
            Named::WithoutStack => fixed("<no stack>"),
            Named::Shared => fixed("<shared>"),
            Named::All => fixed("all"),
            Named::LeftOut(name) => fixed(name),
        }
    }

    /// Returns the name of a function, followed by its image if functions of several images have the name.
    fn whole_name(&self, id: FunctionId) -> Cow<'_, [u8]> {
        let functions = &self.functions;
        let name = if self.names.demangle { functions.readable(id) } else { Cow::Borrowed(functions[id].name) };
        functions.labelled(id, name)
    }

    /// Returns the name of a function with its file and line, if the options ask for these.
    fn located(&self, id: FunctionId) -> Cow<'_, [u8]> {
        let name = self.whole_name(id);
        match self.sources.place(id).filter(|_| self.names.locations) {
            None => name,
            Some(place) => {
                let mut text = name.into_owned();
                text.extend_from_slice(b" (");
                text.extend_from_slice(self.sources.name(place.file, self.names.paths));
                let address = self.functions.linked(id, self.functions[id].address);
                let at = if self.names.by_line { format!(" @ {address:x}") } else { String::new() };
                text.extend_from_slice(format!(":{}{at})", place.line).as_bytes());
                self.add_inline_callers(id, &mut text);
                Cow::Owned(text)
            }
        }
    }

    fn readable<'a>(&self, symbol: &'a [u8]) -> Cow<'a, [u8]> {
        if self.names.demangle { self.functions.readable_name(symbol) } else { Cow::Borrowed(symbol) }
    }

    /// Appends the functions into which the compiler inlined a line.
    fn add_inline_callers(&self, id: FunctionId, text: &mut Vec<u8>) {
        for caller in self.inline_stacks.get(&self.functions[id].address).into_iter().flatten() {
            let name = self.readable(caller.function);
            text.extend_from_slice(&[&b" in "[..], &name].concat());
            let file = if self.names.paths { &caller.file } else { base(&caller.file) };
            if !file.is_empty() || caller.line != 0 {
                text.extend_from_slice(&[b" (", file, format!(":{})", caller.line).as_bytes()].concat());
            }
        }
    }
}

/// Returns the reason for which the outer part of a stack is not known.
fn why_cut(reason: CutReason) -> &'static str {
    cut_words(reason).map_or("unknown reason", |words| words.name)
}
