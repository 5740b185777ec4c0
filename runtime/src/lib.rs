#![no_std]
//! The profiling runtime.
