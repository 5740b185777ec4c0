//! Debug files from servers, with `debuginfod-find`: when it is asked, for what, and what users learn. No test reaches
//! a network: a script stands for the program, or a server on this machine has files of the test.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use gmon::side_file::{Checksum, Identity, Kind, Object, SideFile, property};
use gmon::{DataModel, Encoding, Form, Order, Profile, Word};
use gmon_tests::{compile, gprof, write_script};
use gprof::internals::Headers;

use super::{ADDRESS, CODE, Files, INLINED, sample_everything};

/// The build ID of the program.
const ID: &str = "780000abcdef0004";

/// The program, with a script in place of the client. The script logs what it is asked for, and serves the files in the
/// directory `served`.
struct Served {
    files: Files,
    /// The ID of the shared file.
    shared_id: String,
}

impl Served {
    fn new(test: &str) -> Served {
        let files = Files::new(test, 4);
        let (client, served) = (files.directory.join("bin"), files.directory.join("served"));
        fs::create_dir(&client).unwrap();
        fs::create_dir(&served).unwrap();
        let script = format!(
            "#!/bin/sh\necho \"$@\" >>{log}\necho progress >&2\nfile={served}/$2\n[ -f $file ] && echo $file\n",
            log = files.directory.join("log").display(),
            served = served.display()
        );
        write_script(&client.join("debuginfod-find"), &script);
        fs::remove_dir_all(&files.store).unwrap();
        let shared_id = Headers::read(&fs::read(&files.shared).unwrap()).unwrap().build_id.unwrap();
        files.write_profile(500);
        Served { files, shared_id }
    }

    /// Lets the script serve a file of testdata/dwz.
    fn serve(&self, file: &str, id: &str) {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/dwz").join(file);
        fs::copy(data, self.files.directory.join("served").join(id)).unwrap();
    }

    /// Runs gprof with these servers.
    fn run(&self, servers: Option<&str>, words: &[&str]) -> Output {
        self.run_with_path(&self.path(), servers, words)
    }

    fn run_with_path(&self, path: &str, servers: Option<&str>, words: &[&str]) -> Output {
        self.command(path, servers, words).output().unwrap()
    }

    fn command(&self, path: &str, servers: Option<&str>, words: &[&str]) -> Command {
        let mut command = Command::new(gprof());
        command.args(words).current_dir(&self.files.directory).env("PATH", path).env_remove("DEBUGINFOD_URLS");
        command.envs(servers.map(|servers| ("DEBUGINFOD_URLS", servers)));
        command
    }

    /// Lets gprof watch until the output has a line with this name.
    fn watch(&self, servers: Option<&str>, name: &str) {
        let words = [&["--watch"][..], &FILES].concat();
        let gprof = self.command(&self.path(), servers, &words);
        let mut command = Command::new("timeout");
        command.arg("60").arg(gprof.get_program()).args(gprof.get_args()).current_dir(&self.files.directory);
        for (name, value) in gprof.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let mut watching = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains(name)));
        // `timeout` passes the signal on.
        assert!(Command::new("kill").arg(watching.id().to_string()).status().unwrap().success());
        watching.wait().unwrap();
    }

    /// The directories of programs, the client's first.
    fn path(&self) -> String {
        format!("{}:{}", self.files.directory.join("bin").display(), std::env::var("PATH").unwrap())
    }

    /// What the script was asked for since the last call.
    fn asked(&self) -> Vec<String> {
        let log = self.files.directory.join("log");
        let text = fs::read_to_string(&log).unwrap_or_default();
        let _ = fs::remove_file(log);
        text.lines().map(str::to_owned).collect()
    }
}

const SERVERS: Option<&str> = Some("http://127.0.0.1:1");
const FLAT: [&str; 4] = ["-b", "-p", "program", "gmon.out"];
const FILES: [&str; 2] = ["program", "gmon.out"];

/// The standard output, and the lines of the standard error except the one that says that the program was stripped.
fn text(output: Output) -> (String, Vec<String>) {
    let err = String::from_utf8(output.stderr).unwrap();
    let lines = err.lines().filter(|line| !line.contains("the file was stripped: ")).map(str::to_owned);
    (String::from_utf8(output.stdout).unwrap(), lines.collect())
}

/// What a message says that a program without names needs.
fn message(remedy: &str) -> Vec<String> {
    vec![format!("gprof: program has no symbol table, and 100% of the samples: {remedy}")]
}

const INSTALL: &str = "install debug packages (NAME-dbgsym, NAME-debuginfo)";

