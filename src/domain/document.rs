//! A foreign document → a value of bounded size: a few lines of aliases in YAML are gigabytes.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::{NonFiniteFloatPolicy, Options, UserMessageFormatter};

/// Values that one document may hold.
const NODES: usize = 200_000;
/// How deep YAML may nest: each level takes a good deal of the stack where nothing is optimized.
const DEPTH: usize = 64;
/// Bytes of all its texts and keys.
const BYTES: usize = 32 * 1024 * 1024;

/// Reads a document of any format. How deep it may nest is its parser's business.
///
/// # Errors
/// The parser's, and when it holds too much.
pub fn read<'de, D: Deserializer<'de>>(parser: D) -> Result<Value, D::Error> {
    Room { nodes: NODES, bytes: BYTES }.deserialize(parser)
}

/// Reads YAML.
///
/// # Errors
/// The parser's, and when it holds or nests too much.
pub fn yaml(text: &str) -> Result<Value, String> {
    serde_saphyr::with_deserializer_from_str_with_options(text, yaml_options(DEPTH), |parser| {
        read(parser)
    })
    .map_err(|e| e.render_with_formatter(&UserMessageFormatter))
}

/// How YAML is read everywhere here: by its newer rules (`yes` is a word), a number that begins with a zero is
/// a text, and what nests deeper than `depth`, repeats or multiplies without end is refused.
pub fn yaml_options(depth: usize) -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_depth: depth, max_nodes: NODES },
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        ignore_binary_tag_for_string: true,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        with_snippet: false,
    }
}

/// What is left.
struct Room {
    nodes: usize,
    bytes: usize,
}

impl Room {
    fn take<E: Error>(&mut self, bytes: usize) -> Result<(), E> {
        let left = (self.nodes.checked_sub(1), self.bytes.checked_sub(bytes));
        let (Some(nodes), Some(bytes)) = left else {
            let most = BYTES / 1024 / 1024;
            let why = format!("it holds more than {NODES} values or {most} MiB of text");
            return Err(E::custom(why));
        };
        (self.nodes, self.bytes) = (nodes, bytes);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for &mut Room {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<Value, D::Error> {
        parser.deserialize_any(self)
    }
}

impl<'de> DeserializeSeed<'de> for Room {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(mut self, parser: D) -> Result<Value, D::Error> {
        parser.deserialize_any(&mut self)
    }
}

impl<'de> Visitor<'de> for &mut Room {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value that JSON has")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        self.take(0).map(|()| Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        self.take(0).map(|()| value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        self.take(0).map(|()| value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        self.take(0).map(|()| Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        self.take(value.len()).map(|()| Value::String(value.to_owned()))
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        self.take(0).map(|()| Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, parser: D) -> Result<Value, D::Error> {
        self.deserialize(parser)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        self.take(0)?;
        let mut all = Vec::new();
        while let Some(item) = items.next_element_seed(&mut *self)? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        self.take(0)?;
        let mut all = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            self.take(key.len())?;
            all.insert(key, entries.next_value_seed(&mut *self)?);
        }
        Ok(Value::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn aliases_that_multiply_are_refused_and_others_are_read() {
        assert_eq!(yaml("a: &x [1, 2]\nb: *x\n"), Ok(json!({"a": [1, 2], "b": [1, 2]})));
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for n in 1..9 {
            let many = vec![format!("*a{}", n - 1); 10].join(", ");
            bomb.push_str(&format!("a{n}: &a{n} [{many}]\n"));
        }
        assert!(yaml(&bomb).is_err());
        let text = "x".repeat(1_000_000);
        let fat = format!("a: &a {text}\nb: [{}]\n", vec!["*a"; 200].join(", "));
        let why = yaml(&fat).unwrap_err();
        assert!(why.contains("32 MiB"), "{}", &why[..200.min(why.len())]);
        for nested in ["[", "{", "- ", "? "] {
            assert!(yaml(&nested.repeat(100_000)).is_err());
        }
    }

    proptest! {
        #[test]
        fn it_reads_what_the_plain_reader_reads(text in "([a-c]: |- |\\[|\\]|[0-9.~]{1,3}|\n|&a |\\*a|\"|,| ){0,30}") {
            let plain = serde_saphyr::from_str_with_options::<Value>(&text, yaml_options(DEPTH));
            prop_assert_eq!(yaml(&text).ok(), plain.ok());
        }
    }

    #[test]
    fn fuzz_documents() {
        selkie_fuzz::text("document", |text| drop(yaml(text)));
    }
}
