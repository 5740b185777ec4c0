//! Names of installed programs, which distributions strip: debug information that several files share, MiniDebugInfo,
//! and servers of debug files.

mod mini_debug_info;
mod servers;
mod shared;

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use gmon::{DataModel, Encoding, Form, Histogram, Order, Profile, Unit};
use gmon_tests::directory;
use gprof::internals::Headers;

/// The versions of DWARF of the stripped programs in testdata/dwz.
const VERSIONS: [u32; 2] = [4, 5];

/// An address in the code of `first` that comes from the inlined function [`INLINED`].
const ADDRESS: u64 = 0x40_0110;
const INLINED: &str = "square_of_the_shared_header";

/// The code of these programs.
const CODE: Range<u64> = 0x40_0100..0x40_0178;

/// The debug file of a program, and the file that the debug file shares with others.
struct Files {
    directory: PathBuf,
    program: PathBuf,
    /// A directory for `--debug-dir`.
    store: PathBuf,
    /// The place of the debug file in the store.
    debug: PathBuf,
    /// The shared file, which is not in the store yet.
    shared: PathBuf,
}

impl Files {
    /// Copies the files of a version to a directory of the test. The debug file is in the store.
    fn new(test: &str, version: u32) -> Files {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/dwz");
        let directory = directory(&format!("debug_packages_{test}_{version}")).canonicalize().unwrap();
        let (program, shared) = (directory.join("program"), directory.join("unpacked"));
        let store = directory.join("store");
        let debug = store.join(format!(".build-id/78/0000abcdef000{version}.debug"));
        fs::create_dir_all(debug.parent().unwrap()).unwrap();
        fs::copy(data.join(format!("dwarf-{version}")), &program).unwrap();
        fs::copy(data.join(format!("dwarf-{version}.debug")), &debug).unwrap();
        fs::copy(data.join(format!("dwarf-{version}.shared")), &shared).unwrap();
        Files { directory, program, store, debug, shared }
    }

    /// Writes a profile with this number of samples at [`ADDRESS`], 100 for each second.
    fn write_profile(&self, samples: u64) {
        let mut bins = vec![0; ((CODE.end - CODE.start) / 4) as usize];
        bins[((ADDRESS - CODE.start) / 4) as usize] = samples;
        write_samples(&self.program, CODE, bins);
    }
}

/// Writes the profile of a program that has a sample at each of its addresses.
fn sample_everything(program: &Path) {
    let code = Headers::read(&fs::read(program).unwrap()).unwrap().code.unwrap();
    let bins = (code.end - code.start).div_ceil(4);
    write_samples(program, code.start..code.start + 4 * bins, vec![1; bins as usize]);
}

/// Writes a profile beside a program.
fn write_samples(program: &Path, code: Range<u64>, bins: Vec<u64>) {
    let histogram = Histogram::new(code, Unit::seconds(100), bins).unwrap();
    let profile = Profile::of_samples(vec![histogram]).unwrap();
    let bytes = gmon::write(&profile, Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little)).unwrap();
    fs::write(program.with_file_name("gmon.out"), bytes).unwrap();
}

/// Runs a tool in a directory.
fn tool(directory: &Path, words: &[&str]) {
    let output = Command::new(words[0]).args(&words[1..]).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
}
