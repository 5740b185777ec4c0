//! The tree of a name.

use alloc::vec::Vec;

use super::operators::Operator;
use super::options::MAX_DEPTH;

/// A node of a [`Tree`].
pub(super) type Id = usize;

/// A qualifier or an exception specification of a type or of a member function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Qualifier {
    /// The text, with a leading space.
    pub(super) text: &'static str,
    /// The argument in parentheses after the text.
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
    /// The constraint after these.
    pub(super) head_constraint: Option<Id>,
    /// The parameters of its call operator.
    pub(super) parameters: Vec<Id>,
    /// The constraint after these.
    pub(super) constraint: Option<Id>,
    /// The number of the lambda in its scope, from 0.
    pub(super) number: u64,
}

/// The content of a node.
#[derive(Clone, Debug)]
pub(super) enum Node<'a> {
    /// Literal text.
    Text(&'a [u8]),
    /// A scope and a name in it: `a::b`.
    Member(Id, Id),
    /// A function, and an entity in it: `f()::x`.
    Local(Id, Id),
    /// The n-th default argument of a function, counted from the end, and an entity in it.
    DefaultArgument(u64, Id),
    Template(Id, Vec<Id>),
    /// A function with its signature.
    Function(Id, Id),
    /// The n-th parameter of the innermost enclosing function template.
    TemplateParameter(usize),
    /// A parameter of a nested template: the nesting level, and the number of the parameter.
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
    /// The declaration of a template parameter: a pack of another declaration.
    PackParameter(Id),
    Unnamed(u64),
    Constructor(Id),
    Destructor(Id),
    Operator(Operator),
    /// A conversion operator.
    Conversion(Id),
    /// A literal operator.
    LiteralOperator(Id),
    /// A name with an ABI tag.
    Tagged(Id, &'a [u8]),
    /// A structured binding: `[a, b]`.
    Bound(Vec<Id>),
    /// A module: its parent module, its name, and whether it is a partition.
    Module(Option<Id>, &'a [u8], bool),
    /// A name, and the module that it is attached to.
    InModule(Id, Id),
    /// A compiler-generated entity, with the words that describe it.
    Special(&'static str, Id),
    ConstructionVtable(Id, Id),
    ReferenceTemporary(u64, Id),
    /// A function with its constraint, and the deepest level of template parameters in the constraint.
    Constrained(Id, Id, usize),
    /// A function with `enable_if` conditions, an extension of Clang.
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
    /// A built-in type, with the suffix of its literals if these are printed as plain numbers.
    Builtin(&'static str, Option<&'static str>),
    /// A floating-point type with this number of bits, and the text after the number.
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
    /// A bit-precise integer type: whether it is signed, and the number of bits.
    BitInt(bool, Id),
    /// A compiler's type trait that makes a type from types.
    Transformed(Id, Vec<Id>),

    /// A literal: its type, whether it is negative, and its digits.
    Literal(Id, bool, &'a [u8]),
    /// The n-th parameter of the function.
    Parameter(u64),
    Unary(Operator, Id),
    /// A postfix operator.
    Suffix(Operator, Id),
    Binary(Operator, Id, Id),
    Conditional(Id, Id, Id),
    Call(Id, Vec<Id>),
    /// A list in parentheses, with the type to which the list is cast.
    Cast(Option<Id>, Vec<Id>),
    /// A cast of one operand.
    CastOne(Id, Id),
    /// `new`, with the placement arguments, the type, and the arguments with their parentheses or braces.
    New(Vec<Id>, Id, Option<Id>),
    /// A named cast.
    NamedCast(&'static str, Id, Id),
    Braces(Option<Id>, Vec<Id>),
    /// The size of a pack.
    PackSize(Id),
    /// The size of a list of arguments after its packs are expanded.
    ArgumentCount(Vec<Id>),
    /// A fold expression: the second letter of its code, the operator, and one or two operands.
    Fold(u8, Operator, Id, Option<Id>),
    /// A designated initializer: the member or index, the end of a range of indices, and the value.
    Designated(Id, DesignatorKind, Id),
    /// A subobject: its type, the object, whether the offset is negative, and the offset.
    SubObject(Id, Id, bool, &'a [u8]),
    /// A string literal, whose type alone is known.
    StringLiteral(Id),
    /// A `requires` expression: its parameters and requirements.
    Requires(Vec<Id>, Vec<Id>),
    /// A requirement: an expression, whether it is `noexcept`, and the concept for its type.
    RequiredExpression(Id, bool, Option<Id>),
    RequiredType(Id),
    RequiredConstraint(Id),
    /// A vendor's expression.
    VendorExpression(Id, Vec<Id>),
    /// The content for an ID without a node. The printer fails on it.
    Missing,
}

static MISSING: Node<'static> = Node::Missing;

/// The target of a designated initializer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DesignatorKind {
    Member,
    Index,
    /// A range of indices, with the end of the range.
    Range(Id),
}

/// All nodes of a name.
#[derive(Debug, Default)]
pub(super) struct Tree<'a> {
    pub(super) nodes: Vec<Node<'a>>,
}

impl<'a> Tree<'a> {
    /// The node with this ID.
    pub(super) fn node(&self, id: Id) -> &Node<'a> {
        self.nodes.get(id).unwrap_or(&MISSING)
    }

    /// A name without its qualifiers and its enclosing function.
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
