//! `gprof --attach`: the profile of a part of a run, which the test begins and ends while the program waits for orders.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Output, Stdio};

use gmon::layout::request::{
    ANSWER_OFFSET, ANSWER_SIZE, Action, Answer, DIRECTORIES, NAME, PROFILE, Question, SIDE_FILE, SIGNAL,
};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::on_demand::ROOM;
use crate::support::{Program, calls, is_root, library, ours, quiet, read};

/// A program that waits for orders.
struct Running {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// The number of the process.
    pid: u32,
}

impl Running {
    fn start(command: &mut Command) -> Running {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (orders, answers) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut running = Running { child, orders, answers, pid: 0 };
        running.pid = running.line().parse().unwrap();
        running
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        assert!(line.ends_with('\n'), "the program has ended: {:?}", self.child.wait());
        line.trim_end().to_owned()
    }

    /// Gives an order, and waits until the program has obeyed. The result is what the program prints before `done`.
    fn order(&mut self, order: &str) -> Vec<String> {
        writeln!(self.orders, "{order}").unwrap();
        let mut lines = Vec::new();
        loop {
            match self.line() {
                line if line == "done" => return lines,
                line => lines.push(line),
            }
        }
    }

    /// Ends the program, which must have printed nothing on standard error.
    fn end(mut self) {
        writeln!(self.orders, "end").unwrap();
        drop(self.orders);
        quiet(&self.child.wait_with_output().unwrap());
    }
}

/// A gprof that measures.
struct Measuring {
    child: Child,
    warnings: BufReader<ChildStderr>,
}

/// The command `gprof --attach` of a program, which runs in a directory of its own there.
fn gprof(program: &Program, pid: u32, options: &[&str]) -> Command {
    let directory = program.directory.join("attached");
    fs::create_dir_all(&directory).unwrap();
    let mut command = Command::new(gmon_tests::gprof());
    command.args(["--attach", &pid.to_string()]).args(options).current_dir(directory);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

impl Measuring {
    /// Starts gprof, and waits until the time has begun that gprof measures.
    fn begin(mut command: Command) -> Measuring {
        let mut child = command.spawn().unwrap();
        let mut warnings = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        warnings.read_line(&mut line).unwrap();
        assert!(line.contains("profiling for"), "{line:?}, {:?}", child.wait());
        Measuring { child, warnings }
    }

    /// Lets the time end.
    fn end(mut self) -> Output {
        kill(Pid::from_raw(self.child.id() as i32), Signal::SIGINT).unwrap();
        let mut line = String::new();
        self.warnings.read_line(&mut line).unwrap();
        assert!(line.contains("profiled for"), "{line:?}");
        let output = self.child.wait_with_output().unwrap();
        Output { stderr: rest(self.warnings), ..output }
    }
}

/// The options of a time that only the test ends. The sum of the profiles is what gprof saves.
const UNTIL_END: [&str; 3] = ["--seconds=1000", "-s", "--no-debuginfod"];

/// The calls in the time during which `orders` are obeyed.
fn calls_during(program: &Program, running: &mut Running, options: &[&str], orders: &[&str]) -> BTreeMap<String, u64> {
    let measuring = Measuring::begin(gprof(program, running.pid, &[&UNTIL_END, options].concat()));
    for order in orders {
        running.order(order);
    }
    quiet(&measuring.end());
    calls(&read(&program.directory.join("attached/gmon.sum")), program.symbols())
}

/// The calls of `branch` and of `leaf`, and the calls from one to the other.
fn of_branch(calls: &BTreeMap<String, u64>) -> [u64; 3] {
    ["calls branch", "calls leaf", "arc branch leaf"].map(|what| calls.get(what).copied().unwrap_or(0))
}

/// Compiles attached.c with calls on demand and the start-up object as a further object.
fn on_demand(name: &str, flags: &[&str]) -> Program {
    let object = library().join("gmon.o");
    Program::compile_with(
        "cc",
        name,
        "attached.c",
        &[&["-O2", ROOM, &ours()[2], object.to_str().unwrap()], flags].concat(),
    )
}

#[test]
fn the_calls_of_a_part_of_the_run_are_exact() {
    let counted = Program::compile("attach-counted", "attached.c", &["-O2"]);
    let fixed = Program::compile("attach-static", "attached.c", &["-O2", "-static", "-Wl,--eh-frame-hdr"]);
    let demanded = on_demand("attach-demanded", &[]);
    let preloaded =
        Program::compile_with("cc", "attach-preloaded", "attached.c", &["-O2", ROOM, &ours()[2], "-DPRELOADED"]);
    for (program, options) in
        [(&counted, &[][..]), (&fixed, &[]), (&demanded, &["--calls"]), (&preloaded, &["--calls=branch,leaf"])]
    {
        for live in ["0", "1"] {
            let mut command = program.command(&[]);
            if std::ptr::eq(program, &preloaded) {
                command.env("LD_PRELOAD", library().join("libgmon-run.so"));
            }
            let mut running = Running::start(command.env("GMON_LIVE", live));
            running.order("call 7 3");
            let first = calls_during(program, &mut running, options, &["call 1000", "call 100 8", "threads 20"]);
            assert_eq!(of_branch(&first), [1820, 3640, 3640], "{options:?}, live {live}");
            running.order("call 5");
            let second = calls_during(program, &mut running, options, &["call 3 2"]);
            assert_eq!(of_branch(&second), [6, 12, 12], "{options:?}, live {live}");
            running.end();
            // The profile of the process has all calls, or those of both parts.
            let all = if options.is_empty() { 21 + 1820 + 5 + 6 } else { 1820 + 6 };
            let own = of_branch(&calls(&program.profile(), program.symbols()));
            assert_eq!(own, [all, 2 * all, 2 * all], "{options:?}, live {live}");
        }
    }
}

#[test]
fn the_program_goes_on_as_it_was() {
    let program = on_demand("attach-restores", &["-g"]);
    let mut running = Running::start(&mut program.command(&[]));
    // A list of another file's functions selects none, and changes nothing.
    let output = gprof(&program, running.pid, &["--calls=other.c:*"]).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("no function with room at its entry matches other.c:*"), "{message}");
    // Another list is on.
    running.order("count leaf");
    let meanwhile = calls_during(&program, &mut running, &["--calls=attached.c:branch"], &["call 10"]);
    assert_eq!(of_branch(&meanwhile), [10, 0, 0]);
    running.order("call 100");
    running.order("count off");
    running.order("call 1000");
    // Profiling was stopped.
    running.order("profile 0");
    let meanwhile = calls_during(&program, &mut running, &["--calls"], &["call 10000"]);
    assert_eq!(of_branch(&meanwhile), [10_000, 20_000, 20_000]);
    running.order("count leaf");
    running.order("call 100000");
    running.end();
    assert_eq!(of_branch(&calls(&program.profile(), program.symbols())), [10_010, 20_200, 20_200]);
}

