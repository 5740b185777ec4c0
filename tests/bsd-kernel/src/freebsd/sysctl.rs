//! System variables.
//!
//! Source: sys/kern/kern_sysctl.c (`userland_sysctl`). Seen on FreeBSD 15.1 (amd64): a program reads variables.

use nix::errno::Errno;

use crate::kernel::{Kernel, Outcome, Reply, ThreadId};
use crate::record::Kind;

use super::{jail, mappings};

/// A number that stands for the ID of the calling process.
const OWN: u32 = u32::MAX - 1;

/// FreeBSD 14.1.
pub(super) const OSRELDATE: u64 = 1_401_000;

/// A variable, and whether capability mode may read it.
struct Variable {
    name: &'static [u8],
    numbers: &'static [u32],
    is_capability: bool,
    /// Whether only those who may debug the process may read the variable.
    is_for_debuggers: bool,
    value: fn(&mut Kernel, ThreadId) -> Vec<u8>,
}

impl Variable {
    /// A variable that capability mode may not read.
    const fn new(
        name: &'static [u8],
        numbers: &'static [u32],
        value: fn(&mut Kernel, ThreadId) -> Vec<u8>,
    ) -> Variable {
        Variable { name, numbers, is_capability: false, is_for_debuggers: false, value }
    }

    /// The same variable with CTLFLAG_CAPRD.
    const fn in_capability_mode(self) -> Variable {
        Variable { is_capability: true, ..self }
    }

    /// The same variable for those who may debug the process.
    const fn for_debuggers(self) -> Variable {
        Variable { is_for_debuggers: true, ..self }
    }
}

/// Source: sys/kern/kern_mib.c, sys/kern/kern_clock.c (`kern.clockrate`, without CTLFLAG_CAPRD), sys/kern/kern_proc.c
/// (`kern.proc`). Seen on FreeBSD 15.1 (amd64): the rates of the clocks.
static VARIABLES: &[Variable] = &[
    Variable::new(b"kern.osreldate", &[1, 24], |_, _| int(OSRELDATE)).in_capability_mode(),
    Variable::new(b"kern.clockrate", &[1, 12], clockrate),
    Variable::new(b"hw.ncpu", &[6, 3], |kernel, _| int(kernel.processors)).in_capability_mode(),
    Variable::new(b"hw.pagesize", &[6, 7], |_, _| int(4096)).in_capability_mode(),
    Variable::new(b"kern.hostname", &[1, 10], |_, _| b"bsd.example\0".to_vec()).in_capability_mode(),
    Variable::new(b"kern.proc.args", &[1, 14, 7, OWN], arguments),
    // KERN_PROC_PATHNAME of the process itself.
    Variable::new(b"kern.proc.pathname", &[1, 14, 12, u32::MAX], pathname),
    Variable::new(b"kern.proc.vmmap", &[1, 14, 32, OWN], |kernel, id| mappings::list(kernel.task(id))).for_debuggers(),
];

fn int(value: u64) -> Vec<u8> {
    (value as u32).to_le_bytes().to_vec()
}

fn clockrate(kernel: &mut Kernel, _: ThreadId) -> Vec<u8> {
    let rates = kernel.personality.rates;
    let fields = [rates.hz, 1_000_000 / rates.hz, 0, rates.stathz, rates.profhz];
    fields.iter().flat_map(|field| (*field as u32).to_le_bytes()).collect()
}

fn pathname(kernel: &mut Kernel, id: ThreadId) -> Vec<u8> {
    let mut path = kernel.process_of(id).path.clone();
    path.push(0);
    path
}

fn arguments(kernel: &mut Kernel, id: ThreadId) -> Vec<u8> {
    let words = &kernel.process_of(id).arguments;
    words.iter().flat_map(|word| word.iter().chain(&[0])).copied().collect()
}

/// The buffer for a variable's value, and the buffer's size.
struct Place {
    old: u64,
    length: u64,
}

/// __sysctl(numbers, count, old, length, new, new_length).
pub(super) fn by_numbers(
    kernel: &mut Kernel,
    id: ThreadId,
    [numbers, count, old, length, new, _]: [u64; 6],
) -> Outcome {
    if !(2..=24).contains(&count) {
        return Err(Errno::EINVAL.into());
    }
    let bytes = kernel.task(id).read(numbers, 4 * count as usize)?;
    let numbers: Vec<u32> = bytes.as_chunks().0.iter().map(|number| u32::from_le_bytes(*number)).collect();
    let process = kernel.process_of(id).id;
    let is_own = |own: u32, number: u32| own == number || own == OWN && number == process;
    let is_wanted = |variable: &&Variable| {
        let mut pairs = variable.numbers.iter().zip(&numbers);
        variable.numbers.len() == numbers.len() && pairs.all(|(own, number)| is_own(*own, *number))
    };
    let variable = VARIABLES.iter().find(is_wanted);
    read(kernel, id, variable, &format!("{numbers:?}"), &Place { old, length }, new)
}

/// __sysctlbyname(name, name_length, old, length, new, new_length).
pub(super) fn by_name(kernel: &mut Kernel, id: ThreadId, [name, size, old, length, new, _]: [u64; 6]) -> Outcome {
    let name = kernel.task(id).read(name, (size as usize).min(1024))?;
    let variable = VARIABLES.iter().find(|variable| variable.name == name);
    read(kernel, id, variable, &String::from_utf8_lossy(&name), &Place { old, length }, new)
}

fn read(kernel: &mut Kernel, id: ThreadId, found: Option<&Variable>, name: &str, place: &Place, new: u64) -> Outcome {
    let Some(variable) = found else {
        kernel.note(id, Kind::Unsupported, &format!("the system variable {name}"));
        return Err(Errno::ENOENT.into());
    };
    let is_refused = kernel.process_of(id).is_in_capability_mode && !variable.is_capability;
    if is_refused || new != 0 {
        kernel.note(id, Kind::Refused, &format!("the system variable {name}"));
        return Err(Errno::EPERM.into());
    }
    if variable.is_for_debuggers && jail::refuses(kernel, id, &format!("the system variable {name}")) {
        return Err(Errno::EPERM.into());
    }
    let value = (variable.value)(kernel, id);
    let task = kernel.task(id);
    let room = if place.length == 0 { 0 } else { task.read_u64(place.length)? };
    let fits = place.old == 0 || value.len() as u64 <= room;
    if place.old != 0 {
        task.write(place.old, &value[..value.len().min(room as usize)])?;
    }
    if place.length != 0 {
        let length = if place.old == 0 { value.len() } else { value.len().min(room as usize) };
        task.write(place.length, &(length as u64).to_le_bytes())?;
    }
    if fits { Ok(Reply::Value(0)) } else { Err(Errno::ENOMEM.into()) }
}
