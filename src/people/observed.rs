//! Brings whom the bot has met into the files of contacts, without touching what people wrote there.

#[cfg(test)]
mod tests;

use chrono::{DateTime, SecondsFormat, Utc};
use selkie_channel_core::{ContactField, FieldKind, PersonId, Sighting};
use serde_json::{Value, json};

use super::contact_files::{FoundContact, Shelves};
use super::contacts::{Fields, Kind, MAX_ACTIVE, Shelf, keys};
use super::files::{Change, Edit};
use super::forms::{Form, Forms};
use selkie_domain::screen::steers;
use selkie_store::{NewlyMet, SeenPerson};

/// Characters of a name that is written down.
const MAX_NAME: usize = 80;

/// What is to be done with the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observations {
    /// The changes, file by file.
    pub edits: Vec<Edit>,
    /// Names that answer as somebody else than before.
    pub taken_over: Vec<TakenOver>,
}

/// A name that answers as somebody else: they are a contact of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenOver {
    /// The name, as an id: `tg:@grace`.
    pub handle: String,
    /// Whose contact has it.
    pub old: String,
    /// Who answers by it now.
    pub new: PersonId,
}

/// Says what to change so that the files know who was met.
pub fn observe(
    forms: &Forms,
    shelves: &Shelves,
    met: &[NewlyMet],
    now: DateTime<Utc>,
) -> Observations {
    let mut plan = Plan {
        forms,
        shelves: shelves.clone(),
        now,
        active: Vec::new(),
        inactive: Vec::new(),
        taken_over: Vec::new(),
    };
    for new in met {
        if let Some(form) = forms.of_person(&new.met.person) {
            plan.one(form, new);
        }
    }
    let Plan { active, inactive, taken_over, .. } = plan;
    // Who comes back stands in both files for a moment rather than in none.
    Observations {
        edits: edits([
            File { shelf: Shelf::Active, changes: active },
            File { shelf: Shelf::Inactive, changes: inactive },
        ]),
        taken_over,
    }
}

/// Says how to make room among the contacts of today: those who were met longest ago go to the other file.
pub fn make_room(shelves: &Shelves) -> Vec<Edit> {
    let over = shelves.active.overflow(MAX_ACTIVE);
    let lines = |id: &String| Some(Eviction { id: id.clone(), lines: shelves.active.lines(id)? });
    let leaving: Vec<Eviction> = over.iter().filter_map(lines).collect();
    // Who stands in both files already leaves the first one alone.
    let put =
        leaving.iter().map(|one| Change::Put { id: one.id.clone(), lines: one.lines.clone() });
    let take =
        leaving.iter().map(|one| Change::Take { id: one.id.clone(), lines: one.lines.clone() });
    edits([
        File { shelf: Shelf::Inactive, changes: put.collect() },
        File { shelf: Shelf::Active, changes: take.collect() },
    ])
}

/// Somebody for whom there is no room.
struct Eviction {
    id: String,
    lines: super::contacts::MovedLines,
}

/// The changes of one file.
struct File {
    shelf: Shelf,
    changes: Vec<Change>,
}

fn edits(files: [File; 2]) -> Vec<Edit> {
    let some = files.into_iter().filter(|file| !file.changes.is_empty());
    some.map(|File { shelf, changes }| Edit::Contacts { shelf, changes }).collect()
}

struct Plan<'p> {
    forms: &'p Forms,
    /// As they will be.
    shelves: Shelves,
    now: DateTime<Utc>,
    active: Vec<Change>,
    inactive: Vec<Change>,
    taken_over: Vec<TakenOver>,
}

