//! What is known about a file before the file is read.

use core::fmt;

use crate::{DataModel, Form, Order, Word};

/// What is known about a file in advance, usually from the executable. Detection trusts what is known, and finds the
/// rest.
///
/// The size of an address and the data model cannot contradict each other: each of [`with_word`](Hints::with_word) and
/// [`with_model`](Hints::with_model) replaces what contradicts the new value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    form: Option<Form>,
    sizes: Option<Sizes>,
    order: Option<Order>,
    name: Option<KnownName>,
}

/// What is known about the sizes of an address and of a C `long`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sizes {
    /// The size of an address.
    Word(Word),
    /// Both.
    Model(DataModel),
}

/// The names of files that say something about their form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KnownName {
    /// `mon.out`, which has no magic.
    MonOut,
    /// `gmon.sum`, whose header may be that of one of the profiles.
    Sum,
    /// `profile`, as in Linux's `/proc`.
    KernelProfile,
}

/// A kind of hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HintKind {
    /// [`Hints::form`].
    Form,
    /// [`Hints::word`].
    Word,
    /// [`Hints::model`].
    Model,
    /// [`Hints::order`].
    Order,
}

impl Hints {
    /// Knows nothing in advance.
    #[must_use]
    pub fn new() -> Hints {
        Hints::default()
    }

    /// Knows the family.
    #[must_use]
    pub fn with_form(self, form: Form) -> Hints {
        Hints { form: Some(form), ..self }
    }

    /// Does not know the family.
    #[must_use]
    pub fn without_form(self) -> Hints {
        Hints { form: None, ..self }
    }

    /// Knows the size of an address. A data model with addresses of another size is no longer known.
    #[must_use]
    pub fn with_word(self, word: Word) -> Hints {
        let model = self.model().filter(|model| model.word() == word);
        Hints { sizes: Some(model.map_or(Sizes::Word(word), Sizes::Model)), ..self }
    }

    /// Knows the sizes of an address and of a C `long`.
    #[must_use]
    pub fn with_model(self, model: DataModel) -> Hints {
        Hints { sizes: Some(Sizes::Model(model)), ..self }
    }

    /// Knows the name of the file. Some forms have no magic, and only their name tells: `mon.out`, and Linux's
    /// `/proc/profile`. The directories of a path make no difference.
    #[must_use]
    pub fn with_file_name(self, path: &[u8]) -> Hints {
        let name = match path.rsplit(|byte| *byte == b'/').next() {
            Some(b"mon.out") => Some(KnownName::MonOut),
            Some(b"gmon.sum") => Some(KnownName::Sum),
            Some(b"profile") => Some(KnownName::KernelProfile),
            _ => None,
        };
        Hints { name, ..self }
    }

    /// Knows the byte order.
    #[must_use]
    pub fn with_order(self, order: Order) -> Hints {
        Hints { order: Some(order), ..self }
    }

    /// Also knows what `others` know and these hints do not. The sizes of `others` count only if these hints have
    /// neither the size of an address nor the data model.
    #[must_use]
    pub fn or(self, others: Hints) -> Hints {
        Hints {
            form: self.form.or(others.form),
            sizes: self.sizes.or(others.sizes),
            order: self.order.or(others.order),
            name: self.name.or(others.name),
        }
    }

    /// The family, if known.
    #[must_use]
    pub fn form(&self) -> Option<Form> {
        self.form
    }

    /// The size of an address, if known. A known data model has this size, too.
    #[must_use]
    pub fn word(&self) -> Option<Word> {
        self.sizes.map(|sizes| match sizes {
            Sizes::Word(word) => word,
            Sizes::Model(model) => model.word(),
        })
    }

    /// The sizes of an address and of a C `long`, if known.
    #[must_use]
    pub fn model(&self) -> Option<DataModel> {
        match self.sizes {
            Some(Sizes::Model(model)) => Some(model),
            Some(Sizes::Word(_)) | None => None,
        }
    }

    /// The byte order, if known.
    #[must_use]
    pub fn order(&self) -> Option<Order> {
        self.order
    }

    /// What the name of the file says.
    pub(crate) fn name(&self) -> Option<KnownName> {
        self.name
    }

    /// The hints without the sizes and the byte order.
    pub(crate) fn without_layout(self) -> Hints {
        Hints { sizes: None, order: None, ..self }
    }

    /// The data model of a file with addresses of this size: the known one, or else the one that most systems have.
    pub(crate) fn model_for(&self, word: Word) -> DataModel {
        self.model().filter(|model| model.word() == word).unwrap_or(word.into())
    }
}

impl fmt::Display for HintKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HintKind::Form => "form",
            HintKind::Word => "word size",
            HintKind::Model => "data model",
            HintKind::Order => "byte order",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_data_model_counts_for_addresses_of_its_size() {
        let hints = Hints::new().with_model(DataModel::Llp64);
        assert_eq!([Word::W64, Word::W32].map(|word| hints.model_for(word)), [DataModel::Llp64, DataModel::Ilp32]);
        assert_eq!(Hints::new().model_for(Word::W64), DataModel::Lp64);
    }
}
