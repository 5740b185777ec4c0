//! `make install` and `make uninstall`: the directories that a user may name, and what remains.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use gmon_tests::{directory, distribution, make, start_objects, write_script};

/// The files of a tree: the path of each, with the mode and the contents, or the target of a link.
type Tree = BTreeMap<PathBuf, (u32, Vec<u8>)>;

fn tree(root: &Path) -> Tree {
    let mut found = Tree::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let kind = fs::symlink_metadata(&path).unwrap();
            let contents = if kind.is_symlink() {
                fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else if kind.is_dir() {
                directories.push(path.clone());
                Vec::new()
            } else {
                fs::read(&path).unwrap()
            };
            found.insert(path.strip_prefix(root).unwrap().to_owned(), (kind.permissions().mode(), contents));
        }
    }
    found
}

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Runs make with these words. `-o dist` installs what is staged already.
fn run_make(words: &[String]) -> Output {
    let mut command = Command::new("make");
    command.args(["--no-print-directory", "-o", "dist"]).args(words);
    command.current_dir(workspace());
    without_directories(&mut command);
    command.output().unwrap()
}

/// Removes the variables of the environment that name directories of the installation, and those of a make that runs
/// this test.
fn without_directories(command: &mut Command) {
    let make = ["MAKEFLAGS", "MAKELEVEL"];
    let directories =
        ["DESTDIR", "PREFIX", "BINDIR", "LIBDIR", "INCLUDEDIR", "DATADIR", "MANDIR", "DOCDIR", "PKGCONFIGDIR"];
    for variable in make.into_iter().chain(directories) {
        command.env_remove(variable);
    }
}

fn made(words: &[String]) {
    static STAGED: OnceLock<()> = OnceLock::new();
    STAGED.get_or_init(|| {
        start_objects();
        make("tools").unwrap();
    });
    let output = run_make(words);
    assert!(output.status.success() && output.stderr.is_empty(), "{words:?}: {output:?}");
}

/// The words of make for the goal, and for directories below the root.
fn words(goal: &str, root: &Path, directories: &[(&str, &str)]) -> Vec<String> {
    let directories = directories.iter().map(|(name, path)| format!("{name}={}", root.join(path).display()));
    std::iter::once(goal.to_owned()).chain(directories).collect()
}

/// Puts files of other programs into a tree, also into the directories and under the names of the installation.
fn put_foreign_files(root: &Path) {
    for (path, contents) in
        [("bin/other", "x"), ("lib/gmon/own.txt", ""), ("share/doc/gmon/notes", "n"), (".hidden", "h")]
    {
        fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        fs::write(root.join(path), contents).unwrap();
    }
    fs::set_permissions(root.join("bin/other"), fs::Permissions::from_mode(0o751)).unwrap();
    fs::create_dir_all(root.join("share/man/man3")).unwrap();
    symlink("bin", root.join("sbin")).unwrap();
}

/// Compiles a program with this gmon-cc, and with the options of this pkg-config file, and runs both.
fn builds_programs(place: &Path, wrapper: &Path, pkgconfig: &Path) {
    let script = r#"set -e
        printf '#include <gmon.h>\nint main(void) { moncontrol(0); return 0; }\n' >work.c
        env -u CC -u GMON_CC "$1" work.c -o work; ./work; rm gmon.out
        command -v pkg-config >/dev/null || { echo "SKIPPED: pkg-config: not on this system"; exit 0; }
        export PKG_CONFIG_PATH="$2"
        eval cc work.c $(pkg-config --cflags --libs gmon) -o other; ./other; rm gmon.out"#;
    fs::create_dir_all(place).unwrap();
    let arguments = [Path::new("-c"), Path::new(script), Path::new("sh"), wrapper, pkgconfig];
    let output = Command::new("sh").args(arguments).current_dir(place).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    print!("{}", String::from_utf8(output.stdout).unwrap());
}

