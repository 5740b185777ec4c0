//! The place of this process in a parallel job, such as that of an MPI program.

use std::env;

/// The variables that launchers set: the rank of the process, and the number of ranks. The runtime reads the same
/// (docs/runtime.md). Slurm's variables come last: a launcher inside a Slurm job inherits them.
const VARIABLES: [(&str, &str); 5] = [
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMIX_RANK", ""),
    ("PMI_RANK", "PMI_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
];

/// The rank of a process in its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rank {
    pub(crate) number: u32,
    /// The number of ranks; `None` if the launcher does not tell.
    pub(crate) ranks: Option<u32>,
}

impl Rank {
    /// The rank of this process; `None` if it is in no job.
    pub(crate) fn of_process() -> Option<Rank> {
        Rank::of(|name| env::var(name).ok())
    }

    /// The first rank that a variable has.
    fn of(value: impl Fn(&str) -> Option<String>) -> Option<Rank> {
        let number = |name: &str| value(name)?.parse::<u32>().ok().filter(|number| *number != u32::MAX);
        VARIABLES.iter().find_map(|(rank, ranks)| Some(Rank { number: number(rank)?, ranks: number(ranks) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rank among variables of a launcher.
    fn rank(variables: &[(&str, &str)]) -> Option<(u32, Option<u32>)> {
        let value = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        Rank::of(value).map(|rank| (rank.number, rank.ranks))
    }

    #[test]
    fn the_first_launcher_counts_that_gives_a_number() {
        let slurm = [("SLURM_PROCID", "7"), ("SLURM_NTASKS", "9")];
        assert_eq!(rank(&slurm), Some((7, Some(9))));
        let inside = |name, number| [&slurm[..], &[(name, number)]].concat();
        assert_eq!(
            rank(&[inside("OMPI_COMM_WORLD_RANK", "2"), vec![("OMPI_COMM_WORLD_SIZE", "3")]].concat()),
            Some((2, Some(3)))
        );
        assert_eq!(rank(&inside("PMI_RANK", "2")), Some((2, None)), "the number of ranks is that of the same launcher");
        assert_eq!(rank(&inside("PMIX_RANK", "0")), Some((0, None)));
        assert_eq!(rank(&inside("MV2_COMM_WORLD_RANK", "5")), Some((5, None)));
        for no_number in ["", "x", "-1", "4294967295"] {
            assert_eq!(rank(&inside("OMPI_COMM_WORLD_RANK", no_number)), Some((7, Some(9))), "{no_number}");
        }
        assert_eq!(rank(&[]), None);
    }
}
