//! `gmon-run`: programs behave as without it, and their profiles are complete.

mod generated;
mod ranks;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gmon::Profile;
use gmon_tests::chance::DEVIATIONS;
use gmon_tests::side::Side;

use crate::support::{Symbols, calls, directory, library, read, root, ticks};

/// A directory in which programs run under gmon-run.
pub(crate) struct Place(PathBuf);

impl Place {
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn new(name: &str) -> Place {
        Place(directory(&format!("gmon-run-{name}")))
    }

    /// Compiles a program as its user would: without the options of this project.
    pub(crate) fn compile(&self, source: &str, compiler: &str, flags: &[&str]) -> PathBuf {
        let program = self.0.join("program");
        let source = root().join("tests/programs").join(source);
        let made =
            Command::new(compiler).args(["-O1", "-g", "-o"]).args([&program, &source]).args(flags).output().unwrap();
        assert!(made.status.success(), "{made:?}");
        program
    }

    /// gmon-run with these options.
    pub(crate) fn run(&self, options: &[&str]) -> Command {
        let mut command = Command::new(gmon_tests::gmon_run());
        command.args(options).current_dir(&self.0).env("GMON_RUN_LIBRARY", library().join("libgmon-run.so"));
        command.env("LC_ALL", "C.UTF-8");
        command
    }

    /// The output of a program under gmon-run, which must succeed and print no message.
    fn quiet(&self, options: &[&str], program: &Path, arguments: &[&str]) -> String {
        let output = self.run(options).arg(program).args(arguments).output().unwrap();
        crate::support::quiet(&output)
    }

    /// The profiles in the directory of a run, by name.
    fn profiles(&self) -> BTreeMap<String, PathBuf> {
        let names = fs::read_dir(self.0.join("gmon.run")).unwrap().map(|entry| entry.unwrap().path());
        let profiles = names.filter(|path| path.extension().is_none_or(|ending| ending != "side"));
        let profiles = profiles.filter(|path| !path.ends_with(".gmon-run"));
        profiles.map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), path)).collect()
    }

    /// The only profile of a run.
    pub(crate) fn profile(&self) -> (Profile, Side) {
        let profiles = self.profiles();
        let [path] = profiles.values().collect::<Vec<_>>()[..] else { panic!("{profiles:?}") };
        (read(path), Side::of(path))
    }
}

/// How many ticks runs have, and how many ticks their CPU time is worth.
#[derive(Clone, Copy, Debug, Default)]
struct Time {
    ticks: f64,
    expected: f64,
    runs: f64,
}

impl Time {
    fn of(profile: &Profile, side: &Side) -> Time {
        let inside: i128 = profile.histograms().iter().map(gmon::Histogram::total).sum();
        let ticks = inside as f64 + side.samples_outside() as f64;
        let expected = side.cpu_time().unwrap() as f64 * 1e-9 * f64::from(side.rate().unwrap());
        Time { ticks, expected, runs: side.runs() as f64 }
    }

    fn add(&mut self, other: &Time) {
        self.ticks += other.ticks;
        self.expected += other.expected;
        self.runs += other.runs;
    }
}

/// Checks that the ticks of a run are worth the run's CPU time. Each of `timers` timers may be off by three ticks: by
/// one at its start, by one at its end, and by one because the kernel looks at timers only at its own ticks.
pub(crate) fn check_time(profile: &Profile, side: &Side, timers: u64) {
    let Time { ticks, expected, .. } = Time::of(profile, side);
    assert!((ticks - expected).abs() <= 3.0 * timers as f64, "{ticks} ticks, expected {expected:.1}");
}

#[test]
fn threads_are_sampled_from_their_start() {
    let place = Place::new("threads");
    let program = place.compile("preloaded.c", "cc", &["-pthread"]);
    assert_eq!(place.quiet(&[], &program, &["threads"]), "1 42\n");
    let (profile, side) = place.profile();
    check_time(&profile, &side, 3);
    let found = ticks(&profile, &Symbols::of(&program));
    // Most of the time of `work_for` is in the kernel's clock, outside of the program: the stacks tell. The kernel has
    // noticed all ticks when a thread ends, so all have a stack.
    let stacks = side.contexts().total();
    // Each of the two threads may lack a tick at its start and at its end.
    let least = 0.7 * f64::from(side.rate().unwrap()) - 4.0;
    assert!(stacks as f64 >= least, "{stacks} stacks of 0.7 seconds, {found:?}");
    assert_eq!(side.unwalked().map(|(_, ticks)| ticks).sum::<u64>(), 0);
    assert_eq!(stacks as f64, Time::of(&profile, &side).ticks);
}