#[test]
fn what_is_uninstalled_is_what_was_installed() {
    let place = directory("installation-default");
    let root = place.join("a prefix");
    put_foreign_files(&root);
    let before = tree(&root);
    let directories = [("PREFIX", "a prefix")];
    made(&words("install", &place, &directories));
    let installed = tree(&root);
    let staged = tree(&distribution());
    for (path, (mode, _)) in staged.iter().filter(|(path, _)| distribution().join(path).is_file()) {
        assert!(installed.contains_key(path), "{}", path.display());
        assert_eq!(installed[path].0 & 0o111, mode & 0o111, "{}", path.display());
    }
    builds_programs(&place.join("work"), &root.join("bin/gmon-cc"), &root.join("lib/pkgconfig"));
    // A second installation changes nothing.
    made(&words("install", &place, &directories));
    assert!(tree(&root) == installed);
    made(&words("uninstall", &place, &directories));
    let after = tree(&root);
    assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    assert!(after == before);
    let again = run_make(&words("uninstall", &place, &directories));
    let said = String::from_utf8(again.stderr).unwrap();
    assert!(!again.status.success() && said.contains("uninstall: there is no "), "{said}");
}

#[test]
fn each_directory_can_be_named() {
    let place = directory("installation-named");
    // Some directories are in PREFIX, and some are not.
    let directories = [
        ("PREFIX", "usr"),
        ("BINDIR", "usr/libexec/gmon tools"),
        ("LIBDIR", "usr/lib/machine-system"),
        ("INCLUDEDIR", "elsewhere's/some include"),
        ("MANDIR", "manuals"),
        ("DOCDIR", "documents"),
        ("PKGCONFIGDIR", "usr/share/pkgconfig"),
    ];
    made(&words("install", &place, &directories));
    for file in [
        "usr/libexec/gmon tools/gprof-or-gmon-cc",
        "usr/lib/machine-system/gmon/gcrt1.o",
        "elsewhere's/some include/gmon.h",
        "manuals/man5/gmon.5",
        "usr/share/pkgconfig/gmon.pc",
    ] {
        let file = file.replace("gprof-or-", "");
        assert!(place.join(&file).is_file(), "{file}");
    }
    let paths = tree(&place);
    assert!(!paths.contains_key(Path::new("usr/include")) && !paths.contains_key(Path::new("usr/share/man")));
    let wrapper = place.join("usr/libexec/gmon tools/gmon-cc");
    let work = directory("installation-named-work");
    builds_programs(&work, &wrapper, &place.join("usr/share/pkgconfig"));
    made(&words("uninstall", &place, &directories));
    assert_eq!(tree(&place), Tree::new());
}

#[test]
fn a_staged_installation_has_the_final_paths() {
    let place = directory("installation-staged");
    let final_paths = ["PREFIX=/opt/gmon", "INCLUDEDIR=/usr/include"].map(str::to_owned);
    let goal = |goal: &str| [&words(goal, &place, &[("DESTDIR", "stage")])[..], &final_paths].concat();
    made(&goal("install"));
    let list = fs::read_to_string(place.join("stage/opt/gmon/lib/gmon/installed")).unwrap();
    assert!(list.lines().any(|line| line == "/usr/include/gmon.h"), "{list}");
    assert!(!list.contains("stage"), "{list}");
    let file = |path: &str| fs::read_to_string(place.join("stage").join(path)).unwrap();
    assert!(file("opt/gmon/bin/gmon-cc").contains("\ninclude_from_here='/usr/include'\n"));
    assert!(
        file("opt/gmon/lib/pkgconfig/gmon.pc")
            .contains("\nincludedir=/usr/include\nlibdir=${pcfiledir}/../../lib/gmon\n")
    );
    // The files of an installation that was moved are not those in its list.
    fs::rename(place.join("stage/opt/gmon"), place.join("stage/opt/other")).unwrap();
    let moved = [&words("uninstall", &place, &[("DESTDIR", "stage")])[..], &["PREFIX=/opt/other".to_owned()]].concat();
    let refused = run_make(&moved);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && said.contains("an installation in other directories"), "{said}");
    fs::rename(place.join("stage/opt/other"), place.join("stage/opt/gmon")).unwrap();
    made(&goal("uninstall"));
    assert_eq!(tree(&place.join("stage")), Tree::new());
}

