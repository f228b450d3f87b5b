//! Texts among which like ones are found: what says the same, holds it, is a part of it, or is a part of it with words of
//! somebody else around, retouched here and there.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::ops::Range;

use super::Gist;
use super::cells::{Cells, RUN, common};

/// A run of this many cells, a word or two, is a thread between texts.
const SHORT: usize = 12;
/// Cells in one run that two texts have in common only when one was taken from the other: more than a usual phrase has.
const LONG: usize = 18;
/// So many per cent of the shorter text stand in the other one.
const MAX_OF_IT: usize = 70;
/// So many per cent of the threes of both are the same.
const NEARLY_ALL: usize = 66;
/// Cells below which a text has too little to be compared by more than its words.
const LEAST: usize = 8;
/// So many places are looked at for one text; where more are so alike, all of them count.
const MAX_COMPARED: usize = 50_000;

/// Which of many gists are like one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Like {
    /// Those, by their numbers.
    These(Vec<usize>),
    /// Too many to look at.
    TooMany,
}

/// Gists among which others are looked up.
#[derive(Clone, Debug, Default)]
pub struct Gists {
    same: HashMap<Gist, Vec<usize>>,
    /// The same, wherever its spaces are.
    joined: HashMap<String, Vec<usize>>,
    /// How many cells each has.
    lengths: Vec<usize>,
    threes: Vec<Vec<u32>>,
    /// Where each run of cells stands.
    runs: Places,
    /// Where three cells do.
    of_three: Places,
    /// What is too short for that: by all of its words.
    short: HashMap<u64, Vec<usize>>,
    short_lengths: BTreeSet<usize>,
    /// Where three words stand one after another, or words and signs, and what all of them are.
    word_runs: Places,
    words: Vec<[Vec<u64>; 2]>,
}

/// Where things stand.
#[derive(Clone, Debug, Default)]
struct Places {
    numbers: Vec<usize>,
    of: HashMap<u64, Range<usize>>,
}

impl Places {
    fn of(mut all: Vec<(u64, usize)>) -> Self {
        all.sort_unstable();
        all.dedup();
        let mut of = HashMap::new();
        let mut from = 0;
        for same in all.chunk_by(|one, next| one.0 == next.0) {
            of.insert(same[0].0, from..from + same.len());
            from += same.len();
        }
        Self { numbers: all.into_iter().map(|(_, number)| number).collect(), of }
    }

    fn at(&self, what: u64) -> &[usize] {
        self.of.get(&what).map_or(&[], |range| &self.numbers[range.clone()])
    }
}

/// What of one text is found in another, from its beginning on.
#[derive(Clone, Copy, Default)]
struct Overlap {
    /// Where what was found last ends.
    end: usize,
    /// How long the run is that ends there.
    run: usize,
    longest: usize,
    covered: usize,
}

impl Overlap {
    fn one_more(&mut self, at: usize) {
        let end = at + RUN;
        // What follows the one before goes on by a cell.
        self.run = if self.end + 1 == end && self.run > 0 { self.run + 1 } else { RUN };
        self.covered += end - self.end.max(at);
        self.end = end;
        self.longest = self.longest.max(self.run);
    }
}

/// What is left to be looked at.
struct Budget(usize);

impl Budget {
    fn spend(&mut self, places: usize) -> Option<()> {
        self.0 = self.0.checked_sub(places)?;
        Some(())
    }
}

impl Gists {
    /// Takes them in; their numbers are from 0.
    pub fn of(all: Vec<Gist>) -> Self {
        let mut gists = Self::default();
        let mut runs = Vec::new();
        let mut of_three = Vec::new();
        let mut word_runs = Vec::new();
        for (number, gist) in all.into_iter().enumerate() {
            let cells = Cells::of(&gist);
            runs.extend(cells.runs().map(|run| (run, number)));
            let threes = cells.threes();
            of_three.extend(threes.iter().map(|three| (u64::from(*three), number)));
            let words = both(&gist);
            let in_threes = words.iter().flat_map(|words| words.windows(3));
            word_runs.extend(in_threes.map(|three| (one(three), number)));
            if cells.len() < SHORT
                && let Some(key) = short(&gist)
            {
                gists.short_lengths.insert(key.len());
                gists.short.entry(one(&key)).or_default().push(number);
            }
            gists.lengths.push(cells.len());
            gists.threes.push(threes);
            gists.words.push(words);
            gists.joined.entry(joined(&gist)).or_default().push(number);
            gists.same.entry(gist).or_default().push(number);
        }
        gists.runs = Places::of(runs);
        gists.of_three = Places::of(of_three);
        gists.word_runs = Places::of(word_runs);
        gists
    }

    /// Finds those that a text is like.
    pub fn like(&self, gist: &Gist) -> Like {
        if self.lengths.is_empty() {
            return Like::These(Vec::new());
        }
        let cells = Cells::of(gist);
        let mut budget = Budget(MAX_COMPARED);
        let same = self.same.get(gist).into_iter().chain(self.joined.get(&joined(gist)));
        let mut these: BTreeSet<usize> = same.flatten().copied().collect();
        let found = [
            self.sharing(&cells, &mut budget),
            self.near(&cells, &mut budget),
            self.in_words(gist, cells.len(), &mut budget),
        ];
        for some in found {
            let Some(some) = some else { return Like::TooMany };
            these.extend(some);
        }
        Like::These(these.into_iter().collect())
    }

