//! The images of the objects in a side file.

use std::collections::BTreeMap;

use gmon::side_file::PROGRAM;

/// For each number of a side file that is an object with an image, the index of the image.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ObjectImages(BTreeMap<u32, usize>);

impl ObjectImages {
    pub(super) fn new(images: impl Iterator<Item = (u32, usize)>) -> ObjectImages {
        ObjectImages(images.collect())
    }

    /// Only the program has an image.
    pub(crate) fn of_program(image: usize) -> ObjectImages {
        ObjectImages([(PROGRAM, image)].into())
    }

    /// The index of an object's image.
    pub(crate) fn image(&self, number: u32) -> Option<usize> {
        self.0.get(&number).copied()
    }

    /// Removes an image that is left out. The indexes of later images decrease by one.
    pub(crate) fn remove_image(&mut self, gone: usize) {
        self.0.retain(|_, image| *image != gone);
        self.0.values_mut().for_each(|image| *image -= usize::from(*image > gone));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_that_is_left_out() {
        let mut images = ObjectImages::new([(0, 0), (3, 1), (4, 2), (5, 2)].into_iter());
        images.remove_image(1);
        assert_eq!(images, ObjectImages::new([(0, 0), (4, 1), (5, 1)].into_iter()));
        assert_eq!([images.image(4), images.image(3)], [Some(1), None]);
    }
}
