//! Finds the program where the command line names only a profile, the name of a program, or nothing: side files say
//! which program ran. gmon-run leaves the profiles of several programs in one directory.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use gmon::side_file::SideFile;

use super::contents::side_file;
use super::shared_objects::identity;
use crate::program::image::{self, files};
use crate::question::files::{Named, ProfilePath, ProfiledImage};

/// The directory in which gmon-run leaves profiles.
const DIRECTORY: &str = "gmon.run";
/// The profile that a command line without profiles stands for.
const PROFILE: &str = "gmon.out";
/// What the name of a side file has behind the name of the profile.
const SIDE: &str = ".side";
/// The start of the name of a directory in which one rank of a parallel job has left its profiles.
const OF_RANK: &str = "rank.";

/// A program, and the profiles of its runs.
struct Program {
    path: PathBuf,
    /// The build ID, or the checksum of the headers.
    identity: Option<String>,
    /// The CPU time of all runs, in nanoseconds.
    time: u64,
    runs: u64,
    profiles: Vec<ProfilePath>,
}

impl Program {
    /// Whether the user can mean the program by a word: its path, or the name of its file.
    fn is_meant_by(&self, word: &Path) -> bool {
        self.path == word || self.path.file_name() == Some(word.as_os_str())
    }
}

/// Replaces the images of a command line in the directory `place`: a profile alone by the program that wrote the
/// profile, and a program without a profile beside it by the program and its profiles in gmon-run's directory. A file
/// stands for the program with its build ID, and otherwise for a program with its name. Without any name, or with the
/// name of a directory of profiles, the program with the most CPU time is meant, and `notes` gets a list of all
/// programs. Other images stay. The files of the programs may lie below the directory `sysroot`.
///
/// # Errors
///
/// If `notes` fails.
pub(crate) fn find_programs(
    images: &mut Vec<ProfiledImage>,
    named: Named,
    (place, sysroot): (&Path, Option<&Path>),
    notes: &mut dyn Write,
) -> io::Result<()> {
    let [ProfiledImage { image, profiles }] = &images[..] else { return Ok(()) };
    if named.profiles || profiles[..] != [ProfilePath::File(PROFILE.into())] {
        return Ok(());
    }
    if let Some(program) = program_of(&place.join(image)) {
        let profile = ProfilePath::File(image.clone());
        *images = vec![ProfiledImage { image: files::below(sysroot, &program), profiles: vec![profile] }];
        return Ok(());
    }
    let is_directory = place.join(image).is_dir();
    if place.join(PROFILE).exists() && !is_directory {
        return Ok(());
    }
    let directory = if is_directory { image } else { Path::new(DIRECTORY) };
    let mut programs = programs_in(&place.join(directory));
    programs.sort_by(|a, b| (b.time, &a.path).cmp(&(a.time, &b.path)));
    if programs.is_empty() {
        return Ok(());
    }
    if is_directory || !named.image {
        // A word that is no path is looked up only where no other profile is.
        let is_looked_up = directory == Path::new(DIRECTORY) && !place.join(PROFILE).exists();
        list(&programs, directory, if is_looked_up { "NAME" } else { "PROFILE" }, notes)?;
        let Program { path, profiles, .. } = programs.swap_remove(0);
        *images = vec![ProfiledImage { image: files::below(sysroot, &path), profiles }];
        return Ok(());
    }
    let file = place.join(image);
    let own = image::read(&file, false).ok().and_then(|bytes| image::identity(&bytes).ok().flatten());
    let path = fs::canonicalize(&file).ok();
    let is_same_build = |program: &Program| own.is_some() && program.identity == own;
    let is_meant = |program: &Program| program.is_meant_by(image) || path.as_ref() == Some(&program.path);
    let position = programs.iter().position(is_same_build).or_else(|| programs.iter().position(is_meant));
    let Some(position) = position else { return Ok(()) };
    let program = programs.swap_remove(position);
    // The file that the user names may have more symbols than the one that ran.
    let image = if is_same_build(&program) { image.clone() } else { files::below(sysroot, &program.path) };
    *images = vec![ProfiledImage { image, profiles: program.profiles }];
    Ok(())
}

