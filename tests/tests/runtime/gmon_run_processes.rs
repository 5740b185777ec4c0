//! `gmon-run` between the program and who started it: signals, job control, descriptors, rights.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::gmon_run::{Place, check_time};
use crate::support::{is_root, library};

/// The number of a user without rights.
const NOBODY: u32 = 65534;

/// A place with the program `launched.c`.
fn launched(name: &str) -> (Place, String) {
    let place = Place::new(name);
    let program = place.compile("launched.c", "cc", &[]);
    (place, program.to_str().unwrap().to_owned())
}

/// Runs a script of bash in the directory of a place: `$RUN` is gmon-run, and `$PROGRAM` the program. Returns the exit
/// status, and what the script printed.
fn script(place: &Place, program: &str, script: &str) -> (Option<i32>, String) {
    let mut shell = Command::new("bash");
    shell.args(["-c", script]).current_dir(place.path()).env("GMON_RUN_LIBRARY", library().join("libgmon-run.so"));
    shell.env("RUN", gmon_tests::gmon_run()).env("PROGRAM", program);
    let output = shell.output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

/// Waits for what must come soon. If it does not come in a minute, the test fails instead of waiting for good.
fn wait_until(what: &str, has_come: impl Fn() -> bool) {
    let start = std::time::Instant::now();
    while !has_come() {
        assert!(start.elapsed().as_secs() < 60, "{what}: not in a minute");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Sends a signal with the program `kill`.
fn send(signal: &str, process: &str) {
    assert!(Command::new("kill").args([signal, process]).status().unwrap().success(), "kill {signal} {process}");
}

#[test]
fn the_first_process_of_a_container_reaps_children_and_passes_signals_on() {
    let (place, program) = launched("first");
    let namespace = ["--pid", "--fork", "--mount-proc"];
    if !Command::new("unshare").args(namespace).arg("true").status().is_ok_and(|status| status.success()) {
        println!("\nSKIPPED: gmon-run as the first process of a namespace: unshare is forbidden here");
        return;
    }
    let run = |words: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(namespace).arg(gmon_tests::gmon_run()).arg("--children=none").args(words);
        command.current_dir(place.path()).env("GMON_RUN_LIBRARY", library().join("libgmon-run.so"));
        command.output().unwrap()
    };
    // A child that has lost its parent ends, with a status that is not the program's. Then process 1 gets a signal.
    let script = "
        orphan=$(sh -c '(exit 3) & echo $!')
        for ((i = 0; i < 6000; i++)); do [ -e /proc/$orphan ] || break; sleep 0.01; done
        [ -e /proc/$orphan ] && exit 9
        trap 'echo caught; exit 7' TERM
        env kill -TERM 1
        for ((i = 0; i < 6000; i++)); do sleep 0.01; done
        exit 8";
    let output = run(&["bash", "-c", script]);
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(7), &b"caught\n"[..]), "{output:?}");
    // A signal of its own does not end the first process.
    assert_eq!(run(&["bash", "-c", "kill -SEGV $$"]).status.code(), Some(128 + 11));
    assert_eq!(run(&[&program, "descriptors"]).status.code(), Some(7));
}

/// A program under gmon-run that prints signals.
struct Printing {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
    program: String,
}

