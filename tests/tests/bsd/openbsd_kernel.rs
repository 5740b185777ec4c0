//! Tests of the tests' kernel with OpenBSD's system calls: profil(2) and the file that the kernel writes, pinned system
//! calls, pledge.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::PathBuf;

use gmon_tests::bsd::{Bsd, Ran, Start, System};

/// A program in a test's directory, which has a subdirectory `below`.
struct Program {
    bsd: Bsd,
    image: PathBuf,
}

impl Program {
    fn build(test: &str, name: &str, flags: &[&str]) -> Option<Program> {
        let bsd = Bsd::new(System::OpenBsd, &format!("openbsd_kernel_{test}"))?;
        fs::create_dir(bsd.directory.join("below")).unwrap();
        let flags: Vec<&str> = ["-O1"].iter().chain(flags).copied().collect();
        let image = bsd.build(name, &[&format!("{name}.c")], &flags, Start::Plain);
        Some(Program { bsd, image })
    }

    fn run(&self, words: &[&str]) -> Ran {
        self.bsd.run(&self.image, &[], words, &[])
    }

    /// Runs the program as a user. If the tests run as the superuser, the user's permissions apply to files too.
    fn run_as(&self, user: &str, words: &[&str]) -> Ran {
        self.bsd.run(&self.image, &["--user", user], words, &[])
    }

    /// Returns the path of the file of the process with this ID.
    fn file(&self, process: u32) -> PathBuf {
        self.bsd.directory.join(format!("below/gmon.openbsd_profil.{process}.out"))
    }
}

/// The sizes of the header, the samples, and an arc, in bytes.
const HEADER: usize = 40;
const SAMPLES: usize = 128;
const ARC: usize = 24;

#[test]
fn a_program_without_the_note_is_not_profiled() {
    let Some(program) = Program::build("note", "openbsd_profil", &["-DWITHOUT_NOTE"]) else {
        return;
    };
    let _ = program.run(&["note"]).expect(0);
}

#[test]
fn the_kernel_writes_the_buffer_however_the_process_ends() {
    let Some(program) = Program::build("file", "openbsd_profil", &[]) else {
        return;
    };
    for (word, status, arcs) in [("end", 0, 2), ("killed", 128 + 9, 4), ("pledged", 0, 4)] {
        let _ = fs::remove_file(program.file(1001));
        let _ = program.run(&[word]).expect(status);
        let bytes = fs::read(program.file(1001)).unwrap();
        assert_eq!(bytes.len(), HEADER + SAMPLES + arcs * ARC, "{word}");
        let mode = fs::metadata(program.file(1001)).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o600);
        assert_eq!(bytes[28..32], (24 * arcs as u32).to_le_bytes(), "totarc");
        assert_eq!(bytes[HEADER + 4..HEADER + 6], 7u16.to_le_bytes(), "the third bin, which wrapped");
        assert_eq!(bytes[HEADER + SAMPLES + 16..HEADER + SAMPLES + 24], 1000u64.to_le_bytes(), "the first arc");
    }
}

#[test]
fn without_arcs_or_with_too_many_there_is_no_file() {
    let Some(program) = Program::build("no_file", "openbsd_profil", &[]) else {
        return;
    };
    for word in ["no_arcs", "too_many"] {
        let _ = program.run(&[word]).expect(0);
        assert!(!program.file(1001).exists(), "{word}");
    }
}

#[test]
fn a_forked_child_writes_a_file_of_its_own() {
    let Some(program) = Program::build("fork", "openbsd_profil", &[]) else {
        return;
    };
    let _ = program.run(&["fork"]).expect(0);
    let first_bin = |process| fs::read(program.file(process)).unwrap()[HEADER];
    assert_eq!((first_bin(1001), first_bin(1002)), (1, 2));
}

#[test]
fn a_file_of_others_is_left_alone() {
    let Some(program) = Program::build("others", "openbsd_profil", &[]) else {
        return;
    };
    let file = program.file(1001);
    let victim = program.bsd.directory.join("victim");
    let run = || program.run(&["end"]).expect(0);
    fs::write(&victim, "victim").unwrap();
    // A symbolic link.
    symlink(&victim, &file).unwrap();
    let _ = run();
    assert_eq!(fs::read(&victim).unwrap(), b"victim");
    // A second link.
    fs::remove_file(&file).unwrap();
    fs::hard_link(&victim, &file).unwrap();
    let _ = run();
    assert_eq!(fs::read(&victim).unwrap(), b"victim");
    // A directory.
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let _ = run();
    assert_eq!(fs::read_dir(&file).unwrap().count(), 0);
    fs::remove_dir(&file).unwrap();
    // A FIFO without a reader.
    assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
    let _ = run();
    fs::remove_file(&file).unwrap();
    // A file that other users may read.
    fs::write(&file, "others'").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let _ = run();
    assert_eq!(fs::read(&file).unwrap(), b"others'");
    // A file that other users may write.
    fs::set_permissions(&file, fs::Permissions::from_mode(0o620)).unwrap();
    let _ = run();
    assert_eq!(fs::read(&file).unwrap(), b"others'");
    // The user's own file, longer than the new file. That others may execute the file does not matter.
    for mode in [0o600, 0o711] {
        fs::write(&file, vec![1; 4096]).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        let _ = run();
        assert_eq!(fs::read(&file).unwrap().len(), HEADER + SAMPLES + 2 * ARC, "{mode:o}");
    }
}

#[test]
fn calls_signals_and_threads_are_openbsds() {
    let Some(program) = Program::build("calls", "openbsd_calls", &[]) else {
        return;
    };
    let _ = program.run(&[]).expect(3);
}

