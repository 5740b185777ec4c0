//! Profiles of other programs that fit into the program's addresses: gprof finds them by the program's machine code.

use std::path::Path;

/// The warnings about a profile that is read with an image.
fn warnings(image: &Path, profile: &Path, options: &[&str]) -> String {
    let words = [options, &[image.to_str().unwrap(), profile.to_str().unwrap()]].concat();
    let output = gmon_tests::read(gmon_tests::gprof(), image.parent().unwrap(), &words);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn the_profile_of_a_smaller_program() {
    // Static programs have their code at the same addresses.
    let image = gmon_tests::compile("foreign-image", &["kinds.cc"], &["-O0", "-static"]);
    let other = gmon_tests::compile("foreign-other", &["cycles.c"], &["-O2", "-static"]);
    let [own, foreign] = [&image, &other].map(|program| gmon_tests::run(program));
    for options in [&["-b"][..], &["-b", "-c"], &["-b", "--compat=gnu"], &["--bsd", "-b"]] {
        assert_eq!(warnings(&image, &own, options), "", "{options:?}");
        assert_eq!(warnings(&other, &foreign, options), "", "{options:?}");
        let said = warnings(&image, &foreign, options);
        let start = format!("gprof: warning: {}: the program does not call mcount at ", foreign.display());
        let end = "is it the profile of another program or build? Run gprof with the program that wrote the profile\n";
        assert!(said.starts_with(&start) && said.ends_with(end) && said.lines().count() == 1, "{options:?}: {said}");
    }
}

#[test]
fn matching_profiles_of_every_way_to_call_mcount() {
    let ways: [&[&str]; 7] = [
        &["-O2"],
        &["-O2", "-static"],
        &["-O0", "-no-pie"],
        &["-O2", "-mfentry"],
        &["-O2", "-fno-plt"],
        &["-O2", "-fno-plt", "-Wl,--no-relax"],
        &["-O2", "-mcmodel=large", "-fno-pic", "-no-pie"],
    ];
    for (number, flags) in ways.into_iter().enumerate() {
        // The call of mcount has these forms on x86-64 alone.
        if flags.iter().any(|flag| ["-mfentry", "-mcmodel=large"].contains(flag)) && !cfg!(target_arch = "x86_64") {
            continue;
        }
        let image = gmon_tests::compile(&format!("foreign-own-{number}"), &["cycles.c"], flags);
        let profile = gmon_tests::run(&image);
        assert_eq!(warnings(&image, &profile, &["-b"]), "", "{flags:?}");
        // A sum has the profile's arcs; with GNU's sums these are the starts of functions or lines.
        for sum in [&["-s"][..], &["-s", "--compat=gnu"]] {
            assert_eq!(warnings(&image, &profile, sum), "", "{flags:?} {sum:?}");
            let sum = image.parent().unwrap().join("gmon.sum");
            assert_eq!(warnings(&image, &sum, &["-b"]), "", "{flags:?}");
        }
    }
}
