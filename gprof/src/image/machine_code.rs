//! Machine code, as far as calls in there are looked for.

/// Code is measured in units of two bytes: what falls within one unit is not told apart.
pub const UNIT: u64 = 2;

/// Machine code.
#[derive(Clone, Copy, Debug)]
pub struct Code<'data> {
    /// Whose it is.
    pub machine: Machine,
    /// The address of the first byte.
    pub start: u64,
    /// The bytes.
    pub bytes: &'data [u8],
}

/// What runs machine code, as far as its calls can be recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// 32-bit x86.
    X86,
    /// 64-bit x86.
    X86_64,
    /// 64-bit ARM.
    Aarch64,
    /// Any other.
    Other,
}
