//! How platforms write the ids of people and chats: in contact files, and where a todo names somebody.

use selkie_channel_core::{ContactForm, Ids, PersonId, Routes};

use super::contacts::{Fields, keys};

/// The forms of every kind of channel, whether it is configured or not.
#[derive(Clone, Default)]
pub struct Forms(Vec<Form>);

/// The forms of one kind of channel.
#[derive(Clone, Copy)]
pub struct Form {
    /// Its name.
    pub channel: &'static str,
    /// People's ids.
    pub people: Ids,
    /// Places' ids.
    pub places: Ids,
    /// What contact files hold.
    pub contacts: ContactForm,
}

impl Forms {
    /// Takes those of each kind of channel that knows people.
    pub fn new(all: impl IntoIterator<Item = Form>) -> Self {
        Self(all.into_iter().filter(|form| !form.contacts.ids.is_empty()).collect())
    }

    /// Returns the forms of the kind of channel that somebody is on; `None` for who is on none.
    pub fn of_person(&self, person: &PersonId) -> Option<&Form> {
        self.0.iter().find(|form| (form.people.fit)(person.as_str()))
    }

    /// Returns the forms of a kind of channel.
    pub fn of_channel(&self, channel: &str) -> Option<&Form> {
        self.0.iter().find(|form| form.channel == channel)
    }

    /// Whether a text is the id of a person, which never changes.
    pub fn is_person(&self, text: &str) -> bool {
        self.0.iter().any(|form| (form.people.fit)(text))
    }

    /// Whether a text is an id that says nothing of where somebody was met: a person's own, or a name of theirs.
    pub fn is_own(&self, text: &str) -> bool {
        let is_handle = |form: &Form| (form.contacts.names)(text) && !(form.places.fit)(text);
        self.is_person(text) || (!self.is_chat(text) && self.0.iter().any(is_handle))
    }

    /// Whether a text is an id that somebody may be named by.
    pub fn is_reference(&self, text: &str) -> bool {
        self.0.iter().any(|form| (form.contacts.names)(text))
    }

    /// Whether a text is the id of a chat.
    pub fn is_chat(&self, text: &str) -> bool {
        self.0.iter().any(|form| (form.places.fit)(text) || (form.people.fit)(text))
    }

    /// Says how a chat's id is written, for errors.
    pub fn chats_such_as(&self) -> String {
        let all: Vec<&str> = self.0.iter().map(|form| form.places.such_as).collect();
        if all.is_empty() { "nothing: no channel is built in".to_owned() } else { all.join(", ") }
    }

    /// Lists every id of a contact: its `contact_id`, those it had before it was merged, those of its fields.
    pub fn all_ids(&self, fields: &Fields) -> Vec<String> {
        let mut ids = self.ids(fields);
        let others = std::iter::once(fields.id().to_owned()).chain(fields.texts(keys::MERGED));
        for id in others.filter(|id| !id.is_empty()) {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        ids
    }

    /// Returns the fields that hold a chat's id in a contact, and how the id is written there.
    pub fn holders(&self, fields: &Fields, chat: &str) -> Vec<Holder> {
        let mut found = Vec::new();
        for form in self.0.iter().flat_map(|form| form.contacts.ids) {
            let Some((_, key)) = form.rsplit_once('{') else { continue };
            let key = key.trim_end_matches('}');
            for value in fields.texts(key) {
                let one = Fields::default().with(fields, key, &value);
                if filled(form, &one).iter().any(|id| id == chat) {
                    found.push(Holder { key: key.to_owned(), value });
                }
            }
        }
        found
    }

    /// Lists the ids by which a contact is reached, the preferred first, without its `contact_id`.
    pub fn ids(&self, fields: &Fields) -> Vec<String> {
        let written =
            self.0.iter().flat_map(|form| form.contacts.ids).flat_map(|form| filled(form, fields));
        let mut ids: Vec<String> = Vec::new();
        for id in written.filter(|id| self.is_reference(id) || self.is_chat(id)) {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        ids
    }
}

/// A field that holds an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its name.
    pub key: String,
    /// What it says, or one of what it lists.
    pub value: String,
}

/// How somebody is spoken to by one channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The channel's name.
    pub channel: &'static str,
    /// Conversations with them alone, the preferred first.
    pub direct: Vec<String>,
    /// Conversations that they share with others.
    pub shared: Vec<String>,
    /// A chat of the channel that is none of theirs counts as none.
    pub falls_back: bool,
}

impl Forms {
    /// Lists the ways to a contact, the preferred channel first.
    pub fn routes(&self, fields: &Fields) -> Vec<Route> {
        let mut forms: Vec<&Form> = self.0.iter().collect();
        forms.sort_by_key(|form| form.contacts.routes.rank);
        let all = |written: &[&'static str]| -> Vec<String> {
            let ids = written.iter().flat_map(|form| filled(form, fields));
            ids.filter(|id| self.is_chat(id) || self.is_reference(id)).collect()
        };
        let route = |form: &Form| {
            let Routes { direct, shared, falls_back, .. } = form.contacts.routes;
            let direct = all(direct);
            let shared = all(shared);
            let is_one = !direct.is_empty() || !shared.is_empty() || self.knows(form, fields);
            is_one.then_some(Route { channel: form.channel, direct, shared, falls_back })
        };
        forms.into_iter().filter_map(route).collect()
    }

