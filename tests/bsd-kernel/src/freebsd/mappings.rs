//! `kern.proc.vmmap`: the mappings of a process, as `struct kinfo_vmentry` of `sys/user.h`.
//!
//! Source: sys/kern/kern_proc.c (`kern_proc_vmmap_out`), sys/sys/user.h. Not seen on a real kernel.

use std::fs;

use crate::task::{KERNEL_PAGE, Task};

/// The offset of the path in an entry.
const PATH: usize = 136;

/// A line of Linux's list of mappings.
struct Line<'a> {
    start: u64,
    end: u64,
    rights: &'a str,
    offset: u64,
    device: u64,
    inode: u64,
    path: &'a str,
}

impl Line<'_> {
    /// Parses `start-end rwxp offset major:minor inode   path`.
    fn parse(line: &str) -> Option<Line<'_>> {
        let hexadecimal = |digits| u64::from_str_radix(digits, 16).ok();
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let mut words = rest.splitn(5, ' ');
        let (rights, offset) = (words.next()?, hexadecimal(words.next()?)?);
        let (major, minor) = words.next()?.split_once(':')?;
        let device = libc::makedev(u32::from_str_radix(major, 16).ok()?, u32::from_str_radix(minor, 16).ok()?);
        let inode = words.next()?.parse().ok()?;
        let path = words.next().unwrap_or("").trim_start();
        Some(Line { start: hexadecimal(start)?, end: hexadecimal(end)?, rights, offset, device, inode, path })
    }

    fn entry(&self) -> Vec<u8> {
        // Anonymous memory has no path.
        let path = if self.inode == 0 { "" } else { self.path };
        let size = (PATH + path.len() + 1).next_multiple_of(8);
        let mut entry = vec![0; size];
        let mut put = |at: usize, bytes: &[u8]| entry[at..at + bytes.len()].copy_from_slice(bytes);
        let protection: u32 =
            "rwx".chars().zip([1, 2, 4]).filter(|(right, _)| self.rights.contains(*right)).map(|(_, bit)| bit).sum();
        put(0, &(size as u32).to_le_bytes());
        put(8, &self.start.to_le_bytes());
        put(16, &self.end.to_le_bytes());
        put(24, &self.offset.to_le_bytes());
        put(32, &self.inode.to_le_bytes());
        put(56, &protection.to_le_bytes());
        put(88, &self.device.to_le_bytes());
        put(PATH, path.as_bytes());
        entry
    }
}

/// Returns the list. The pages of this tracer and of Linux's vDSO are not in the list.
pub(super) fn list(task: Task) -> Vec<u8> {
    let text = fs::read_to_string(format!("/proc/{}/maps", task.0)).unwrap_or_default();
    let lines = text.lines().filter_map(Line::parse);
    let own =
        lines.filter(|line| !(KERNEL_PAGE..KERNEL_PAGE + 0x2000).contains(&line.start) && !line.path.starts_with("[v"));
    own.flat_map(|line| line.entry()).collect()
}
