//! What people read of the people the bot knows.

use selkie_agent::prompt::without_id;
use selkie_domain::count::counted;
use selkie_guard::visible::{code, harmless, one_line};
use selkie_people::forms::Forms;
use selkie_people::visibility::VisiblePerson;
use selkie_schedule::words::moment;
use selkie_schedule::zone::Zone;

/// So many people are listed.
const MAX: usize = 30;
/// So many lines that cannot be read are named.
const MAX_FAULTS: usize = 5;

/// How people are shown to who asks.
#[derive(Clone, Copy)]
pub struct ContactStyle<'a> {
    /// By whose clocks times are told.
    pub zone: Zone,
    /// Tells the ids of people from those of chats.
    pub forms: &'a Forms,
}

/// Lists people; `zone`: by whose clocks times are told.
pub fn contacts(known: &[&VisiblePerson], faults: &[String], zone: Zone) -> String {
    if known.is_empty() && faults.is_empty() {
        return "I know nobody here yet: people are noted when they write.".to_owned();
    }
    let lines = known.iter().take(MAX).map(|known| format!("- {}\n", line(known, zone)));
    let more = known.len().saturating_sub(MAX);
    let more = (more > 0).then(|| format!("and {more} more: /contacts NAME shows one\n"));
    let unread =
        faults.iter().take(MAX_FAULTS).map(|fault| format!("Cannot be read: {}\n", plain(fault)));
    let people = counted(known.len() as u64, ["person", "people"]);
    let heading = (!known.is_empty()).then(|| format!("I know {people} here:\n"));
    let all: String = heading.into_iter().chain(lines).chain(more).chain(unread).collect();
    all.trim_end().to_owned()
}

/// Shows who is called so; `showing`: how.
pub fn contact(known: &[&VisiblePerson], name: &str, showing: ContactStyle<'_>) -> String {
    if known.is_empty() {
        return format!("I know nobody called `{}` here.", plain(name));
    }
    let one = |known: &&VisiblePerson| {
        let others = known.names.get(1..).unwrap_or_default();
        let all = |ids: &[&String]| ids.iter().map(|one| id(one)).collect::<Vec<_>>().join(", ");
        let (own, chats): (Vec<&String>, Vec<&String>) =
            known.ids.iter().partition(|id| showing.forms.is_own(id));
        let chats = match chats.as_slice() {
            [] => String::new(),
            chats => format!("\n- chats: {}", all(chats)),
        };
        let also = match others {
            [] => String::new(),
            others => format!("\n- also called: {}", plain(&others.join(", "))),
        };
        format!("{}{also}\n- ids: {}{chats}", line(known, showing.zone), all(&own))
    };
    known.iter().take(MAX).map(one).collect::<Vec<_>>().join("\n\n")
}

/// Says that nothing can be told now.
pub fn unreadable() -> String {
    "I cannot read my notes about people at the moment; my owner can find out why with /contacts in private."
        .to_owned()
}

/// Says whom it is for.
pub const NOT_FOR_STRANGERS: &str =
    "Only people whom my owner has let in can ask whom I know here.";

fn line(known: &VisiblePerson, zone: Zone) -> String {
    let first = known.ids.first().map_or("", String::as_str);
    // The id behind it is the only one.
    let name = known.names.first().map(|name| plain(&without_id(name)));
    let name = name.filter(|name| !name.is_empty()).unwrap_or_else(|| plain(first));
    let last = known.last.map(|at| format!(", last wrote on {}", moment(at, zone)));
    format!("{name} ({}){}", id(first), last.unwrap_or_default())
}

/// An id as it is, whatever stands in it.
fn id(id: &str) -> String {
    code(&harmless(&one_line(id)))
}

/// What somebody else has written, in one line, and no Markdown in it.
fn plain(text: &str) -> String {
    let marks = |c: char| if "`*_~[]<>|\\".contains(c) { ' ' } else { c };
    let line: String = harmless(&one_line(text)).chars().map(marks).collect();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use selkie_people::forms::testing::birds;

    fn known(names: &[&str], ids: &[&str]) -> VisiblePerson {
        let all = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        VisiblePerson {
            names: all(names),
            ids: all(ids),
            last: "2026-03-06T07:08:09Z".parse().ok(),
        }
    }

    #[test]
    fn people_are_listed_without_what_their_names_would_do() {
        let ada = known(&["Ada\n**L**", "Countess"], &["bird:@ada_l", "bird:-7", "bird:1"]);
        let nameless = VisiblePerson { last: None, ..known(&[], &["bird:2"]) };
        let posing = VisiblePerson { last: None, ..known(&["Ada (bird:1)"], &["bird:3"]) };
        let zone = Zone::named("Europe/Berlin").unwrap();
        let showing = ContactStyle { zone, forms: &birds() };
        let all = [
            contacts(&[&ada, &nameless, &posing], &["F, line 3: what".to_owned()], zone),
            contact(&[&ada], "ada", showing),
            contact(&[], "`x`", showing),
            contacts(&[], &[], zone),
        ];
        insta::assert_snapshot!(all.join("\n--\n"), @r#"
        I know 3 people here:
        - Ada L (`bird:@ada_l`), last wrote on 2026-03-06 08:08 Europe/Berlin
        - bird:2 (`bird:2`)
        - Ada (`bird:3`)
        Cannot be read: F, line 3: what
        --
        Ada L (`bird:@ada_l`), last wrote on 2026-03-06 08:08 Europe/Berlin
        - also called: Countess
        - ids: `bird:@ada_l`, `bird:1`
        - chats: `bird:-7`
        --
        I know nobody called `x` here.
        --
        I know nobody here yet: people are noted when they write.
        "#);
    }
}
