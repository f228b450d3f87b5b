//! What stands in the terminal while a demo runs: where it is, and what it goes by.

use std::path::Path;

#[cfg(feature = "postgres")]
use selkie_store::database::Database;
use selkie_store::settings::Settings;

/// The card of the model that is none.
pub const STAND_IN: &str = "built-in stand-in";

/// Stands in the terminal before anything is started.
pub const REAL_TOOLS: &str = "
  The people and the platforms of a demo are made up. Its tools are real:
  commands, files and web requests run on this machine, as you.
";

/// What stands in the terminal while the demo runs. Scripts read the address alone.
pub struct Banner {
    /// For standard output.
    pub address: String,
    /// For standard error.
    pub words: String,
}

/// What a demo goes by.
pub struct Facts<'a> {
    /// The page.
    pub url: &'a str,
    /// The model's name.
    pub model: &'a str,
    /// The config file, when one was named.
    pub config: Option<&'a str>,
    /// The state folder.
    pub state: &'a Path,
    /// It goes with the demo.
    pub is_fresh: bool,
    /// Where the chats are kept.
    pub store: &'a Settings,
}

impl Facts<'_> {
    /// Writes it down.
    pub fn in_words(&self) -> Banner {
        let Self { url, model, config, state, is_fresh, store } = self;
        let hint = match *model == STAND_IN {
            true => " (a real one: OPENAI_API_KEY, ANTHROPIC_API_KEY or --model)",
            false => "",
        };
        let config = config.unwrap_or("none (--config FILE to use one)");
        let store = remote(store).unwrap_or_else(|| "selkie.db in the state folder".to_owned());
        let state = state.display();
        let goes = match is_fresh {
            true => "\n          deleted when the demo ends (--state DIR to keep one)",
            false => "",
        };
        let words = format!(
            "
  Open it and write: note: buy milk  ·  tell me my list  ·  what can you do here?
  model   {model}{hint}
  config  {config}
  state   {state}{goes}
  store   {store}
  stop    Ctrl-C",
        );
        Banner { address: format!("{url}\n"), words }
    }
}

/// Returns the database of a server that is named, without its password.
#[cfg_attr(not(feature = "postgres"), expect(unused_variables, reason = "there is none"))]
pub fn remote(store: &Settings) -> Option<String> {
    #[cfg(feature = "postgres")]
    if let Ok(Database::Postgres(address)) = Database::read(store) {
        return Some(address.to_string());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(config: Option<&str>, store: &Settings) -> String {
        let (url, state, is_fresh) =
            ("http://127.0.0.1:1", Path::new("/tmp/state"), config.is_none());
        let facts = Facts { url, model: STAND_IN, config, state, is_fresh, store };
        facts.in_words().words
    }

    #[test]
    fn it_says_what_the_demo_goes_by() {
        insta::assert_snapshot!(words(None, &Settings::default()), @r"
        Open it and write: note: buy milk  ·  tell me my list  ·  what can you do here?
        model   built-in stand-in (a real one: OPENAI_API_KEY, ANTHROPIC_API_KEY or --model)
        config  none (--config FILE to use one)
        state   /tmp/state
                deleted when the demo ends (--state DIR to keep one)
        store   selkie.db in the state folder
        stop    Ctrl-C
        ");
    }

    #[cfg(feature = "postgres")]
    #[test]
    fn a_database_is_named_without_its_password() {
        let url = Some(secrecy::SecretString::from("postgres://selkie:hush@db.example/tea"));
        let words = words(Some("my.yaml"), &Settings { url, ..Settings::default() });
        assert!(words.contains("config  my.yaml") && !words.contains("deleted"), "{words}");
        assert!(words.contains("db.example") && !words.contains("hush"), "{words}");
    }
}
