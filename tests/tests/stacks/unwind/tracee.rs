//! A program that runs instruction by instruction under ptrace.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use gmon_runtime::os::{CONTEXT_PC, CONTEXT_REGISTERS};
use gmon_unwind::{Memory, Object, Section};
use nix::sys::personality::{self, Persona};
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::unwind::elf::Elf;

pub(crate) type Registers = libc::user_regs_struct;

const PAGE: usize = 4096;
/// An address at which the registers of the stopped program appear as a signal context. No program has memory there.
pub(crate) const CONTEXT: usize = 0x1000;

/// A program that is stopped between two instructions.
pub(crate) struct Tracee {
    task: Pid,
    memory: File,
    registers: Registers,
    pages: RefCell<HashMap<usize, Option<Box<[u8; PAGE]>>>>,
    files: HashMap<String, Option<&'static Elf>>,
    /// The loaded objects and their load biases.
    origins: Vec<(&'static Elf, usize)>,
    pub(crate) objects: Vec<Object<'static>>,
}

impl Tracee {
    /// Starts a program, which is stopped before its first instruction.
    pub(crate) fn start(program: &Path) -> Tracee {
        let mut command = Command::new(program);
        command.env_clear().stdin(Stdio::null()).stdout(Stdio::null());
        let prepare = || {
            personality::set(Persona::ADDR_NO_RANDOMIZE)?;
            ptrace::traceme()?;
            Ok(())
        };
        // SAFETY: between fork and exec the closure makes two system calls and nothing else.
        unsafe { command.pre_exec(prepare) };
        let child = command.spawn().unwrap();
        let task = Pid::from_raw(child.id().try_into().unwrap());
        // From now on, the test waits for the program by its ID.
        std::mem::forget(child);
        assert!(matches!(waitpid(task, None).unwrap(), WaitStatus::Stopped(_, Signal::SIGTRAP)));
        ptrace::setoptions(task, Options::PTRACE_O_EXITKILL).unwrap();
        let memory = File::open(format!("/proc/{task}/mem")).unwrap();
        let registers = ptrace::getregs(task).unwrap();
        let (pages, files) = (RefCell::default(), HashMap::new());
        Tracee { task, memory, registers, pages, files, origins: Vec::new(), objects: Vec::new() }
    }

    pub(crate) fn registers(&self) -> &Registers {
        &self.registers
    }

    /// Runs one instruction, or delivers a signal. Returns the signal that is to be delivered next, if any, or the
    /// program's exit status.
    pub(crate) fn step(&mut self, signal: Option<Signal>) -> Result<Option<Signal>, i32> {
        ptrace::step(self.task, signal).unwrap();
        self.pages.borrow_mut().clear();
        let status = waitpid(self.task, None).unwrap();
        let next = match status {
            WaitStatus::Stopped(_, Signal::SIGTRAP) => None,
            WaitStatus::Stopped(_, signal) => Some(signal),
            WaitStatus::Exited(_, status) => return Err(status),
            status => panic!("{status:?}"),
        };
        self.registers = ptrace::getregs(self.task).unwrap();
        Ok(next)
    }

    /// Bytes of the program; 0 where there is no memory.
    pub(crate) fn bytes<const N: usize>(&self, address: usize) -> [u8; N] {
        let mut bytes = [0; N];
        let _ = self.memory.read_at(&mut bytes, address as u64);
        bytes
    }

    fn with_page<T>(&self, page: usize, then: impl FnOnce(&[u8; PAGE]) -> T) -> Option<T> {
        let mut pages = self.pages.borrow_mut();
        let read = || {
            let mut bytes = Box::new([0; PAGE]);
            self.memory.read_exact_at(&mut *bytes, page as u64).ok().map(|()| bytes)
        };
        pages.entry(page).or_insert_with(read).as_deref().map(then)
    }

    /// The register at an offset in the context. Other words of a context cannot be read.
    fn register(&self, offset: usize) -> Option<usize> {
        let r = &self.registers;
        let in_dwarfs_order = [
            r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8, r.r9, r.r10, r.r11, r.r12, r.r13, r.r14,
            r.r15,
        ];
        if offset == usize::from(CONTEXT_PC) {
            return Some(r.rip as usize);
        }
        let number = CONTEXT_REGISTERS.iter().position(|known| usize::from(*known) == offset)?;
        Some(in_dwarfs_order[number] as usize)
    }

    /// Learns which objects are loaded now.
    pub(crate) fn find_objects(&mut self) {
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", self.task)).unwrap();
        self.origins.clear();
        for line in maps.lines() {
            let words: Vec<_> = line.split_whitespace().collect();
            let &[range, _, offset, _, _, name] = words.as_slice() else { continue };
            let is_file = name.starts_with('/');
            if offset.chars().any(|digit| digit != '0') || !(is_file || name == "[vdso]") {
                continue;
            }
            let (start, end) = range.split_once('-').unwrap();
            let (start, end) = [start, end].map(|text| usize::from_str_radix(text, 16).unwrap()).into();
            let read = || {
                let mut bytes = vec![0; end - start];
                if is_file {
                    bytes = std::fs::read(name).unwrap();
                } else {
                    self.memory.read_exact_at(&mut bytes, start as u64).unwrap();
                }
                Elf::parse(name.to_owned(), &bytes).map(|elf| &*Box::leak(Box::new(elf)))
            };
            if let Some(elf) = *self.files.entry(name.to_owned()).or_insert_with(read) {
                // All objects here are linked at address 0, except programs at fixed addresses.
                let bias = if elf.first == start { 0 } else { start };
                self.origins.push((elf, bias));
            }
        }
        self.origins.sort_by_key(|(elf, bias)| elf.code.start + bias);
        self.objects = self.origins.iter().map(|(elf, bias)| loaded(elf, *bias)).collect();
    }
}

impl Tracee {
    /// The symbol at an address, for messages.
    pub(crate) fn name(&self, pc: usize) -> String {
        let object = self.objects.iter().rposition(|object| object.start() <= pc);
        let Some((elf, bias)) = object.and_then(|index| self.origins.get(index)) else { return format!("{pc:#x}") };
        let address = (pc - bias) as u64;
        let symbol = elf.symbols.iter().rev().find(|(start, _)| *start <= address);
        symbol.map_or_else(
            || format!("{}+{address:#x}", elf.name),
            |(start, name)| format!("{name} of {} ({:#x})", elf.name, address - start),
        )
    }
}

fn loaded(elf: &'static Elf, bias: usize) -> Object<'static> {
    let section = Section { address: elf.tables.address + bias, bytes: &elf.tables.bytes };
    Object::new(elf.code.start + bias..elf.code.end + bias, section, elf.header)
}

impl Memory for Tracee {
    fn read(&self, address: usize) -> Option<usize> {
        if (CONTEXT..CONTEXT + 512).contains(&address) {
            return self.register(address - CONTEXT);
        }
        let mut word = [0; size_of::<usize>()];
        for (index, byte) in word.iter_mut().enumerate() {
            let at = address.checked_add(index)?;
            *byte = self.with_page(at & !(PAGE - 1), |page| page[at % PAGE])?;
        }
        Some(usize::from_ne_bytes(word))
    }
}

impl Drop for Tracee {
    fn drop(&mut self) {
        let _ = ptrace::kill(self.task);
        let _ = waitpid(self.task, None);
    }
}
