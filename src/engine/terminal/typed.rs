//! What somebody types in the terminal: a command of the bot, or a question.

use selkie_channel_core::Command;

use selkie_domain::builtin::Builtin;

/// Reads a command; everything else, a path for instance, is a question.
pub fn command(text: &str) -> Option<Command> {
    let (name, args) = split(text)?;
    let builtin = Builtin::parse(&name).filter(|builtin| *builtin != Builtin::Ask)?;
    Some(Command { name: builtin.name().to_owned(), args: args.to_owned() })
}

/// Returns the question: `/ask why?` asks the same as `why?`.
pub fn question(text: &str) -> &str {
    match split(text) {
        Some((name, args)) if name == Builtin::Ask.name() && !args.is_empty() => args,
        _ => text,
    }
}

fn split(text: &str) -> Option<(String, &str)> {
    let text = text.trim().strip_prefix('/')?;
    let (name, args) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    Some((name.to_lowercase(), args.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_questions() {
        let command = |text| command(text).map(|command| (command.name, command.args));
        assert_eq!(command(" /Reset "), Some(("reset".to_owned(), String::new())));
        assert_eq!(command("/plan  off"), Some(("plan".to_owned(), "off".to_owned())));
        for text in
            ["/etc/hosts is what?", "/etc", "reset", "what does /reset do?", "/ask why?", ""]
        {
            assert_eq!(command(text), None, "{text}");
        }
        assert_eq!(question("/ask why?"), "why?");
        assert_eq!(question("/ask"), "/ask");
        assert_eq!(question("why /ask?"), "why /ask?");
    }
}
