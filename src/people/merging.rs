//! Takes two contacts together: what both say is kept, and where they differ the one that stays is right.

use serde_json::{Value, json};

use super::contacts::{Fields, MovedLines, keys};
use super::files::Change;
use super::forms::Forms;

/// A contact that goes into another one.
#[derive(Clone, Copy, Debug)]
pub struct MergedContact<'m> {
    /// What it says.
    pub fields: &'m Fields,
    /// What stands beside its fields.
    pub remarks: &'m [String],
}

/// What is to be changed in the contact that stays.
pub fn merge(forms: &Forms, from: MergedContact<'_>, into: &Fields) -> Vec<Change> {
    let mut merging = MergePlan {
        into,
        after: into.clone(),
        changes: Vec::new(),
        remarks: from.remarks.to_vec(),
    };
    for (key, value) in from.fields.iter() {
        merging.field(from.fields, key, value);
    }
    let names = from.fields.names();
    for name in names.iter().filter(|name| !into.names().contains(name)) {
        merging.include(keys::ALIASES, name);
    }
    let known = forms.all_ids(&merging.after);
    for id in forms.all_ids(from.fields).iter().filter(|id| forms.is_own(id) && !known.contains(id))
    {
        merging.include(keys::MERGED, id);
    }
    let MergePlan { mut changes, remarks, .. } = merging;
    if !remarks.is_empty() {
        changes.push(Change::Remark { id: into.id().to_owned(), lines: remarks });
    }
    changes
}

/// What takes a contact out of its file.
pub fn taken(id: &str, lines: MovedLines) -> Change {
    Change::Take { id: id.to_owned(), lines }
}

struct MergePlan<'m> {
    into: &'m Fields,
    after: Fields,
    changes: Vec<Change>,
    remarks: Vec<String>,
}

impl MergePlan<'_> {
    fn field(&mut self, from: &Fields, key: &str, value: &Value) {
        if [keys::ID, keys::NICKNAME, keys::ALIASES, keys::KIND].contains(&key) {
            return;
        }
        let own = self.into.get(key).filter(|own| !own.is_null()).cloned();
        match own {
            None => self.set(key, value.clone()),
            Some(own) if own == *value => {}
            Some(_) if key == keys::LAST => {
                if from.last_interaction() > self.into.last_interaction() {
                    self.set(key, value.clone());
                }
            }
            Some(own) if own.is_array() || value.is_array() => {
                for text in from.texts(key) {
                    self.include(key, &text);
                }
            }
            // An id of theirs is kept among the merged ones, the channel they are met on is one.
            Some(_) if key == keys::CHANNEL => {}
            Some(_) => self.remarks.push(format!("{key} of {}: {value}", from.id())),
        }
    }

    fn set(&mut self, key: &str, to: Value) {
        let id = self.into.id().to_owned();
        let from = self.into.get(key).cloned().unwrap_or(json!(null));
        self.after.set(key, to.clone());
        self.changes.push(Change::Set { id, key: key.to_owned(), from, to });
    }

    fn include(&mut self, key: &str, value: &str) {
        if self.after.include(key, value) {
            let id = self.into.id().to_owned();
            self.changes.push(Change::Include { id, key: key.to_owned(), value: value.to_owned() });
        }
    }
}
