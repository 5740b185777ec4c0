//! Requests, and a stand-in for the runtime that answers them.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::SystemTime;

use gmon::layout::request::{ANSWER_OFFSET, Answer, QUESTION_SIZE};
use gmon::side_file::{Checksum, SideFile};
use gmon::{Encoding, Form, Histogram, Order, Profile, Unit, Word};

use super::request::{Copies, Place, places_below};
use super::*;
use crate::program::image::Headers;
use crate::sources::DebugFiles;
use crate::terminal::Terminal;

/// The number of the process in its own namespace.
const NUMBER: u32 = 5;
const REQUEST: &str = ".gmon-request-5";

/// Makes an empty directory.
fn directory(name: &str) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("gprof-attach-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir(&directory).unwrap();
    directory
}

fn asked(places: Vec<Place>) -> Asked {
    Asked { pid: 7, number: NUMBER, user: rustix::process::geteuid().as_raw(), places }
}

fn names(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// The question about a profile of one second.
fn question(list: &[u8]) -> Question<'_> {
    Question { action: Action::Begin, session: 1, limit: 2, calls: Some(list) }
}

/// A step that a test gives as a function of a path.
type Step<'a> = Box<dyn FnMut(&Path) -> Result<(), Error> + 'a>;

/// Steps that tests give as functions. A step without a function fails.
#[derive(Default)]
struct Script<'a> {
    send: Option<Box<dyn FnMut() -> Result<(), Error> + 'a>>,
    wait_for_answer: Option<Step<'a>>,
    wait_for_others: Option<Step<'a>>,
    passed: Vec<Duration>,
}

impl Steps for Script<'_> {
    fn wait_for_others(&mut self, file: &Path) -> Result<(), Error> {
        self.wait_for_others.as_mut().map_or(Err(fault(7, "waited for others")), |step| step(file))
    }

    fn send(&mut self) -> Result<(), Error> {
        self.send.as_mut().map_or(Err(fault(7, "sent")), |step| step())
    }

    fn wait_for_answer(&mut self, directory: &Path) -> Result<(), Error> {
        self.wait_for_answer.as_mut().map_or(Err(fault(7, "waited for an answer")), |step| step(directory))
    }

    fn pass(&mut self, time: Duration) -> Result<(), Error> {
        self.passed.push(time);
        Ok(())
    }
}

/// Writes a part of an answer.
fn answer(directory: &Path, bytes: &[u8]) {
    let file = File::options().write(true).open(directory.join(REQUEST)).unwrap();
    file.write_all_at(bytes, ANSWER_OFFSET as u64).unwrap();
}

fn done() -> Vec<u8> {
    Answer::Done.encode().to_vec()
}

/// Catches files that others may read, a question that is sent before it is there, copies that are read before they are
/// complete, and files that stay.
#[test]
fn a_request_is_made_answered_and_removed() {
    let place = directory("answered");
    let send = || {
        assert_eq!(names(&place), [REQUEST, ".gmon-request-5.out", ".gmon-request-5.out.side"]);
        for name in names(&place) {
            let file = fs::metadata(place.join(name)).unwrap();
            assert_eq!((file.permissions().mode() & 0o7777, file.uid()), (0o600, rustix::process::geteuid().as_raw()));
        }
        let bytes = fs::read(place.join(REQUEST)).unwrap();
        assert_eq!((bytes.len(), Question::decode(&bytes)), (QUESTION_SIZE, Some(question(b"f*"))));
        Ok(())
    };
    let mut script = Script { send: Some(Box::new(send)), ..Script::default() };
    let mut waits = 0;
    script.wait_for_answer = Some(Box::new(|directory| {
        assert_eq!(directory, place);
        waits += 1;
        match waits {
            1 => answer(&place, &[0; 4]),
            2 => fs::write(place.join(".gmon-request-5.out"), b"profile").unwrap(),
            3 => fs::write(place.join(".gmon-request-5.out.side"), b"side").unwrap(),
            _ => answer(&place, &done()),
        }
        Ok(())
    }));
    let Copies { profile, side } = asked(vec![Place::open(&place)]).ask(&question(b"f*"), &mut script).unwrap();
    assert_eq!((profile.as_slice(), side.as_slice(), names(&place).len()), (&b"profile"[..], &b"side"[..], 0));
    drop(script);
    assert_eq!(waits, 4);
    fs::remove_dir(&place).unwrap();
}

