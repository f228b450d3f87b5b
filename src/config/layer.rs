//! One layer of the config (the file, the environment, the flags) and how layers are laid over each other.

use config::{Config, ConfigError, Map, Source, Value as Node, ValueKind};
use serde_json::{Number, Value};

use crate::problem::{Place, Problem, Problems};
use crate::source::SourceValues;

/// Values from one source; every one knows where it was written.
#[derive(Clone)]
struct Layer(Map<String, Node>);

impl Layer {
    fn of(values: &SourceValues) -> Self {
        match node(&values.value, &mut Vec::new(), &*values.place).kind {
            ValueKind::Table(map) => Self(map),
            _ => Self(Map::new()),
        }
    }
}

/// Values may be secret.
impl std::fmt::Debug for Layer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Layer")
    }
}

impl Source for Layer {
    fn clone_into_box(&self) -> Box<dyn Source + Send + Sync> {
        Box::new(self.clone())
    }

    fn collect(&self) -> Result<Map<String, Node>, ConfigError> {
        Ok(self.0.clone())
    }
}

/// All layers, laid over each other.
pub struct Tree {
    node: Node,
    value: Value,
}

impl Tree {
    /// Lays the layers over each other, the strongest last.
    ///
    /// # Errors
    /// When the library refuses a layer, which ours give no reason for.
    pub fn of(layers: &[SourceValues]) -> Result<Self, Problems> {
        let refused = |error: ConfigError| {
            let problem =
                Problem { place: Place::default(), key: String::new(), message: error.to_string() };
            Problems(vec![problem])
        };
        let builder = layers.iter().fold(Config::builder(), |b, l| b.add_source(Layer::of(l)));
        let node = builder.build().map_err(refused)?.cache;
        Ok(Self { value: json(&node), node })
    }

    /// Returns the values, keys sorted.
    pub fn json(&self) -> &Value {
        &self.value
    }

    /// Tells where the value of a path was written; `file` knows the lines of sections.
    pub fn place(&self, path: &[String], file: &dyn Fn(&[String]) -> Option<Place>) -> Place {
        for end in (0..=path.len()).rev() {
            let Some(node) = self.get(&path[..end]) else { continue };
            if let Some(place) = origin(node) {
                return place;
            }
            if let Some(place) = file(&path[..end]).or_else(|| first_origin(node)) {
                return place;
            }
        }
        Place::default()
    }

    fn get(&self, path: &[String]) -> Option<&Node> {
        path.iter().try_fold(&self.node, |node, key| match &node.kind {
            ValueKind::Table(map) => map.get(key),
            ValueKind::Array(items) => items.get(key.parse::<usize>().ok()?),
            _ => None,
        })
    }
}

fn node(value: &Value, path: &mut Vec<String>, place: &dyn Fn(&[String]) -> Place) -> Node {
    let mut child = |key: String, value: &Value| {
        path.push(key);
        let child = node(value, path, place);
        path.pop();
        child
    };
    let kind = match value {
        Value::Null => ValueKind::Nil,
        Value::Bool(b) => ValueKind::Boolean(*b),
        Value::Number(n) => number(n),
        Value::String(s) => ValueKind::String(s.clone()),
        Value::Array(items) => ValueKind::Array(
            items.iter().enumerate().map(|(i, item)| child(i.to_string(), item)).collect(),
        ),
        Value::Object(map) => {
            ValueKind::Table(map.iter().map(|(k, v)| (k.clone(), child(k.clone(), v))).collect())
        }
    };
    let origin = place(path).to_string();
    Node::new(Some(&origin), kind)
}

fn number(n: &Number) -> ValueKind {
    n.as_i64().map(ValueKind::I64).or_else(|| n.as_u64().map(ValueKind::U64)).unwrap_or_else(|| {
        // A JSON number that is no integer is a float.
        ValueKind::Float(n.as_f64().unwrap_or_default())
    })
}

fn json(node: &Node) -> Value {
    match &node.kind {
        ValueKind::Nil => Value::Null,
        ValueKind::Boolean(b) => Value::Bool(*b),
        ValueKind::I64(n) => Value::from(*n),
        ValueKind::U64(n) => Value::from(*n),
        ValueKind::Float(n) => Number::from_f64(*n).map_or(Value::Null, Value::Number),
        // Layers hold no wider numbers.
        ValueKind::I128(n) => Value::String(n.to_string()),
        ValueKind::U128(n) => Value::String(n.to_string()),
        ValueKind::String(s) => Value::String(s.clone()),
        ValueKind::Array(items) => Value::Array(items.iter().map(json).collect()),
        ValueKind::Table(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort();
            Value::Object(keys.into_iter().map(|k| (k.clone(), json(&map[k]))).collect())
        }
    }
}

/// Returns where a value was written; sections are merged and come from everywhere.
fn origin(node: &Node) -> Option<Place> {
    if matches!(node.kind, ValueKind::Table(_)) {
        return None;
    }
    let text = node.origin()?;
    let line = text.rsplit_once(':').and_then(|(name, line)| Some((name, line.parse().ok()?)));
    Some(match line {
        Some((name, line)) => Place { name: name.to_owned(), line: Some(line) },
        None => Place::of(text),
    })
}

fn first_origin(node: &Node) -> Option<Place> {
    match &node.kind {
        ValueKind::Table(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort();
            keys.into_iter().find_map(|k| origin(&map[k]).or_else(|| first_origin(&map[k])))
        }
        _ => None,
    }
}
