//! The letters of a text one after another, without spaces and digits: what escapes leave (`%20`, `=C3=A9`, `\u00e9`) is
//! digits for the most part. A sign of Chinese or Japanese says as much as a short word, and counts as three cells.

use super::Gist;

/// Cells of a run by which texts are compared: two short words, or three signs of a script that needs no more.
pub(super) const RUN: usize = 8;
/// Cells of a sign that is a word.
const WIDE: u32 = 3;

/// The letters of a text.
pub(super) struct Cells(Vec<u32>);

impl Cells {
    pub fn of(gist: &Gist) -> Self {
        let mut cells = Vec::new();
        let mut before = ' ';
        for c in gist.words().flat_map(str::chars).filter(|c| !c.is_numeric()) {
            // As those write `ü` who have no such key.
            let is_umlaut = c == 'e' && matches!(before, 'a' | 'o' | 'u');
            before = c;
            if !is_umlaut {
                cells.extend((0..width(c)).map(|at| u32::from(c) * WIDE + at));
            }
        }
        Self(cells)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Every run, in their order.
    pub fn runs(&self) -> impl Iterator<Item = u64> {
        self.0.windows(RUN).map(mixed)
    }

    /// Every three cells, each once, sorted.
    pub fn threes(&self) -> Vec<u32> {
        let mut threes: Vec<u32> =
            self.0.windows(3).map(|three| (mixed(three) >> 32) as u32).collect();
        threes.sort_unstable();
        threes.dedup();
        threes
    }
}

/// Two that are the same by chance make an item one that is not shown, no more.
fn mixed(cells: &[u32]) -> u64 {
    let mix = |sum: u64, cell: &u32| {
        let sum = (sum ^ u64::from(*cell)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        sum ^ (sum >> 29)
    };
    cells.iter().fold(0x51_7c_c1_b7_27_22_0a_95, mix).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// How many of sorted ones stand in both.
pub(super) fn common(one: &[u32], other: &[u32]) -> usize {
    let mut many = 0;
    let mut rest = other;
    for cell in one {
        while let [first, after @ ..] = rest
            && first < cell
        {
            rest = after;
        }
        many += usize::from(rest.first() == Some(cell));
    }
    many
}

fn width(c: char) -> u32 {
    match c {
        '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}' => WIDE,
        // Kana and Hangul: syllables.
        '\u{3040}'..='\u{30ff}' | '\u{ac00}'..='\u{d7a3}' | '\u{1100}'..='\u{11ff}' => 2,
        _ => 1,
    }
}
