//! The programs that read orders of functions (`--order`).

use clap::ValueEnum;

/// A program that reads an order of functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Orderer {
    /// lld, option --call-graph-ordering-file
    #[value(name = "lld-callgraph")]
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
