#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| gmon_fuzz_checks::perf_map(input));
