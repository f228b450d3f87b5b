//! Words that a task is to read and that came as no message, as its model reads them.

use selkie_agent::prompt;
use selkie_domain::facts::Trigger;
use selkie_domain::taint::Taint;
use selkie_domain::transcript::{QuotedWords, UserMessage};
use selkie_domain::words::{Enclosure, Letter, Words};
use selkie_schedule::words::local_time;
use selkie_schedule::zone::Zone;

/// Stands where nothing was written.
pub const NO_TEXT: &str = "(a message without text)";

/// Reads what one of the bot's agents says.
pub fn of_agent(words: &Words, agent: &str, level: Taint, zone: Zone) -> UserMessage {
    let speaker = format!("the agent {}", prompt::label(agent));
    let plain = own_words(&Words { text: String::new(), ..words.clone() }, Trigger::Asked, zone);
    UserMessage { speaker, text: words.text.clone(), agent: Some(level), ..plain }
}

/// Reads words that came as no message; text that is enclosed with them is read as a quote is.
pub fn own_words(words: &Words, trigger: Trigger, zone: Zone) -> UserMessage {
    let Words { person, name, at, .. } = words;
    let letter = words.letter(trigger);
    UserMessage {
        inbox: None,
        at: *at,
        local: local_time(zone, *at),
        speaker: prompt::person(name, person.as_str()),
        quote: quote(&letter),
        text: if letter.own.trim().is_empty() { NO_TEXT.to_owned() } else { letter.own },
        forwarded: false,
        origin: String::new(),
        talk: false,
        relayed: trigger == Trigger::Relayed,
        agent: None,
        spoken: Vec::new(),
        files: Vec::new(),
        pictures: Vec::new(),
    }
}

/// All text that is enclosed, in one quote; several are told apart by their names.
fn quote(letter: &Letter) -> Option<QuotedWords> {
    let texts = letter.enclosed.iter().filter_map(|enclosure| match enclosure {
        Enclosure::Text { name, text } => Some((name.as_str(), text)),
        Enclosure::File(_) => None,
    });
    let (names, texts): (Vec<_>, Vec<_>) = texts.unzip();
    let text = match texts[..] {
        [] => return None,
        [only] => only.clone(),
        _ => {
            let named = names.iter().zip(texts).map(|(name, text)| format!("{name}:\n{text}"));
            named.collect::<Vec<_>>().join("\n\n")
        }
    };
    Some(QuotedWords {
        speaker: names.join(", "),
        text,
        ours: false,
        level: Taint::Raw,
        files: Vec::new(),
        pictures: Vec::new(),
    })
}
