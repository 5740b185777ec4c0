//! What is written is read back with the reader of the crate `gmon`.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::sync::Mutex;

use gmon::layout::side_file::FILLER;
use gmon::side_file::{Call, Calls, ELSEWHERE, KERNEL, PROGRAM, Place, Samples, SideFile};

use super::*;
use crate::os::Fd;

/// Tests share the one buffer of the one writer.
pub(in crate::file) static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The side file that `put` writes.
fn written(name: &str, put: impl FnOnce(&mut Writer)) -> SideFile {
    let _alone = ONE_AT_A_TIME.lock();
    let path = std::env::temp_dir().join(format!("gmon-side-{name}-{}", std::process::id()));
    let file = File::create(&path).unwrap();
    let mut out = Writer::new(Fd(file.as_raw_fd()));
    put(&mut out);
    let length = out.finish().unwrap().length;
    let bytes = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!(bytes.len(), length);
    SideFile::parse(&bytes).unwrap()
}

#[test]
fn parts_of_any_length_anywhere_in_the_buffer() {
    for start in [0, 4000, 4040, 4048, 4056, 4064, 4096, 9000] {
        for length in [0, 1, 8, 4000, 4096, 20_000] {
            let side = written("lengths", |out| {
                header::put(out, Of::Finished(Written { length: 7, sum: 9 }));
                for size in [start, length] {
                    out.part(FILLER, |out| (0..size).for_each(|byte| out.put(&[byte as u8])));
                }
                objects::put(out);
                out.put_end();
            });
            // The checksum was right, and so were the lengths, by which the reader has found this part.
            assert!(side.program().is_some(), "{start} {length}");
            assert_eq!(side.profile().unwrap().length, 7);
        }
    }
}

#[test]
fn every_count_is_somewhere() {
    use crate::objects::ADDRESS_BITS;
    let at = |number: usize, address: usize| number << ADDRESS_BITS | address;
    const UNKNOWN: usize = 900;
    const GENERATED: usize = 0x7f00_1234_5670;
    let counts = [
        Tally::samples(0x1234, 11),
        Tally::calls(at(UNKNOWN, 0x5000), 0x20, 4),
        Tally::samples(at(UNKNOWN, 0x5000), 13),
        Tally::samples(at(crate::objects::VDSO, 0), 3),
        Tally::samples(at(crate::objects::KERNEL, 0), 5),
        Tally::samples(crate::objects::NOWHERE, 7),
        Tally::samples(crate::objects::NOWHERE | GENERATED, 17),
        Tally::calls(0x10, crate::objects::NOWHERE, 2),
    ];
    assert!(has_contents(&counts));
    for (is_live, of) in [(false, Of::Finished(Written::default())), (true, Of::Growing(Written::default()))] {
        let side = written("counts", |out| put_parts(out, of, 0, &counts, None));
        assert_eq!(side.is_live(), is_live);
        let of = |object: u32| side.samples().iter().filter(|part| part.object() == object).map(Samples::total).sum();
        let found: [u64; 4] = [PROGRAM, crate::objects::VDSO as u32, KERNEL, ELSEWHERE].map(of);
        assert_eq!(found, [0, 3, 5, 11 + 13 + 7 + 17]);
        let bins = side.samples().iter().filter(|part| part.object() == ELSEWHERE).flat_map(Samples::bins);
        let start = GENERATED as u64;
        assert!(bins.into_iter().any(|bin| bin == (start..start + 4, 17)), "code in no object keeps its address");
        let place = |object, address| Place { object, address };
        let calls = [
            Call { caller: place(ELSEWHERE, 0), callee: place(PROGRAM, 0x20), count: 4 },
            Call { caller: place(PROGRAM, 0x10), callee: place(ELSEWHERE, 0), count: 2 },
        ];
        assert_eq!(side.calls().iter().flat_map(Calls::calls).copied().collect::<Vec<_>>(), calls);
    }
    assert!(!has_contents(&[Tally::calls(at(UNKNOWN, 0x5000), 0x20, 4)]), "the profile has these calls");
}

#[test]
fn totals_have_everything() {
    let counts = [Tally::samples(crate::objects::NOWHERE, 7), Tally::calls(0x10, crate::objects::NOWHERE, 2)];
    let mut totals = totals::Totals::of(&counts);
    totals.set_samples_in_program(100);
    let side = written("totals", |out| totals::put(out, Written::default(), &totals));
    assert_eq!((side.runs(), side.samples().iter().map(Samples::total).sum::<u64>()), (1, 7));
    assert_eq!(side.unwalked().map(|(reason, ticks)| (reason.code(), ticks)).collect::<Vec<_>>(), [(12, 107)]);
}
