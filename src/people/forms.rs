//! How platforms write the ids of people and chats: in contact files, and where a todo names somebody.

use selkie_channel_core::{ContactForm, Ids};

use super::contacts::Fields;

/// The forms of every kind of channel, whether it is configured or not.
#[derive(Clone, Default)]
pub struct Forms(Vec<Form>);

/// The forms of one kind of channel.
#[derive(Clone, Copy)]
pub struct Form {
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

#[cfg(test)]
pub(super) mod testing {
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
        };
        let ids = Ids { such_as: "bird:-42", fit: is_number };
        Forms::new([Form { people: ids, places: ids, contacts }])
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
