//! A map that forgets its oldest entries, so that months of talk take no more memory than a day.

use std::collections::{HashMap, VecDeque};

/// Holds at most so many entries; the oldest go first.
pub struct BoundedMap<V> {
    most: usize,
    entries: HashMap<String, V>,
    order: VecDeque<String>,
}

impl<V> BoundedMap<V> {
    /// Makes an empty one.
    pub fn new(most: usize) -> Self {
        Self { most, entries: HashMap::new(), order: VecDeque::new() }
    }

    /// Puts an entry in the place of an older one of its key.
    pub fn put(&mut self, key: &str, value: V) {
        if self.entries.insert(key.to_owned(), value).is_some() {
            return;
        }
        self.order.push_back(key.to_owned());
        while self.order.len() > self.most {
            if let Some(oldest) = self.order.pop_front() {
                self.entries.remove(&oldest);
            }
        }
    }

    /// Looks an entry up.
    pub fn get(&self, key: &str) -> Option<&V> {
        self.entries.get(key)
    }

    /// Forgets an entry.
    pub fn forget(&mut self, key: &str) {
        if self.entries.remove(key).is_some() {
            self.order.retain(|k| k != key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_first_and_forgotten_ones_leave_room() {
        let mut map = BoundedMap::new(2);
        map.put("a", 1);
        map.put("b", 2);
        map.put("a", 3);
        map.put("c", 4);
        assert_eq!((map.get("a"), map.get("b"), map.get("c")), (None, Some(&2), Some(&4)));
        map.forget("b");
        map.put("d", 5);
        assert_eq!((map.get("c"), map.get("d")), (Some(&4), Some(&5)));
    }
}
