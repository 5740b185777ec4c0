//! The environment variables of the runtime.

use core::ffi::{CStr, c_char};

use crate::os::PROCESS_VARIABLE;
use crate::text::decimal;

/// A variable that the runtime reads.
#[derive(Clone, Copy)]
pub(crate) enum Variable {
    /// `GMON_ONLY`: the names of the programs to profile.
    Only,
    /// `PROFDIR`: the directory of the file.
    Directory,
    /// `GMON_OUT_PREFIX`: the part of the file's name before the process number.
    Prefix,
    /// `GMON_FORMAT`: the form of the file.
    Format,
    /// `GMON_SIGNALS`: which signals the runtime may catch to write the file.
    Signals,
    /// `GMON_LIVE`: whether the process counts in the file itself.
    Live,
    /// `GMON_HZ`: the number of samples in each second.
    Rate,
    /// `GMON_CLOCK`: CPU time or wall-clock time.
    Clock,
    /// `GMON_SAMPLER`: what produces the samples.
    Sampler,
    /// `GMON_OBJECTS`: whether the runtime keeps what happens outside the program.
    Objects,
    /// `GMON_STACKS`: whether the runtime walks the stack at each sample.
    Stacks,
    /// `GMON_THREADS`: whether threads are told apart.
    Threads,
    /// `GMON_CHILDREN`: which files the children of a fork leave.
    Children,
    /// `GMON_DUMP_SIGNAL`: the signal that makes the runtime write the file while the program continues.
    DumpSignal,
    /// `GMON_CALLS`: the functions whose calls are counted on demand.
    Calls,
    /// `GMON_CALLS_SIGNAL`: the signal that switches this counting.
    CallsSignal,
    /// The first of the variables in which launchers of parallel jobs tell a process its rank: Open MPI, PMIx, MPICH
    /// and its relatives, MVAPICH, and Slurm. The first that has a number counts. Slurm is last, because a launcher
    /// that runs inside a job of Slurm passes on the launcher's own number.
    FirstRank,
}

/// The names of the variables, in the order of [`Variable`], with the character that ends each.
const NAMES: [&[u8]; Variable::FirstRank as usize + 5] = [
    b"GMON_ONLY=",
    b"PROFDIR=",
    b"GMON_OUT_PREFIX=",
    b"GMON_FORMAT=",
    b"GMON_SIGNALS=",
    b"GMON_LIVE=",
    b"GMON_HZ=",
    b"GMON_CLOCK=",
    b"GMON_SAMPLER=",
    b"GMON_OBJECTS=",
    b"GMON_STACKS=",
    b"GMON_THREADS=",
    b"GMON_CHILDREN=",
    b"GMON_DUMP_SIGNAL=",
    b"GMON_CALLS=",
    b"GMON_CALLS_SIGNAL=",
    b"OMPI_COMM_WORLD_RANK=",
    b"PMIX_RANK=",
    b"PMI_RANK=",
    b"MV2_COMM_WORLD_RANK=",
    b"SLURM_PROCID=",
];

impl Variable {
    /// The name, with the character that ends it.
    pub(crate) fn name(self) -> &'static [u8] {
        NAMES.get(self as usize).copied().unwrap_or_default()
    }
}

/// The values of the variables, read once at start-up.
#[derive(Clone, Copy, Default)]
pub(crate) struct Environment<'a> {
    /// In the order of `NAMES`.
    values: [Option<&'a CStr>; NAMES.len()],
    /// [`PROCESS_VARIABLE`]: whether the name of the file has the process number. The variable's value does not matter.
    pub(crate) wants_process: bool,
}

impl<'a> Environment<'a> {
    /// Finds the variables. An empty variable counts as not set.
    pub(crate) fn of(variables: impl Iterator<Item = &'a CStr>) -> Environment<'a> {
        let mut found = Environment::default();
        for variable in variables {
            found.values.iter_mut().zip(NAMES).for_each(|(value, name)| take(value, variable, name));
            found.wants_process |= !PROCESS_VARIABLE.is_empty() && variable.to_bytes().starts_with(PROCESS_VARIABLE);
        }
        found
    }

    /// The value of a variable.
    pub(crate) fn value(&self, variable: Variable) -> Option<&'a CStr> {
        self.values.get(variable as usize).copied().flatten()
    }

