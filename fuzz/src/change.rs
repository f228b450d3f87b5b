//! Makes inputs of inputs: pieces that are changed, moved, repeated and nested.

/// Bytes of an input.
const MAX: usize = 64 * 1024;

/// What parsers treat in a way of its own.
const WORDS: [&str; 48] = [
    "{",
    "}",
    "[",
    "]",
    "\"",
    ":",
    ",",
    "null",
    "true",
    "0",
    "-1",
    "1e999",
    "18446744073709551616",
    "-9223372036854775808",
    "\\u0000",
    "\\ud800",
    "\u{0}",
    "\u{feff}",
    "\u{202e}",
    "\u{1f468}\u{200d}\u{1f469}",
    "é",
    "\n",
    "\r\n",
    "\t",
    " ",
    "<",
    ">",
    "</",
    "/>",
    "<!--",
    "-->",
    "<div>",
    "<p>",
    "<svg>",
    "&",
    "&#x110000;",
    "*",
    "**",
    "_",
    "`",
    "```",
    "~~",
    "> ",
    "- ",
    "1. ",
    "](",
    "![",
    "||",
];

/// Makes inputs without end.
pub struct Changer<'a> {
    seeds: &'a [Vec<u8>],
    chance: u64,
}

impl<'a> Changer<'a> {
    /// Begins with seeds; `with` another number others are made.
    pub fn new(seeds: &'a [Vec<u8>], with: u32) -> Self {
        Self { seeds, chance: 0x9e37_79b9_7f4a_7c15 ^ (u64::from(with) << 17) }
    }

    /// Makes one.
    pub fn next(&mut self) -> Vec<u8> {
        let mut input = self.seeds[self.below(self.seeds.len())].clone();
        for _ in 0..=self.below(4) {
            self.change(&mut input);
            input.truncate(MAX);
        }
        input
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        match self.below(8) {
            0 if !input.is_empty() => {
                let at = self.below(input.len());
                input[at] = self.below(256).to_le_bytes()[0];
            }
            1 | 2 => {
                let word = WORDS[self.at_word()];
                self.insert(input, word.as_bytes());
            }
            3 => drop(input.drain(self.piece(input.len()))),
            4 => {
                // A piece again and again.
                let piece = input[self.piece(input.len())].to_vec();
                let times = self.times(piece.len());
                self.insert(input, &piece.repeat(times));
            }
            5 => {
                // One word around all of it, or around a piece, again and again.
                let (begin, end) = (WORDS[self.at_word()], WORDS[self.at_word()]);
                let times = self.times(begin.len() + end.len());
                let piece = self.piece(input.len());
                let middle = String::from_utf8_lossy(&input[piece.clone()]).into_owned();
                let new = format!("{}{middle}{}", begin.repeat(times), end.repeat(times));
                input.splice(piece, new.into_bytes());
            }
            6 => {
                let word = WORDS[self.at_word()];
                let times = self.times(word.len());
                self.insert(input, word.repeat(times).as_bytes());
            }
            _ => {
                let other = &self.seeds[self.below(self.seeds.len())];
                let piece = other[self.piece(other.len())].to_vec();
                self.insert(input, &piece);
            }
        }
    }

    fn insert(&mut self, input: &mut Vec<u8>, new: &[u8]) {
        let at = self.below(input.len() + 1);
        input.splice(at..at, new.iter().copied());
    }

    fn piece(&mut self, length: usize) -> std::ops::Range<usize> {
        let (one, other) = (self.below(length + 1), self.below(length + 1));
        one.min(other)..one.max(other)
    }

    /// Mostly a few, now and then as many as an input takes.
    fn times(&mut self, length: usize) -> usize {
        let most = [2, 8, 200, 20_000][self.below(4)];
        most.min(MAX / length.max(1)).max(1)
    }

    fn at_word(&mut self) -> usize {
        self.below(WORDS.len())
    }

    fn below(&mut self, end: usize) -> usize {
        // SplitMix64: all that is wanted is variety.
        self.chance = self.chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.chance;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % (end.max(1) as u64)).unwrap_or(0)
    }
}

/// A name for an input.
pub fn hash(input: &[u8]) -> u64 {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    input.iter().fold(0xcbf2_9ce4_8422_2325, step)
}
