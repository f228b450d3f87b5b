//! A set of tools of the base, one bit each: rules are joined 64 tools at a time.

/// A set of positions, built once and shared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bits(Vec<u64>);

impl Bits {
    /// An empty set over `len` positions.
    pub fn none(len: usize) -> Self {
        Self(vec![0; len.div_ceil(64)])
    }

    /// Puts a position in. Positions beyond the length are ignored.
    pub fn insert(&mut self, at: usize) {
        if let Some(word) = self.0.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
    }

    /// Whether a position is in.
    pub fn contains(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word & (1 << (at % 64)) != 0)
    }

    /// Puts in everything that is in `other`.
    pub fn join(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine |= theirs;
        }
    }

    /// Takes out everything that is in `other`.
    pub fn leave_out(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine &= !theirs;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn bits(of: &BTreeSet<usize>) -> Bits {
        let mut bits = Bits::none(200);
        of.iter().for_each(|at| bits.insert(*at));
        bits
    }

    proptest! {
        #[test]
        fn they_do_what_sets_do(a: BTreeSet<u8>, b: BTreeSet<u8>) {
            let keep = |s: BTreeSet<u8>| -> BTreeSet<usize> {
                s.into_iter().map(usize::from).filter(|n| *n < 192).collect()
            };
            let (a, b) = (keep(a), keep(b));
            let (mut joined, mut left) = (bits(&a), bits(&a));
            joined.join(&bits(&b));
            left.leave_out(&bits(&b));
            for at in 0..200 {
                prop_assert_eq!(joined.contains(at), a.contains(&at) || b.contains(&at));
                prop_assert_eq!(left.contains(at), a.contains(&at) && !b.contains(&at));
            }
        }
    }
}
