//! A command that is written as in another place of the demo: there it is one, here it would be words for the model.

use selkie_app::demo::World;

/// Says how a command is written here that is written as in another place: here it would be words for the model.
pub(super) fn written(text: &str, place: &str, world: &dyn World) -> Option<String> {
    if world.command_word(place).is_some() {
        return None;
    }
    let places = world.places();
    let mut words = places.iter().filter_map(|there| Some((there, world.command_word(there)?)));
    words.find_map(|(there, word)| {
        let rest = text.trim().strip_prefix(word)?;
        if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
            return None;
        }
        let command = match rest.trim().trim_start_matches('/') {
            "" => "help",
            command => command,
        };
        Some(format!(
            "--say {text:?} is a command as {there} has it: in {place} write --say {:?}, or add --in {there}",
            format!("/{command}")
        ))
    })
}