#[test]
fn a_debug_file_is_fetched_where_the_user_wants_this() {
    let served = Served::new("fetched");
    for (servers, words, remedy) in [
        (None, &[][..], format!("{INSTALL}, or set DEBUGINFOD_URLS")),
        (Some(""), &[], format!("{INSTALL}, or set DEBUGINFOD_URLS")),
        (SERVERS, &["--no-debuginfod"], format!("{INSTALL}, or leave out --no-debuginfod")),
    ] {
        let (out, err) = text(served.run(servers, &[words, &FLAT].concat()));
        assert!(out.contains("func_0x400100"), "{out}");
        assert_eq!((err, served.asked()), (message(&remedy), vec![]), "{servers:?} {words:?}");
    }
    // A server that does not have the file, and one that has another file.
    let remedy = format!("the servers in DEBUGINFOD_URLS gave no symbols: {INSTALL}");
    let (_, err) = text(served.run(SERVERS, &FLAT));
    assert_eq!((err, served.asked()), (message(&remedy), vec![format!("debuginfo {ID}")]));
    served.serve("dwarf-5.debug", ID);
    let (out, err) = text(served.run(SERVERS, &FLAT));
    assert!(out.contains("func_0x400100"), "{out}");
    assert_eq!((err, served.asked()), (message(&remedy), vec![format!("debuginfo {ID}")]));
    served.serve("dwarf-4.debug", ID);
    let output = served.run(SERVERS, &FLAT);
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text(output).0.contains(" first\n"));
    assert_eq!(served.asked(), [format!("debuginfo {ID}")]);
    // GNU gprof knows no servers, a sum has no names, and a screen would stand still.
    assert!(!served.run(SERVERS, &[&["--compat=gnu"][..], &FLAT].concat()).status.success());
    assert!(served.run(SERVERS, &[&["-s"][..], &FILES].concat()).status.success());
    served.watch(SERVERS, "func_0x400100");
    assert_eq!(served.asked(), [""; 0]);
}

#[test]
fn a_missing_client_is_named() {
    let served = Served::new("no_client");
    let nowhere = served.files.directory.join("served");
    let (_, err) = text(served.run_with_path(nowhere.to_str().unwrap(), SERVERS, &FLAT));
    let program = "or the program debuginfod-find (package debuginfod), because DEBUGINFOD_URLS is set";
    assert_eq!(err, message(&format!("{INSTALL}, {program}")));
}

#[test]
fn a_run_asks_once_for_each_file() {
    let served = Served::new("once");
    let (_, err) = text(served.run(SERVERS, &["-b", "--base=gmon.out", "program", "gmon.out"]));
    assert_eq!((err.len(), served.asked()), (1, vec![format!("debuginfo {ID}")]));
}

#[test]
fn the_shared_file_is_fetched_for_reports_that_need_it() {
    let served = Served::new("shared_fetched");
    served.serve("dwarf-4.debug", ID);
    let with_inlines = [&["--inlines"][..], &FLAT].concat();
    let (out, err) = text(served.run(SERVERS, &with_inlines));
    assert!(!out.contains(INLINED) && err.len() == 1 && err[0].contains("dwarf-4.shared, which is missing"), "{err:?}");
    let both = [format!("debuginfo {ID}"), format!("debuginfo {}", served.shared_id)];
    assert_eq!(served.asked(), both);
    served.serve("dwarf-5.shared", &served.shared_id);
    assert!(!text(served.run(SERVERS, &with_inlines)).0.contains(INLINED), "a file of another build");
    assert_eq!(served.asked(), both);
    served.serve("dwarf-4.shared", &served.shared_id);
    let (out, err) = text(served.run(SERVERS, &with_inlines));
    assert!(out.contains(INLINED) && err.is_empty(), "{out} {err:?}");
    assert_eq!(served.asked(), both);
    text(served.run(SERVERS, &FLAT));
    assert_eq!(served.asked(), both[..1]);
}

#[test]
fn only_programs_with_samples_and_missing_names_are_asked_for() {
    let served = Served::new("samples");
    served.files.write_profile(0);
    let (_, err) = text(served.run(SERVERS, &FLAT));
    assert_eq!(served.asked(), [""; 0], "{err:?}");
    // A program with symbols needs debug information only for reports that show it.
    let image = compile("debug_packages_symbols", &["inlined.c"], &["-Wl,--build-id=0x99abcdef00112233"]);
    sample_everything(&image);
    fs::copy(&image, served.files.directory.join("unstripped")).unwrap();
    fs::copy(image.with_file_name("gmon.out"), served.files.directory.join("unstripped.out")).unwrap();
    text(served.run(SERVERS, &["-b", "unstripped", "unstripped.out"]));
    assert_eq!(served.asked(), [""; 0]);
    text(served.run(SERVERS, &["-b", "-l", "unstripped", "unstripped.out"]));
    assert_eq!(served.asked(), ["debuginfo 99abcdef00112233"]);
}

