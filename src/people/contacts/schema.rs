//! What a contact's block may hold, as `read_schema` tells it.

use serde_json::{Map, Value, json};

use super::field::keys;

/// Returns the JSON Schema of a contact. `ids` are the forms of ids that channels make of their own fields:
/// `tg:@{tg_username}`.
pub fn schema<'a>(ids: impl Iterator<Item = &'a str>) -> Value {
    let text = |about: &str| json!({ "type": "string", "description": about });
    let texts = |about: &str| json!({ "type": "array", "items": { "type": "string" }, "description": about });
    let known = [
        (keys::ID, text("Who it is, by the id they were first met by. Never changes.")),
        (keys::NICKNAME, text("What people call them.")),
        (
            keys::KIND,
            json!({
                "type": "string",
                "enum": ["human", "agent"],
                "default": "human",
                "description": "A person, or a program that speaks for somebody.",
            }),
        ),
        (keys::CHANNEL, text("The channel they are usually met on.")),
        (keys::ALIASES, texts("What else people call them.")),
        (keys::MERGED, texts("Ids of contacts that were merged into this one.")),
        (keys::LAST, text("When they last spoke: 2026-11-28T08:00:00Z.")),
    ];
    let mut properties: Map<String, Value> =
        known.into_iter().map(|(key, schema)| (key.to_owned(), schema)).collect();
    for id in ids {
        for key in fields_of(id) {
            let about = format!("A channel's own, of which the id {id} is made.");
            let schema = if key.ends_with("_ids") { texts(&about) } else { text(&about) };
            properties.entry(key).or_insert(schema);
        }
    }
    json!({
        "title": "a contact, in contacts/ACTIVE.md and contacts/INACTIVE.md",
        "description": "A contact: a heading with its name, and these fields as YAML below it. Keys of your own stay.",
        "type": "object",
        "properties": properties,
        "required": [keys::ID],
    })
}

/// The fields that stand in an id's form.
fn fields_of(id: &str) -> impl Iterator<Item = String> + '_ {
    let parts = id.split('{').skip(1);
    parts.filter_map(|part| part.split_once('}').map(|(key, _)| key.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_channels_stand_beside_everybodys() {
        let schema = schema(["bird:{bird_team}:{bird_id}", "bird:{bird_id}"].into_iter());
        let keys: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(keys[..2], ["contact_id", "nickname"]);
        assert_eq!(keys[keys.len() - 2..], ["bird_team", "bird_id"]);
    }
}