impl Plan<'_> {
    fn one(&mut self, form: &Form, new: &NewlyMet) {
        let SeenPerson { person, username, place, is_direct, .. } = &new.met;
        let sighting = Sighting { person, username, place, is_direct: *is_direct };
        let seen = (form.contacts.seen)(&sighting);
        let known = self.shelves.of_person(self.forms, person).map(At::of);
        let known = match known {
            Some(known) => {
                self.look_for_another(&known.fields, new, &seen);
                Some(known)
            }
            None => self.by_name(new, &seen),
        };
        match known {
            Some(At { shelf: Shelf::Active, fields }) => {
                let changes = self.changes(&fields, new, &seen);
                self.make(changes);
            }
            Some(At { shelf: Shelf::Inactive, fields }) => self.bring_back(&fields, new, &seen),
            None if new.is_new => {
                let fields = first(form, new, &seen);
                self.make(vec![Change::Add { fields }]);
            }
            // Somebody has taken them out of the file.
            None => {}
        }
    }

    /// Finds the contact that a name stands for, when nothing says yet who they are.
    fn by_name(&mut self, new: &NewlyMet, seen: &[ContactField]) -> Option<At> {
        let handle = self.handle(seen)?;
        let form = self.forms.of_person(&new.met.person)?;
        let with = self.with(&handle);
        if let [one] = with.as_slice()
            && !self.is_somebody(form, &one.fields)
        {
            return with.into_iter().next();
        }
        self.note_taken_over(&handle, &with, form, new);
        None
    }

    /// Looks whether somebody who is known has taken a name that was another's.
    fn look_for_another(&mut self, known: &Fields, new: &NewlyMet, seen: &[ContactField]) {
        let Some(handle) = self.handle(seen) else { return };
        let Some(form) = self.forms.of_person(&new.met.person) else { return };
        if !self.has(known, &handle) {
            let mut with = self.with(&handle);
            with.retain(|other| other.fields.id() != known.id());
            self.note_taken_over(&handle, &with, form, new);
        }
    }

    fn note_taken_over(&mut self, handle: &str, with: &[At], form: &Form, new: &NewlyMet) {
        let others = with.iter().filter(|old| self.is_somebody(form, &old.fields));
        let told = others.map(|old| TakenOver {
            handle: handle.to_owned(),
            old: old.fields.id().to_owned(),
            new: new.met.person.clone(),
        });
        let told: Vec<TakenOver> = told.collect();
        self.taken_over.extend(told);
    }

    /// The name by which somebody was seen, as an id.
    fn handle(&self, seen: &[ContactField]) -> Option<String> {
        let mut fields = Fields::default();
        // Where several people speak is nobody's name.
        let own = seen.iter().filter(|field| field.is != FieldKind::Listed);
        own.for_each(|field| fields.set(field.key, field.value.as_str()));
        let mut ids = self.forms.ids(&fields).into_iter();
        ids.find(|id| !self.forms.is_person(id) && self.forms.is_own(id))
    }

    fn with(&self, handle: &str) -> Vec<At> {
        self.shelves.all().filter(|found| self.has(found.fields, handle)).map(At::of).collect()
    }

    fn has(&self, fields: &Fields, handle: &str) -> bool {
        self.forms.all_ids(fields).iter().any(|id| id.eq_ignore_ascii_case(handle))
    }

    fn is_somebody(&self, form: &Form, fields: &Fields) -> bool {
        self.forms.all_ids(fields).iter().any(|id| (form.people.fit)(id))
    }

    /// What a contact does not say yet. What people wrote stands: only what was brought before is brought up to date.
    fn changes(&self, fields: &Fields, new: &NewlyMet, seen: &[ContactField]) -> Vec<Change> {
        let id = fields.id().to_owned();
        let of = |key: &str| fields.get(key).cloned().unwrap_or(Value::Null);
        let set = |key: &str, to: Value| Change::Set {
            id: id.clone(),
            key: key.to_owned(),
            from: of(key),
            to,
        };
        let mut changes = Vec::new();
        for field in seen {
            let is = fields.text(field.key);
            let bare = is.as_deref().map(|is| is.trim_start_matches('@'));
            match field.is {
                FieldKind::Listed => {
                    let value = field.value.clone();
                    if !fields.texts(field.key).contains(&value) {
                        changes.push(Change::Include {
                            id: id.clone(),
                            key: field.key.to_owned(),
                            value,
                        });
                    }
                }
                FieldKind::Fixed if is.is_none() => {
                    changes.push(set(field.key, json!(field.value)))
                }
                FieldKind::Shown
                    if bare.is_none_or(|is| is == new.brought && is != field.value) =>
                {
                    changes.push(set(field.key, json!(field.value)));
                }
                FieldKind::Fixed | FieldKind::Shown => {}
            }
        }
        let name = shown(&new.met.name);
        let brought = new.brought_name.as_deref().map(shown);
        let nickname = fields.text(keys::NICKNAME);
        // A name that somebody wrote by hand is theirs: only the one that was brought follows.
        if nickname.as_ref().is_none_or(|is| Some(is) == brought.as_ref() && *is != name)
            && !name.is_empty()
        {
            changes.push(set(keys::NICKNAME, json!(name)));
        }
        if fields.last_interaction().is_none_or(|last| last < new.met.at) {
            changes.push(set(keys::LAST, json!(stamp(new.met.at))));
        }
        changes
    }

    fn make(&mut self, changes: Vec<Change>) {
        for change in &changes {
            change.apply(&mut self.shelves.active, self.now);
        }
        self.active.extend(changes);
    }

    fn bring_back(&mut self, fields: &Fields, new: &NewlyMet, seen: &[ContactField]) {
        let id = fields.id().to_owned();
        let Some(lines) = self.shelves.inactive.lines(&id) else { return };
        let changes = self.changes(fields, new, seen);
        if !changes
            .iter()
            .any(|change| matches!(change, Change::Set { key, .. } if key == keys::LAST))
        {
            // They have not spoken since they were put aside.
            return;
        }
        // Whom the other file has, too, is looked for there no more.
        self.inactive.push(Change::Take { id: id.clone(), lines: lines.clone() });
        self.make(std::iter::once(Change::Put { id, lines }).chain(changes).collect());
    }
}

/// A contact and where it stands.
struct At {
    shelf: Shelf,
    fields: Fields,
}

impl At {
    fn of(found: FoundContact<'_>) -> Self {
        Self { shelf: found.shelf, fields: found.fields.clone() }
    }
}

/// What is written of somebody who was never met before.
fn first(form: &Form, new: &NewlyMet, seen: &[ContactField]) -> Fields {
    let SeenPerson { person, name, is_bot, at, .. } = &new.met;
    let kind = if *is_bot { Kind::Agent } else { Kind::Human };
    let mut fields = Fields::default();
    fields.set(keys::ID, person.as_str());
    let name = shown(name);
    if !name.is_empty() {
        fields.set(keys::NICKNAME, name);
    }
    fields.set(keys::KIND, kind.name());
    fields.set(keys::CHANNEL, form.channel);
    for field in seen {
        match field.is {
            FieldKind::Listed => _ = fields.include(field.key, &field.value),
            FieldKind::Fixed | FieldKind::Shown => fields.set(field.key, field.value.as_str()),
        }
    }
    fields.set(keys::LAST, stamp(*at));
    fields
}

/// A name in one line, without what steers a screen.
fn shown(name: &str) -> String {
    let plain = name.replace(steers, " ");
    let line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(MAX_NAME).collect()
}

fn stamp(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}
