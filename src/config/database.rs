//! What is wrong with the database that the config names.

use crate::settings::Settings;
use selkie_store::database::Database;

/// Says what is wrong with `store.url`, or with a password that has none; never what stands there.
pub fn problem(settings: &Settings) -> Option<(Vec<String>, String)> {
    let at = |key: &str, message: String| Some((vec!["store".to_owned(), key.to_owned()], message));
    let store = &settings.store;
    if store.url.is_none() && store.password.is_some() {
        return at("password", "is set, and store.url, which it would be for, is not".to_owned());
    }
    at("url", Database::read(store).err()?)
}
