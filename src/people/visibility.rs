//! Who hears of whom: a conversation knows the people whom it has met, an owner alone everybody. Of the others nothing is
//! told, not even that there is such a name.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};

use super::contact_files::Shelves;
use super::contacts::Fields;
use super::forms::Forms;
use selkie_store::SeenPerson;

/// What one conversation may hear of.
#[derive(Clone, Debug, Default)]
pub struct Visibility {
    /// It hears of everybody: an owner's private chat, or the command line.
    pub is_whole: bool,
    /// The chat that the conversation belongs to.
    pub chat: String,
    /// Who has spoken there.
    pub met: Vec<SeenPerson>,
}

/// Somebody, as far as the conversation may hear of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisiblePerson {
    /// What people call them, the nickname first.
    pub names: Vec<String>,
    /// By which ids they are reached, the preferred first. Elsewhere than in the whole circle none tells where else they are.
    pub ids: Vec<String>,
    /// When they last spoke, here where not everybody is heard of.
    pub last: Option<DateTime<Utc>>,
}

impl VisiblePerson {
    /// Whether a name, a user name or an id is theirs.
    pub fn is_called(&self, name: &str) -> bool {
        let name = name.trim().trim_start_matches('@').to_lowercase();
        let last = |id: &str| {
            id.rsplit(':').next().map(|last| last.trim_start_matches('@').to_lowercase())
        };
        let by_id = |id: &String| *id == name || last(id).as_deref() == Some(&name);
        !name.is_empty() && (is_named(&self.names, &name) || self.ids.iter().any(by_id))
    }

    /// Writes them as an item of a list names somebody: `[Grace](tg:4711)`.
    pub fn reference(&self) -> String {
        let name = self.names.first().or(self.ids.first()).map_or("", String::as_str);
        let name = name.replace(['[', ']', '(', ')'], "");
        format!("[{name}]({})", self.ids.first().map_or("", String::as_str))
    }
}

impl Visibility {
    /// Looks at many contacts: whom the conversation has met is found by their ids.
    pub fn look(&self) -> Look<'_> {
        let mut met = HashMap::with_capacity(self.met.len());
        for one in &self.met {
            met.entry(one.person.as_str()).or_insert(one);
        }
        Look { circle: self, met }
    }

    /// Lists everybody whom the conversation may hear of: contacts as they stand, then who has spoken and is none.
    pub fn known(&self, forms: &Forms, shelves: &Shelves) -> Vec<VisiblePerson> {
        let look = self.look();
        let mut all = Vec::new();
        let mut seen: HashSet<String> = HashSet::new();
        for found in shelves.all() {
            let every = forms.all_ids(found.fields);
            if !look.knows(&every) {
                continue;
            }
            let ids: Vec<String> =
                every.iter().filter(|id| self.may_hear(forms, id)).cloned().collect();
            // A group's own id reaches nobody in particular, but an item may name it.
            if !ids.is_empty() {
                let last = look.last(&every, found.fields);
                all.push(VisiblePerson { names: found.fields.names(), ids, last });
            }
            seen.extend(every);
        }
        // Somebody may have been met in several places.
        for met in self.met.iter().filter(|met| seen.insert(met.person.as_str().to_owned())) {
            let names = [&met.name].into_iter().filter(|name| !name.is_empty()).cloned().collect();
            let ids = vec![met.person.as_str().to_owned()];
            all.push(VisiblePerson { names, ids, last: Some(met.at) });
        }
        all
    }

    /// Whether an id tells no more than who somebody is, or that they are here.
    fn may_hear(&self, forms: &Forms, id: &str) -> bool {
        self.is_whole || id == self.chat || forms.is_own(id)
    }
}

/// A circle with whom it has met by their ids.
pub struct Look<'c> {
    circle: &'c Visibility,
    met: HashMap<&'c str, &'c SeenPerson>,
}

impl Look<'_> {
    /// Whether a contact with all these ids is one whom the conversation has met.
    pub fn knows(&self, ids: &[String]) -> bool {
        self.circle.is_whole || ids.contains(&self.circle.chat) || self.here(ids).is_some()
    }

    /// When somebody last spoke: elsewhere is nobody's business here.
    fn last(&self, ids: &[String], fields: &Fields) -> Option<DateTime<Utc>> {
        if self.circle.is_whole {
            return fields.last_interaction();
        }
        self.here(ids).map(|met| met.at)
    }

    fn here(&self, ids: &[String]) -> Option<&SeenPerson> {
        ids.iter().find_map(|id| self.met.get(id.as_str()).copied())
    }
}

/// Whether a name is one of somebody's, or the first word of one.
pub(super) fn is_named(names: &[String], name: &str) -> bool {
    let name = name.trim().trim_start_matches('@').to_lowercase();
    let is_own = |own: &String| {
        let own = own.to_lowercase();
        own == name || own.split_whitespace().next() == Some(&name)
    };
    !name.is_empty() && names.iter().any(is_own)
}
