//! What people read about deliveries.

pub mod posts;

/// Tells the owner of something whose arrival nobody can prove, where no conversation can be told.
pub fn left_unclear(channel: &str, shown: &str) -> String {
    format!(
        "I cannot tell whether this arrived on {channel}: the connection broke, and nothing confirmed it \
         afterwards. I will not send it again by myself. Please check there, and send it again if it is \
         missing:\n\n> {}",
        shown.replace('\n', "\n> ")
    )
}

/// Stands under a question whose rest the platform did not take.
pub const CUT_SHORT: &str = "The rest of this could not be shown here: it cannot be answered here.";

/// Tells the owner that a place goes on under another id.
pub fn moved(key: &str, old: &str, new: &str) -> String {
    format!(
        "The group `{old}` is now `{new}`. I still answer there. To keep it so after a restart, put `\"{new}\"` \
         beside the old id in `{key}` (and in `places`, if it is there, or in `groups`)."
    )
}

/// Stands on the button by which a late answer is fetched; at most 20 characters.
pub const GET_THE_ANSWER: &str = "Get the answer";

/// Says that an answer is late and will be fetched.
pub const STILL_WORKING: &str = "I am still working on this. Tap below when you want the answer.";

/// Answers a tap for an answer that went out.
pub const FETCHED_ALREADY: &str = "You already have that answer: see above.";

/// Answers a tap for an answer that is not there any more.
pub const NOTHING_TO_FETCH: &str = "That answer is no longer there. Please ask again.";

/// For the model: on whose behalf it said the next line, to whoever reads it here.
pub fn said_for(whom: Option<&str>) -> String {
    match whom {
        Some(whom) => {
            format!("you said the next line here on behalf of {whom}, who asked for it elsewhere")
        }
        None => "you said the next line here because a schedule asked for it elsewhere".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_reads_which_id_belongs_into_the_config() {
        let told = moved("telegram.allowed_chat_ids", "tg:-1", "tg:-1001");
        insta::assert_snapshot!(told, @r#"The group `tg:-1` is now `tg:-1001`. I still answer there. To keep it so after a restart, put `"tg:-1001"` beside the old id in `telegram.allowed_chat_ids` (and in `places`, if it is there, or in `groups`)."#);
    }
}
