//! Reports for people, as text and as tables. A folder or file for each report holds all of the report: its option,
//! what it needs, its text, its table, and its fields in JSON. [`list::REPORTS`] has all reports.
//!
//! A report gets a complete [`Analysis`](crate::model::Analysis) and only writes: it computes nothing and reads no
//! files. Programs read these reports, so every blank counts.

pub mod bounds;
pub mod columns;
pub mod contexts;
pub mod counts;
pub mod cut_stacks;
pub mod difference;
pub mod doubts;
pub mod errors;
pub mod estimates;
pub mod explanations;
pub mod flat;
pub mod graph;
pub mod info;
pub mod linker_order;
pub mod list;
pub mod names;
pub mod number;
pub mod on_demand;
pub mod order;
pub mod place;
pub mod report;
pub mod source;
pub mod stacks;
pub mod stats;
pub mod table;
pub mod threads;
pub mod warnings;
pub mod writer;