/// A library that wants to be the first itself is the only exception: then constructors have no samples.
#[test]
fn constructors_and_destructors_of_libraries_are_profiled() {
    for (samples, flags) in [(30, &[][..]), (0, &["-Wl,-z,initfirst"])] {
        let place = Place::new("constructed");
        let text = root().join("tests/programs/constructed.c");
        let mut library = Command::new("cc");
        library.args(["-O1", "-g", "-shared", "-fPIC", &format!("-DLIBRARY={samples}"), "-o", "libconstructed.so"]);
        let made = library.arg(&text).args(flags).current_dir(&place.0).output().unwrap();
        assert!(made.status.success(), "{made:?}");
        let directory = place.0.display();
        let link = [format!("-L{directory}"), "-lconstructed".to_owned(), format!("-Wl,-rpath,{directory}")];
        let program = place.compile("constructed.c", "cc", &link.each_ref().map(String::as_str));
        assert_eq!(place.quiet(&["--hz=1"], &program, &[]), format!("{samples}\n"));
        let mut gprof = Command::new(gmon_tests::gprof());
        let output = gprof.args(["--format=folded", "program"]).current_dir(&place.0).output().unwrap();
        let folded = String::from_utf8(output.stdout).unwrap();
        let of = |end: &str, start: &str| {
            let mut lines = folded.lines().filter(|line| line.starts_with(start));
            lines.find_map(|line| line.rsplit_once(end)?.1.parse::<u32>().ok())
        };
        // Constructors run before `_start`, in the dynamic linker.
        assert_eq!(of(";constructor;called_by_constructor ", ""), (samples > 0).then_some(samples), "{folded}");
        assert_eq!(of(";destructor;called_by_destructor ", "_start"), Some(20), "{folded}");
    }
}

#[test]
fn reports_say_that_nobody_counted_calls() {
    let place = Place::new("uncounted");
    let program = place.compile("preloaded.c", "cc", &["-pthread"]);
    assert_eq!(place.quiet(&[], &program, &["threads"]), "1 42\n");
    let gprof = |arguments: &[&str]| {
        let output = Command::new(gmon_tests::gprof()).args(arguments).current_dir(&place.0).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap())
    };
    let line = "calls: not counted, because the program was not compiled with -pg\n";
    // Without a name, gprof finds the program in gmon-run's directory, and lists what is there.
    let [reports, notes] = gprof(&[]);
    assert_eq!(reports.matches(line).count(), 2, "the flat profile and the call graph: {reports}");
    assert!(reports.contains("work_for"), "{reports}");
    assert!(notes.contains("/program (1 process)\n"), "{notes}");
    assert_eq!(gprof(&["program"])[0], reports);
}

#[test]
fn calls_are_exact_in_a_program_with_the_librarys_own_start_object() {
    for flags in [&["-pg"][..], &["-pg", "-no-pie"], &["-pg", "-mfentry"]] {
        if flags.contains(&"-mfentry") && !cfg!(target_arch = "x86_64") {
            continue;
        }
        let place = Place::new("calls");
        let program = place.compile("preloaded_calls.c", "cc", &[flags, &["-pthread"]].concat());
        assert_eq!(place.quiet(&[], &program, &[]), "2002000\n", "{flags:?}");
        let (profile, _) = place.profile();
        let calls = calls(&profile, &Symbols::of(&program));
        let of = |name: &str| calls.get(&format!("calls {name}")).copied();
        assert_eq!(
            (of("counted"), of("in_thread"), of("at_end")),
            (Some(2_002_000), Some(2), Some(1)),
            "{flags:?}: {calls:?}"
        );
        assert!(!place.0.join("gmon.out").exists(), "the C library wrote a profile too");
    }
}

#[test]
fn a_program_that_executes_another_loses_nothing() {
    let place = Place::new("execs");
    let program = place.compile("preloaded.c", "cc", &["-pthread"]);
    assert_eq!(place.quiet(&[], &program, &["execs", "4"]), "done\n");
    let (profile, side) = place.profile();
    assert_eq!(side.runs(), 5);
    check_time(&profile, &side, 5);
    assert!(side.cpu_time().unwrap() >= 450_000_000, "{:?}", side.cpu_time());
}

