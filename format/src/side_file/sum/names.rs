//! The objects and threads of a sum.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::Field;
use crate::encode::side_file::Place;
use crate::layout::side_file::{CUT, ELSEWHERE, FIRST_RESERVED, KERNEL, PROGRAM, THREAD};
use crate::side_file::content::{Added, Refused, SideFile};
use crate::side_file::counts::Thread;
use crate::side_file::object::{Key, Kind, Object};

/// Objects and threads, each with a number in the order of their first appearance.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    objects: BTreeMap<Key, (u32, Object)>,
    threads: BTreeMap<Vec<u8>, (u32, Thread)>,
}

/// The numbers in the sum for the numbers of a file, or the other way.
#[derive(Clone, Debug, Default)]
pub(super) struct Translation {
    objects: BTreeMap<u32, u32>,
    threads: Vec<u32>,
}

impl Translation {
    pub(super) fn place(&self, place: Place) -> Place {
        match place.object {
            CUT => place,
            THREAD => {
                let thread = usize::try_from(place.address).ok().and_then(|index| self.threads.get(index));
                Place { address: thread.copied().unwrap_or(0).into(), ..place }
            }
            // These addresses mean nothing in another run.
            KERNEL | ELSEWHERE => Place { address: 0, ..place },
            _ => Place { object: self.object(place.object), ..place },
        }
    }

    pub(super) fn object(&self, number: u32) -> u32 {
        self.objects.get(&number).copied().unwrap_or(number)
    }

    pub(super) fn thread(&self, thread: Option<u32>) -> Option<u32> {
        thread.and_then(|thread| self.threads.get(thread as usize)).copied()
    }
}

impl Names {
    /// Whether the file is of another program than the sum.
    pub(super) fn is_other_program(&self, file: &SideFile) -> bool {
        // A program's key comes first.
        let known = self.objects.first_key_value().filter(|(_, (_, object))| object.kind == Kind::Program);
        matches!((known, file.program()), (Some((known, _)), Some(program)) if *known != program.key())
    }

    /// Adds the objects and threads of a file.
    pub(super) fn add(&mut self, file: &SideFile) -> Added<Translation> {
        let mut translation = Translation::default();
        for (number, object) in &file.objects {
            translation.objects.insert(*number, self.add_object(object)?);
        }
        for thread in &file.threads {
            translation.threads.push(self.add_thread(thread)?);
        }
        Ok(translation)
    }

    fn add_object(&mut self, object: &Object) -> Added<u32> {
        let next = self.objects.len();
        if let Some((number, known)) = self.objects.get_mut(&object.key()) {
            known.is_closed |= object.is_closed;
            known.code = known.code.start.min(object.code.start)..known.code.end.max(object.code.end);
            // Of two paths or generations any will do, but always the same.
            known.path = (&known.path).min(&object.path).clone();
            known.generation = known.generation.min(object.generation);
            return Ok(*number);
        }
        let number = u32::try_from(next).ok().filter(|next| *next < FIRST_RESERVED.saturating_sub(1));
        let number = number.ok_or(Refused(Field::Items, next as u64))?;
        self.objects.insert(object.key(), (number, object.clone()));
        Ok(number)
    }

    /// Adds a thread. Threads of one name are one thread in the sum.
    fn add_thread(&mut self, thread: &Thread) -> Added<u32> {
        let next = self.threads.len();
        let Some((index, known)) = self.threads.get_mut(&thread.name) else {
            let index = u32::try_from(next).map_err(|_| Refused(Field::Items, next as u64))?;
            self.threads.insert(thread.name.clone(), (index, thread.clone()));
            return Ok(index);
        };
        known.number = 0;
        let counts =
            [(&mut known.threads, thread.threads), (&mut known.ticks, thread.ticks), (&mut known.calls, thread.calls)];
        for (sum, more) in counts {
            *sum = sum.checked_add(more).ok_or(Refused(Field::Count, more))?;
        }
        Ok(*index)
    }

    /// The objects and threads in an order that depends only on their content, and the numbers that they have there.
    pub(super) fn finish(self) -> (BTreeMap<u32, Object>, Vec<Thread>, Translation) {
        let mut translation = Translation::default();
        let mut objects = BTreeMap::new();
        let mut next = PROGRAM;
        for (_, (number, object)) in self.objects {
            let final_number = if object.kind == Kind::Program {
                PROGRAM
            } else {
                next = next.saturating_add(1);
                next
            };
            translation.objects.insert(number, final_number);
            objects.insert(final_number, object);
        }
        let mut threads = Vec::with_capacity(self.threads.len());
        translation.threads.resize(self.threads.len(), 0);
        for (new, (_, (index, thread))) in (0_u32..).zip(self.threads) {
            if let Some(place) = translation.threads.get_mut(index as usize) {
                *place = new;
            }
            threads.push(thread);
        }
        (objects, threads, translation)
    }
}
