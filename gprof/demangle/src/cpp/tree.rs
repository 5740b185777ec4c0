//! The tree of a name.

use alloc::vec::Vec;

use super::operators::Operator;
use super::options::MAX_DEPTH;

/// A node of a [`Tree`].
pub(super) type Id = usize;

/// A qualifier or an exception specification of a type or of a member function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Qualifier {
    /// The text, with the blank before it.
    pub(super) text: &'static str,
    /// What stands in parentheses behind the text.
    pub(super) argument: Option<Id>,
}

impl Qualifier {
    /// A qualifier without an argument.
    pub(super) const fn plain(text: &'static str) -> Qualifier {
        Qualifier { text, argument: None }
    }
}

/// The parameters of a function, and the return type if the name has one.
#[derive(Clone, Debug)]
pub(super) struct Signature {
    pub(super) return_type: Option<Id>,
    pub(super) parameters: Vec<Id>,
}

/// The type of a lambda.
#[derive(Clone, Debug)]
pub(super) struct Lambda {
    /// The declarations of its own template parameters.
    pub(super) head: Vec<Id>,
    /// The constraint behind those.
    pub(super) head_constraint: Option<Id>,
    /// The parameters of its call operator.
    pub(super) parameters: Vec<Id>,
    /// The constraint behind those.
    pub(super) constraint: Option<Id>,
    /// Which of the lambdas in its scope it is, from 0.
    pub(super) number: u64,
}

