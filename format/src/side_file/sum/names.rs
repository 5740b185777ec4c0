//! The objects and threads of a sum.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;

use crate::Part;
use crate::encode::side_file::Place;
use crate::layout::side_file::{CUT, ELSEWHERE, FIRST_RESERVED, KERNEL, PROGRAM, THREAD};
use crate::side_file::content::{Added, Refused, SideFile};
use crate::side_file::counts::Thread;
use crate::side_file::functions;
use crate::side_file::object::{Key, Kind, Object};

/// Objects and threads, each with a number in the order of their first appearance.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    objects: BTreeMap<Key, (u32, Object)>,
    /// For each object that is generated code, the names of its functions.
    functions: BTreeMap<u32, BTreeMap<Box<[u8]>, usize>>,
    threads: BTreeMap<Vec<u8>, (u32, Thread)>,
}

/// The numbers in the sum for the numbers of a file, or the other way.
#[derive(Clone, Debug, Default)]
pub(super) struct Translation {
    objects: BTreeMap<u32, u32>,
    /// For each object that is generated code, the indexes of its functions.
    functions: BTreeMap<u32, Vec<usize>>,
    threads: Vec<u32>,
}

/// The number of what a sum does not have.
const NOWHERE: u32 = u32::MAX;

/// What a sum describes.
pub(super) struct Described {
    pub(super) objects: BTreeMap<u32, Object>,
    pub(super) functions: BTreeMap<u32, Vec<Box<[u8]>>>,
    pub(super) threads: Vec<Thread>,
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
            _ => match self.functions.get(&place.object) {
                None => Place { object: self.object(place.object), ..place },
                Some(indexes) => match functions::index_of(place.address).and_then(|index| indexes.get(index)) {
                    Some(index) => Place { object: self.object(place.object), address: functions::address_of(*index) },
                    None => Place { object: ELSEWHERE, address: 0 },
                },
            },
        }
    }

    /// Whether the object with this number is generated code.
    pub(super) fn is_generated(&self, object: u32) -> bool {
        self.functions.contains_key(&object)
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

    /// Checks that the sum has numbers for the objects and threads of a file.
    pub(super) fn check(&self, file: &SideFile) -> Added<()> {
        let keys = file.objects.values().map(Object::key);
        let new: BTreeSet<Key> = keys.filter(|key| !self.objects.contains_key(key)).collect();
        let objects = self.objects.len().saturating_add(new.len());
        let known = self.functions.values().map(BTreeMap::len);
        let functions = file.functions.values().map(Vec::len).chain(known).fold(0, usize::saturating_add);
        if functions > functions::MOST {
            return Err(Refused(Part::Items, functions as u64));
        }
        // `finish` begins with the number after that of the program.
        if u32::try_from(objects).is_ok_and(|objects| objects < FIRST_RESERVED) {
            let threads = self.threads.len().saturating_add(file.threads.len());
            return u32::try_from(threads).map(drop).map_err(|_| Refused(Part::Items, threads as u64));
        }
        Err(Refused(Part::Items, objects as u64))
    }

    /// Adds the objects and threads of a file, for which there are numbers. The totals of the threads' counts fit 64
    /// bits.
    pub(super) fn add(&mut self, file: &SideFile) -> Translation {
        let objects: BTreeMap<u32, u32> =
            file.objects.iter().map(|(number, object)| (*number, self.add_object(object))).collect();
        let generated = file.objects.iter().filter(|(_, object)| object.kind == Kind::Generated);
        let functions = generated.filter_map(|(number, _)| {
            let known = self.functions.entry(*objects.get(number)?).or_default();
            Some((*number, file.functions(*number).iter().map(|name| add_function(known, name)).collect()))
        });
        let functions = functions.collect();
        let threads = file.threads.iter().map(|thread| self.add_thread(thread)).collect();
        Translation { objects, functions, threads }
    }

    /// The numbers in the sum for those of a file that the sum need not have. `threads` has the names of the file's
    /// threads in the sum. An object, a function, or a thread that the sum does not have gets a number that nothing in
    /// the sum has.
    pub(super) fn find(&self, file: &SideFile, threads: &[&[u8]]) -> Translation {
        let number = |object: &Object| self.objects.get(&object.key()).map_or(NOWHERE, |(number, _)| *number);
        let objects = file.objects.iter().map(|(own, object)| (*own, number(object))).collect();
        let generated = file.objects.iter().filter(|(_, object)| object.kind == Kind::Generated);
        let functions = generated.map(|(own, object)| {
            let known = self.functions.get(&number(object));
            let index = |name| known.and_then(|known| known.get(name)).copied().unwrap_or(functions::MOST);
            (*own, file.functions(*own).iter().map(index).collect())
        });
        let functions = functions.collect();
        let thread = |name: &&[u8]| self.threads.get(*name).map_or(NOWHERE, |(index, _)| *index);
        Translation { objects, functions, threads: threads.iter().map(thread).collect() }
    }

    /// The thread of the sum with this name.
    pub(super) fn thread_mut(&mut self, name: &[u8]) -> Option<&mut Thread> {
        self.threads.get_mut(name).map(|(_, thread)| thread)
    }

    fn add_object(&mut self, object: &Object) -> u32 {
        let next = self.objects.len() as u32;
        let (number, known) = self.objects.entry(object.key()).or_insert_with(|| (next, object.clone()));
        known.is_closed |= object.is_closed;
        known.code = known.code.start.min(object.code.start)..known.code.end.max(object.code.end);
        // Of two paths or generations any will do, but always the same.
        known.path = (&known.path).min(&object.path).clone();
        known.generation = known.generation.min(object.generation);
        *number
    }

    /// Adds a thread. Threads of one name are one thread in the sum.
    fn add_thread(&mut self, thread: &Thread) -> u32 {
        let next = self.threads.len() as u32;
        let Some((index, known)) = self.threads.get_mut(&thread.name) else {
            self.threads.insert(thread.name.clone(), (next, thread.clone()));
            return next;
        };
        known.number = 0;
        let counts =
            [(&mut known.threads, thread.threads), (&mut known.ticks, thread.ticks), (&mut known.calls, thread.calls)];
        for (sum, more) in counts {
            *sum = sum.saturating_add(more);
        }
        *index
    }

    /// The objects, their functions, and the threads in an order that depends only on their content, and the numbers
    /// that they have there.
    pub(super) fn finish(mut self) -> (Described, Translation) {
        let mut translation = Translation::default();
        let mut objects = BTreeMap::new();
        let mut next = PROGRAM;
        let mut functions = BTreeMap::new();
        for (_, (number, mut object)) in self.objects {
            let final_number = if object.kind == Kind::Program {
                PROGRAM
            } else {
                next = next.saturating_add(1);
                next
            };
            translation.objects.insert(number, final_number);
            if let Some(names) = self.functions.remove(&number) {
                object.code = 0..functions::function_addresses(names.len()).start;
                translation.functions.insert(number, order(&names));
                if !names.is_empty() {
                    functions.insert(final_number, names.into_keys().collect());
                }
            }
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
        (Described { objects, functions, threads }, translation)
    }
}

/// Adds a function to the functions of an object, and returns its index.
fn add_function(known: &mut BTreeMap<Box<[u8]>, usize>, name: &[u8]) -> usize {
    let next = known.len();
    let index = known.get(name).copied().unwrap_or(next);
    if index == next {
        known.insert(name.into(), next);
    }
    index
}

/// For each function in the order of first appearance the index in the order of the names.
fn order(names: &BTreeMap<Box<[u8]>, usize>) -> Vec<usize> {
    let mut order = vec![0; names.len()];
    for (new, before) in names.values().enumerate() {
        if let Some(place) = order.get_mut(*before) {
            *place = new;
        }
    }
    order
}