    /// Removes a variable.
    #[allow(dead_code, reason = "not all systems have variables without effect")]
    pub(crate) fn remove(&mut self, variable: Variable) {
        self.values.iter_mut().skip(variable as usize).take(1).for_each(|value| *value = None);
    }

    /// The rank of the process in its parallel job; `None` if it is in none.
    pub(crate) fn rank(&self) -> Option<u32> {
        let ranks = self.values.iter().skip(Variable::FirstRank as usize);
        ranks.flatten().find_map(|rank| decimal(rank.to_bytes()).filter(|rank| *rank != u32::MAX))
    }
}

/// Stores the value of `variable` if its name matches and no earlier variable had this name. Most variables are
/// others', so the first byte is compared without a call.
fn take<'a>(place: &mut Option<&'a CStr>, variable: &'a CStr, name: &[u8]) {
    let bytes = variable.to_bytes();
    if bytes.first() != name.first() || place.is_some() || !bytes.starts_with(name) {
        return;
    }
    let value = variable.to_bytes_with_nul().get(name.len()..).and_then(|value| CStr::from_bytes_with_nul(value).ok());
    *place = value.filter(|value| !value.is_empty());
}

/// Iterates over the strings of an array that ends with a null pointer, such as `argv` and `environ`.
///
/// # Safety
///
/// `array` must be null or such an array of C strings, and the array and the strings must not change during `'a`.
pub(crate) unsafe fn strings<'a>(array: *const *const c_char) -> impl Iterator<Item = &'a CStr> + Clone {
    let mut next = array;
    core::iter::from_fn(move || {
        // SAFETY: the caller's promise; the iterator stops at the end of the array.
        unsafe {
            if next.is_null() || (*next).is_null() {
                return None;
            }
            let string = CStr::from_ptr(*next);
            next = next.add(1);
            Some(string)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variables_are_found_by_their_whole_names() {
        let variables = [c"PROFDIRS=/no", c"PROFDIR=/yes", c"PROFDIR=/late", c"GMON_OUT_PREFIX=", c"GMON_FORMAT=gnu"];
        let found = Environment::of(variables.into_iter());
        assert_eq!(found.value(Variable::Directory), Some(c"/yes"));
        assert_eq!(found.value(Variable::Prefix), None);
        assert_eq!(found.value(Variable::Format), Some(c"gnu"));
    }

    #[test]
    fn the_order_of_the_variables_chooses_the_rank() {
        let rank = |variables: &[&'static CStr]| Environment::of(variables.iter().copied()).rank();
        assert_eq!(rank(&[c"SLURM_PROCID=1", c"PMI_RANK=2", c"PMIX_RANK=3", c"OMPI_COMM_WORLD_RANK=4"]), Some(4));
        assert_eq!(rank(&[c"SLURM_PROCID=1", c"MV2_COMM_WORLD_RANK=5", c"PMI_RANK=2", c"PMIX_RANK=3"]), Some(3));
        assert_eq!(rank(&[c"SLURM_PROCID=1", c"MV2_COMM_WORLD_RANK=5", c"PMI_RANK=2"]), Some(2));
        assert_eq!(rank(&[c"SLURM_PROCID=1", c"MV2_COMM_WORLD_RANK=5"]), Some(5));
        assert_eq!([rank(&[c"SLURM_PROCID=1"]), rank(&[c"SLURM_PROCID=0"]), rank(&[])], [Some(1), Some(0), None]);
        // What is no number is as if it was not there.
        assert_eq!(rank(&[c"PMI_RANK=", c"PMIX_RANK=-1", c"SLURM_PROCID=007"]), Some(7));
        assert_eq!(rank(&[c"PMIX_RANK=4294967295"]), None);
    }

    #[test]
    fn an_array_of_strings_ends_at_its_null() {
        let array = [c"a".as_ptr(), c"b".as_ptr(), core::ptr::null()];
        // SAFETY: such an array.
        let found: Vec<_> = unsafe { strings(array.as_ptr()) }.collect();
        assert_eq!(found, [c"a", c"b"]);
        // SAFETY: null is allowed.
        assert_eq!(unsafe { strings(core::ptr::null()) }.count(), 0);
    }
}
