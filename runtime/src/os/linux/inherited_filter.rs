//! The system-call filters that a process has from the program before it.

use super::descriptor::CURRENT;
use crate::text::decimal;

/// The number of system-call filters of this process, as the kernel's file of this process tells. Kernels before 5.9
/// tell only whether there are filters; the number is then 1. `None` if the file cannot be read.
///
/// A filter may end the process at any system call, so the question is asked with the calls that the dynamic linker has
/// made before: openat, pread64, and close.
pub(crate) fn inherited_filters() -> Option<u32> {
    /// More than the part of the file up to the lines takes.
    const ENOUGH: usize = 4096;
    let file = CURRENT.open_regular_for_reading(c"/proc/self/status").ok()?;
    let mut bytes = [0; ENOUGH];
    let mut length = 0;
    while let Some(rest) = bytes.get_mut(length..).filter(|rest| !rest.is_empty())
        && let Ok(number) = file.read_at(rest, length)
        && number > 0
    {
        length += number;
    }
    let _ = file.close();
    filters(bytes.get(..length)?)
}

/// The number of filters in the kernel's file.
fn filters(status: &[u8]) -> Option<u32> {
    match number(status, b"\nSeccomp:\t")? {
        0 => Some(0),
        _ => Some(number(status, b"\nSeccomp_filters:\t").unwrap_or(1)),
    }
}

/// The number behind the beginning of a line.
fn number(status: &[u8], beginning: &[u8]) -> Option<u32> {
    let line = status.windows(beginning.len()).position(|window| window == beginning)?;
    decimal(status.get(line + beginning.len()..)?.split(|byte| *byte == b'\n').next()?)
}

#[cfg(test)]
mod tests {
    use super::filters;

    #[test]
    fn the_number_of_filters_is_in_the_kernels_file() {
        let status =
            |seccomp: &str| filters(format!("Name:\tx\nNoNewPrivs:\t1\n{seccomp}Speculation:\tno\n").as_bytes());
        assert_eq!(status("Seccomp:\t0\nSeccomp_filters:\t0\n"), Some(0));
        assert_eq!(status("Seccomp:\t2\nSeccomp_filters:\t12\n"), Some(12));
        assert_eq!(status("Seccomp:\t2\n"), Some(1), "before Linux 5.9");
        assert_eq!(status("Seccomp:\t1\n"), Some(1), "strict mode");
        assert_eq!(status(""), None);
        assert_eq!(status("Seccomp:\tx\n"), None);
    }

    #[test]
    fn this_process_has_the_filters_that_its_file_tells() {
        let file = std::fs::read("/proc/self/status").unwrap();
        assert_eq!(super::inherited_filters(), filters(&file));
    }
}