#[test]
fn the_processes_of_one_executable_become_one_sum() {
    let place = Place::new("sums");
    let program = place.compile("preloaded.c", "cc", &["-pthread"]);
    let script = format!("{} forks 40 && cd / && {0} forks 3 && {0} code 5; exit 6", program.display());
    let output = place.run(&[]).args(["bash", "-c", &script]).output().unwrap();
    assert_eq!((output.status.code(), &output.stdout[..], &output.stderr[..]), (Some(6), &b"115\n3\n"[..], &b""[..]));
    let profiles = place.profiles();
    let names: Vec<_> = profiles.keys().map(|name| name.rsplit_once('.').unwrap().0).collect();
    assert_eq!(names, ["bash", "program"], "{profiles:?}");
    let of = |name: &str| profiles.iter().find(|(path, _)| path.starts_with(name)).unwrap().1;
    // 40 and 3 children, and three processes that the shell started. The shell's own children have executed the
    // program.
    assert!(Side::of(of("program.")).runs() >= 46, "{}", Side::of(of("program.")).runs());
    let each = place.run(&["--children=each"]).arg(&program).args(["forks", "5"]).output().unwrap();
    assert!(each.status.success());
    assert_eq!(place.profiles().len(), 6, "{:?}", place.profiles());
    let none = place.run(&["--children=none"]).args(["bash", "-c", &script]).output().unwrap();
    assert_eq!((none.status.code(), &none.stdout[..]), (Some(6), &b"115\n3\n"[..]));
    assert_eq!(place.profiles().len(), 1, "{:?}", place.profiles());
}

/// The files of a container are gone when somebody reads the profiles; a copy of the files is elsewhere.
#[test]
fn gprof_reads_profiles_with_a_copy_of_the_machines_files() {
    let place = Place::new("sysroot");
    let at = |name: &str| place.0.join(name);
    fs::write(at("work.c"), "int work(void) { volatile int n; for (n = 0; n < 100000000; n++) ; return n & 1; }")
        .unwrap();
    fs::write(at("main.c"), "int work(void); int main(void) { return work(); }").unwrap();
    let directory = at("");
    for words in [
        &["-shared", "-fPIC", "-o", "libwork.so", "work.c"][..],
        &["-o", "program", "main.c", "-L.", "-lwork", "-Wl,-rpath,$ORIGIN"],
    ] {
        let made = Command::new("cc").args(["-O1", "-g"]).args(words).current_dir(&directory).output().unwrap();
        assert!(made.status.success(), "{made:?}");
    }
    place.quiet(&[], &at("program"), &[]);
    let shown = |words: &[&str]| {
        let output = Command::new(gmon_tests::gprof()).args(words).current_dir(&directory).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let [text, messages] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        (text, messages)
    };
    let (whole, _) = shown(&["-b", "-p"]);
    assert!(whole.lines().any(|row| row.ends_with(" work")), "{whole}");
    // Everything that the run had loaded, below another directory; and no file at the old place.
    let (_, side) = place.profile();
    let paths = side.objects().map(|(number, _)| side.path(number).to_owned());
    for path in paths.filter(|path| path.is_absolute() && path.is_file()) {
        let copy = at("copy").join(path.strip_prefix("/").unwrap());
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(&path, copy).unwrap();
    }
    fs::remove_file(at("program")).unwrap();
    fs::remove_file(at("libwork.so")).unwrap();
    fs::rename(at("gmon.run"), at("fetched")).unwrap();
    let (text, messages) = shown(&["-b", "-p", "--sysroot=copy", "fetched"]);
    assert_eq!(text, whole);
    assert!(!messages.contains("warning"), "{messages}");
    // Without the copy, the program is not there.
    let output = Command::new(gmon_tests::gprof()).args(["-b", "-p", "fetched"]).current_dir(&directory).output();
    let output = output.unwrap();
    let last = String::from_utf8(output.stderr).unwrap().lines().last().unwrap().to_owned();
    let expected = format!("gprof: {}: No such file or directory", at("program").display());
    assert_eq!((output.status.success(), last), (false, expected));
}

