//! The schemas that `read_schema` knows and no file holds.

use serde_json::Value;

use crate::Binary;
use selkie_config::whole_schema;
use selkie_people::contacts;
use selkie_tools::Schemas;

/// Returns them by name; each is made when somebody asks for it.
pub fn schemas(binary: &Binary) -> Schemas {
    let kits = binary.kits.clone();
    let config = move || whole_schema(&kits);
    let kits = binary.kits.clone();
    let schedules = move || of_key(whole_schema(&kits), "schedules");
    let kits = binary.kits.clone();
    let contacts = move || contacts::schema(kits.iter().flat_map(|kit| kit.contacts.ids).copied());
    Schemas::new([
        ("config", Box::new(config) as _),
        ("contacts", Box::new(contacts) as _),
        ("schedules", Box::new(schedules) as _),
    ])
}

/// Takes what a key holds out of the config's schema, with what it refers to.
fn of_key(mut config: Value, key: &str) -> Value {
    let mut schema = config["properties"][key].take();
    schema["$defs"] = config["$defs"].take();
    schema
}
