//! Finds the program where the command line names only a profile, the name of a program, or nothing: side files say
//! which program ran. gmon-run leaves the profiles of several programs in one directory.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use gmon::side_file::SideFile;

use crate::question::files::{ProfilePath, ProfiledImage};

/// The directory in which gmon-run leaves profiles.
const DIRECTORY: &str = "gmon.run";
/// The names that the command line stands for if it names no files.
const IMAGE: &str = "a.out";
const PROFILE: &str = "gmon.out";
/// What the name of a side file has behind the name of the profile.
const SIDE: &str = ".side";
/// The start of the name of a directory in which one rank of a parallel job has left its profiles.
const OF_RANK: &str = "rank.";

/// A program, and the profiles of its runs.
struct Program {
    path: PathBuf,
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
/// profile, and a program without a profile beside it by the program and its profiles in gmon-run's directory. Without
/// any name, the program with the most CPU time is meant, and `notes` gets a list of all programs. Other images stay.
///
/// # Errors
///
/// If `notes` fails.
pub(crate) fn find_programs(images: &mut Vec<ProfiledImage>, place: &Path, notes: &mut dyn Write) -> io::Result<()> {
    let [ProfiledImage { image, profiles }] = &images[..] else { return Ok(()) };
    if profiles[..] != [ProfilePath::File(PROFILE.into())] {
        return Ok(());
    }
    if let Some(program) = program_of(&place.join(image)) {
        let profile = ProfilePath::File(image.clone());
        *images = vec![ProfiledImage { image: program, profiles: vec![profile] }];
        return Ok(());
    }
    if place.join(PROFILE).exists() {
        return Ok(());
    }
    let mut programs = programs_in(&place.join(DIRECTORY));
    programs.sort_by(|a, b| (b.time, &a.path).cmp(&(a.time, &b.path)));
    let is_nothing_named = image == Path::new(IMAGE);
    let position = programs.iter().position(|program| is_nothing_named || program.is_meant_by(image));
    let Some(position) = position else { return Ok(()) };
    if is_nothing_named {
        list(&programs, notes)?;
    }
    let Program { path, profiles, .. } = programs.swap_remove(position);
    *images = vec![ProfiledImage { image: path, profiles }];
    Ok(())
}

/// Prints the programs, with their CPU time and the number of their processes.
fn list(programs: &[Program], notes: &mut dyn Write) -> io::Result<()> {
    writeln!(
        notes,
        "gprof: programs in {DIRECTORY}; the reports are about the first, and `gprof NAME' shows another:"
    )?;
    for Program { path, time, runs, .. } in programs {
        let processes = if *runs == 1 { "process" } else { "processes" };
        writeln!(notes, "{:>10.2} s  {} ({runs} {processes})", *time as f64 * 1e-9, path.display())?;
    }
    Ok(())
}

/// The side file of a profile.
fn side_of(profile: &Path) -> Option<SideFile> {
    SideFile::parse(&fs::read(with_ending(profile)).ok()?).ok()
}

fn with_ending(profile: &Path) -> PathBuf {
    let mut name = profile.as_os_str().to_owned();
    name.push(SIDE);
    name.into()
}

/// The path of the program that wrote a profile. `None` if the file has no side file.
fn program_of(profile: &Path) -> Option<PathBuf> {
    // A program can have a side file only if it is a profile.
    profile.is_file().then(|| side_of(profile)).flatten().and_then(|side| path_of(&side))
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
    let mut files: Vec<PathBuf> = paths_in(directory).chain(ranks.flat_map(|rank| paths_in(&rank))).collect();
    files.sort();
    for file in files {
        let Some(profile) = file.as_os_str().as_bytes().strip_suffix(SIDE.as_bytes()) else { continue };
        let profile = PathBuf::from(OsStr::from_bytes(profile));
        // A process that was killed before it wrote has left an empty profile.
        if fs::metadata(&profile).is_ok_and(|status| status.len() == 0) {
            continue;
        }
        let Some(side) = side_of(&profile) else { continue };
        let (Some(path), Some(object)) = (path_of(&side), side.program()) else { continue };
        let program = programs.entry((path.clone(), object.identity.clone()));
        let program = program.or_insert(Program { path, time: 0, runs: 0, profiles: Vec::new() });
        program.time = program.time.saturating_add(side.cpu_time().unwrap_or(0));
        program.runs = program.runs.saturating_add(side.runs());
        program.profiles.push(ProfilePath::File(profile));
    }
    let mut programs: Vec<Program> = programs.into_values().collect();
    for program in &mut programs {
        program.profiles.sort_by_key(ToString::to_string);
    }
    programs
}

#[cfg(test)]
mod tests {
    use gmon::Word;
    use gmon::side_file::{Kind, Object, property};

