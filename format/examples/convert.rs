//! Converts a profile of any form into GNU's: convert FILE >gmon.out

use std::{env, error::Error, fs, io};

use gmon::{Encoding, Form, Hints};

fn main() -> Result<(), Box<dyn Error>> {
    let Some(name) = env::args_os().nth(1) else { return Ok(()) };
    let bytes = fs::read(name)?;
    let detection = gmon::detect(&bytes, &Hints::new())?;
    for evidence in detection.evidence() {
        eprintln!("{evidence}");
    }
    let found = detection.encoding();
    let profile = gmon::read_as(&bytes, found)?;
    Ok(gmon::write_to(&profile, Encoding::new(Form::Gnu, found.model, found.order), io::stdout().lock())?)
}