#[test]
fn calls_from_the_wrong_place_or_against_a_pledge_end_the_process() {
    let Some(program) = Program::build("refused", "openbsd_calls", &[]) else {
        return;
    };
    let cases = [
        ("unpinned", 6, "not pinned"),
        ("open", 6, "promises"),
        ("fork", 6, "promises"),
        ("stack", 11, "MAP_STACK"),
        ("cookie", 4, "cookie"),
    ];
    for (word, signal, said) in cases {
        let ran = program.run(&[word]);
        assert_eq!(ran.status, 128 + signal, "{word}: {}{}", ran.stdout, ran.stderr);
        let refused = ran.events("refused");
        assert!(refused.len() == 1 && refused[0].contains(said), "{refused:?}");
    }
}

#[test]
fn a_program_without_a_table_of_system_calls_is_ended_at_its_first_call() {
    let Some(program) = Program::build("no_table", "openbsd_calls", &[]) else {
        return;
    };
    // The section with the same contents stays.
    let mut bytes = fs::read(&program.image).unwrap();
    let kind = 0x65a3_dbe9_u32.to_le_bytes();
    let header = (64..).step_by(56).find(|at| bytes[*at..at + 4] == kind).unwrap();
    bytes[header..header + 4].fill(0);
    fs::write(&program.image, bytes).unwrap();
    let ran = program.run(&[]);
    assert_eq!(ran.status, 128 + 6, "{}{}", ran.stdout, ran.stderr);
    let refused = ran.events("refused");
    assert!(refused.len() == 1 && refused[0].contains("not pinned"), "{refused:?}");
}

#[test]
fn unveil_hides_files_from_the_program_and_not_from_the_kernel() {
    let Some(program) = Program::build("unveil", "openbsd_files", &[]) else {
        return;
    };
    symlink("../a_file", program.bsd.directory.join("below/link")).unwrap();
    let _ = program.run(&["unveil"]).expect(0);
    assert!(program.bsd.directory.join("gmon.openbsd_files.1001.out").exists());
}

#[test]
fn chroot_hides_files_from_the_program_and_not_from_the_kernel() {
    let Some(program) = Program::build("chroot", "openbsd_files", &[]) else {
        return;
    };
    let _ = program.run_as("0", &["chroot"]).expect(0);
    assert!(program.bsd.directory.join("gmon.openbsd_files.1001.out").exists());
    let _ = program.run_as("1001", &["user"]).expect(0);
}

#[test]
fn the_file_belongs_to_the_user_of_the_first_call() {
    let Some(program) = Program::build("user", "openbsd_profil", &[]) else {
        return;
    };
    let _ = program.run_as("0", &["early_user"]).expect(0);
    let owner = |path: &std::path::Path| fs::metadata(path).unwrap().uid();
    let tests_user = owner(&program.image);
    if tests_user != 0 {
        eprintln!("SKIPPED: files of several users: the tests do not run as the superuser");
        return;
    }
    assert_eq!(owner(&program.file(1001)), 0);
    // A call with a wrong descriptor sets the user too.
    fs::remove_file(program.file(1001)).unwrap();
    let _ = program.run_as("0", &["wrong_directory"]).expect(0);
    assert_eq!(owner(&program.file(1001)), 0);
    // The next process has the same number. The user may not write the superuser's file, nor create a file in the
    // directory.
    fs::remove_file(program.file(1001)).unwrap();
    fs::write(program.bsd.directory.join("a_file"), "").unwrap();
    chown(program.bsd.directory.join("a_file"), Some(1001), None).unwrap();
    let ran = program.run_as("0", &["late_user"]).expect(0);
    assert!(!program.file(1001).exists() && ran.record.contains("EACCES"), "{}", ran.record);
    chown(program.bsd.directory.join("below"), Some(1001), None).unwrap();
    let _ = program.run_as("0", &["late_user"]).expect(0);
    assert_eq!(owner(&program.file(1001)), 1001);
    // The user's first file stays when the superuser writes.
    let ran = program.run_as("0", &["early_user"]).expect(0);
    assert_eq!(owner(&program.file(1001)), 1001);
    assert!(ran.record.contains("EACCES"), "{}", ran.record);
}

#[test]
fn the_limit_of_file_sizes_cuts_the_file_and_the_umask_changes_nothing() {
    let Some(program) = Program::build("limit", "openbsd_profil", &[]) else {
        return;
    };
    let _ = program.run(&["limit"]).expect(0);
    assert_eq!(fs::read(program.file(1001)).unwrap().len(), HEADER + SAMPLES + ARC, "one of two arcs");
    fs::remove_file(program.file(1001)).unwrap();
    let _ = program.run(&["umask"]).expect(0);
    assert_eq!(fs::metadata(program.file(1001)).unwrap().permissions().mode() & 0o7777, 0o600);
}

#[test]
fn the_name_of_the_file_has_23_characters_of_the_programs_name() {
    let Some(program) = Program::build("name", "openbsd_profil", &[]) else {
        return;
    };
    const NAME: &str = "a_program_whose_name_has_32_byte";
    let image = program.bsd.directory.join(NAME);
    fs::hard_link(&program.image, &image).unwrap();
    let _ = program.bsd.run(&image, &[], &["end"], &[]).expect(0);
    let below = program.bsd.directory.join("below");
    let names: Vec<_> = fs::read_dir(below).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, [format!("gmon.{}.1001.out", &NAME[..23]).as_str()]);
}

#[test]
fn handlers_keep_the_vector_registers() {
    let Some(program) = Program::build("vectors", "vectors", &[]) else {
        return;
    };
    let _ = program.run(&[]).expect(0);
}
