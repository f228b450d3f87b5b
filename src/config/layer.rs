//! The layers of the config (the file, the environment, the flags), laid over each other.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::problem::Place;
use crate::source::{SourceValues, at};

/// All layers, laid over each other. Every value knows where it was written; sections come from everywhere.
pub struct Tree {
    value: Value,
    places: BTreeMap<Vec<String>, Place>,
}

impl Tree {
    /// Lays the layers over each other, the strongest last.
    pub fn of(layers: &[SourceValues]) -> Self {
        let mut tree = Self { value: Value::Object(Map::new()), places: BTreeMap::new() };
        for layer in layers {
            lay(&layer.value, &mut tree.value, &mut Vec::new(), &mut |path, is_section| {
                tree.places.retain(|known, _| !known.starts_with(path));
                if !is_section {
                    tree.places.insert(path.to_vec(), (layer.place)(path));
                }
            });
        }
        tree.value.sort_all_objects();
        tree
    }

    /// Returns the values, keys sorted.
    pub fn json(&self) -> &Value {
        &self.value
    }

    /// Tells where the value of a path was written; `file` knows the lines of sections.
    pub fn place(&self, path: &[String], file: &dyn Fn(&[String]) -> Option<Place>) -> Place {
        let sections = (0..=path.len()).rev().map(|end| &path[..end]);
        let place = |section: &[String]| {
            let first = || {
                let (first, place) = self.places.range(section.to_vec()..).next()?;
                first.starts_with(section).then(|| place.clone())
            };
            self.places.get(section).cloned().or_else(|| file(section)).or_else(first)
        };
        sections
            .filter(|section| at(&self.value, section).is_some())
            .find_map(place)
            .unwrap_or_default()
    }
}

/// Lays a value over another. Whatever takes a place that was another's is told, and whether it is a section.
fn lay(
    over: &Value,
    under: &mut Value,
    path: &mut Vec<String>,
    told: &mut dyn FnMut(&[String], bool),
) {
    let Value::Object(section) = over else {
        told(path, false);
        under.clone_from(over);
        return items(over, path, told);
    };
    if !under.is_object() {
        told(path, true);
        *under = Value::Object(Map::new());
    }
    for (key, value) in section {
        path.push(key.clone());
        lay(value, &mut under[key.as_str()], path, told);
        path.pop();
    }
}

/// Tells of the items of a list, which takes the place of another as a whole.
fn items(list: &Value, path: &mut Vec<String>, told: &mut dyn FnMut(&[String], bool)) {
    let inner: Vec<(String, &Value)> = match list {
        Value::Array(items) => (0..).map(|at: usize| at.to_string()).zip(items).collect(),
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), value)).collect(),
        _ => return,
    };
    for (key, value) in inner {
        path.push(key);
        told(path, value.is_object());
        items(value, path, told);
        path.pop();
    }
}
