//! Standard input, output, and error that are closed.

use std::fs::File;
use std::io;

use rustix::io::fcntl_getfd;

/// Opens the null device in the place of each standard descriptor that is closed, so that no file of gmon-run gets the
/// number, and messages reach no file. The files close when the program is executed: the program finds the descriptors
/// closed, as gmon-run found them.
pub(crate) fn fill() -> Vec<File> {
    let are_closed =
        [fcntl_getfd(io::stdin()).is_err(), fcntl_getfd(io::stdout()).is_err(), fcntl_getfd(io::stderr()).is_err()];
    // The kernel gives the lowest free number to a file, so each file gets the next closed descriptor.
    let closed = are_closed.into_iter().filter(|is_closed| *is_closed);
    closed.map_while(|_| File::options().read(true).write(true).open("/dev/null").ok()).collect()
}
