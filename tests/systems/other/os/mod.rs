//! The items that the runtime needs of a system in `os/`: numbers, layouts and sizes that no real system has, and
//! functions without bodies. `tests/tests/house/systems.rs` compiles this folder; nothing runs it.
#![allow(unused_variables, unused_mut, clippy::all)]

use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicU32, AtomicU64};

pub use crate::arch::LARGEST_PAGE;
use super::Mapping;
use crate::text::Text;

// Code.

pub const IS_TEXT_READABLE: bool = true;
pub const WALKS_STACKS: bool = false;
pub(crate) const TAKES_REQUESTS: bool = true;
pub const NEEDS_ENDBR: bool = false;
pub const HEARS_OF_LOSSES: bool = false;
pub const HOLDS_LITTLE: bool = true;

// Walks through stacks.

pub const SIGNAL_TRAMPOLINE: &[u8] = &[0];
pub const SIGNAL_TRAMPOLINE_CALL: usize = 0;
pub const CONTEXT_ABOVE_STACK: usize = 0;
pub const CONTEXT_REGISTERS: &[u16] = &[];
pub const CONTEXT_PC: u16 = 0;
pub(crate) fn vdso() -> usize {
    loop {}
}
pub(crate) fn store_thread_name(name: &[AtomicU64; 2]) {
    loop {}
}
pub(crate) fn name_of_thread(number: i32) -> [u64; 2] {
    loop {}
}
pub fn copy_own_memory(address: usize, bytes: &mut [u8]) -> bool {
    loop {}
}
pub fn is_readable(address: usize) -> bool {
    loop {}
}
pub fn is_readable_in_handler(address: usize) -> bool {
    loop {}
}

// Errors.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);
impl Errno {
    pub const EBADF: Errno = Errno(9);
    pub const ENOENT: Errno = Errno(2);
    pub const EAGAIN: Errno = Errno(35);
    pub const ENOMEM: Errno = Errno(12);
    pub const EACCES: Errno = Errno(13);
    pub const EEXIST: Errno = Errno(17);
    pub const EMFILE: Errno = Errno(24);
    pub const ENFILE: Errno = Errno(23);
    pub const EROFS: Errno = Errno(30);
    pub const EPIPE: Errno = Errno(32);
    pub const EPERM: Errno = Errno(1);
    pub const EFBIG: Errno = Errno(27);
    pub const EINTR: Errno = Errno(4);
    pub const EINVAL: Errno = Errno(22);
    pub const ENAMETOOLONG: Errno = Errno(63);
    pub const ENOTDIR: Errno = Errno(20);
    pub const EALREADY: Errno = Errno(37);
    pub(crate) fn text(self) -> &'static [u8] {
        loop {}
    }
}
impl Errno {
    pub const EFAULT: Errno = Errno(14);
}
pub fn set_errno(error: Errno) {
    loop {}
}

// Files.

