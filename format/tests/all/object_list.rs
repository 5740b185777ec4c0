//! Tests of lists of shared objects.

use gmon::Error;
use gmon::object_list::{Header, ObjectList};
use gmon::side_file::Checksum;

const LIST: &str = "gmon objects 1\nprofile 3 00000000000000ff\n\
    object 1 0 9 1f beef /lib/a b.so\nobject 7 1 8 2 - /x\\012y/a b.so\n\
    arc 0 16 7 32 5\nsamples kernel 3\nsamples vdso 2\nsamples elsewhere 1\ncalls elsewhere 4\nend\n";

/// The number of the line that is refused.
fn refused(text: &str) -> u64 {
    match ObjectList::parse(text.as_bytes()) {
        Err(Error::BadLine { line, offset }) => {
            let before: usize = text.split_inclusive('\n').take(line as usize - 1).map(str::len).sum();
            assert_eq!(offset, before as u64, "{text}");
            line
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_list() {
    let list = ObjectList::parse(LIST.as_bytes()).unwrap();
    assert_eq!((list.header.profile, list.header.is_live), (Checksum { length: 3, sum: 255 }, false));
    assert_eq!(list.header.program, None);
    let [one, two] = &list.objects[..] else { panic!("{list:?}") };
    assert_eq!((one.number, one.twins, one.profile), (1, 0, Checksum { length: 9, sum: 0x1f }));
    assert_eq!((one.build_id.as_deref(), &one.path[..]), (Some("beef"), &b"/lib/a b.so"[..]));
    assert_eq!((two.number, two.twins, two.profile), (7, 1, Checksum { length: 8, sum: 2 }));
    assert_eq!((two.build_id.as_deref(), &two.path[..]), (None, &b"/x\ny/a b.so"[..]));
    let [call] = list.calls[..] else { panic!("{list:?}") };
    assert_eq!((call.caller, call.callee, call.count), ((0, 16), (7, 32), 5));
    assert_eq!((list.kernel, list.vdso, list.elsewhere, list.calls_elsewhere), (3, 2, 1, 4));
}

#[test]
fn the_program() {
    let newer =
        LIST.replacen("objects 1\nprofile 3 00000000000000ff", "objects 2\nlive 2 5\nprogram headers:ab /a b", 1);
    let list = ObjectList::parse(newer.as_bytes()).unwrap();
    let program = list.header.program.clone().unwrap();
    assert_eq!((&program.identity[..], &program.path[..]), ("headers:ab", &b"/a b"[..]));
    assert_eq!(Header::parse(newer.as_bytes()), Ok(list.header));
    assert_eq!(list.objects.len(), 2);
    for (line, from, to) in
        [(2, "objects 2", "objects 1"), (3, "program", "programs"), (3, " /a b", ""), (6, "arc", "arch")]
    {
        assert_eq!(refused(&newer.replacen(from, to, 1)), line, "{to}");
    }
}

#[test]
fn the_beginning_of_a_live_profile_is_enough() {
    let sum = gmon::layout::mark(0, b'a').wrapping_add(gmon::layout::mark(1, b'b'));
    let of = |kind: &str| Header::parse(format!("gmon objects 2\n{kind} 2 {sum:x}\nprogram - -\n").as_bytes()).unwrap();
    let live = of("live");
    assert!(live.is_of(b"ab") && live.is_of(b"abc") && !live.is_of(b"a") && !live.is_of(b"bb"));
    assert!(of("profile").is_of(b"ab") && !of("profile").is_of(b"abc"));
}

#[test]
fn what_is_no_list_is_refused_wherever_it_is_cut_or_changed() {
    for end in 0..LIST.len() - "\n".len() {
        assert!(ObjectList::parse(&LIST.as_bytes()[..end]).is_err(), "{end}");
    }
    for (line, from, to) in [
        (1, "objects 1", "objects 3"),
        (3, "objects 1", "objects 2"),
        (2, "00ff", "00fg"),
        (3, "object 1", "object -1"),
        (3, " beef /lib/a b.so", ""),
        (5, "arc 0", "arc"),
        (6, "kernel", "colonel"),
        (9, "elsewhere 4", "elsewhere 99999999999999999999"),
    ] {
        assert_eq!(refused(&LIST.replacen(from, to, 1)), line, "{to}");
    }
}