/// Catches files that stay when a step fails, and the text of a refusal that is read before it is complete.
#[test]
fn files_are_removed_whatever_happens() {
    let place = directory("failed");
    let asked = asked(vec![Place::open(&place)]);
    let said = |script: &mut Script<'_>| {
        let text = asked.ask(&question(b""), script).err().unwrap().to_string();
        assert_eq!(names(&place), Vec::<String>::new(), "{text}");
        text
    };
    assert_eq!(said(&mut Script::default()), "process 7: sent");
    assert_eq!(
        said(&mut Script { send: Some(Box::new(|| Ok(()))), ..Script::default() }),
        "process 7: waited for an answer"
    );
    let refusal = Answer::Refused(b"no function matches g").encode();
    let mut ends = [9, 29, refusal.len()].into_iter();
    let mut refused = Script { send: Some(Box::new(|| Ok(()))), ..Script::default() };
    refused.wait_for_answer = Some(Box::new(|_| {
        ends.next().into_iter().for_each(|end| answer(&place, &[&refusal[..end], &[0; 520][end..]].concat()));
        Ok(())
    }));
    assert_eq!(said(&mut refused), "process 7: no function matches g");
    // A process may write anything.
    let mut answers = [vec![0xff; 520], [2_u32.to_ne_bytes(), u32::MAX.to_ne_bytes()].concat(), done()].into_iter();
    let mut hostile = Script { send: Some(Box::new(|| Ok(()))), ..Script::default() };
    hostile.wait_for_answer = Some(Box::new(|_| {
        fs::OpenOptions::new().write(true).open(place.join(".gmon-request-5.out")).unwrap().set_len(1 << 40).unwrap();
        answers.next().into_iter().for_each(|bytes| answer(&place, &bytes));
        Ok(())
    }));
    assert_eq!(said(&mut hostile), "process 7: the copy of its profile cannot be read: more than 1073741824 bytes");
    fs::remove_dir(&place).unwrap();
}

/// Catches another gprof's files that are overwritten or removed, files left over that stay, and links that are
/// followed.
#[test]
fn files_that_exist_are_waited_for_or_left_over() {
    let place = directory("others");
    let asked = asked(vec![Place::open(&place)]);
    for name in [REQUEST, ".gmon-request-5.out", ".gmon-request-5.out.side"] {
        let path = place.join(name);
        for is_link in [false, true] {
            if is_link {
                symlink(place.join("elsewhere"), &path).unwrap();
            } else {
                fs::write(&path, b"another gprof's").unwrap();
            }
            let mut waits = 0;
            let mut script = Script { send: Some(Box::new(|| Err(fault(7, "sent")))), ..Script::default() };
            script.wait_for_others = Some(Box::new(|file| {
                assert_eq!(
                    (file, fs::read(file).unwrap_or_default().len()),
                    (path.as_path(), if is_link { 0 } else { 15 })
                );
                waits += 1;
                if waits == 3 { fs::remove_file(file).map_err(Error::Output) } else { Ok(()) }
            }));
            assert_eq!(asked.ask(&question(b""), &mut script).err().unwrap().to_string(), "process 7: sent");
            drop(script);
            assert_eq!((waits, names(&place).len()), (3, 0), "{name}");
        }
        let left = File::create(&path).unwrap();
        left.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
        assert_eq!(asked.ask(&question(b""), &mut Script::default()).err().unwrap().to_string(), "process 7: sent");
        // The clock may have been set back meanwhile.
        let later = File::create(&path).unwrap();
        later.set_modified(SystemTime::now() + Duration::from_secs(3600)).unwrap();
        let said = asked.ask(&question(b""), &mut Script::default()).err().unwrap().to_string();
        assert_eq!((said.as_str(), names(&place)), ("process 7: waited for others", vec![name.to_owned()]));
        fs::remove_file(path).unwrap();
    }
    fs::remove_dir(&place).unwrap();
}

/// Catches a directory that ends the search although the next one takes files.
#[test]
fn the_first_directory_that_takes_files_has_the_request() {
    let [gone, place] = ["gone", "next"].map(directory);
    let removed = || {
        let place = Place::open(&gone);
        fs::remove_dir(&gone).unwrap();
        fs::create_dir(&gone).unwrap();
        place
    };
    let mut script =
        Script { send: Some(Box::new(|| Err(fault(7, &names(&place).join(" ")[..])))), ..Script::default() };
    let said = asked(vec![removed(), Place::open(&place)]).ask(&question(b""), &mut script).err().unwrap().to_string();
    assert_eq!(said, format!("process 7: {REQUEST} {REQUEST}.out {REQUEST}.out.side"));
    let said = asked(vec![removed()]).ask(&question(b""), &mut script).err().unwrap().to_string();
    let file = gone.join(".gmon-request-5.out");
    let expected =
        format!("process 7: no files can be made that it would see: {}: No such file or directory", file.display());
    assert_eq!(said, expected);
    let said = asked(Vec::new()).ask(&question(b""), &mut script).err().unwrap().to_string();
    assert!(said.ends_with("none of /tmp/, /var/tmp/, /dev/shm/ can be opened"), "{said}");
    [&gone, &place].into_iter().for_each(|directory| fs::remove_dir(directory).unwrap());
}

