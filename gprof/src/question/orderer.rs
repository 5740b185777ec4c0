//! The programs that read orders of functions (`--order`).

/// A program that reads an order of functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orderer {
    /// lld, option --call-graph-ordering-file
    LldCallGraph,
    /// lld, option --symbol-ordering-file
    Symbols,
    /// gold, option --section-ordering-file
    Gold,
    /// GNU ld 2.43 and later, option --section-ordering-file
    Ld,
    /// llvm-bolt, option --function-order
    Bolt,
}

/// All readers with the value of `--order` and its help.
pub(crate) const ORDERERS: [(Orderer, &str, &str); 5] = [
    (Orderer::LldCallGraph, "lld-callgraph", "lld, option --call-graph-ordering-file"),
    (Orderer::Symbols, "symbols", "lld, option --symbol-ordering-file"),
    (Orderer::Gold, "gold", "gold, option --section-ordering-file"),
    (Orderer::Ld, "ld", "GNU ld 2.43 and later, option --section-ordering-file"),
    (Orderer::Bolt, "bolt", "llvm-bolt, option --function-order"),
];
