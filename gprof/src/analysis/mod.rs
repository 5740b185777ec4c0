//! Computes everything that a report may show.

mod analyze;
mod basis;
mod blocks;
pub mod bsd;
mod chains;
mod clock;
mod compute;
mod counts;
pub mod entries;
mod errors;
pub mod flat;
pub(crate) mod gnu_sum;
pub mod graph;
mod index;
pub mod inlined_times;
mod limit;
pub mod line_times;
mod model;
mod name_style;
mod names;
mod order;
pub(crate) mod ordered;
mod rows;
pub mod selection;
pub mod static_calls;
mod stats;
pub(crate) mod symbolize;

pub(crate) use analyze::analyze;
pub use blocks::Blocks;
pub use clock::Clock;
pub use errors::Errors;
pub use index::IndexEntry;
pub use limit::LeftOut;
pub use model::{Analysis, FunctionInfo, SourceLocation};
pub use rows::{CallTimeUnit, FlatProfile, FlatRow, RowSamples};
pub use stats::Stats;
