//! What changed between two analyses: of two runs, or of two builds.

mod change;
mod flame;
mod images;
mod join;
mod model;
mod noise;
mod rows;
mod side;
mod subjects;

pub use change::Change;
pub use model::{ChangedFrame, Difference, DifferenceFlame, DifferenceRow, Presence};
pub use rows::difference;