#[test]
fn only_programs_with_a_name_have_profiles() {
    let place = Place::new("only");
    let program = place.compile("preloaded.c", "cc", &["-pthread"]);
    let script = format!("{} forks 2; true", program.display());
    let output = place.run(&["--only=prog*", "-o", "a%b/profiles"]).args(["bash", "-c", &script]).output().unwrap();
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(0), &b"1\n"[..]));
    let names = fs::read_dir(place.0.join("a%b/profiles")).unwrap().map(|entry| entry.unwrap().file_name());
    let names: Vec<_> = names.filter(|name| name != ".gmon-run").collect();
    assert!(names.iter().all(|name| name.to_string_lossy().starts_with("program.")), "{names:?}");
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn gmon_run_ends_as_the_program_ends() {
    let place = Place::new("ends");
    let program = place.compile("preloaded.c", "cc", &["-pthread"]);
    for code in [0, 1, 126, 255] {
        let output = place.run(&[]).arg(&program).args(["code", &code.to_string()]).output().unwrap();
        assert_eq!(output.status.code(), Some(code));
    }
    for signal in [1, 6, 9, 11, 15] {
        let output = place.run(&[]).arg(&program).args(["signal", &signal.to_string()]).output().unwrap();
        assert_eq!(output.status.signal(), Some(signal), "{output:?}");
        // No file is made at the start, also not by the superuser.
        assert_eq!(place.profiles().len(), usize::from(signal != 9), "{signal}: {:?}", place.profiles());
    }
    let failed = |words: &[&str], code: i32, text: &str| {
        let output = place.run(&[]).args(words).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{words:?}: {message}");
        assert!(message.contains(text), "{words:?}: {message}");
    };
    failed(&["no-such-program"], 127, "no-such-program: no such program");
    fs::write(place.0.join("text"), "text\n").unwrap();
    failed(&["./text"], 126, "cannot execute");
    failed(&["--children=some", "true"], 125, "--children");
    failed(&["--child=sum", "true"], 125, "--child=sum: no such option");
    failed(&[], 125, "PROGRAM");
}