/// Returns the sum that gmon-run has left for a program in a directory: that of the same build, or of the same file.
pub(crate) fn profile_in(directory: &Path, program: &Path) -> Option<PathBuf> {
    let own = image::read(program, false).ok().and_then(|bytes| image::identity(&bytes).ok().flatten());
    let path = fs::canonicalize(program).ok();
    let programs = programs_in(directory);
    let is_same_build = |known: &&Program| own.is_some() && known.identity == own;
    let is_same_file = |known: &&Program| path.as_ref() == Some(&known.path);
    let found = programs.iter().find(is_same_build).or_else(|| programs.iter().find(is_same_file))?;
    match found.profiles.first() {
        Some(ProfilePath::File(profile)) => Some(profile.clone()),
        _ => None,
    }
}

/// Prints the programs, with their CPU time and the number of their processes. `what` chooses another program.
fn list(programs: &[Program], directory: &Path, what: &str, notes: &mut dyn Write) -> io::Result<()> {
    writeln!(
        notes,
        "gprof: programs in {}; the reports are about the first, and `gprof {what}' shows another:",
        directory.display()
    )?;
    for Program { path, time, runs, .. } in programs {
        let processes = if *runs == 1 { "process" } else { "processes" };
        writeln!(notes, "{:>10.2} s  {} ({runs} {processes})", *time as f64 * 1e-9, path.display())?;
    }
    Ok(())
}

/// The path of the program that wrote a profile. `None` if the file has no side file.
fn program_of(profile: &Path) -> Option<PathBuf> {
    // A program can have a side file only if it is a profile.
    profile.is_file().then(|| side_file(profile)).flatten().and_then(|side| path_of(&side))
}

fn path_of(side: &SideFile) -> Option<PathBuf> {
    let path = &side.program()?.path;
    (!path.is_empty()).then(|| OsString::from_vec(path.clone()).into())
}

/// The paths in a directory; none if the directory cannot be read.
fn paths_in(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// The programs whose profiles a directory has, also in the directories of ranks. Builds of one path are different
/// programs.
fn programs_in(directory: &Path) -> Vec<Program> {
    let mut programs = BTreeMap::new();
    let is_of_rank = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.as_bytes().starts_with(OF_RANK.as_bytes())) && path.is_dir()
    };
    let ranks = paths_in(directory).filter(is_of_rank);
    let profile = |side: PathBuf| {
        side.as_os_str()
            .as_bytes()
            .strip_suffix(SIDE.as_bytes())
            .map(|profile| PathBuf::from(OsStr::from_bytes(profile)))
    };
    let files = paths_in(directory).chain(ranks.flat_map(|rank| paths_in(&rank)));
    let mut profiles: Vec<PathBuf> = files.filter_map(profile).collect();
    profiles.sort();
    for profile in profiles {
        // A process that was killed before it wrote has left an empty profile.
        if fs::metadata(&profile).is_ok_and(|status| status.len() == 0) {
            continue;
        }
        let Some(side) = side_file(&profile) else { continue };
        let (Some(path), Some(object)) = (path_of(&side), side.program()) else { continue };
        let identity = identity(object);
        let program = programs.entry((path.clone(), identity.clone()));
        let program = program.or_insert(Program { path, identity, time: 0, runs: 0, profiles: Vec::new() });
        program.time = program.time.saturating_add(time_of(&side));
        program.runs = program.runs.saturating_add(side.runs());
        program.profiles.push(ProfilePath::File(profile));
    }
    programs.into_values().collect()
}

/// The CPU time of the runs, in nanoseconds. The side file of a run that has not ended has only the samples.
fn time_of(side: &SideFile) -> u64 {
    let sampled = || {
        let ticks = side.unwalked().fold(side.contexts().total(), |sum, (_, ticks)| sum.saturating_add(ticks));
        let period = side.rate().and_then(|rate| 1_000_000_000_u64.checked_div(rate.into())).unwrap_or(0);
        ticks.saturating_mul(period)
    };
    side.cpu_time().unwrap_or_else(sampled)
}

#[cfg(test)]
mod tests {
    use gmon::Word;
    use gmon::side_file::{Identity, Kind, Object, property};

    use super::*;

    /// The image that a command line without files stands for.
    const IMAGE: &str = "a.out";

