//! The parts of a graph that no arrow connects.

use super::shapes::Arrow;

/// A part: its boxes and arrows, by their indexes.
#[derive(Debug, Default)]
pub(super) struct Component {
    /// In ascending order.
    pub(super) boxes: Vec<usize>,
    pub(super) arrows: Vec<usize>,
}

impl Component {
    /// Returns the arrows of the part, between the places of its boxes.
    pub(super) fn inner_arrows(&self, arrows: &[Arrow]) -> Vec<Arrow> {
        let place = |index: usize| self.boxes.partition_point(|other| *other < index);
        let inner = |index: &usize| Arrow { from: place(arrows[*index].from), to: place(arrows[*index].to) };
        self.arrows.iter().map(inner).collect()
    }
}

/// Returns the parts, the one with the first box first.
pub(super) fn components(boxes: usize, arrows: &[Arrow]) -> Vec<Component> {
    let mut near: Vec<Vec<usize>> = vec![Vec::new(); boxes];
    for arrow in arrows {
        near[arrow.from].push(arrow.to);
        near[arrow.to].push(arrow.from);
    }
    let mut number: Vec<Option<usize>> = vec![None; boxes];
    let mut count = 0;
    for start in 0..boxes {
        let mut left = if number[start].is_none() { vec![start] } else { continue };
        while let Some(at) = left.pop() {
            if number[at].replace(count).is_none() {
                left.extend(near[at].iter().filter(|other| number[**other].is_none()));
            }
        }
        count += 1;
    }
    let mut components: Vec<Component> = (0..count).map(|_| Component::default()).collect();
    for (index, number) in number.iter().enumerate() {
        if let Some(component) = number.and_then(|number| components.get_mut(number)) {
            component.boxes.push(index);
        }
    }
    for (index, arrow) in arrows.iter().enumerate() {
        if let Some(component) = number[arrow.from].and_then(|number| components.get_mut(number)) {
            component.arrows.push(index);
        }
    }
    components
}
