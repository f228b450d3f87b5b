//! A list of a server, of which no more items are kept than are wanted: what comes behind them is counted.

use std::fmt;

use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The first items of a list, as they are written.
#[derive(Debug, Default)]
pub(crate) struct Sequence<const MOST: usize> {
    pub(crate) items: Vec<Box<RawValue>>,
    pub(crate) more: usize,
}

impl<'de, const MOST: usize> Deserialize<'de> for Sequence<MOST> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(Items::<MOST>)
    }
}

struct Items<const MOST: usize>;

impl<'de, const MOST: usize> Visitor<'de> for Items<MOST> {
    type Value = Sequence<MOST>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
        let mut list = Sequence::default();
        while list.items.len() < MOST {
            let Some(item) = from.next_element()? else { return Ok(list) };
            list.items.push(item);
        }
        while from.next_element::<IgnoredAny>()?.is_some() {
            list.more += 1;
        }
        Ok(list)
    }
}