/// A script of `packaging`, with all directories in a prefix.
fn script(name: &str, staged: &Path, prefix: &Path) -> Command {
    let mut command = Command::new("sh");
    command.arg(workspace().join("packaging").join(name)).arg(staged).env("DESTDIR", "");
    for (name, path) in [("PREFIX", ""), ("BINDIR", "/bin"), ("LIBDIR", "/lib"), ("INCLUDEDIR", "/include")] {
        command.env(name, format!("{}{path}", prefix.display()));
    }
    for (name, path) in [("DATADIR", ""), ("MANDIR", "/man"), ("DOCDIR", "/doc/gmon"), ("PKGCONFIGDIR", "/pkgconfig")] {
        command.env(name, format!("{}/share{path}", prefix.display()));
    }
    command
}

fn succeeds(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{command:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Writes a file, and the directories above it.
fn write(path: impl AsRef<Path>, contents: &str) {
    fs::create_dir_all(path.as_ref().parent().unwrap()).unwrap();
    fs::write(path, contents).unwrap();
}

#[test]
fn a_prefix_directly_below_the_root_is_made() {
    let place = directory("installation-top");
    let staged = place.join("staged");
    write(staged.join("bin/program"), "x");
    fs::create_dir(place.join("root")).unwrap();
    // A root of its own, which has the directories of the system and lacks the prefix.
    let inside = r#"set -e
        mount -t tmpfs none "$0"
        for each in /*; do
            if [ -h "$each" ]; then
                cp -P "$each" "$0/"
            elif [ -d "$each" ]; then
                mkdir "$0$each"
                mount --rbind "$each" "$0$each"
            fi
        done
        exec chroot "$0" "$@""#;
    let own_root = |command: &[&str]| {
        let mut unshare = Command::new("unshare");
        unshare.args(["--map-root-user", "--mount", "sh", "-c", inside]).arg(place.join("root")).args(command);
        unshare
    };
    if !own_root(&["true"]).output().is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: an installation below the root: this user cannot make a root with unshare and chroot");
        return;
    }
    let prefix = format!("/gmon-{}", std::process::id());
    assert!(!Path::new(&prefix).exists(), "the directory must be new");
    let installation = script("install.sh", &staged, Path::new(&prefix));
    let mut unshare = own_root(&["sh"]);
    unshare.args(installation.get_args());
    unshare.envs(installation.get_envs().filter_map(|(name, value)| Some((name, value?))));
    assert_eq!(succeeds(unshare), format!("Installed 2 files; {prefix}/lib/gmon/installed lists them.\n"));
}

#[test]
fn paths_with_blanks_stay_whole() {
    let place = directory("installation blanks");
    fs::create_dir_all(place.join("cargo home/registry/src/index")).unwrap();
    let mut remap = Command::new("sh");
    remap.arg("packaging/remap.sh").arg("/a target").current_dir(workspace());
    remap.env("CARGO_HOME", place.join("cargo home")).env_remove("RUSTUP_TOOLCHAIN");
    remap.env("RUSTFLAGS", " -C  debuginfo=1 --cfg=* ").env("CARGO_ENCODED_RUSTFLAGS", "--cfg\u{1f}a=\"b c\"");
    let printed = succeeds(remap);
    let options: Vec<&str> = printed.trim_end_matches('\n').split('\u{1f}').collect();
    assert_eq!(options[..5], ["-C", "debuginfo=1", "--cfg=*", "--cfg", "a=\"b c\""]);
    assert!(options[5..].iter().all(|option| option.starts_with("--remap-path-prefix=")), "{options:?}");
    let registry = format!("--remap-path-prefix={}=crates", place.join("cargo home/registry/src/index").display());
    for option in ["--remap-path-prefix=/a target=target", &registry] {
        assert!(options.contains(&option), "{options:?}");
    }

    let staged = |target: &str| {
        let mut make = Command::new("make");
        make.args(["--eval", "show: ; @echo '$(DIST)'", "show"]).current_dir(workspace());
        without_directories(&mut make);
        succeeds({
            make.env("CARGO_TARGET_DIR", target);
            make
        })
    };
    assert_eq!(staged("/a target"), "/a target/dist\n");
    assert_eq!(staged("a target"), format!("{}/a target/dist\n", workspace().canonicalize().unwrap().display()));
}

#[test]
fn documents_may_name_the_directory_of_a_distribution_s_compiler() {
    let place = directory("installation-paths");
    let files = place.join("files");
    write_script(&place.join("rustc"), "#!/bin/sh\necho /usr\n");
    let search = || {
        let mut search = Command::new("sh");
        search.arg("tests/packages/paths.sh").arg(&files).current_dir(workspace());
        search.env("RUSTC", place.join("rustc")).env_remove("CARGO_TARGET_DIR");
        search.output().unwrap()
    };
    write(files.join("document"), "install gprof as /usr/bin/gprof\n");
    let output = search();
    assert!(output.status.success(), "{output:?}");
    write(files.join("program"), "\0/usr/lib/rustlib/src/rust/library/core/src/lib.rs\0");
    let output = search();
    assert!(String::from_utf8(output.stderr).unwrap().ends_with("installation-paths/files/program\n"));
    assert!(!output.status.success());
}

#[test]
fn a_copy_of_the_sources_has_new_files_and_no_deleted_ones() {
    let place = directory("installation-copy");
    let sources = place.join("sources");
    write(sources.join("tests/packages/copy-tree.sh"), "");
    fs::copy(workspace().join("tests/packages/copy-tree.sh"), sources.join("tests/packages/copy-tree.sh")).unwrap();
    for file in ["Cargo.toml", "deleted", "target/built", "docs/target/file"] {
        write(sources.join(file), "x");
    }
    symlink("Cargo.toml", sources.join("link")).unwrap();
    let copied = |name: &str| {
        let mut copy = Command::new("sh");
        copy.arg(sources.join("tests/packages/copy-tree.sh")).arg(place.join(name));
        succeeds(copy);
        let copy = tree(&place.join(name));
        let files = copy.keys().filter(|file| !place.join(name).join(file).is_dir());
        files.map(|file| file.display().to_string()).collect::<Vec<_>>()
    };
    let expected = ["Cargo.toml", "deleted", "docs/target/file", "link", "tests/packages/copy-tree.sh"];
    // The sources are in the target directory of a checkout, whose git ignores them.
    assert_eq!(copied("unpacked"), expected);
    for words in [&["init", "-q"][..], &["add", "Cargo.toml", "deleted", "link", "docs"]] {
        if !Command::new("git").args(words).current_dir(&sources).output().is_ok_and(|output| output.status.success()) {
            eprintln!("SKIPPED: a copy of a git checkout: no git on this system");
            return;
        }
    }
    write(sources.join(".gitignore"), "/target\n");
    fs::remove_file(sources.join("deleted")).unwrap();
    let expected = [".gitignore", "Cargo.toml", "docs/target/file", "link", "tests/packages/copy-tree.sh"];
    assert_eq!(copied("checkout"), expected);
}

/// A tool in a directory of tools that come before the system's.
fn put_tool(place: &Path, name: &str, commands: &str) {
    fs::create_dir_all(place.join("bin")).unwrap();
    write_script(&place.join("bin").join(name), &format!("#!/bin/sh\nset -e\n{commands}\n"));
}

fn path_with_tools(place: &Path) -> String {
    format!("{}:{}", place.join("bin").display(), std::env::var("PATH").unwrap())
}

#[test]
fn an_interrupted_installation_leaves_no_work_directory() {
    let place = directory("installation-interrupted");
    let staged = place.join("staged");
    write(staged.join("share/doc/gmon/README.md"), "x");
    // The first cp of the script is the signal. (Whoever runs this test may ignore the other signals, and the script
    // then does too.)
    put_tool(&place, "cp", "kill -TERM $PPID");
    let work = place.join("work");
    fs::create_dir(&work).unwrap();
    let mut installation = script("install.sh", &staged, &place.join("root"));
    let output = installation.env("PATH", path_with_tools(&place)).env("TMPDIR", &work).output().unwrap();
    assert_eq!(output.status.code(), Some(143), "{output:?}");
    assert_eq!(tree(&work), Tree::new());
}

/// Every script that removes its work directory when it exits does so after a signal too, for which dash needs a
/// command.
#[test]
fn all_scripts_remove_their_work_directories_after_signals() {
    let mut found = 0;
    for directory in ["packaging", "tests", "tests/packages"] {
        for entry in fs::read_dir(workspace().join(directory)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "sh") {
                let text = fs::read_to_string(&path).unwrap();
                let signals = "trap 'exit 129' HUP; trap 'exit 130' INT; trap 'exit 143' TERM\n";
                if text.contains("' EXIT\n") {
                    found += 1;
                    assert!(text.contains(&format!("' EXIT\n{signals}")), "{}", path.display());
                }
            }
        }
    }
    assert!(found > 5);
}

#[test]
fn tools_that_do_not_work_are_not_installed() {
    let place = directory("installation tools");
    put_tool(&place, "apt-get", "touch binutils-multiarch_1.deb");
    put_tool(&place, "apt-cache", "echo 'rustc-web | 1.85.0 | here'");
    // Both packages have programs that print the directory of their libraries, which must be there.
    let program = r#"printf '#!/bin/sh\n[ -e "${LD_LIBRARY_PATH%%%%:*}/library$BROKEN" ]\n' >"$3/usr/bin/$1"; chmod 755 "$3/usr/bin/$1""#;
    let unpack = |name: &str| {
        let libraries = "usr/lib/x-linux-gnu";
        format!(
            r#"mkdir -p "$3/usr/bin" "$3/lib/x-linux-gnu" "$3/{libraries}"
            touch "$3/{libraries}/libbfd-1-multiarch.so" "$3/{libraries}/library" "$3/lib/x-linux-gnu/library"
            {}"#,
            program.replace("$1", name)
        )
    };
    put_tool(&place, "dpkg-deb", &unpack("x-gprof"));
    put_tool(&place, "dpkg", &unpack("cargo"));
    for (name, command) in [("multiarch-gprof.sh", "gprof"), ("oldest-rust.sh", "run")] {
        let install = |broken: &str| {
            let mut script = Command::new("sh");
            script.arg(workspace().join("tests").join(name)).arg(place.join(name)).env("BROKEN", broken);
            script.env("PATH", path_with_tools(&place));
            script.output().unwrap()
        };
        let broken = install("-is-broken");
        assert!(!broken.status.success() && !place.join(name).join(command).exists(), "{broken:?}");
        let output = install("");
        assert!(output.status.success() && place.join(name).join(command).exists(), "{output:?}");
    }
}

#[test]
fn documents_are_staged_again() {
    let place = directory("installation-documents");
    let stage = |goals: &[&str]| {
        let mut make = Command::new("make");
        make.arg("--no-print-directory").args(goals).arg(format!("DIST={}", place.join("dist").display()));
        without_directories(make.current_dir(workspace()));
        succeeds(make)
    };
    let documents = place.join("dist/share/doc/gmon");
    // A document of an earlier version.
    write(documents.join("removed.md"), "x");
    stage(&["documents"]);
    assert!(!documents.join("removed.md").exists() && documents.join("README.md").exists());
    // Root may write into read-only files, so the test looks at the commands: each copy of a source replaces what is
    // there.
    let commands = stage(&["-n", "documents", "headers", "tools"]);
    let copies: Vec<&str> = commands.lines().filter(|line| line.starts_with("cp ")).collect();
    assert!(copies.len() > 5 && copies.iter().all(|line| line.starts_with("cp -f ")), "{copies:?}");
}

#[test]
fn licenses_need_no_earlier_build() {
    let target = directory("installation-no-target").join("target");
    let mut make = Command::new("make");
    make.args(["licenses", "CARGO=false"]).current_dir(workspace());
    without_directories(&mut make);
    // This cargo fails, but its output already has a place.
    let output = make.env("CARGO_TARGET_DIR", &target).output().unwrap();
    assert!(!output.status.success() && target.join("LICENSES.thirdparty").exists(), "{output:?}");
}

#[test]
fn the_licenses_of_rust_s_library_are_those_of_the_compiler() {
    let place = directory("installation-licenses");
    put_tool(&place, "rustc", &format!("echo '{}'", place.join("rust").display()));
    fs::create_dir(place.join("found")).unwrap();
    let copy = || {
        let mut copy = Command::new("sh");
        copy.arg(workspace().join("packaging/library-license.sh")).arg(place.join("found"));
        copy.env("RUSTC", place.join("bin/rustc")).output().unwrap()
    };
    // The system's compiler may have a file.
    let output = copy();
    assert!(output.status.success() && tree(&place.join("found")) == Tree::new(), "{output:?}");
    assert!(String::from_utf8(output.stderr).unwrap().contains("this Rust has no file with the licenses"));
    for (file, name) in [
        ("libstd-rust-1.95-dev/copyright", "COPYRIGHT-library"),
        ("rust/COPYRIGHT-library.html", "COPYRIGHT-library.html"),
    ] {
        write(place.join("rust/share/doc").join(file), file);
        let output = copy();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        assert_eq!(fs::read_to_string(place.join("found").join(name)).unwrap(), file);
    }
}

#[test]
fn packages_are_built_one_after_the_other_and_where_they_can_be() {
    let make = |words: &[&str]| {
        let mut make = Command::new("make");
        make.arg("--no-print-directory").args(words).current_dir(workspace());
        without_directories(&mut make);
        make.output().unwrap()
    };
    let database = make(&["-j2", "-n", "-p", "tarball", "tarball-aarch64", "HOST=x86_64"]);
    assert!(String::from_utf8(database.stdout).unwrap().lines().any(|line| line == ".NOTPARALLEL:"));
    let refused = make(&["tarball-aarch64", "HOST=aarch64"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && said.contains("this machine is no x86-64"), "{said}");
}

#[test]
fn a_newer_installation_replaces_an_older_one() {
    let place = directory("installation-newer");
    let staged = place.join("staged");
    let (old, program) = (staged.join("share/doc/gmon/removed.md"), staged.join("bin/program"));
    for path in [&old, &program] {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "old").unwrap();
    }
    let root = place.join("root");
    let run = |name: &str| succeeds(script(name, &staged, &root));
    run("install.sh");
    // A running program, and a link in place of a file, do not prevent the installation of the new file.
    fs::remove_file(root.join("bin/program")).unwrap();
    symlink("/dev/null", root.join("bin/program")).unwrap();
    fs::remove_dir_all(old.parent().unwrap()).unwrap();
    fs::write(&program, "new").unwrap();
    run("install.sh");
    assert!(!root.join("share/doc/gmon/removed.md").exists());
    assert_eq!(fs::read_to_string(root.join("bin/program")).unwrap(), "new");
    run("uninstall.sh");
    assert!(!root.exists());
    // The list of a copy names the files of the original, which stay.
    let copy = place.join("copy");
    run("install.sh");
    let original = tree(&root);
    succeeds({
        let mut copying = Command::new("cp");
        copying.arg("-R").args([&root, &copy]);
        copying
    });
    succeeds(script("install.sh", &staged, &copy));
    assert!(tree(&root) == original);
    succeeds(script("uninstall.sh", &staged, &copy));
    assert!(tree(&root) == original && !copy.join("bin/program").exists());
    run("uninstall.sh");
    assert!(!root.exists());
    let relative = script("install.sh", &staged, &root).env("MANDIR", "share/man").output().unwrap();
    assert!(!relative.status.success() && !root.exists());
    assert_eq!(String::from_utf8(relative.stderr).unwrap(), "install: share/man: not an absolute path\n");
}
