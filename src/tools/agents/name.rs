//! Names of agents: words joined by dashes.

/// Characters of a name.
const MAX: usize = 40;
/// Words that are taken of a task to name its agent.
const WORDS: usize = 4;

/// Makes a name of what somebody wrote: `Read a.txt!` is `read-a-txt`; empty when nothing of it can stand in a name.
pub fn slug(text: &str) -> String {
    let parts = text.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    let mut name = String::new();
    for part in parts {
        let gap = usize::from(!name.is_empty());
        let part = part.to_lowercase();
        if name.chars().count() + gap + part.chars().count() > MAX {
            break;
        }
        if gap > 0 {
            name.push('-');
        }
        name.push_str(&part);
    }
    // One endless word is cut.
    match name.is_empty() {
        true => text
            .chars()
            .filter(|c| c.is_alphanumeric())
            .take(MAX)
            .collect::<String>()
            .to_lowercase(),
        false => name,
    }
}

/// Names an agent after its task, with a number where that name is taken.
pub fn after_task(task: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let words: Vec<&str> = task.split_whitespace().take(WORDS).collect();
    let name = slug(&words.join(" "));
    let name = if name.is_empty() { "agent".to_owned() } else { name };
    if !is_taken(&name) {
        return name;
    }
    let numbered = (2u32..).map(|number| format!("{name}-{number}"));
    numbered.into_iter().find(|name| !is_taken(name)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_made_of_words() {
        assert_eq!(slug("Read a.txt!"), "read-a-txt");
        assert_eq!(slug("  Büro / 「会議」 "), "büro-会議");
        assert_eq!(slug("../../etc"), "etc");
        assert_eq!(slug("!?"), "");
        assert_eq!(slug(&"x".repeat(99)).len(), 40);
        assert_eq!(
            after_task("find out what is in a.txt and b.txt", |_| false),
            "find-out-what-is"
        );
        assert_eq!(after_task("…", |name| name == "agent" || name == "agent-2"), "agent-3");
    }
}
