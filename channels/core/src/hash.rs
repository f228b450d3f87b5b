//! FNV-1a, for keys that must stay the same over versions and restarts, and how hashes are written.

use std::hash::Hasher;

/// Returns the hash of some bytes.
pub fn fnv(bytes: &[u8]) -> u64 {
    let mut sum = Fnv::default();
    sum.write(bytes);
    sum.finish()
}

/// Writes bytes as hexadecimal digits.
pub fn in_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The hash of bytes that come in pieces.
#[derive(Clone, Copy, Debug)]
pub struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        self.0 = bytes.iter().fold(self.0, step);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_known_one_however_the_bytes_come() {
        assert_eq!(fnv(b"foobar"), 0x8594_4171_f739_67e8);
        let mut sum = Fnv::default();
        sum.write(b"foo");
        sum.write(b"bar");
        assert_eq!(sum.finish(), fnv(b"foobar"));
    }
}
