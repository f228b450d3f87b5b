//! What a config comes to, key by key: to be compared with another, never to be shown.

use serde_json::{Map, Value};

use crate::source::{at, key};

/// Every key that is set, with its value; secrets stand in it as they are.
#[derive(Clone)]
pub struct Effective(Value);

impl Effective {
    /// What a value comes to.
    pub fn of(value: Value) -> Self {
        Self(value)
    }

    /// Lists the keys whose values are others than before.
    pub fn changed(&self, before: &Self) -> Vec<Vec<String>> {
        let mut changed = Vec::new();
        compare(Some(&before.0), Some(&self.0), &mut Vec::new(), &mut changed);
        changed
    }

    /// Holds what stood before at this key.
    pub fn hold(&mut self, path: &[String], before: &Self) {
        put(&mut self.0, path, before.get(path).cloned());
        // A section that was not there before is none when nothing of it is left.
        for end in (1..path.len()).rev() {
            let section = &path[..end];
            let is_left =
                self.get(section).and_then(Value::as_object).is_none_or(|map| !map.is_empty());
            if is_left || before.get(section).is_some() {
                return;
            }
            put(&mut self.0, section, None);
        }
    }

    fn get(&self, path: &[String]) -> Option<&Value> {
        at(&self.0, path)
    }
}

/// Writes a key for people.
pub fn written(path: &[String]) -> String {
    key(path)
}

fn compare(
    before: Option<&Value>,
    after: Option<&Value>,
    path: &mut Vec<String>,
    changed: &mut Vec<Vec<String>>,
) {
    if before == after {
        return;
    }
    let none = Map::new();
    let map = |value: Option<&Value>| value.is_none_or(Value::is_object);
    let is_section = map(before) && map(after) && (before.is_some() || after.is_some());
    let inner = |value: Option<&'_ Value>| value.and_then(Value::as_object).cloned();
    let old = inner(before);
    let new = inner(after);
    let old = old.as_ref().unwrap_or(&none);
    let new = new.as_ref().unwrap_or(&none);
    if !is_section || (old.is_empty() && new.is_empty()) {
        changed.push(path.clone());
        return;
    }
    for name in new.keys().chain(old.keys().filter(|name| !new.contains_key(*name))) {
        path.push(name.clone());
        compare(old.get(name), new.get(name), path, changed);
        path.pop();
    }
}

fn put(at: &mut Value, path: &[String], value: Option<Value>) {
    let Some((first, rest)) = path.split_first() else {
        *at = value.unwrap_or_default();
        return;
    };
    if !at.is_object() {
        *at = Value::Object(Map::new());
    }
    let Some(map) = at.as_object_mut() else { return };
    if rest.is_empty() && value.is_none() {
        map.remove(first);
        return;
    }
    put(map.entry(first.clone()).or_insert(Value::Null), rest, value);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn changed(before: Value, after: Value) -> Vec<String> {
        let changed = Effective::of(after).changed(&Effective::of(before));
        changed.iter().map(|path| written(path)).collect()
    }

    #[test]
    fn keys_that_differ_are_listed_one_by_one() {
        let before = json!({ "a": { "x": 1, "y": [1] }, "b": 2, "c": {} });
        assert!(changed(before.clone(), before.clone()).is_empty());
        let after = json!({ "a": { "x": 1, "y": [1, 2] }, "d": { "e": { "f": 1 } }, "c": {} });
        assert_eq!(changed(before, after), ["a.y", "d.e.f", "b"]);
        assert_eq!(changed(json!({}), json!({ "a": {} })), ["a"]);
        assert_eq!(changed(json!({ "a": 1 }), json!({ "a": { "b": 1 } })), ["a"]);
    }

    #[test]
    fn what_is_held_is_as_before() {
        let before = Effective::of(json!({ "a": { "x": 1 }, "gone": { "z": 3 } }));
        let mut after = Effective::of(json!({ "a": { "x": 2, "y": 3 }, "b": 1 }));
        for path in after.changed(&before) {
            after.hold(&path, &before);
        }
        assert!(after.changed(&before).is_empty());
        let mut anew = Effective::of(
            json!({ "a": { "x": 1 }, "gone": { "z": 3 }, "new": { "y": { "z": 1 } } }),
        );
        for path in anew.changed(&before) {
            anew.hold(&path, &before);
        }
        assert!(before.changed(&anew).is_empty(), "nothing of a new section is left");
    }
}