/// One part of a name.
#[derive(Clone, Debug)]
pub(super) enum Node<'a> {
    /// Text as it stands.
    Text(&'a [u8]),
    /// A whole and its part: `a::b`.
    Member(Id, Id),
    /// A function, and what is declared in it: `f()::x`.
    Local(Id, Id),
    /// The n-th default argument of a function, counted from its end, and what is declared in it.
    DefaultArgument(u64, Id),
    Template(Id, Vec<Id>),
    /// A function with its signature.
    Function(Id, Id),
    /// The n-th parameter of the innermost function template around it.
    TemplateParameter(usize),
    /// A parameter of a template inside other templates: how many those are, and the n-th parameter.
    DeepParameter(usize, usize),
    Lambda(Lambda),
    /// The declaration of a template parameter: a type.
    TypeParameter,
    /// The declaration of a template parameter: a type that a concept constrains.
    ConstrainedParameter(Id),
    /// The declaration of a template parameter: a value of a type.
    ValueParameter(Id),
    /// The declaration of a template parameter: a template with parameters of its own.
    TemplateTemplateParameter(Vec<Id>),
    /// The declaration of a template parameter: a pack of what is declared.
    PackParameter(Id),
    Unnamed(u64),
    Constructor(Id),
    Destructor(Id),
    Operator(Operator),
    /// An operator that converts to a type.
    Conversion(Id),
    /// An operator for a suffix of literals.
    LiteralOperator(Id),
    /// A name with a tag of the ABI.
    Tagged(Id, &'a [u8]),
    /// Names that are bound together: `[a, b]`.
    Bound(Vec<Id>),
    /// A module: the module it is a part of, its name, and whether it is a partition.
    Module(Option<Id>, &'a [u8], bool),
    /// A name, and the module that it is attached to.
    InModule(Id, Id),
    /// Something that compilers make, with the words that say what.
    Special(&'static str, Id),
    ConstructionVtable(Id, Id),
    ReferenceTemporary(u64, Id),
    /// A function with its constraint, and the deepest level of template parameters in the constraint.
    Constrained(Id, Id, usize),
    /// A function with the conditions that enable it, an extension of Clang.
    Enabled(Id, Vec<Id>),
    /// The name of a function whose first parameter is the object.
    ExplicitObject(Id),
    /// The name of a friend that is defined in a class template.
    Friend(Id),
    /// A copy of a function.
    Clone(Id, &'a [u8]),

    Qualified(Id, Qualifier),
    VendorQualified(Id, Id),
    Pointer(Id),
    /// A reference, `&` or `&&`.
    Reference(Id, &'static str),
    Complex(Id),
    Imaginary(Id),
    /// A type that the language brings, with the suffix of its literals, if they are written as bare numbers.
    Builtin(&'static str, Option<&'static str>),
    /// A floating type of so many bits, and the text behind the number.
    FloatOf(u64, &'static str),
    Signature(Signature),
    Array(Option<Id>, Id),
    MemberPointer(Id, Id),
    Vector(Id, Id),
    /// The arguments of a pack.
    Pack(Vec<Id>),
    PackExpansion(Id),
    Decltype(Id),
    /// `auto` or `decltype(auto)` that a concept constrains.
    ConstrainedAuto(Id, &'static str),
    /// An integer of so many bits: whether it is signed, and the bits.
    BitInt(bool, Id),
    /// A trait of a compiler that makes a type of types.
    Transformed(Id, Vec<Id>),

    /// A literal: its type, and whether it is negative, and its digits.
    Literal(Id, bool, &'a [u8]),
    /// The n-th parameter of the function.
    Parameter(u64),
    Unary(Operator, Id),
    /// An operator behind its operand.
    Suffix(Operator, Id),
    Binary(Operator, Id, Id),
    Conditional(Id, Id, Id),
    Call(Id, Vec<Id>),
    /// A list in parentheses, with the type that the list is cast to.
    Cast(Option<Id>, Vec<Id>),
    /// A cast of one operand.
    CastOne(Id, Id),
    /// `new`, with where to place it, the type, and the arguments with their parentheses or braces.
    New(Vec<Id>, Id, Option<Id>),
    /// A cast that has a name.
    NamedCast(&'static str, Id, Id),
    Braces(Option<Id>, Vec<Id>),
    /// How many a pack holds.
    PackSize(Id),
    /// How many arguments a list holds once its packs are expanded.
    ArgumentCount(Vec<Id>),
    /// A fold expression: the second letter of its code, the operator, and one or two operands.
    Fold(u8, Operator, Id, Option<Id>),
    /// A designated initializer: the member or index, the end of a range of indices, and the value.
    Designated(Id, DesignatorKind, Id),
    /// A part of an object: its type, the object, whether its offset is negative, and the offset.
    SubObject(Id, Id, bool, &'a [u8]),
    /// The text of a string literal, of which only the type is known.
    StringLiteral(Id),
    /// A `requires` expression: its parameters and requirements.
    Requires(Vec<Id>, Vec<Id>),
    /// A requirement: an expression, whether it must not throw, and the concept that its type has to satisfy.
    RequiredExpression(Id, bool, Option<Id>),
    RequiredType(Id),
    RequiredConstraint(Id),
    /// A vendor's expression.
    VendorExpression(Id, Vec<Id>),
    /// What an id stands for that no node has. The printer gives up on it.
    Missing,
}

static MISSING: Node<'static> = Node::Missing;

/// What a designated initializer designates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DesignatorKind {
    Member,
    Index,
    /// A range of indices, with its end.
    Range(Id),
}

/// All parts of a name.
#[derive(Debug, Default)]
pub(super) struct Tree<'a> {
    pub(super) nodes: Vec<Node<'a>>,
}

impl<'a> Tree<'a> {
    /// The node of an id.
    pub(super) fn node(&self, id: Id) -> &Node<'a> {
        self.nodes.get(id).unwrap_or(&MISSING)
    }

    /// A name without its qualifiers and the function around it.
    pub(super) fn bare(&self, mut name: Id) -> Id {
        for _ in 0..MAX_DEPTH {
            match self.node(name) {
                Node::ExplicitObject(inner) | Node::Friend(inner) => name = *inner,
                Node::Qualified(inner, _) | Node::Local(_, inner) | Node::DefaultArgument(_, inner) => name = *inner,
                _ => break,
            }
        }
        name
    }
}
