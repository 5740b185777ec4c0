//! What gprof prints: the same as GNU's and the BSDs' gprof where they are right, tables, orders, and the screen of
//! `--watch`.
#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

mod accounts;
mod bad_input;
mod bounds;
mod bsd_text;
mod by_line;
mod clones;
mod corrections;
mod differential;
mod gnu_goldens;
mod gprof2dot;
mod machine_goldens;
mod matrix;
mod old_headers;
mod orders;
mod several_images;
mod shortened;
mod source_times;
mod split_units;
mod styles;
mod tables;
mod terminals;
mod watch;