pub(crate) const CURRENT: Fd = Fd(-100);
pub(crate) const O_RDWR: usize = 0o2;
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fd(pub(crate) i32);
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Status {
    mode: u16,
    pub(crate) size: u64,
    pub(crate) links: u32,
    pub(crate) owner: u32,
    inode: u64,
    device: [u32; 2],
    /// The time of birth, if the file system has it. File systems reuse the inode numbers of deleted files.
    born: [u64; 2],
}
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) inode: u64,
    pub(crate) device: u64,
}
impl Identity {
    pub(crate) const NONE: Identity = Identity { inode: 0, device: 0 };
    pub(crate) fn of(path: *const c_char) -> Identity {
        loop {}
    }
}
impl Status {
    pub(crate) fn is_directory(&self) -> bool {
        loop {}
    }
    pub(crate) fn is_character_device(&self) -> bool {
        loop {}
    }
    pub(crate) fn is_regular(&self) -> bool {
        loop {}
    }
    pub(crate) fn is_shared(&self) -> bool {
        loop {}
    }
    pub(crate) fn is_open_to_all(&self) -> bool {
        loop {}
    }
    pub(crate) fn is_same_file(&self, other: &Status) -> bool {
        loop {}
    }
}
impl Fd {
    pub(crate) fn open_directory(path: &CStr) -> Result<Fd, Errno> {
        loop {}
    }
    pub(crate) fn create_for_writing(self, path: &CStr, mode: usize, to_map: bool) -> Result<Fd, Errno> {
        loop {}
    }
    pub(crate) fn unlink(self, path: &CStr) -> Result<(), Errno> {
        loop {}
    }
    pub(crate) fn rename(self, from: &CStr, to: &CStr) -> Result<(), Errno> {
        loop {}
    }
    pub(crate) fn open_existing_to_change(self, path: &CStr) -> Result<Fd, Errno> {
        loop {}
    }
    pub(crate) fn open_existing(self, path: &CStr) -> Result<Fd, Errno> {
        loop {}
    }
    pub(crate) fn open_for_writing(self, path: &CStr, mode: usize, to_map: bool) -> Result<Fd, Errno> {
        loop {}
    }
    pub(crate) fn takes_writing(self, milliseconds: u32) -> bool {
        loop {}
    }
    pub(crate) fn duplicate(self, lowest: usize) -> Result<Fd, Errno> {
        loop {}
    }
    pub(crate) fn appends(self) -> bool {
        loop {}
    }
    pub(crate) fn out_of_the_way(self) -> Fd {
        loop {}
    }
    pub(crate) fn push_path<const N: usize>(self, path: &mut Text<N>) {
        loop {}
    }
    pub(crate) fn extend(self, offset: usize, length: usize) -> Result<(), Errno> {
        loop {}
    }
    pub(crate) fn status(self) -> Result<Status, Errno> {
        loop {}
    }
    pub(crate) fn identity(self) -> Option<Identity> {
        loop {}
    }
    pub(crate) fn open_regular_for_reading(self, path: &CStr) -> Result<Fd, Errno> {
        loop {}
    }
    pub(crate) fn lock(self) -> Result<(), Errno> {
        loop {}
    }
    pub(crate) fn unlock(self) -> Result<(), Errno> {
        loop {}
    }
    pub(crate) fn next_data(self, offset: usize) -> Option<usize> {
        loop {}
    }
    pub(crate) fn read_at(self, bytes: &mut [u8], offset: usize) -> Result<usize, Errno> {
        loop {}
    }
    pub(crate) fn write_all(self, bytes: &[u8]) -> Result<(), Errno> {
        loop {}
    }
    pub(crate) fn write_all_at(self, bytes: &[u8], offset: usize) -> Result<(), Errno> {
        loop {}
    }
    pub(crate) fn truncate(self) -> Result<(), Errno> {
        loop {}
    }
    pub(crate) fn set_length(self, length: usize) -> Result<(), Errno> {
        loop {}
    }
    pub(crate) fn close(self) -> Result<(), Errno> {
        loop {}
    }
}
pub(crate) fn file_mask() -> usize {
    loop {}
}
pub(crate) fn changed_mask() -> usize {
    loop {}
}
pub(crate) fn restore_limit() {
    loop {}
}
pub(crate) fn push_current_directory<const N: usize>(path: &mut Text<N>) {
    loop {}
}
pub(crate) fn is_path_of(path: &CStr, status: &Status) -> bool {
    loop {}
}
pub(crate) fn push_program_path<const N: usize>(path: &mut Text<N>) {
    loop {}
}
pub(crate) fn push_command_line<const N: usize>(words: &mut Text<N>) {
    loop {}
}
pub(crate) fn push_host_name<const N: usize>(host: &mut Text<N>) {
    loop {}
}
pub(crate) fn unix_time() -> u64 {
    loop {}
}

