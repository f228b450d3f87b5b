//! What the flags of `selkie init` say: keys with their values, secrets by a file's or a variable's name alone.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use secrecy::SecretString;
use serde_json::Value;

use super::init_args::Init;
use super::outcome::Failure;
use selkie_app::Binary;
use selkie_config::is_secret;
use selkie_ops::init::Answers;

/// No secret is longer.
const MAX_LENGTH: u64 = 64 * 1024;

/// Reads them.
///
/// # Errors
/// When one cannot be taken: flag, value and what is taken.
pub(super) fn read(binary: &Binary, init: &Init) -> Result<Answers, Failure> {
    let mut answers = Answers::default();
    for written in &init.set {
        let Pair { key, value } = Pair::of("--set", "VALUE", written)?;
        if is_secret(&binary.kits, key) {
            return wrong(format!(
                "--set {key}: is a secret, which does not belong on a command line: use --secret-file {key}=FILE or \
                 --secret-env {key}=NAME"
            ));
        }
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
        answers.set(key, value);
    }
    for written in &init.secret_file {
        let Pair { key, value } = secret(binary, "--secret-file", "FILE", written)?;
        let path = binary.here.join(value);
        let text = text(&path).map_err(|why| {
            Failure::Usage(format!("--secret-file {key}: {} {why}", path.display()))
        })?;
        hide(&mut answers, &format!("--secret-file {key}: {}", path.display()), key, &text)?;
    }
    for written in &init.secret_env {
        let Pair { key, value: name } = secret(binary, "--secret-env", "NAME", written)?;
        let Some(text) = binary.env.get(name) else {
            return wrong(format!("--secret-env {key}: the variable {name} is not set"));
        };
        hide(&mut answers, &format!("--secret-env {key}: the variable {name}"), key, text)?;
    }
    for owner in &init.owner {
        let such_as: Vec<&str> =
            binary.kits.iter().map(|kit| kit.people.such_as).filter(|id| !id.is_empty()).collect();
        if !binary.kits.iter().any(|kit| (kit.people.fit)(owner)) {
            return wrong(format!(
                "--owner {owner:?} is not an id: it takes {}",
                such_as.join(", ")
            ));
        }
        answers.own(owner);
    }
    Ok(answers.given())
}

/// A key and what stands behind its `=`.
struct Pair<'a> {
    key: &'a str,
    value: &'a str,
}

impl<'a> Pair<'a> {
    fn of(flag: &str, takes: &str, written: &'a str) -> Result<Self, Failure> {
        match written.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() && !value.trim().is_empty() => {
                Ok(Self { key: key.trim(), value: value.trim() })
            }
            _ => wrong(format!("{flag}: takes KEY={takes}, such as {flag} llm.model={takes}")),
        }
    }
}

fn secret<'a>(
    binary: &Binary,
    flag: &str,
    takes: &str,
    written: &'a str,
) -> Result<Pair<'a>, Failure> {
    let pair = Pair::of(flag, takes, written)?;
    match is_secret(&binary.kits, pair.key) {
        true => Ok(pair),
        false => wrong(format!(
            "{flag}: {} is not a secret: use --set {}=VALUE; selkie config example lists the keys",
            pair.key, pair.key
        )),
    }
}

fn hide(answers: &mut Answers, whence: &str, key: &str, text: &str) -> Result<(), Failure> {
    match text.trim() {
        "" => wrong(format!("{whence} is empty")),
        secret => {
            answers.hide(key, SecretString::from(secret));
            Ok(())
        }
    }
}

fn text(path: &Path) -> Result<String, String> {
    let mut text = String::new();
    let file = File::open(path).map_err(|error| format!("cannot be read: {error}"))?;
    let read = file.take(MAX_LENGTH + 1).read_to_string(&mut text);
    read.map_err(|error| format!("cannot be read as text: {error}"))?;
    match text.len() as u64 > MAX_LENGTH {
        true => Err(format!("is longer than {MAX_LENGTH} bytes: it is not a secret")),
        false => Ok(text),
    }
}

fn wrong<T>(why: String) -> Result<T, Failure> {
    Err(Failure::Usage(why))
}