#[test]
fn the_program_decides_what_goes_on() {
    let program = on_demand("attach-overridden", &[]);
    let mut running = Running::start(&mut program.command(&[]));
    // What the program asks for in the meantime stays.
    let meanwhile = calls_during(&program, &mut running, &["--calls"], &["call 10", "count leaf", "call 100"]);
    assert_eq!(of_branch(&meanwhile), [10, 220, 220]);
    running.order("call 1000");
    running.end();
    assert_eq!(of_branch(&calls(&program.profile(), program.symbols())), [10, 2220, 2220]);
}

#[test]
fn a_refused_request_changes_nothing() {
    let program = Program::compile("attach-refused", "attached.c", &["-O2"]);
    let mut running = Running::start(&mut program.command(&[]));
    let output = gprof(&program, running.pid, &["--calls"]).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && message.contains("no function has room at its entry"), "{message}");
    running.order("call 3");
    let meanwhile = calls_during(&program, &mut running, &[], &["call 4"]);
    assert_eq!(of_branch(&meanwhile), [4, 8, 8]);
    running.end();
}

/// A request that the test makes in the place of gprof.
struct Request {
    path: PathBuf,
}

impl Request {
    /// Makes the files of a request to a process.
    fn new(pid: u32, question: &Question<'_>) -> Request {
        let path = PathBuf::from(format!("{}{NAME}{pid}", DIRECTORIES[1]));
        let request = Request { path };
        for suffix in ["", PROFILE, SIDE_FILE] {
            let content = if suffix.is_empty() { question.encode().to_vec() } else { Vec::new() };
            fs::write(request.file(suffix), content).unwrap();
            fs::set_permissions(request.file(suffix), PermissionsExt::from_mode(0o600)).unwrap();
        }
        request
    }

    fn file(&self, suffix: &str) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(suffix);
        path.into()
    }

    /// Sends the signal. The program obeys before it takes another order.
    fn ask(&self, running: &mut Running) -> bool {
        let pid = running.pid.to_string();
        quiet(&Command::new("kill").args([&format!("-{SIGNAL}"), &pid]).output().unwrap());
        running.order("nothing");
        let bytes = fs::read(&self.path).unwrap();
        let answer = bytes.get(ANSWER_OFFSET..ANSWER_OFFSET + ANSWER_SIZE);
        match answer.and_then(Answer::decode) {
            Some(Answer::Done) => true,
            Some(Answer::Refused(why)) => panic!("{}", String::from_utf8_lossy(why)),
            None => false,
        }
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        for suffix in ["", PROFILE, SIDE_FILE] {
            let _ = fs::remove_file(self.file(suffix));
        }
    }
}

const BEGIN: Question<'static> = Question { action: Action::Begin, session: 1, limit: 0, calls: Some(b"") };