    /// A directory for the files of a test.
    fn place(name: &str) -> PathBuf {
        let place = std::env::temp_dir().join(format!("gprof-runs-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(place.join(DIRECTORY)).unwrap();
        place
    }

    /// Writes a profile and its side file.
    fn write(profile: &Path, program: &str, nanoseconds: u64, runs: u64) {
        write_build(profile, program, Identity::Unknown, nanoseconds, runs);
    }

    fn write_build(profile: &Path, program: &str, build: Identity, nanoseconds: u64, runs: u64) {
        let mut side = SideFile::new(Word::W64);
        let mut object = Object::new(Kind::Program, program.as_bytes());
        object.identity = build;
        side.add_object(0, object).unwrap();
        for (key, value) in [(property::CPU, nanoseconds), (property::RUNS, runs)] {
            side.add_property(key, value.to_string().as_bytes()).unwrap();
        }
        fs::write(profile, b"gmon").unwrap();
        fs::write(files::companion(profile, "side"), side.write()).unwrap();
    }

    /// What a command line becomes that names one file or nothing: the image, the profiles, and the notes.
    fn found(place: &Path, word: Option<&str>) -> (String, Vec<String>, String) {
        found_for(place, word, Named { image: word.is_some(), profiles: false }, None)
    }

    /// As [`found`], with the files of another machine below a directory.
    fn found_below(place: &Path, sysroot: &str, word: &str) -> (String, Vec<String>, String) {
        found_for(place, Some(word), Named { image: true, profiles: false }, Some(Path::new(sysroot)))
    }

    fn found_for(
        place: &Path,
        word: Option<&str>,
        named: Named,
        sysroot: Option<&Path>,
    ) -> (String, Vec<String>, String) {
        let mut notes = Vec::new();
        let profiles = vec![ProfilePath::File(PROFILE.into())];
        let mut images = vec![ProfiledImage { image: word.unwrap_or(IMAGE).into(), profiles }];
        find_programs(&mut images, named, (place, sysroot), &mut notes).unwrap();
        let [ProfiledImage { image, profiles }] = &images[..] else { panic!("{images:?}") };
        let name =
            |profile: &ProfilePath| profile.to_string().rsplit('/').next().map(str::to_owned).unwrap_or_default();
        let notes = String::from_utf8(notes).unwrap();
        (image.display().to_string(), profiles.iter().map(name).collect(), notes)
    }

    #[test]
    fn a_profile_alone_tells_its_program() {
        let place = place("alone");
        write(&place.join("some.profile"), "/bin/some", 5, 1);
        assert_eq!(
            found(&place, Some("some.profile")),
            ("/bin/some".to_owned(), vec!["some.profile".to_owned()], String::new())
        );
        let below = found_below(&place, "copy", "some.profile");
        assert_eq!(below.0, "copy/bin/some");
        // A profile of a program without a name, and a program.
        write(&place.join("nameless"), "", 5, 1);
        fs::write(place.join("program"), b"\x7fELF").unwrap();
        for image in ["nameless", "program", "missing"] {
            assert_eq!(found(&place, Some(image)), (image.to_owned(), vec![PROFILE.to_owned()], String::new()));
        }
        fs::remove_dir_all(place).unwrap();
    }

    #[test]
    fn a_run_that_goes_on_has_the_time_of_its_samples() {
        let mut side = SideFile::new(Word::W64);
        side.add_property(property::RATE, b"250").unwrap();
        side.add_cut(gmon::side_file::CutReason::NO_STACK, 3).unwrap();
        assert_eq!(time_of(&side), 12_000_000);
        side.add_property(property::CPU, b"7").unwrap();
        assert_eq!(time_of(&side), 7);
        assert_eq!(time_of(&SideFile::new(Word::W64)), 0);
    }

    #[test]
    fn the_programs_of_gmon_run_are_found_by_name_and_by_time() {
        let place = place("directory");
        let run = place.join(DIRECTORY);
        write(&run.join("as.1"), "/usr/bin/as", 1_500_000_000, 1);
        write(&run.join("cc1.1"), "/usr/lib/cc1", 2_000_000_000, 58);
        write(&run.join("cc1.1.77"), "/usr/lib/cc1", 30_000_000, 1);
        write(&run.join("cc1.1.78"), "/usr/lib/cc1", 30_000_000, 1);
        fs::write(run.join("cc1.1.78"), b"").unwrap();
        fs::write(run.join("broken.side"), b"no side file").unwrap();
        let (image, profiles, notes) = found(&place, None);
        assert_eq!(image, "/usr/lib/cc1");
        assert_eq!(profiles, ["cc1.1", "cc1.1.77"]);
        let lines: Vec<_> = notes.lines().skip(1).collect();
        assert_eq!(lines, ["      2.03 s  /usr/lib/cc1 (59 processes)", "      1.50 s  /usr/bin/as (1 process)"]);
        for word in ["as", "/usr/bin/as"] {
            assert_eq!(found(&place, Some(word)), ("/usr/bin/as".to_owned(), vec!["as.1".to_owned()], String::new()));
        }
        assert_eq!(found(&place, Some("ld")).0, "ld");
        // Each rank of a parallel job has a directory.
        for (directory, profile) in [("rank.0", "as.1"), ("rank.12.2", "as.1.5"), ("others", "as.1")] {
            fs::create_dir(run.join(directory)).unwrap();
            write(&run.join(directory).join(profile), "/usr/bin/as", 1_000_000_000, 1);
        }
        let (image, profiles, notes) = found(&place, None);
        assert_eq!((image.as_str(), profiles.len()), ("/usr/bin/as", 3), "{notes}");
        assert!(notes.contains("      3.50 s  /usr/bin/as (3 processes)"), "{notes}");
        // A profile beside the program comes first.
        fs::write(place.join(PROFILE), b"gmon").unwrap();
        assert_eq!(found(&place, None), (IMAGE.to_owned(), vec![PROFILE.to_owned()], String::new()));
        // The name of the directory means all that is in the directory. A program's name would mean the other profile.
        let notes = notes.replace("NAME", "PROFILE");
        assert_eq!(found(&place, Some(DIRECTORY)), (image, profiles.clone(), notes.clone()));
        fs::rename(&run, place.join("elsewhere")).unwrap();
        let (image, of_directory, listed) = found_below(&place, "copy", "elsewhere");
        assert_eq!((image.as_str(), of_directory), ("copy/usr/bin/as", profiles));
        assert_eq!(listed, notes.replace(DIRECTORY, "elsewhere"));
        fs::remove_dir_all(place).unwrap();
    }

    #[test]
    fn a_file_stands_for_the_program_with_its_build_id_and_then_for_one_with_its_name() {
        let place = place("build");
        let run = place.join(DIRECTORY);
        let program = fs::read(std::env::current_exe().unwrap()).unwrap();
        let text = image::identity(&program).unwrap().unwrap();
        let build = match text.strip_prefix("headers:") {
            Some(sum) => Identity::Headers(u64::from_str_radix(sum, 16).unwrap()),
            None => Identity::BuildId(
                (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect(),
            ),
        };
        fs::write(place.join(IMAGE), &program).unwrap();
        let own = fs::canonicalize(place.join(IMAGE)).unwrap();
        let other = Identity::BuildId(vec![1; 20]);
        write_build(&run.join("make.1"), "/usr/bin/make", Identity::BuildId(vec![2; 20]), 9_000, 1);
        write_build(&run.join("a.out.1"), own.to_str().unwrap(), other.clone(), 8_000, 1);
        // By its name, while no program has its build ID.
        for word in [IMAGE, "./a.out"] {
            let (image, profiles, notes) = found(&place, Some(word));
            assert_eq!(
                (image.as_str(), &profiles[..], &notes[..]),
                (own.to_str().unwrap(), &["a.out.1".to_owned()][..], "")
            );
        }
        write_build(&run.join("moved.1"), "/gone/moved", build, 7_000, 1);
        let (image, profiles, notes) = found(&place, Some(IMAGE));
        assert_eq!((image.as_str(), &profiles[..], &notes[..]), (IMAGE, &["moved.1".to_owned()][..], ""));
        // Without a name, the program with the most CPU time.
        assert_eq!(found(&place, None).0, "/usr/bin/make");
        // A profile that the user names is not sought elsewhere.
        let named = Named { image: true, profiles: true };
        assert_eq!(
            found_for(&place, Some(IMAGE), named, None),
            (IMAGE.to_owned(), vec![PROFILE.to_owned()], String::new())
        );
        fs::remove_dir_all(place).unwrap();
    }
}