    /// Those that have a long run in common with it, or most of the shorter of the two.
    fn sharing(&self, cells: &Cells, budget: &mut Budget) -> Option<Vec<usize>> {
        let mut all = Vec::new();
        for (at, run) in cells.runs().enumerate() {
            let numbers = self.runs.at(run);
            budget.spend(numbers.len())?;
            all.extend(numbers.iter().map(|number| (*number, at)));
        }
        all.sort_unstable();
        let is_like = |places: &[(usize, usize)]| {
            let mut found = Overlap::default();
            places.iter().for_each(|(_, at)| found.one_more(*at));
            let number = places[0].0;
            let shorter = self.lengths[number].min(cells.len());
            let most = found.covered * 100 >= shorter * MAX_OF_IT && found.covered >= SHORT;
            let whole = found.covered >= cells.len() && cells.len() >= LEAST;
            (found.longest >= LONG || most || whole).then_some(number)
        };
        Some(all.chunk_by(|one, next| one.0 == next.0).filter_map(is_like).collect())
    }

    /// Those that are the same but for a few letters or a word.
    fn near(&self, cells: &Cells, budget: &mut Budget) -> Option<Vec<usize>> {
        if cells.len() < LEAST {
            return Some(Vec::new());
        }
        let threes = cells.threes();
        let mut rare: Vec<&[usize]> =
            threes.iter().map(|three| self.of_three.at(u64::from(*three))).collect();
        rare.sort_by_key(|numbers| numbers.len());
        // Who is near has this share of it at least, so that one of the others is among these.
        let least = (threes.len() * NEARLY_ALL / (200 - NEARLY_ALL)).min(threes.len());
        rare.truncate(threes.len() + 1 - least);
        let mut counts =
            vec![0; if rare.iter().all(|n| n.is_empty()) { 0 } else { self.lengths.len() }];
        let mut candidates = Vec::new();
        for number in rare.into_iter().flatten() {
            budget.spend(1)?;
            counts[*number] += 1;
            if counts[*number] == 1 {
                candidates.push(*number);
            }
        }
        let is_near = |number: &usize| {
            let other = &self.threes[*number];
            let needed = (threes.len() + other.len()) * NEARLY_ALL;
            // Those that were not counted may all be in it.
            (counts[*number] + least) * 200 >= needed
                && self.lengths[*number] >= LEAST
                && common(&threes, other) * 200 >= needed
        };
        Some(candidates.into_iter().filter(is_near).collect())
    }

    /// Those whose few words stand in it, or whose words its few are taken from.
    fn in_words(&self, gist: &Gist, cells: usize, budget: &mut Budget) -> Option<Vec<usize>> {
        let mut found = Vec::new();
        for all in both(gist) {
            for length in self.short_lengths.iter().filter(|length| **length <= all.len()) {
                for run in all.windows(*length) {
                    let here = self.short.get(&one(run)).into_iter().flatten();
                    budget.spend(1 + here.clone().count())?;
                    found.extend(here);
                }
            }
        }
        let own = [words(gist.words()), words(telling(gist).into_iter())];
        if let Some(own) = own.iter().find(|own| cells < LEAST && own.len() >= 3) {
            let places = self.word_runs.at(one(&own[..3]));
            budget.spend(places.len())?;
            let holds = |number: &usize| {
                let mut all = self.words[*number].iter();
                all.any(|words| words.windows(own.len()).any(|run| run == own.as_slice()))
            };
            found.extend(places.iter().copied().filter(holds));
        }
        Some(found)
    }
}

fn joined(gist: &Gist) -> String {
    gist.said().collect()
}

/// What a short text is looked for by, in others: its words; where there is but one its signs, too. A word alone is
/// everybody's, and so are the usual signs.
fn short(gist: &Gist) -> Option<Vec<u64>> {
    let said: Vec<&str> = gist.words().collect();
    if said.len() >= 2 {
        return Some(words(said.into_iter()));
    }
    let signs = telling(gist);
    let is_picture = signs.iter().any(|sign| !sign.is_ascii());
    let tells = match said.is_empty() {
        true => is_picture || signs.len() >= 4,
        false => signs.len() >= 2,
    };
    tells.then(|| words(signs.into_iter()))
}

/// Words and signs, without the usual signs at both ends.
fn telling(gist: &Gist) -> Vec<&str> {
    let is_usual = |sign: &&str| sign.chars().all(|c| ".,;:!?'\"*_-–—…()[]".contains(c));
    let mut signs: Vec<&str> = gist.signs().collect();
    signs.drain(..signs.iter().take_while(|sign| is_usual(sign)).count());
    signs.truncate(signs.len() - signs.iter().rev().take_while(|sign| is_usual(sign)).count());
    signs
}

fn both(gist: &Gist) -> [Vec<u64>; 2] {
    [words(gist.words()), words(gist.signs())]
}

fn words<'w>(words: impl Iterator<Item = &'w str>) -> Vec<u64> {
    words.map(one).collect()
}

fn one<T: Hash + ?Sized>(what: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}