    /// Chooses the way: the chat that is named, where it is one of theirs; else alone, by the first channel that reaches
    /// them. A chat of a channel that takes no other than theirs leads nowhere.
    pub fn route(&self, routes: &[Route], chat: Option<&str>) -> Option<String> {
        let alone = || routes.iter().find_map(|route| route.direct.first()).cloned();
        let Some(chat) = chat.filter(|chat| !chat.is_empty()) else { return alone() };
        let theirs = |route: &&Route| route.direct.iter().chain(&route.shared).any(|id| id == chat);
        if routes.iter().any(|route| theirs(&route)) {
            return Some(chat.to_owned());
        }
        let channel = self.channel_of(chat);
        let route = routes.iter().find(|route| route.channel == channel)?;
        route.falls_back.then(|| route.direct.first().cloned()).flatten()
    }

    /// Names the channel to which an id belongs; empty where none knows it.
    pub fn channel_of(&self, id: &str) -> String {
        let knows = |form: &&Form| {
            (form.places.fit)(id) || (form.people.fit)(id) || (form.contacts.names)(id)
        };
        self.0.iter().find(knows).map(|form| form.channel).unwrap_or_default().to_owned()
    }

    /// Whether a channel knows a contact by any id.
    fn knows(&self, form: &Form, fields: &Fields) -> bool {
        form.contacts.ids.iter().any(|written| !filled(written, fields).is_empty())
    }
}

/// Fills a form like `bird:{flock}:{ring}` with a contact's fields; a list gives an id for each of its texts.
fn filled(form: &str, fields: &Fields) -> Vec<String> {
    let Some((before, rest)) = form.split_once('{') else { return vec![form.to_owned()] };
    let Some((key, after)) = rest.split_once('}') else { return Vec::new() };
    let values = fields.texts(key).into_iter().filter(|value| !value.is_empty());
    let with = |value: String| -> Vec<String> {
        // People write whole ids where a part of one would do.
        let scheme = form.split_once(':').map_or("", |(scheme, _)| scheme);
        if value.split_once(':').is_some_and(|(written, _)| written == scheme) {
            return vec![value];
        }
        let value = value.trim_start_matches('@').to_owned();
        filled(after, fields).into_iter().map(|after| format!("{before}{value}{after}")).collect()
    };
    values.flat_map(with).collect()
}

#[cfg(any(test, feature = "testing"))]
pub mod testing {
    //! Forms of ids for tests.

    use selkie_channel_core::{ContactField, Sighting};

    use super::*;

    /// Birds: `bird:7`, `bird:@kea`, `bird:flock:7`.
    pub fn birds() -> Forms {
        fn is_bird(text: &str) -> bool {
            text.strip_prefix("bird:").is_some_and(|id| !id.is_empty() && !id.contains(' '))
        }
        fn is_number(text: &str) -> bool {
            let number = text.strip_prefix("bird:").and_then(|id| id.parse::<i64>().ok());
            number.is_some_and(|number| number != 0)
        }
        let contacts = ContactForm {
            ids: &[
                "bird:@{bird_name}",
                "bird:{bird_number}",
                "bird:{flock}:{ring}",
                "bird:{trees}",
            ],
            names: is_bird,
            routes: Routes {
                direct: &["bird:{bird_number}"],
                shared: &["bird:{trees}"],
                falls_back: true,
                rank: 1,
            },
            seen,
        };
        fn seen(of: &Sighting<'_>) -> Vec<ContactField> {
            let number = |id: &str| id.trim_start_matches("bird:").to_owned();
            let mut fields = vec![ContactField::fixed("bird_number", number(of.person.as_str()))];
            if !of.username.is_empty() {
                fields.push(ContactField::shown("bird_name", of.username));
            }
            if !of.is_direct {
                fields.push(ContactField::listed("trees", number(of.place.key())));
            }
            fields
        }
        let ids = Ids { such_as: "bird:-42", fit: is_number };
        let people = Ids { such_as: "bird:7", fit: |text| is_number(text) && !text.contains('-') };
        Forms::new([Form { channel: "birds", people, places: ids, contacts }])
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ids(fields: serde_json::Value) -> Vec<String> {
        testing::birds().ids(&Fields::new(fields.as_object().unwrap().clone()))
    }

    #[test]
    fn ids_are_made_of_the_fields_that_are_there() {
        let kea = json!({ "bird_name": "@kea", "bird_number": 7, "trees": ["1", "bird:2", ""], "flock": "f" });
        assert_eq!(ids(kea), ["bird:@kea", "bird:7", "bird:1", "bird:2"]);
        assert_eq!(ids(json!({ "flock": "f", "ring": "9", "bird_name": "a b" })), ["bird:f:9"]);
        assert!(ids(json!({})).is_empty());
    }
}
