//! Files that are installed with the objects: the header, the pkg-config file, the manual pages.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::kit::{installed, is_there, wrapper};
use crate::support::{directory, root, tool};

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.is_empty(), "{command:?}: {said}");
    output
}

#[test]
fn pkg_config_builds_a_program_wherever_it_is() {
    if !is_there("pkg-config") {
        println!("\nSKIPPED: pkg-config: not on this system");
        return;
    }
    let place = installed("installed-pkg-config");
    let source = root().join("tests/programs/control.c");
    let script = format!(
        "set -e; eval cc $(pkg-config --cflags gmon) -c '{}' -o control.o
        eval cc control.o $(pkg-config --libs gmon) -o program
        eval cc -x c++ '{0}' $(pkg-config --cflags --libs gmon) -static -o other",
        source.display()
    );
    let path = place.join("a prefix/lib/pkgconfig");
    run(Command::new("sh").args(["-c", &script]).current_dir(&place).env("PKG_CONFIG_PATH", &path));
    for program in ["program", "other"] {
        run(Command::new(place.join(program)).current_dir(&place));
        assert!(fs::metadata(place.join("gmon.out")).unwrap().len() > 0);
        fs::remove_file(place.join("gmon.out")).unwrap();
    }
    let version = tool("sed", &["-n", "s/^version = \"\\(.*\\)\"/\\1/p", root().join("Cargo.toml").to_str().unwrap()]);
    let told = run(Command::new("pkg-config").args(["--modversion", "gmon"]).env("PKG_CONFIG_PATH", &path));
    assert_eq!(String::from_utf8(told.stdout).unwrap(), version);
}

#[test]
fn the_header_compiles_with_every_standard() {
    let place = directory("installed-header");
    gmon_tests::start_objects();
    let include = format!("-I{}", gmon_tests::distribution().join("include").display());
    let uses =
        "int main(void) { moncontrol(0); monstartup(1, 2); gmon_dump(); write_profiling(); _mcleanup(); return 0; }\n";
    let mut texts = vec![format!("#include <gmon.h>\n#include <gmon.h>\n{uses}")];
    // Programs from glibc may include its header too, in either order.
    if Path::new("/usr/include/x86_64-linux-gnu/sys/gmon.h").exists() {
        texts.push(format!("#include <gmon.h>\n#include <sys/gmon.h>\n{uses}"));
        texts.push(format!("#include <sys/gmon.h>\n#include <gmon.h>\n{uses}"));
    }
    let languages = [("cc", "c", &["c89", "c99", "c11"][..]), ("c++", "c++", &["c++98", "c++11", "c++20"])];
    for (number, text) in texts.iter().enumerate() {
        for (compiler, language, standards) in languages {
            for standard in standards {
                let file = place.join(format!("{number}.{language}"));
                fs::write(&file, text).unwrap();
                let strict = ["-Wall", "-Wextra", "-Wstrict-prototypes", "-pedantic", "-Werror", "-fsyntax-only"];
                let strict = strict.iter().filter(|flag| language == "c" || **flag != "-Wstrict-prototypes");
                let standard = format!("-std={standard}");
                let flags = [&*standard, &include, "-x", language];
                run(Command::new(compiler).args(strict).args(flags).arg(&file));
            }
        }
    }
}

#[test]
fn the_manual_pages_render_without_a_warning() {
    wrapper();
    let manuals = gmon_tests::distribution().join("share/man");
    for page in ["man1/gmon-cc.1", "man3/moncontrol.3", "man3/profil.3", "man5/gmon.5"] {
        let page = manuals.join(page);
        let page = page.to_str().unwrap();
        let mut judges = 0;
        // It knows no version of itself. Whether other manuals are installed does not matter.
        if Command::new("mandoc").arg(page).output().is_ok() {
            let said = Command::new("mandoc").args(["-Tlint", "-Wstyle", page]).output().unwrap().stdout;
            let said = String::from_utf8(said).unwrap();
            let own: Vec<_> = said.lines().filter(|line| !line.contains("referenced manual not found")).collect();
            assert!(own.is_empty(), "{own:?}");
            judges += 1;
        }
        if is_there("groff") {
            let text = run(Command::new("groff").args(["-mandoc", "-ww", "-Tascii", page])).stdout;
            assert!(text.len() > 1000, "{page}");
            judges += 1;
        }
        if judges == 0 {
            println!("\nSKIPPED: manual pages: neither mandoc nor groff here");
        }
    }
    for name in ["monstartup", "_mcleanup", "gmon_dump", "write_profiling"] {
        let link = fs::read_to_string(manuals.join(format!("man3/{name}.3"))).unwrap();
        assert_eq!(link, ".so man3/moncontrol.3\n");
    }
}

#[test]
fn the_manual_page_names_every_variable() {
    let page = fs::read_to_string(root().join("docs/man/gmon.5")).unwrap();
    let source = fs::read_to_string(root().join("runtime/src/control/environment.rs")).unwrap();
    let names: Vec<_> = source.split("b\"").skip(1).filter_map(|rest| rest.split_once("=\"")).collect();
    let names: Vec<_> = names.into_iter().map(|(name, _)| name).filter(|name| !name.contains('"')).collect();
    assert!(names.len() >= 5, "{names:?}");
    for name in names {
        assert!(page.contains(&format!(".It Ev {name}")), "gmon.5 does not say what {name} does");
    }
}