/// The messages about functions without names in a shared object that has some of the samples, and what was asked.
fn with_shared_object(served: &Served, in_object: u64, elsewhere: u64) -> (Vec<String>, Vec<String>) {
    let directory = &served.files.directory;
    let program = directory.join("unstripped");
    if !program.exists() {
        fs::copy(compile("debug_packages_object", &["inlined.c"], &["-Wl,--build-id=none"]), &program).unwrap();
    }
    let bytes = gmon::write(&Profile::new(), Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little)).unwrap();
    let mut side = SideFile::new(Word::W64);
    side.set_profile(Some(Checksum::of(&bytes)));
    side.add_property(property::RATE, b"100").unwrap();
    side.add_object(0, Object::new(Kind::Program, program.as_os_str().as_encoded_bytes())).unwrap();
    let mut object = Object::new(Kind::Shared, served.files.program.as_os_str().as_encoded_bytes());
    object.code = CODE;
    object.identity = Identity::BuildId(vec![0x78, 0, 0, 0xab, 0xcd, 0xef, 0, 4]);
    side.add_object(1, object).unwrap();
    side.add_samples(None, 1, 4, ADDRESS / 4, in_object).unwrap();
    side.add_samples(None, gmon::side_file::ELSEWHERE, 1, 0, elsewhere).unwrap();
    fs::write(directory.join("object.out"), bytes).unwrap();
    fs::write(directory.join("object.out.side"), side.write()).unwrap();
    let (_, err) = text(served.run(SERVERS, &["-b", "-p", "unstripped", "object.out"]));
    (err, served.asked())
}

#[test]
fn shared_objects_are_completed_too() {
    let served = Served::new("object");
    let remedy = format!("the servers in DEBUGINFOD_URLS gave no symbols: {INSTALL}");
    let asked = vec![format!("debuginfo {ID}")];
    let of = |percent: u32| {
        let told = "gprof: program has no symbol table, and";
        vec![format!("{told} {percent}% of the samples: {remedy}")]
    };
    let told = |in_object, elsewhere| {
        let (err, asked) = with_shared_object(&served, in_object, elsewhere);
        (err.into_iter().filter(|line| line.contains("no symbol table")).collect::<Vec<_>>(), asked)
    };
    // A second, and a tenth of the samples, are notable.
    assert_eq!(told(100, 0), (of(100), asked.clone()));
    assert_eq!(told(99, 0), (vec![], asked.clone()));
    assert_eq!(told(100, 900), (of(10), asked.clone()));
    assert_eq!(told(100, 901), (vec![], asked.clone()));
    served.serve("dwarf-4.debug", ID);
    assert_eq!(told(100, 0), (vec![], asked));
}

/// A server of `debuginfod` on this machine, and the directory for the cache of its clients.
struct Server {
    server: Child,
    address: String,
    cache: PathBuf,
}

impl Server {
    /// Starts a server with the files in a directory, and waits until it has the file of [`ID`].
    fn start(directory: &Path, cache: PathBuf) -> Server {
        let mut tries = 0;
        loop {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let mut command = Command::new("debuginfod");
            command.args(["--database=:memory:", "--rescan-time=1", "--scan-file-dir"]);
            command.arg(format!("--port={port}")).arg(directory);
            command.env_remove("DEBUGINFOD_URLS").env("HOME", &cache).stdout(Stdio::null()).stderr(Stdio::null());
            let address = format!("http://127.0.0.1:{port}");
            let mut server = Server { server: command.spawn().unwrap(), address, cache: cache.clone() };
            // A client remembers that a file is missing, so each try has a cache of its own.
            while server.server.try_wait().unwrap().is_none() {
                tries += 1;
                assert!(tries < 3000, "the server has no file after five minutes");
                std::thread::sleep(std::time::Duration::from_millis(100));
                let found = server.client(&format!("try{tries}")).args(["debuginfo", ID]).output().unwrap();
                if found.status.success() {
                    return server;
                }
            }
            // Another program has taken the port.
        }
    }

    fn client(&self, cache: &str) -> Command {
        self.with_server(Command::new("debuginfod-find"), cache)
    }

    fn with_server(&self, mut command: Command, cache: &str) -> Command {
        command.env("DEBUGINFOD_URLS", &self.address).env("DEBUGINFOD_CACHE_PATH", self.cache.join(cache));
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.server.kill().and_then(|()| self.server.wait());
    }
}

/// The whole way, with elfutils' server and client.
#[test]
fn a_server_of_elfutils_has_the_debug_file() {
    let has = |program: &str| gmon_tests::has_program(program, "debug files from a server");
    if !has("debuginfod") || !has("debuginfod-find") {
        return;
    }
    let files = Files::new("server", 4);
    files.write_profile(500);
    let cache = files.directory.join("cache");
    fs::create_dir(&cache).unwrap();
    let server = Server::start(&files.store, cache);
    let mut command = server.with_server(Command::new(gprof()), "gprof");
    let output = command.args(FLAT).current_dir(&files.directory).output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text(output).0.contains(" first\n"));
}
