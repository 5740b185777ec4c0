//! Tests of putting profiles together.

use crate::common::{sampled, seconds};
use crate::counting::allocated;
use gmon::{
    Arc, Bins, Block, DataModel, Encoding, Error, Form, Histogram, Image, Order, Profile, Records, Unit, read_as, write,
};

const PROF: Encoding = Encoding::new(Form::IllumosProf, DataModel::Lp64, Order::Little);

#[test]
fn the_lower_order_of_two_profiles_is_kept() {
    let ordered = |orders: &[(u64, u32)]| {
        let mut profile = Profile::new().with_arcs([Arc::new(1, 2, 3)]);
        orders.iter().for_each(|(frompc, order)| profile.set_order(*frompc, 2, *order));
        profile
    };
    let mut profile = ordered(&[(1, 1), (3, 9)]);
    profile.append(ordered(&[(1, 9), (3, 4), (5, 6)])).unwrap();
    let orders: Vec<_> = profile.orders().collect();
    assert_eq!(profile.orders().len(), orders.len());
    assert_eq!(orders, [((1, 2), 1), ((3, 2), 4), ((5, 2), 6)]);
}

#[test]
fn append_adds_everything_or_nothing() {
    let first = || {
        let mut profile = sampled(seconds(0x1000, 0x1010, &[1, u64::MAX])).with_arcs([Arc::new(1, 2, 3)]);
        profile.add_image(Image::new("/a"));
        profile
    };
    let mut second = sampled(seconds(0x2000, 0x2010, &[5, 6])).with_arcs([Arc::new(1, 2, 4)]);
    second.add_block(Block::new(7, 8));
    second.add_image(Image::new("/b"));
    let mut profile = first();
    profile.append(second.clone()).unwrap();
    assert_eq!(profile.histograms(), [seconds(0x1000, 0x1010, &[1, u64::MAX]), seconds(0x2000, 0x2010, &[5, 6])]);
    assert_eq!(profile.arcs(), [Arc::new(1, 2, 3), Arc::new(1, 2, 4)]);
    assert_eq!(profile.blocks(), [Block::new(7, 8)]);
    assert_eq!(profile.images(), [Image::new("/a"), Image::new("/b")]);

    second.add_histogram(seconds(0x1000, 0x1010, &[0, 1])).unwrap();
    let mut profile = first();
    assert_eq!(profile.append(second), Err(Error::BinOverflow { range: 0x1000..0x1010, bin: 1 }));
    assert_eq!(profile, first());
}

#[test]
fn zeros_of_sparse_bins_are_removed() {
    let sparse = |counts: &[(u64, u64)]| {
        let bins = Bins::Sparse { bins: 2, counts: counts.to_vec() };
        Histogram::new(4..8, Unit::seconds(100), bins).unwrap()
    };
    assert!(matches!(sparse(&[(0, 0), (1, 2)]).bins(), Bins::Sparse { counts, .. } if *counts == [(1, 2)]));
    assert_eq!(sparse(&[(0, 0)]), Histogram::new(4..8, Unit::seconds(100), vec![0_u16, 0]).unwrap());
}

/// A PROF file of this many objects with one sample each, all at different addresses.
fn one_sample_each(objects: u64) -> Vec<u8> {
    let sample = |pc| {
        let bins = Bins::sparse(u64::MAX, vec![(pc, 1)]).unwrap();
        Profile::of_samples([Histogram::new(0..u64::MAX, Unit::seconds(0), bins).unwrap()]).unwrap()
    };
    let file = write(&sample(0), PROF).unwrap();
    let (start, _) = file.split_at(file.len() - 40);
    let objects = (0..objects).flat_map(|pc| write(&sample(pc), PROF).unwrap()[start.len()..].to_vec());
    start.iter().copied().chain(objects).collect()
}

#[test]
fn many_sparse_histograms_take_little_more_than_linear_work() {
    let file = one_sample_each(1 << 13);
    let profile = read_as(&file, PROF).unwrap();
    assert_eq!((profile.histograms().len(), profile.histograms()[0].hit().count()), (1, 1 << 13));
    assert_eq!(Profile::from_reader(&file[..], PROF).as_ref(), Ok(&profile));
    assert_eq!(Profile::from_records(Records::new(&file, PROF).unwrap()).as_ref(), Ok(&profile));
    let most = 32 * file.len();
    assert!(allocated(|| read_as(&file, PROF)) < most);
    assert!(allocated(|| Profile::from_reader(&file[..], PROF)) < most);
    assert!(allocated(|| Profile::from_records(Records::new(&file, PROF).unwrap())) < most);
}

#[test]
fn blocks_and_units_can_be_changed() {
    let mut profile = sampled(seconds(0x1000, 0x1010, &[1, 2])).with_blocks([Block::new(7, 8)]);
    profile.blocks_mut()[0].count = 9;
    assert_eq!(profile.blocks(), [Block::new(7, 9)]);
    profile.set_unit(Unit::seconds(1000));
    assert_eq!(profile.histograms()[0].unit(), Unit::seconds(1000));
}

#[test]
fn profiles_are_equal_if_their_contents_are() {
    let profile = || sampled(seconds(0x1000, 0x1010, &[1, 2]));
    assert_eq!(profile(), profile());
    assert_ne!(profile(), sampled(seconds(0x1000, 0x1010, &[1, 3])));
    assert!(Profile::new().is_empty());
    assert!(!profile().is_empty());
    assert!(!Profile::new().with_arcs([Arc::new(1, 2, 3)]).is_empty());
}

#[test]
fn a_profile_is_read_without_hints() {
    let profile = Profile::new().with_arcs([Arc::new(1, 2, 3)]);
    let file = write(&profile, Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little)).unwrap();
    assert_eq!(Profile::parse(&file), Ok(profile));
}

#[test]
fn an_error_names_the_first_histogram_of_a_scale() {
    let mut profile = Profile::new();
    for lowpc in [0x1000, 0x2000] {
        profile.add_record(gmon::Record::Histogram(seconds(lowpc, lowpc + 0x10, &[1, 2]))).unwrap();
    }
    let (first, second) = (0x1000..0x1010, 0x3000..0x3010);
    let error = Error::ScalesDiffer { first, first_bins: 2, second, second_bins: 4 };
    assert_eq!(profile.add_record(gmon::Record::Histogram(seconds(0x3000, 0x3010, &[1; 4]))), Err(error));
}
