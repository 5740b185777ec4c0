//! Reads and writes files of the invented form with the library, as for any other form.

#[path = "DUMP"]
mod dump;

use gmon::{
    Arc, DataModel, Encoding, Error, Form, Hints, Histogram, Order, Profile, Record, Records, Unit, count_records,
    detect, read_as, write,
};

fn profile() -> Profile {
    let mut profile = Profile::new();
    let histogram = Histogram::new(0x1000..0x1010, Unit::seconds(100), vec![0_u16, 3, 0, 1]).unwrap();
    profile.add_record(Record::Histogram(histogram)).unwrap();
    for count in [u64::from(u32::MAX), 2] {
        profile.add_record(Record::Arc(Arc::new(0x1004, 0x1008, count))).unwrap();
    }
    profile
}

fn main() {
    let file = dump::bytes(include_str!("other.hex")).unwrap();
    let big = Encoding::new(Form::Other, DataModel::Ilp32, Order::Big);
    assert_eq!(write(&profile(), big).as_deref(), Ok(&*file), "the writer writes the dump");
    for (model, order) in [
        (DataModel::Ilp32, Order::Big),
        (DataModel::Ilp32, Order::Little),
        (DataModel::Lp64, Order::Big),
        (DataModel::Lp64, Order::Little),
    ] {
        let encoding = Encoding::new(Form::Other, model, order);
        let file = write(&profile(), encoding).unwrap();
        assert_eq!(detect(&file, &Hints::new()).unwrap().encoding(), encoding);
        let hints = Hints::new().with_form(Form::Other);
        assert_eq!(detect(&file, &hints).unwrap().encoding(), encoding);
        assert_eq!(read_as(&file, encoding), Ok(profile()));
        assert_eq!(Profile::parse(&file), Ok(profile()));
        let records = Records::from_reader_in_pieces(&*file, encoding, 7).unwrap();
        assert_eq!(Profile::from_records(records), Ok(profile()), "in pieces");
        let counts = count_records(&file, encoding).unwrap();
        assert_eq!((counts.histograms, counts.arcs), (1, 2));
        let short = &file[..file.len() - 1];
        assert!(matches!(read_as(short, encoding), Err(Error::Truncated { .. })), "an arc is cut short");
    }
    assert!(Form::ALL.contains(&Form::Other));
    assert_eq!(("other".parse(), Form::Other.name()), (Ok(Form::Other), "other"));
    assert_eq!(big.to_string(), "32-bit big-endian other system");
    assert!("none".parse::<Form>().unwrap_err().to_string().contains("mon-out, other, and freebsd-u8"));
    // The other forms are as before.
    let gnu = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
    let file = write(&profile(), gnu).unwrap();
    assert_eq!(detect(&file, &Hints::new()).unwrap().encoding(), gnu);
    assert_eq!(read_as(&file, gnu), Ok(profile()));
}
