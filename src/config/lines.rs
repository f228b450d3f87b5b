//! The lines on which a file's keys and list items stand, for problems.

use std::collections::BTreeMap;

/// A line, counted from 1, for each path: `["owners", "0"]`.
#[derive(Clone, Debug, Default)]
pub struct Lines(BTreeMap<Vec<String>, usize>);

impl Lines {
    /// Notes where a path stands; whether it did not stand anywhere before.
    pub fn note(&mut self, path: &[String], line: usize) -> bool {
        let first = !self.0.contains_key(path);
        if first {
            self.0.insert(path.to_vec(), line);
        }
        first
    }

    /// Returns the line of the path itself.
    pub fn exact(&self, path: &[String]) -> Option<usize> {
        self.0.get(path).copied()
    }

    /// Returns the line of the path, or of the nearest parent that has one.
    pub fn of_path(&self, path: &[String]) -> Option<usize> {
        (1..=path.len()).rev().find_map(|end| self.exact(&path[..end]))
    }
}
