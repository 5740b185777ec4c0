//! The size of side files of real programs.

use std::collections::HashMap;

use crate::counting::peak;
use gmon::Word;
use gmon::encode::Sink;
use gmon::encode::side_file::context;
use gmon::side_file::{Accumulator, Kind, Object, Place, SideFile, THREAD, Thread};

const NODES: usize = 1_000_000;

/// A program with its libraries: the sizes of their code, and the share of the functions that programs call there.
const OBJECTS: [(&str, u64, u64); 6] = [
    ("/usr/bin/server", 3 << 20, 50),
    ("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", 1 << 20, 15),
    ("/usr/lib/x86_64-linux-gnu/libc.so.6", 1 << 20, 20),
    ("/usr/lib/x86_64-linux-gnu/libcrypto.so.3", 3 << 20, 8),
    ("/usr/lib/x86_64-linux-gnu/libpython3.13.so.1.0", 4 << 20, 5),
    ("/usr/lib/x86_64-linux-gnu/libm.so.6", 1 << 19, 2),
];

/// Numbers that only look random.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    /// A number below the limit. Low numbers come more often: half of all numbers are below a sixth of the limit.
    fn skewed(&mut self, limit: u64) -> u64 {
        let (one, two) = (self.below(1 << 15), self.below(1 << 15));
        (one * two * limit) >> 30
    }
}

/// A program of functions with call sites.
struct Program {
    /// For each function its object, its address, and its size.
    functions: Vec<(u32, u64, u64)>,
    /// For each function the return addresses of its call sites, and the functions that they call.
    sites: Vec<Vec<(u64, usize)>>,
}

impl Program {
    fn new(random: &mut Random) -> Program {
        let mut functions = Vec::new();
        for (number, (_, size, share)) in OBJECTS.into_iter().enumerate() {
            let count = share * 60;
            for at in 0..count {
                functions.push((number as u32, 0x1000 + size / count * at, size / count));
            }
        }
        let mut sites = Vec::new();
        for (index, (_, address, size)) in functions.iter().enumerate() {
            let called = |random: &mut Random| {
                // Most calls stay near; the others lead to any object.
                let near = (index as u64 + random.skewed(200)) % functions.len() as u64;
                if random.below(100) < 75 { near } else { random.below(functions.len() as u64) }
            };
            let count = 1 + random.skewed(12);
            let sites_of = (0..count).map(|at| (address + size / (count + 1) * (at + 1) + 5, called(random) as usize));
            sites.push(sites_of.collect());
        }
        Program { functions, sites }
    }

    /// A stack: places from the outermost to the innermost.
    fn stack(&self, random: &mut Random, thread: u64) -> Vec<Place> {
        let mut stack = vec![Place { object: THREAD, address: thread }];
        let mut function = random.skewed(40) as usize;
        let depth = 8 + random.skewed(60);
        for _ in 0..depth {
            let (object, ..) = self.functions[function];
            let sites = &self.sites[function];
            let (address, called) = sites[random.skewed(sites.len() as u64) as usize];
            stack.push(Place { object, address });
            function = called;
        }
        let (object, address, size) = self.functions[function];
        stack.push(Place { object, address: address + random.skewed(size) });
        stack
    }
}

/// Samples a program until its tree has this many nodes, in the order in which a sampler adds nodes.
fn sampled(nodes: usize) -> SideFile {
    let mut random = Random(1);
    let program = Program::new(&mut random);
    let mut side = SideFile::new(Word::W64);
    for (number, (path, size, _)) in OBJECTS.into_iter().enumerate() {
        let kind = if number == 0 { Kind::Program } else { Kind::Shared };
        let mut object = Object::new(kind, path.as_bytes());
        object.code = 0x1000..0x1000 + size;
        side.add_object(number as u32, object).unwrap();
    }
    for number in 0..4 {
        side.add_thread(Thread::new(number, format!("worker {number}").as_bytes()));
    }
    let mut known: HashMap<(Option<usize>, Place), usize> = HashMap::new();
    let mut tree: Vec<(Option<usize>, Place, u64)> = Vec::new();
    while tree.len() < nodes {
        let thread = random.skewed(4);
        let mut node = None;
        for place in program.stack(&mut random, thread) {
            let index = *known.entry((node, place)).or_insert(tree.len());
            if index == tree.len() {
                tree.push((node, place, 0));
            }
            node = Some(index);
        }
        tree[node.unwrap()].2 += 1 + random.skewed(random.0 % 7 + 1) * 30;
    }
    for (parent, place, ticks) in tree.into_iter().take(nodes) {
        side.add_context(parent, place, ticks).unwrap();
    }
    side
}

/// Counts the calls of a sink and the bytes.
#[derive(Default)]
struct Work {
    calls: usize,
    bytes: usize,
}

impl Sink for Work {
    type Error = ();

    fn bytes(&mut self, bytes: &[u8]) {
        self.calls += 1;
        self.bytes += bytes.len();
    }

    fn u32(&mut self, _: u32) {
        self.bytes(&[0; 4]);
    }

    fn u64(&mut self, _: u64) {
        self.bytes(&[0; 8]);
    }

    fn word(&mut self, _: u64) -> Result<(), ()> {
        self.bytes(&[0; 8]);
        Ok(())
    }
}

#[test]
fn a_tree_of_a_million_nodes_takes_less_than_eight_million_bytes() {
    let side = sampled(NODES);
    let nodes = side.contexts().nodes();
    assert_eq!(nodes.len(), NODES);
    let objects = nodes.iter().filter(|node| node.place().object != 0).count();
    assert!(objects > NODES / 4, "{objects} nodes in shared objects");

    let bytes = side.write();
    println!("{} bytes as sampled", bytes.len());
    assert!(bytes.len() < 7 * NODES, "{} bytes in the order of a sampler", bytes.len());
    let mut read = None;
    let used = peak(|| read = SideFile::parse(&bytes).ok());
    assert!(used < 40 * NODES, "{used} bytes of memory");
    assert_eq!(read.as_ref(), Some(&side));

    // A node takes three or four numbers, each written at once, whatever the size of the tree.
    let mut work = Work::default();
    for (index, node) in nodes.iter().enumerate() {
        let distance = node.parent().map_or(0, |parent| index - parent) as u32;
        context(&mut work, distance, node.parent().map(|parent| nodes[parent].place()), node.place(), node.ticks());
    }
    assert!(work.calls <= 4 * NODES && work.bytes <= bytes.len());

    let mut sum = Accumulator::new();
    for _ in 0..2 {
        sum.add(&side).unwrap();
    }
    let sum = sum.finish();
    assert_eq!((sum.contexts().nodes().len(), sum.contexts().total()), (NODES, 2 * side.contexts().total()));
    let bytes = sum.write();
    println!("{} bytes in order", bytes.len());
    assert!(bytes.len() < 7 * NODES, "{} bytes in the order of a sum", bytes.len());
}