impl Printing {
    fn start(place: &Place, program: &str) -> Printing {
        let mut child = place.run(&[]).args([program, "signals"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let ready = lines.next().unwrap().unwrap();
        let program = ready.rsplit(' ').next().unwrap().to_owned();
        Printing { child, lines, program }
    }

    fn launcher(&self) -> String {
        self.child.id().to_string()
    }

    fn next(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }
}

#[test]
fn signals_of_processes_are_passed_on() {
    let (place, program) = launched("sent");
    let mut printing = Printing::start(&place, &program);
    // 16 and 40 are signals that nothing else knows.
    for signal in [1, 2, 3, 6, 10, 11, 12, 13, 14, 16, 17, 18, 23, 28, 29, 30, 40] {
        send(&format!("-{signal}"), &printing.launcher());
        assert_eq!(printing.next(), format!("signal {signal} 0"));
    }
    // The value of `sigqueue` too. This is procps' `kill`.
    let queued = Command::new("kill").args(["-q", "1234", "-USR1", &printing.launcher()]).output().unwrap();
    if queued.status.success() {
        assert_eq!(printing.next(), "signal 10 1234");
    } else {
        println!("\nSKIPPED: the values of signals: kill has no -q here");
    }
    send("-TERM", &printing.launcher());
    assert_eq!(printing.next(), "signal 15 0");
    assert_eq!(printing.child.wait().unwrap().code(), Some(3));
}

#[test]
fn gmon_run_stops_only_where_a_shell_can_continue_it() {
    let (place, program) = launched("stops");
    let mut printing = Printing::start(&place, &program);
    // This test is gmon-run's parent, in the same process group: nobody would continue gmon-run.
    send("-STOP", &printing.program);
    let status = |process: &str, field: &str| {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        status.lines().find_map(|line| line.strip_prefix(field)).unwrap().trim().to_owned()
    };
    wait_until("the program has stopped", || status(&printing.program, "State:").starts_with('T'));
    // gmon-run has heard of the stop before it takes this signal, whose number is higher than that of SIGCHLD.
    send("-40", &printing.launcher());
    let pending = || u64::from_str_radix(&status(&printing.program, "ShdPnd:"), 16).unwrap() >> 39 & 1 == 1;
    wait_until("gmon-run has passed the signal on", pending);
    assert!(!status(&printing.launcher(), "State:").starts_with('T'));
    send("-CONT", &printing.program);
    send("-TERM", &printing.launcher());
    assert!(printing.lines.by_ref().map(Result::unwrap).any(|line| line == "signal 15 0"));
    assert_eq!(printing.child.wait().unwrap().code(), Some(3));
}

#[test]
fn a_terminal_and_its_shell_find_the_program() {
    if !gmon_tests::has_program("python3", "gmon-run on a terminal") {
        return;
    }
    let (place, program) = launched("terminal");
    let terminal = crate::support::root().join("tests/clients/terminal.py");
    let mut command = Command::new("python3");
    command.arg(terminal).arg(gmon_tests::gmon_run()).args([&program, "signals"]).current_dir(place.path());
    let output = command.env("GMON_RUN_LIBRARY", library().join("libgmon-run.so")).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    // At the end, gmon-run tells a terminal what is in its directory.
    let lines: Vec<&str> = printed.lines().filter(|line| !line.starts_with("gmon-run:")).collect();
    let expected = [
        "ready",
        "signal 2 0",
        "signal 3 0",
        "signal 10 0", // ^C and ^\ once each
        "stopped 20",
        "signal 18 0",
        "signal 12 0", // ^Z, and the group continued
        "stopped 19",
        "signal 18 0", // SIGSTOP to the program, and gmon-run alone continued
        "signal 15 0",
        "status 3",
    ];
    assert_eq!(lines, expected, "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn scripts_without_an_interpreter_are_the_shells() {
    let place = Place::new("scripts");
    let file = |name: &str, content: &[u8]| {
        fs::write(place.path().join(name), content).unwrap();
        fs::set_permissions(place.path().join(name), fs::Permissions::from_mode(0o755)).unwrap();
    };
    file("script", b"echo \"$0 $*\"; exit 4\n");
    file("other", b"\x7fELF and no program");
    let output = place.run(&[]).args(["./script", "a b", "c"]).output().unwrap();
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(4), &b"./script a b c\n"[..]), "{output:?}");
    let output = place.run(&[]).arg("./other").output().unwrap();
    assert_eq!(output.status.code(), Some(126), "{output:?}");
}

#[test]
fn closed_descriptors_and_signal_settings_reach_the_program() {
    let (place, program) = launched("inherited");
    let both = |words: &str| {
        let plain = script(&place, &program, &words.replace("$RUN -o profiles ", ""));
        assert_eq!(script(&place, &program, words), plain, "{words}");
        plain
    };
    for closed in ["", "<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", ">&- 2>&-", "<&- >&- 2>&-"] {
        let (status, _) = both(&format!("exec $RUN -o profiles $PROGRAM descriptors {closed}"));
        assert_eq!(
            status,
            Some(
                7 - closed
                    .split(' ')
                    .map(|word| match word {
                        "<&-" => 1,
                        ">&-" => 2,
                        "2>&-" => 4,
                        _ => 0,
                    })
                    .sum::<i32>()
            )
        );
    }
    // A message finds no file of gmon-run's in the place of standard error.
    let (status, _) = script(&place, &program, "exec $RUN -o profiles --only=none true <&- >&- 2>&-");
    assert_eq!((status, fs::read(place.path().join("profiles/.gmon-run")).unwrap()), (Some(0), Vec::new()));
    // The C library's own signals, from 32 on, do not count.
    for before in ["", "trap '' PIPE;", "trap '' INT TSTP PIPE;"] {
        both(&format!("{before} exec $RUN -o profiles grep SigBlk /proc/self/status"));
        let ignored = |words: &str| {
            let (_, line) = script(&place, &program, &format!("{before} exec {words} grep SigIgn /proc/self/status"));
            u64::from_str_radix(line.trim().rsplit('\t').next().unwrap(), 16).unwrap() & 0x7fff_ffff
        };
        assert_eq!(ignored("$RUN -o profiles"), ignored(""), "{before}");
    }
    // The user's variables stay in their order.
    let (_, plain) = script(&place, &program, "exec env -u RUN -u PROGRAM Z=1 A=2 env");
    let (_, found) = script(&place, &program, "exec env -u PROGRAM Z=1 A=2 \"$RUN\" -o profiles env");
    let users = |text: &str| -> Vec<String> {
        let is_users =
            |line: &&str| !["LD_PRELOAD=", "GMON_", "ASAN_OPTIONS=", "RUN="].iter().any(|name| line.starts_with(name));
        text.lines().filter(is_users).map(str::to_owned).collect()
    };
    assert_eq!(users(&found), users(&plain));
}

#[test]
fn no_descriptor_is_open_that_the_program_has_not_opened() {
    // Without gmon-run, a superuser's program with a start-up object holds its files open.
    let (place, program) = launched("open");
    let open = |command: &mut Command| String::from_utf8(command.output().unwrap().stdout).unwrap();
    let alone = open(Command::new(&program).arg("open").current_dir(place.path()));
    assert!(alone.starts_with("0\n1\n2\n"), "{alone:?}");
    assert_eq!(open(place.run(&[]).args([&program, "open"])), alone);
}

#[test]
fn workers_that_give_up_their_rights_leave_profiles() {
    if !is_root("workers of servers") {
        return;
    }
    let (place, program) = launched("workers");
    let functions = ["setuid", "seteuid", "setreuid", "setresuid", "SYS_setuid", "SYS_setreuid", "SYS_setresuid"];
    for function in functions {
        let output = place.run(&[]).args([&program, "worker", function]).output().unwrap();
        assert_eq!((output.status.code(), &output.stderr[..]), (Some(5), &b""[..]), "{function}: {output:?}");
        let directory = fs::metadata(place.path().join("gmon.run")).unwrap();
        assert_eq!(directory.mode() & 0o022, 0, "others may not write into the directory");
        let (profile, side) = place.profile();
        assert_eq!(side.runs(), 2, "{function}");
        assert!(side.cpu_time().unwrap() >= 200_000_000, "{function}: {:?}", side.cpu_time());
        check_time(&profile, &side, 2);
    }
}

#[test]
fn the_user_learns_that_a_program_gets_more_rights() {
    if !is_root("programs with more rights") {
        return;
    }
    // The build directory may be closed to other users.
    let open = std::env::temp_dir().join(format!("gmon-run-rights-{}", std::process::id()));
    fs::create_dir_all(&open).unwrap();
    let mode = |path: &Path, mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    mode(&open, 0o777);
    let copy = |from: &Path, name: &str| {
        let path = open.join(name);
        fs::copy(from, &path).unwrap();
        mode(&path, 0o755);
        path
    };
    let run = copy(gmon_tests::gmon_run(), "gmon-run");
    let runtime = copy(&library().join("libgmon-run.so"), "libgmon-run.so");
    let program = Place::new("rights").compile("launched.c", "cc", &[]);
    let [plain, user, capable] = ["plain", "user", "capable"].map(|name| copy(&program, name));
    mode(&user, 0o4711);
    let said = |program: &Path, user: u32, options: &[&str]| {
        let mut command = Command::new(if options.is_empty() { run.as_path() } else { Path::new("setpriv") });
        command.args(options).args((!options.is_empty()).then_some(&run));
        command.arg(program).arg("descriptors").current_dir(&open).env("GMON_RUN_LIBRARY", &runtime);
        let output = command.uid(user).gid(user).output().unwrap();
        assert_eq!(output.status.code(), Some(7), "{output:?}");
        let _ = fs::remove_dir_all(open.join("gmon.run"));
        String::from_utf8(output.stderr).unwrap()
    };
    let is_told = |said: &str| said.contains("gets more rights than its user has") && said.lines().count() == 1;
    assert_eq!(said(&plain, NOBODY, &[]), "");
    assert!(is_told(&said(&user, NOBODY, &[])), "set-user-ID, and not readable");
    assert_eq!(said(&user, 0, &[]), "", "the owner gets no more rights");
    if gmon_tests::has_program("setpriv", "programs that get no more rights") {
        assert_eq!(said(&user, NOBODY, &["--no-new-privs"]), "");
    }
    let granted = Command::new("setcap").args(["cap_net_raw+p"]).arg(&capable).output();
    if granted.is_ok_and(|output| output.status.success()) {
        assert!(is_told(&said(&capable, NOBODY, &[])), "capabilities");
        assert_eq!(said(&capable, 0, &[]), "", "the superuser has them");
    } else {
        println!("\nSKIPPED: programs with capabilities: setcap does not work here");
    }
    fs::remove_dir_all(open).unwrap();
}