#[test]
fn what_gmon_run_inherits_reaches_the_program() {
    let place = Place::new("surroundings");
    let program = place.compile("preloaded.c", "cc", &["-pthread"]);
    let own = gmon_tests::gmon_run();
    let inside = |script: &str| {
        let mut shell = Command::new("bash");
        shell.args(["-c", script]).current_dir(&place.0).env("GMON_RUN_LIBRARY", library().join("libgmon-run.so"));
        shell.env("RUN", own).env("PROGRAM", &program);
        let output = shell.output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    // Signals that are ignored, as by nohup.
    let (code, printed, _) = inside("trap '' HUP INT USR1; exec $RUN grep SigIgn /proc/self/status");
    assert_eq!(code, Some(0));
    let ignored = u64::from_str_radix(printed.trim().rsplit('\t').next().unwrap(), 16).unwrap();
    assert_eq!(ignored & 0b10_0000_0011, 0b10_0000_0011, "{printed}");
    assert_eq!(inside("trap '' CHLD; exec $RUN $PROGRAM code 5").0, Some(5));
    // Nobody can read messages.
    assert_eq!(inside("exec $RUN ./none 2>/dev/full").0, Some(127));
    // A gmon-run in a gmon-run has a directory of its own, and both leave their profiles.
    let (code, _, said) = inside("exec $RUN bash -c '$RUN $PROGRAM code 7; exit $?'");
    assert_eq!(code, Some(7));
    assert!(said.contains("the profiles are in gmon.run.2"), "{said}");
    assert!(place.profiles().keys().any(|name| name.starts_with("bash.")), "{:?}", place.profiles());
    // Files of others stay.
    fs::create_dir(place.0.join("mine")).unwrap();
    fs::write(place.0.join("mine/backup.20261127"), "mine").unwrap();
    let (code, _, said) = inside("exec $RUN -o mine true");
    assert!(code == Some(125) && said.contains("has files of others"), "{said}");
    assert!(place.0.join("mine/backup.20261127").exists());
}

#[test]
fn signals_are_passed_on() {
    let place = Place::new("signals");
    let script = "trap 'echo caught; exit 3' TERM; echo ready; while :; do sleep 0.05; done";
    let mut command = place.run(&["-o", "profiles"]);
    let mut child = command.args(["bash", "-c", script]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    assert_eq!(lines.next().unwrap().unwrap(), "ready");
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert_eq!(lines.next().unwrap().unwrap(), "caught");
    assert_eq!(child.wait().unwrap().code(), Some(3));
}

#[test]
fn programs_without_a_profile_run_and_the_user_learns_why() {
    let place = Place::new("static");
    let program = place.compile("preloaded.c", "cc", &["-pthread", "-static"]);
    let output = place.run(&[]).arg(&program).args(["code", "4"]).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(4));
    assert!(message.contains("a static program loads no objects") && message.lines().count() == 1, "{message}");
}

#[test]
fn a_program_with_this_projects_start_object_has_its_own_profile() {
    let place = Place::new("own");
    let flags = [format!("-B{}", library().display()), "-pg".to_owned(), "-pthread".to_owned()];
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let program = place.compile("preloaded_calls.c", "cc", &flags);
    assert_eq!(place.quiet(&[], &program, &[]), "2002000\n");
    let (profile, side) = place.profile();
    assert_eq!(calls(&profile, &Symbols::of(&program))["calls counted"], 2_002_000);
    assert_eq!(side.runs(), 1);
}

#[test]
fn a_program_behind_an_inherited_filter_is_left_alone() {
    let place = Place::new("filter");
    let program = place.compile("preloaded.c", "cc", &["-pthread"]);
    let output = place.run(&[]).arg(&program).args(["filter", "/bin/true"]).output().unwrap();
    assert_eq!((output.status.code(), output.status.signal()), (Some(0), None), "{output:?}");
}

#[test]
fn programs_of_other_c_libraries_and_of_sanitizers_start() {
    let place = Place::new("libraries");
    if gmon_tests::has_program("musl-gcc", "gmon-run with musl") {
        let program = place.compile(
            "preloaded.c",
            "musl-gcc",
            &["-pthread", "-Wl,--eh-frame-hdr", "-idirafter", "/usr/include", "-idirafter", &headers()],
        );
        assert_eq!(place.quiet(&[], &program, &["threads"]), "1 42\n");
        let (profile, side) = place.profile();
        check_time(&profile, &side, 3);
    }
    let sanitizers = ["address", "thread"].map(|name| (name, [None, Some(format!("-static-lib{}san", &name[..1]))]));
    for (sanitizer, flag) in sanitizers.into_iter().flat_map(|(name, flags)| flags.map(|flag| (name, flag))) {
        let flags = [Some("-pthread".to_owned()), Some(format!("-fsanitize={sanitizer}")), flag];
        let flags: Vec<&str> = flags.iter().flatten().map(String::as_str).collect();
        let program = place.compile("preloaded.c", "cc", &flags);
        let script = format!("{} code 3", program.display());
        for words in [&[program.to_str().unwrap(), "code", "3"][..], &["sh", "-c", &script]] {
            let output = place.run(&[]).args(words).output().unwrap();
            assert_eq!(output.status.code(), Some(3), "{flags:?}: {output:?}");
        }
    }
}

/// The directory of the kernel's headers for this machine.
fn headers() -> String {
    format!("/usr/include/{}-linux-gnu", std::env::consts::ARCH)
}

/// What programs of a Debian system do, in the shell's words. Each line prints the same each time.
const COMMANDS: &str = include_str!("gmon_run.txt");

#[test]
fn installed_programs_print_and_end_the_same_and_their_profiles_have_all_of_their_time() {
    let place = Place::new("installed");
    fs::write(
        place.0.join("words"),
        (0..20_000).map(|number| format!("{}\n", number * 7919 % 20_011)).collect::<String>(),
    )
    .unwrap();
    let run =
        |mut command: Command| -> Output { command.current_dir(&place.0).env("LC_ALL", "C.UTF-8").output().unwrap() };
    let (mut whole, mut cut, mut all) = (0, 0, Time::default());
    let commands: Vec<&str> = COMMANDS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    assert!(commands.len() >= 50, "{}", commands.len());
    for line in commands {
        let mut plain = Command::new("bash");
        plain.args(["-c", line]);
        let expected = run(plain);
        assert_ne!(expected.status.code(), Some(127), "{line}: {expected:?}");
        // The default rate, also where the kernel's ticks are less frequent.
        let found = place.run(&["--hz=250"]).args(["bash", "-c", line]).output().unwrap();
        assert_eq!(found, expected, "{line}");
        for (name, path) in place.profiles() {
            let (profile, side) = (read(&path), Side::of(&path));
            let size = fs::metadata(&path).unwrap().len();
            assert!(size <= 1 << 20, "{line}: {name} has {size} bytes");
            all.add(&Time::of(&profile, &side));
            check_time(&profile, &side, 2 * side.runs() + 8);
            let cuts: u64 = side.cut_ticks().map(|(_, ticks)| ticks).sum();
            let unwalked: u64 = side.unwalked().map(|(_, ticks)| ticks).sum();
            whole += side.contexts().total() + unwalked - cuts;
            cut += cuts;
        }
    }
    println!("{all:?}, {whole} whole stacks, {cut} cut");
    // The kernel meets a process that lives for less than one of its ticks as it likes, so the time of such processes
    // may have few samples, but never too many.
    let Time { ticks, expected, runs } = all;
    assert!(ticks <= expected + DEVIATIONS * (expected + runs).sqrt(), "{all:?}");
    assert!(ticks >= expected / 2.0 && expected > 200.0, "{all:?}");
    // A few stacks of these programs have a frame that the walk cannot leave: in a hundred, two at most are expected.
    let stacks = (whole + cut) as f64;
    let most = stacks / 50.0 + DEVIATIONS * (stacks / 50.0).sqrt();
    assert!(whole > 100 && cut as f64 <= most, "{cut} of {stacks} stacks are cut, more than {most}");
}
