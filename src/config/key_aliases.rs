//! Other programs' words for keys of channels' sections: a kit's data says which.

use selkie_channel_core::{AlsoCalled, ChannelKit};
use serde_json::{Map, Value};

use crate::problem::{Place, Problem};
use crate::source::{self, Environment, SourceValues, key, put};

/// What is written in other programs' words, gathered from every source.
pub struct Also<'a> {
    kits: &'a [ChannelKit],
    given: Vec<AliasValue>,
}

/// A value in other words.
struct AliasValue {
    /// What it means: the channel's section and key.
    means: Vec<String>,
    /// How it is written: a dotted key or a variable.
    name: String,
    value: Value,
    place: Place,
}

impl<'a> Also<'a> {
    /// Begins with nothing.
    pub fn new(kits: &'a [ChannelKit]) -> Self {
        Self { kits, given: Vec::new() }
    }

    /// Takes other words out of a source; a stronger source's value replaces a weaker one's. Tells which keys
    /// beside them have no meaning here.
    pub fn take(&mut self, written: &mut SourceValues) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (kit, also) in all(self.kits) {
            let (section, inner) = also.written;
            let Some(Value::Object(mut map)) = written.value.get(section).cloned() else {
                continue;
            };
            let path = [section, inner].map(str::to_owned);
            if let Some(value) = map.remove(inner).filter(|value| !value.is_null()) {
                let place = (written.place)(&path);
                let name = key(&path);
                self.given.retain(|given| given.name != name);
                self.given.push(AliasValue { means: means(kit, also), name, value, place });
            }
            // A file that cannot be read has been told.
            map.remove(&format!("{inner}_file"));
            problems.extend(map.keys().map(|strange| {
                let path = [section, strange].map(str::to_owned);
                Problem {
                    place: (written.place)(&path),
                    key: key(&path),
                    message: format!(
                        "is not taken: of {section} only {inner} is read, as {}",
                        key(&means(kit, also))
                    ),
                }
            }));
            if let Some(all) = written.value.as_object_mut() {
                all.remove(section);
            }
        }
        problems
    }

    /// Returns what other words add to the merged config, which is the weakest of all layers. Two spellings of
    /// one key with different values are a problem.
    pub fn layer(mut self, env: &Environment, merged: &Value) -> (SourceValues, Vec<Problem>) {
        let variables = all(self.kits).filter_map(|(kit, also)| variable(kit, also, env, merged));
        self.given.extend(variables);
        let mut problems = Vec::new();
        let mut value = Value::Object(Map::new());
        let mut taken: Vec<AliasValue> = Vec::new();
        for given in self.given {
            let ours = at(merged, &given.means).map(|value| (key(&given.means), value.clone()));
            let other = taken.iter().find(|other| other.means == given.means);
            let other =
                ours.or_else(|| other.map(|other| (other.name.clone(), other.value.clone())));
            match other {
                Some((_, other)) if other == given.value => {}
                Some((name, _)) => problems.push(Problem {
                    // A variable is its own place.
                    place: if given.place.name == given.name {
                        Place::default()
                    } else {
                        given.place
                    },
                    key: given.name,
                    message: format!(
                        "and {name} are the same setting with different values: keep one of them"
                    ),
                }),
                None => {
                    put(&mut value, &given.means, given.value.clone());
                    taken.push(given);
                }
            }
        }
        let place = move |path: &[String]| {
            let found = taken.iter().find(|given| given.means.starts_with(path));
            found.map(|given| given.place.clone()).unwrap_or_default()
        };
        (SourceValues { value, place: Box::new(place) }, problems)
    }
}

/// Reads a variable, unless it would go to another server, or the section has another secret already and no
/// use for it.
fn variable(
    kit: &ChannelKit,
    also: &AlsoCalled,
    env: &Environment,
    merged: &Value,
) -> Option<AliasValue> {
    let text = env.get(also.variable).map(|text| text.trim()).filter(|text| !text.is_empty())?;
    let of = |name: &str| at(merged, &[kit.name, name].map(str::to_owned));
    let (home, url) = also.home;
    let elsewhere = of(home).is_some_and(|set| set.as_str().map(bare) != Some(bare(url)));
    let has_another = kit.secrets.iter().any(|secret| *secret != also.key && of(secret).is_some());
    if elsewhere || has_another {
        return None;
    }
    Some(AliasValue {
        means: means(kit, also),
        name: also.variable.to_owned(),
        value: text.into(),
        place: Place::of(also.variable),
    })
}

fn all(kits: &[ChannelKit]) -> impl Iterator<Item = (&ChannelKit, &'static AlsoCalled)> {
    kits.iter().flat_map(|kit| kit.also.iter().map(move |also| (kit, also)))
}

fn means(kit: &ChannelKit, also: &AlsoCalled) -> Vec<String> {
    [kit.name, also.key].map(str::to_owned).into()
}

/// The value at a path; none where nothing is set.
fn at<'a>(value: &'a Value, path: &[String]) -> Option<&'a Value> {
    source::at(value, path).filter(|value| !value.is_null())
}

fn bare(url: &str) -> &str {
    url.trim().trim_end_matches('/')
}
