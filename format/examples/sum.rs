//! Adds up any number of profiles of one program: sum FILE... >gmon.sum

use std::{env, error::Error, fs, io};

use gmon::{Accumulator, DataModel, Encoding, Form, Order, Profile};

fn main() -> Result<(), Box<dyn Error>> {
    let mut sum = Accumulator::new();
    for name in env::args_os().skip(1) {
        // After an error, the sum has all profiles before this one.
        sum.add(Profile::parse(&fs::read(name)?)?)?;
    }
    let encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
    Ok(gmon::write_to(&sum.finish(), encoding, io::stdout().lock())?)
}