pub(crate) const PLAIN_NAME: &[u8] = b"";
pub(crate) const NAME_START: &[u8] = b"mon.";
pub(crate) const NAME_END: &[u8] = b".mon";
pub(crate) const PROCESS_VARIABLE: &[u8] = b"";

// Mappings.

pub(crate) const VDSO_PATH: &[u8] = b"[vdso]";
pub(crate) struct MapsRoom {
    room: [u8; 4096],
}
pub(crate) fn path_of_file<'a>(mapping: &Mapping<'a>) -> &'a [u8] {
    loop {}
}
pub(crate) fn for_each_mapping(room: &mut MapsRoom, mut each: impl FnMut(&Mapping<'_>)) -> Result<(), Errno> {
    loop {}
}
pub(crate) struct OwnMemory {
    process: i32,
    file: Option<Fd>,
}
impl OwnMemory {
    pub(crate) fn open() -> Result<OwnMemory, Errno> {
        loop {}
    }
    pub(crate) fn read<const N: usize>(&self, address: usize) -> Option<[u8; N]> {
        loop {}
    }
    pub(crate) fn fill(&self, address: usize, bytes: &mut [u8]) -> bool {
        loop {}
    }
    pub(crate) fn close(self) {
        loop {}
    }
}

// Changes of code.

pub(crate) const CHANGES_CODE: bool = true;
pub(crate) struct OwnCode;
impl OwnCode {
    pub(crate) fn open() -> OwnCode {
        loop {}
    }
    pub(crate) fn writes_single_bytes(&self) -> bool {
        loop {}
    }
    pub(crate) unsafe fn write(&self, address: usize, bytes: &[u8]) -> Result<(), Errno> {
        loop {}
    }
    pub(crate) fn close(self) {
        loop {}
    }
}
pub(crate) fn steady_time() -> u64 {
    loop {}
}
pub(crate) fn process_time() -> Option<u64> {
    loop {}
}
pub(crate) fn thread_time() -> u64 {
    loop {}
}
pub(crate) fn synchronize() {
    loop {}
}
pub(crate) fn map_at(address: usize, length: usize) -> bool {
    loop {}
}
pub(crate) unsafe fn make_executable(address: usize, length: usize) -> Result<(), Errno> {
    loop {}
}
pub(crate) fn open_object_file(path: Option<&CStr>) -> Result<Fd, Errno> {
    loop {}
}

// Memory.

pub(crate) const PAGE: usize = 4096;
pub(crate) fn reserve() {
    loop {}
}
pub(crate) fn reserve_for_good() {
    loop {}
}
pub(crate) fn take_reserved(length: usize) -> *mut c_void {
    loop {}
}
pub(crate) fn map_own_word() -> *mut c_void {
    loop {}
}
pub fn map(length: usize) -> *mut c_void {
    loop {}
}
pub(crate) fn map_file(file: Fd, offset: usize, length: usize) -> Result<*mut c_void, Errno> {
    loop {}
}
pub(crate) unsafe fn replace(memory: *mut c_void, length: usize) -> bool {
    loop {}
}
pub unsafe fn clear(memory: *mut c_void, length: usize) {
    loop {}
}
pub unsafe fn unmap(memory: *mut c_void, length: usize) {
    loop {}
}

// Signals.

pub(crate) const SIGPIPE: c_int = 13;
pub(crate) const SIGXFSZ: c_int = 25;
pub(crate) const FATAL_SIGNALS: [c_int; 21] =
    [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16, 24, 26, 27, 29, 30, 31];
pub(crate) const LOOKED_FOR_SIGNALS: [c_int; 4] = [2, 7, 11, 14];
pub(crate) fn signal_named(name: &[u8]) -> Option<c_int> {
    loop {}
}
pub(crate) fn is_free_for_use(signal: c_int) -> bool {
    loop {}
}
#[repr(C)]
pub struct SignalInfo {
    signal: c_int,
}
pub type Handler = unsafe extern "C" fn(c_int, *const SignalInfo, *const c_void);
pub(crate) fn catch_signal(signal: c_int, handler: Handler) -> Result<(), Errno> {
    loop {}
}
pub(crate) fn on_fatal_signal(signal: c_int, entries: usize) -> Result<(), Errno> {
    loop {}
}
pub(crate) fn uncatch_signal(signal: c_int, handler: Handler) {
    loop {}
}
pub(crate) fn is_not_handled(signal: c_int) -> bool {
    loop {}
}
pub(crate) fn default_action(signal: c_int) {
    loop {}
}
pub(crate) unsafe fn let_signal_end(signal: c_int, info: *const SignalInfo, context: *mut c_void) {
    loop {}
}
pub fn block_signals() -> SignalSet {
    loop {}
}
pub(crate) fn try_to_block_signals() -> Result<SignalSet, Errno> {
    loop {}
}
#[derive(Clone, Copy, PartialEq)]
pub struct SignalSet([u32; 4]);
pub(crate) const NO_SIGNALS: SignalSet = SignalSet([0; 4]);
pub(crate) struct SavedSignals([AtomicU32; 4]);
impl SavedSignals {
    pub(crate) const fn none() -> SavedSignals {
        SavedSignals([const { AtomicU32::new(0) }; 4])
    }
    pub(crate) fn save(&self, signals: SignalSet) {
        loop {}
    }
    pub(crate) fn saved(&self) -> SignalSet {
        loop {}
    }
}
pub(crate) fn with_signal(signals: SignalSet, signal: c_int) -> SignalSet {
    loop {}
}
pub(crate) fn without_signal(signals: SignalSet, signal: c_int) -> SignalSet {
    loop {}
}
pub(crate) fn contains(signals: SignalSet, signal: c_int) -> bool {
    loop {}
}
pub fn set_blocked_signals(blocked: SignalSet) {
    loop {}
}
pub(crate) fn pending_signals() -> Result<SignalSet, Errno> {
    loop {}
}
pub(crate) fn take_signal(signal: c_int) {
    loop {}
}

// Handlers that are hidden from the program.

pub(crate) fn set_handler_entries(entries: usize) {
    loop {}
}

pub(crate) fn reveal(signal: c_int) -> bool {
    loop {}
}

// The signal context.

pub unsafe fn interrupted_pc(context: *const c_void) -> usize {
    loop {}
}

// Processes and threads.

pub(crate) fn process_id() -> i32 {
    loop {}
}
pub(crate) fn known_process_id() -> Option<i32> {
    loop {}
}
pub fn a_moment() {
    loop {}
}
pub(crate) fn give_way() {
    loop {}
}
pub(crate) fn effective_user() -> u32 {
    loop {}
}
pub fn thread_id() -> i32 {
    loop {}
}
pub(crate) const UNKNOWN_THREAD: i32 = -1;
pub(crate) fn exit_process(status: i32) -> ! {
    loop {}
}
pub(crate) fn thread_is_gone(id: i32) -> bool {
    loop {}
}

pub(crate) fn enter_thread() {
    loop {}
}

// Memory that may not exist.

pub fn read(address: usize, bytes: &mut [u8]) -> Result<(), Errno> {
    loop {}
}
pub fn write(address: usize, bytes: &[u8]) -> Result<(), Errno> {
    loop {}
}
impl Fd {
    pub(crate) fn write_memory(self, address: usize, length: usize) -> Result<(), Errno> {
        loop {}
    }
}
pub fn can_be_written(address: usize, length: usize) -> bool {
    loop {}
}

// The dynamic linker's list.

#[repr(C)]
pub(crate) struct ListedObject {
    pub(crate) bias: usize,
    pub(crate) name: *const c_char,
    pub(crate) segments: *const c_void,
    pub(crate) segments_number: u16,
    /// The number of objects that were ever added, and the number that were removed.
    pub(crate) added: u64,
    pub(crate) removed: u64,
}

// The kernel's information for a program at its start.

pub fn executed_path() -> &'static CStr {
    loop {}
}
