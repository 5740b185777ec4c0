//! The system-call filters that a process has from the program before it.

use super::descriptor::CURRENT;
use crate::text::decimal;

/// The number of system-call filters of this process, as the kernel's file of this process tells. Kernels before 5.9
/// tell only whether there are filters; the number is then 1. `None` if the file cannot be read.
///
/// A filter may end the process at any system call, so the question is asked with the calls that the dynamic linker has
/// made before: openat, pread64, and close.
pub(crate) fn inherited_filters() -> Option<u32> {
    let file = CURRENT.open_regular_for_reading(c"/proc/self/status").ok()?;
    let mut lines = Lines::new();
    let mut bytes = [0; 2048];
    let mut length = 0;
    // The file has the groups of the user, which may be many, so it is read in parts. Most files are shorter than one.
    while lines.number.is_none()
        && let Ok(number) = file.read_at(&mut bytes, length)
        && let Some(part) = bytes.get(..number).filter(|part| !part.is_empty())
    {
        length += number;
        lines.read(part);
    }
    let _ = file.close();
    lines.filters()
}

/// Reads the lines of the kernel's file that tell of filters.
struct Lines {
    /// The beginning of the line that is being read.
    line: [u8; 40],
    length: usize,
    /// What the lines say that have been read.
    mode: Option<u32>,
    number: Option<u32>,
}

impl Lines {
    fn new() -> Lines {
        Lines { line: [0; 40], length: 0, mode: None, number: None }
    }

    /// Reads the next bytes of the file.
    fn read(&mut self, part: &[u8]) {
        for byte in part {
            if *byte == b'\n' {
                let line = self.line.get(..self.length).unwrap_or_default();
                let value = |name: &[u8]| line.strip_prefix(name).and_then(decimal);
                self.mode = self.mode.or(value(b"Seccomp:\t"));
                self.number = self.number.or(value(b"Seccomp_filters:\t"));
                self.length = 0;
            } else if let Some(place) = self.line.get_mut(self.length) {
                *place = *byte;
                self.length += 1;
            }
        }
    }

    /// The number of filters.
    fn filters(&self) -> Option<u32> {
        match self.mode? {
            0 => Some(0),
            _ => Some(self.number.unwrap_or(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    /// The number of filters in a file that is read in parts of so many bytes.
    fn filters(file: &[u8], size: usize) -> Option<u32> {
        let mut lines = Lines::new();
        file.chunks(size).for_each(|part| lines.read(part));
        lines.filters()
    }

    #[test]
    fn the_number_of_filters_is_in_the_kernels_file() {
        let groups = "1000 ".repeat(20_000);
        for size in [1, 7, 512, 1 << 20] {
            let status = |seccomp: &str| {
                let file = format!("Name:\tx\nGroups:\t{groups}\nNoNewPrivs:\t1\n{seccomp}Speculation:\tno\n");
                filters(file.as_bytes(), size)
            };
            assert_eq!(status("Seccomp:\t0\nSeccomp_filters:\t0\n"), Some(0));
            assert_eq!(status("Seccomp:\t2\nSeccomp_filters:\t12\n"), Some(12));
            assert_eq!(status("Seccomp:\t2\n"), Some(1), "before Linux 5.9");
            assert_eq!(status("Seccomp:\t1\n"), Some(1), "strict mode");
            assert_eq!(status(""), None);
            assert_eq!(status("Seccomp:\tx\n"), None);
        }
    }

    #[test]
    fn this_process_has_the_filters_that_its_file_tells() {
        let file = std::fs::read("/proc/self/status").unwrap();
        assert_eq!(super::inherited_filters(), filters(&file, 512));
    }
}
