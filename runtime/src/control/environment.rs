//! The environment variables of the runtime.

use core::ffi::{CStr, c_char};

use crate::os::PROCESS_VARIABLE;
use crate::text::decimal;

/// The values of the variables, read once at start-up.
#[derive(Clone, Copy, Default)]
pub(crate) struct Environment<'a> {
    /// `PROFDIR`: the directory of the file.
    pub(crate) directory: Option<&'a CStr>,
    /// `GMON_OUT_PREFIX`: the part of the file's name before the process number.
    pub(crate) prefix: Option<&'a CStr>,
    /// `GMON_FORMAT`: the form of the file.
    pub(crate) format: Option<&'a CStr>,
    /// `GMON_SIGNALS`: which signals the runtime may catch to write the file.
    pub(crate) signals: Option<&'a CStr>,
    /// `GMON_LIVE`: whether the process counts in the file itself.
    pub(crate) live: Option<&'a CStr>,
    /// `GMON_HZ`: the number of samples in each second.
    pub(crate) rate: Option<&'a CStr>,
    /// `GMON_CLOCK`: CPU time or wall-clock time.
    pub(crate) clock: Option<&'a CStr>,
    /// `GMON_SAMPLER`: what produces the samples.
    pub(crate) sampler: Option<&'a CStr>,
    /// `GMON_OBJECTS`: whether the runtime keeps what happens outside the program.
    pub(crate) objects: Option<&'a CStr>,
    /// `GMON_STACKS`: whether the runtime walks the stack at each sample.
    pub(crate) stacks: Option<&'a CStr>,
    /// `GMON_THREADS`: whether threads are told apart.
    pub(crate) threads: Option<&'a CStr>,
    /// `GMON_CHILDREN`: which files the children of a fork leave.
    pub(crate) children: Option<&'a CStr>,
    /// `GMON_DUMP_SIGNAL`: the signal that makes the runtime write the file while the program continues.
    pub(crate) dump_signal: Option<&'a CStr>,
    /// The values of the variables of `RANKS`.
    ranks: [Option<&'a CStr>; RANKS.len()],
    /// [`PROCESS_VARIABLE`]: whether the name of the file has the process number. The variable's value does not matter.
    pub(crate) wants_process: bool,
}

/// The variables in which launchers of parallel jobs tell a process its rank: Open MPI, PMIx, MPICH and its relatives, MVAPICH, and
/// Slurm. The first that has a number counts. Slurm is last, because a launcher that runs inside a job of Slurm passes on the launcher's
/// own number.
const RANKS: [&[u8]; 5] =
    [b"OMPI_COMM_WORLD_RANK=", b"PMIX_RANK=", b"PMI_RANK=", b"MV2_COMM_WORLD_RANK=", b"SLURM_PROCID="];

impl<'a> Environment<'a> {
    /// Finds the variables. An empty variable counts as not set.
    pub(crate) fn of(variables: impl Iterator<Item = &'a CStr>) -> Environment<'a> {
        let mut found = Environment::default();
        for variable in variables {
            take(&mut found.directory, variable, b"PROFDIR=");
            take(&mut found.prefix, variable, b"GMON_OUT_PREFIX=");
            take(&mut found.format, variable, b"GMON_FORMAT=");
            take(&mut found.signals, variable, b"GMON_SIGNALS=");
            take(&mut found.live, variable, b"GMON_LIVE=");
            take(&mut found.rate, variable, b"GMON_HZ=");
            take(&mut found.clock, variable, b"GMON_CLOCK=");
            take(&mut found.sampler, variable, b"GMON_SAMPLER=");
            take(&mut found.objects, variable, b"GMON_OBJECTS=");
            take(&mut found.stacks, variable, b"GMON_STACKS=");
            take(&mut found.threads, variable, b"GMON_THREADS=");
            take(&mut found.children, variable, b"GMON_CHILDREN=");
            take(&mut found.dump_signal, variable, b"GMON_DUMP_SIGNAL=");
            found.ranks.iter_mut().zip(RANKS).for_each(|(rank, name)| take(rank, variable, name));
            found.wants_process |= !PROCESS_VARIABLE.is_empty() && variable.to_bytes().starts_with(PROCESS_VARIABLE);
        }
        found
    }

    /// The rank of the process in its parallel job; `None` if it is in none.
    pub(crate) fn rank(&self) -> Option<u32> {
        self.ranks.iter().flatten().find_map(|rank| decimal(rank.to_bytes()).filter(|rank| *rank != u32::MAX))
    }
}

/// Stores the value of `variable` if its name matches and no earlier variable had this name.
fn take<'a>(place: &mut Option<&'a CStr>, variable: &'a CStr, name: &[u8]) {
    if place.is_some() || !variable.to_bytes().starts_with(name) {
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
pub(crate) unsafe fn strings<'a>(array: *const *const c_char) -> impl Iterator<Item = &'a CStr> {
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
        assert_eq!(found.directory, Some(c"/yes"));
        assert_eq!(found.prefix, None);
        assert_eq!(found.format, Some(c"gnu"));
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