/// Catches a link that leads out of the root directory of a process.
#[test]
fn no_link_leads_out_of_another_root() {
    let root = directory("root");
    fs::create_dir_all(root.join("dev")).unwrap();
    for path in ["tmp", "dev/shm"] {
        fs::create_dir(root.join(path)).unwrap();
    }
    let paths = || places_below(&root).iter().map(|place| place.path().to_owned()).collect::<Vec<_>>();
    assert_eq!(paths(), ["tmp/", "dev/shm/"].map(|path| root.join(path)));
    symlink(&root, root.join("var")).unwrap();
    fs::remove_dir(root.join("tmp")).unwrap();
    symlink("/tmp", root.join("tmp")).unwrap();
    assert_eq!(paths(), [root.join("dev/shm/")]);
    fs::remove_dir_all(&root).unwrap();
}

/// A question without its list, which it borrows.
#[derive(Debug, PartialEq)]
struct Heard(Action, u64, u64, Option<Vec<u8>>);

/// A stand-in for the runtime: waits for the signal, looks for the request, and answers with the next copies.
fn runtime(place: PathBuf, signals: Receiver<()>, heard: Sender<Heard>, copies: [Copies; 2]) -> JoinHandle<()> {
    thread::spawn(move || {
        for Copies { profile, side } in copies {
            signals.recv().unwrap();
            let bytes = fs::read(place.join(REQUEST)).unwrap();
            let Question { action, session, limit, calls } = Question::decode(&bytes).unwrap();
            heard.send(Heard(action, session, limit, calls.map(<[u8]>::to_vec))).unwrap();
            for (suffix, bytes) in [(".out", profile), (".out.side", side)] {
                let path = place.join(format!("{REQUEST}{suffix}"));
                File::options().write(true).open(path).unwrap().write_all_at(&bytes, 0).unwrap();
            }
            answer(&place, &done());
        }
    })
}

/// A copy of the profile of a program with these samples in its first 16 bytes of code, and these calls.
fn copies(code: u64, samples: u16, calls: u64) -> Copies {
    let histogram = Histogram::new(code..code + 16, Unit::seconds(100), vec![samples, 0, 0, 0]).unwrap();
    let profile = Profile::of_samples([histogram]).unwrap().with_arcs([gmon::Arc::new(code + 8, code, calls)]);
    let profile = gmon::write(&profile, Encoding::new(Form::Gnu, Word::W64.into(), Order::Little)).unwrap();
    let mut side = SideFile::new(Word::W64);
    side.add_property(b"pid", b"5").unwrap();
    side.set_profile(Some(Checksum::of(&profile)));
    Copies { profile, side: side.write() }
}

/// Catches questions that do not belong together, a time that does not pass between them, and a profile that the
/// reports take for another one's, or for one without side file.
#[test]
fn the_profile_of_a_time_is_reported() {
    let place = directory("reported");
    let image = std::env::current_exe().unwrap();
    let code = Headers::read(&crate::program::image::read(&image, false).unwrap()).unwrap().code.unwrap().start;
    let ((signal, signals), (sender, heard)) = (channel(), channel());
    let runtime = runtime(place.clone(), signals, sender, [copies(code, 40, 12), copies(code, 43, 15)]);
    let mut script =
        Script { send: Some(Box::new(|| signal.send(()).map_err(|_| fault(7, "gone")))), ..Script::default() };
    script.wait_for_answer = Some(Box::new(|_| {
        thread::yield_now();
        Ok(())
    }));
    let attach = Attach { process: 7, time: Duration::from_millis(1500), calls: Some(b"f*".to_vec()) };
    let taken = take(&asked(vec![Place::open(&place)]), &attach, &mut script).unwrap();
    assert_eq!(script.passed, [attach.time]);
    runtime.join().unwrap();
    let heard: Vec<Heard> = heard.iter().collect();
    let session = heard[0].1;
    let [begin, end] =
        [Action::Begin, Action::End].map(|action| Heard(action, session, 11_500_000_000, Some(b"f*".to_vec())));
    assert_eq!(heard, [begin, end]);
    fs::remove_dir(&place).unwrap();

    let mut options = Options::new(image, Vec::<PathBuf>::new());
    options.images[0].profiles.push(ProfilePath::Memory(Arc::new(taken)));
    let (mut warnings, clock) = (Vec::new(), || Duration::ZERO);
    let mut progress = Progress::new(&mut warnings, &Terminal::default(), &clock);
    let loaded = sources::load(&options, &mut DebugFiles::default(), &mut progress).unwrap();
    assert_eq!(loaded.profile().histograms()[0].total(), 3);
    assert_eq!(loaded.profile().arcs().iter().map(|arc| arc.count).collect::<Vec<_>>(), [3]);
    assert_eq!((loaded.side_files().len(), loaded.files()[0].file.as_str()), (1, "process 7"));
    assert_eq!(String::from_utf8(warnings).unwrap(), "");
}

/// Catches two runs that could not be told apart.
#[test]
fn no_two_runs_have_the_same_number() {
    let session = || RandomState::new().build_hasher().finish();
    assert_ne!(session(), session());
}