#[test]
fn a_tick_after_the_limit_switches_off_what_a_killed_gprof_has_switched_on() {
    let program = on_demand("attach-limit", &[]);
    for forks in [false, true] {
        let mut running = Running::start(program.command(&[]).env("GMON_CHILDREN", "separate"));
        running.order("profile 0");
        let request = Request::new(running.pid, &BEGIN);
        assert!(request.ask(&mut running));
        drop(request);
        if forks {
            running.pid = running.order("fork")[0].parse().unwrap();
        }
        running.order("call 1");
        // The number of calls in a part of the run, which a request without a list of functions does not change.
        let copy = |running: &mut Running| {
            let request =
                Request::new(running.pid, &Question { calls: None, action: Action::End, session: 2, ..BEGIN });
            assert!(request.ask(running));
            of_branch(&calls(&read(&request.file(PROFILE)), program.symbols()))[0]
        };
        let mut before = 1;
        let is_off = (0..1000).any(|_| {
            running.order("work 20");
            running.order("call 1");
            let now = copy(&mut running);
            let is_off = now == before;
            before = now;
            is_off
        });
        assert!(is_off, "{before} calls");
        let samples = |running: &mut Running| {
            let request =
                Request::new(running.pid, &Question { calls: None, action: Action::End, session: 2, ..BEGIN });
            assert!(request.ask(running));
            read(&request.file(PROFILE)).histograms().iter().map(gmon::Histogram::total).sum::<i128>()
        };
        let before = samples(&mut running);
        running.order("work 300");
        assert_eq!(samples(&mut running), before);
        running.end();
    }
}

#[test]
fn only_files_of_the_user_are_a_request() {
    if !is_root("requests of other users") {
        return;
    }
    let program = Program::compile("attach-owner", "attached.c", &["-O2"]);
    let mut running = Running::start(&mut program.command(&[]));
    let question = Question { calls: None, ..BEGIN };
    for suffix in ["", PROFILE, SIDE_FILE] {
        let request = Request::new(running.pid, &question);
        chown(request.file(suffix), Some(65534), None).unwrap();
        assert!(!request.ask(&mut running), "{suffix:?}");
        assert_eq!(fs::metadata(request.file(PROFILE)).unwrap().size(), 0);
        // A link is not followed.
        let elsewhere = program.directory.join("elsewhere");
        fs::rename(request.file(suffix), &elsewhere).unwrap();
        chown(&elsewhere, Some(0), None).unwrap();
        std::os::unix::fs::symlink(&elsewhere, request.file(suffix)).unwrap();
        assert!(!request.ask(&mut running), "{suffix:?}");
    }
    let request = Request::new(running.pid, &question);
    assert!(request.ask(&mut running));
    running.end();
}

#[test]
fn the_superuser_measures_a_program_that_has_given_up_its_rights() {
    if !is_root("programs that give up the rights of the superuser") {
        return;
    }
    let program = Program::compile("attach-left", "attached.c", &["-O2"]);
    fs::set_permissions(&program.directory, PermissionsExt::from_mode(0o777)).unwrap();
    let mut running = Running::start(&mut program.command(&[]));
    running.order("leave");
    let meanwhile = calls_during(&program, &mut running, &[], &["call 9"]);
    assert_eq!(of_branch(&meanwhile), [9, 18, 18]);
    running.end();
}

#[test]
fn signals_of_the_program_stay_its_own() {
    let program = Program::compile("attach-signals", "attached.c", &["-O2"]);
    let mut running = Running::start(&mut program.command(&[]));
    running.order("catch");
    let signal = |running: &mut Running| {
        let pid = running.pid.to_string();
        quiet(&Command::new("kill").args([&format!("-{SIGNAL}"), &pid]).output().unwrap());
        running.order("caught")[0].split(' ').next().unwrap().parse::<u32>().unwrap()
    };
    assert_eq!([signal(&mut running), signal(&mut running)], [1, 2]);
    let meanwhile = calls_during(&program, &mut running, &[], &["call 2"]);
    assert_eq!(of_branch(&meanwhile), [2, 4, 4]);
    assert_eq!(signal(&mut running), 3);
    running.end();
}

#[test]
fn what_ends_the_measurement_early_has_a_message() {
    let program = Program::compile("attach-ends", "attached.c", &["-O2"]);
    for (order, message) in [("end", "has ended"), ("exec", "another program")] {
        let mut running = Running::start(&mut program.command(&[]));
        let measuring = Measuring::begin(gprof(&program, running.pid, &UNTIL_END));
        writeln!(running.orders, "{order}").unwrap();
        let output = if order == "exec" {
            // The same program in the same process, but another run.
            running.line();
            running.order("call 1");
            let output = measuring.end();
            running.end();
            output
        } else {
            drop(running.orders);
            quiet(&running.child.wait_with_output().unwrap());
            measuring
                .child
                .wait_with_output()
                .map(|output| Output { stderr: rest(measuring.warnings), ..output })
                .unwrap()
        };
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && text.contains(message), "{order}: {text}");
    }
}

/// The rest of what gprof prints on standard error.
fn rest(mut warnings: BufReader<ChildStderr>) -> Vec<u8> {
    let mut rest = Vec::new();
    std::io::Read::read_to_end(&mut warnings, &mut rest).unwrap();
    rest
}