    use super::*;

    /// A directory for the files of a test.
    fn place(name: &str) -> PathBuf {
        let place = std::env::temp_dir().join(format!("gprof-runs-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(place.join(DIRECTORY)).unwrap();
        place
    }

    /// Writes a profile and its side file.
    fn write(profile: &Path, program: &str, nanoseconds: u64, runs: u64) {
        let mut side = SideFile::new(Word::W64);
        side.add_object(0, Object::new(Kind::Program, program.as_bytes())).unwrap();
        for (key, value) in [(property::CPU, nanoseconds), (property::RUNS, runs)] {
            side.add_property(key, value.to_string().as_bytes()).unwrap();
        }
        fs::write(profile, b"gmon").unwrap();
        fs::write(with_ending(profile), side.write()).unwrap();
    }

    /// What a command line becomes that names one file or nothing: the image, the profiles, and the notes.
    fn found(place: &Path, image: &str) -> (String, Vec<String>, String) {
        let mut notes = Vec::new();
        let profiles = vec![ProfilePath::File(PROFILE.into())];
        let mut images = vec![ProfiledImage { image: image.into(), profiles }];
        find_programs(&mut images, place, &mut notes).unwrap();
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
            found(&place, "some.profile"),
            ("/bin/some".to_owned(), vec!["some.profile".to_owned()], String::new())
        );
        // A profile of a program without a name, and a program.
        write(&place.join("nameless"), "", 5, 1);
        fs::write(place.join("program"), b"\x7fELF").unwrap();
        for image in ["nameless", "program", "missing"] {
            assert_eq!(found(&place, image), (image.to_owned(), vec![PROFILE.to_owned()], String::new()));
        }
        fs::remove_dir_all(place).unwrap();
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
        let (image, profiles, notes) = found(&place, IMAGE);
        assert_eq!((image.as_str(), profiles), ("/usr/lib/cc1", vec!["cc1.1".to_owned(), "cc1.1.77".to_owned()]));
        let lines: Vec<_> = notes.lines().skip(1).collect();
        assert_eq!(lines, ["      2.03 s  /usr/lib/cc1 (59 processes)", "      1.50 s  /usr/bin/as (1 process)"]);
        for word in ["as", "/usr/bin/as"] {
            assert_eq!(found(&place, word), ("/usr/bin/as".to_owned(), vec!["as.1".to_owned()], String::new()));
        }
        assert_eq!(found(&place, "ld").0, "ld");
        // Each rank of a parallel job has a directory.
        for (directory, profile) in [("rank.0", "as.1"), ("rank.12.2", "as.1.5"), ("others", "as.1")] {
            fs::create_dir(run.join(directory)).unwrap();
            write(&run.join(directory).join(profile), "/usr/bin/as", 1_000_000_000, 1);
        }
        let (image, profiles, notes) = found(&place, IMAGE);
        assert_eq!((image.as_str(), profiles.len()), ("/usr/bin/as", 3), "{notes}");
        assert!(notes.contains("      3.50 s  /usr/bin/as (3 processes)"), "{notes}");
        // A profile beside the program comes first.
        fs::write(place.join(PROFILE), b"gmon").unwrap();
        assert_eq!(found(&place, IMAGE), (IMAGE.to_owned(), vec![PROFILE.to_owned()], String::new()));
        fs::remove_dir_all(place).unwrap();
    }
}
