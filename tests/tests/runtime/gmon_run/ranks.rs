//! `gmon-run`s of the ranks of a parallel job, which start at the same time in one directory.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use gmon_tests::has_program;
use gmon_tests::side::Side;

use super::Place;

/// The number of processes of a program that counts what its children do: one for itself, and these children.
const CHILDREN: &str = "3";
const PROCESSES: u64 = 4;

/// The runs in the sum that a rank has left.
fn runs(place: &Place, rank: u32) -> u64 {
    let directory = place.0.join(format!("gmon.run/rank.{rank}"));
    let files = std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path());
    let profiles: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|ending| ending.len() == 8)).collect();
    let [profile] = &profiles[..] else { panic!("{profiles:?}") };
    Side::of(profile).runs()
}

/// What gprof says about the program: the number of processes in the list, with the text of the list.
fn listed(place: &Place) -> String {
    let output = Command::new(gmon_tests::gprof()).current_dir(&place.0).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn the_profiles_of_all_ranks_are_there_and_gprof_adds_them_up() {
    const LAUNCHERS: [(&str, &str); 5] = [
        ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
        ("PMIX_RANK", ""),
        ("PMI_RANK", "PMI_SIZE"),
        ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
        ("SLURM_PROCID", "SLURM_NTASKS"),
    ];
    let place = Place::new("ranks");
    let program = place.compile("preloaded.c", "cc", &["-pthread"]);
    for (name, size) in LAUNCHERS {
        let start = |rank: u32| -> Child {
            let mut command = place.run(&[]);
            command.arg(&program).args(["forks", CHILDREN]).env(name, rank.to_string()).stdout(Stdio::piped());
            if !size.is_empty() {
                command.env(size, "4");
            }
            command.stderr(Stdio::piped()).spawn().unwrap()
        };
        let ranks: Vec<Child> = (0..4).map(start).collect();
        for child in ranks {
            crate::support::quiet(&child.wait_with_output().unwrap());
        }
        assert_eq!((0..4).map(|rank| runs(&place, rank)).collect::<Vec<_>>(), [PROCESSES; 4], "{name}");
        let notes = listed(&place);
        assert!(notes.contains(&format!("/program ({} processes)\n", 4 * PROCESSES)), "{name}: {notes}");
    }
    // A job of fewer ranks removes the profiles of the others.
    let mut command = place.run(&[]);
    command.arg(&program).args(["forks", CHILDREN]).env("PMI_RANK", "0").env("PMI_SIZE", "1");
    crate::support::quiet(&command.output().unwrap());
    let notes = listed(&place);
    assert!(notes.contains(&format!("/program ({PROCESSES} processes)\n")), "{notes}");
}

#[test]
fn mpirun_starts_gmon_run_for_each_rank() {
    if !has_program("mpirun", "gmon-run in an MPI job") {
        return;
    }
    let place = Place::new("ranks-mpirun");
    let program = place.compile("preloaded.c", "cc", &["-pthread"]);
    let gmon_run = place.run(&[]);
    let mut command = Command::new("mpirun");
    command.args(["--allow-run-as-root", "--oversubscribe", "-np", "3"]).arg(gmon_run.get_program());
    command.arg(&program).args(["forks", CHILDREN]).current_dir(&place.0);
    command.envs(gmon_run.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!((0..3).map(|rank| runs(&place, rank)).collect::<Vec<_>>(), [PROCESSES; 3]);
}
