//! `reply_markup`: what keyboards may hold.

use serde_json::Value;

use super::params::Params;
use super::refusal::Refusal;

/// The most buttons of one keyboard.
const MAX_BUTTONS: usize = 100;
/// The most characters of the hint in an input field.
const MAX_HINT: usize = 64;

/// Reads and checks the keyboard of a call.
pub(crate) fn read(params: &Params) -> Result<Option<Value>, Refusal> {
    let Some(markup) = params
        .json("reply_markup")
        .map_err(|_| Refusal::bad("can't parse reply keyboard markup JSON object"))?
    else {
        return Ok(None);
    };
    if !markup.is_object() {
        return Err(Refusal::bad("object expected as reply markup"));
    }
    let Some(rows) = markup.get("inline_keyboard") else {
        return check_other(&markup).map(|()| Some(markup));
    };
    let shape = || {
        Refusal::bad(
            "field \"inline_keyboard\" of the InlineKeyboardMarkup must be an Array of Arrays",
        )
    };
    let mut buttons = 0;
    for row in rows.as_array().ok_or_else(shape)? {
        for button in row.as_array().ok_or_else(shape)? {
            buttons += 1;
            check_button(button)?;
        }
    }
    match buttons {
        0 => Ok(None),
        1..=MAX_BUTTONS => Ok(Some(markup)),
        _ => Err(Refusal::bad("reply markup is too long")),
    }
}

/// A keyboard that is not inline: for a reply, in place of the phone's own, or the end of one.
fn check_other(markup: &Value) -> Result<(), Refusal> {
    const KINDS: [&str; 3] = ["force_reply", "keyboard", "remove_keyboard"];
    if !KINDS.iter().any(|kind| markup.get(kind).is_some()) {
        return Err(Refusal::bad("can't parse reply keyboard markup JSON object"));
    }
    let hint = markup["input_field_placeholder"].as_str().unwrap_or_default();
    if hint.chars().count() > MAX_HINT {
        return Err(Refusal::bad("input field placeholder is too long"));
    }
    Ok(())
}

fn check_button(button: &Value) -> Result<(), Refusal> {
    if button["text"].as_str().is_none_or(|text| text.trim().is_empty()) {
        return Err(Refusal::bad("inline keyboard button text must be non-empty"));
    }
    if let Some(data) = button.get("callback_data") {
        let fits = data.as_str().is_some_and(|data| (1..=64).contains(&data.len()));
        return if fits { Ok(()) } else { Err(Refusal::bad("BUTTON_DATA_INVALID")) };
    }
    const ACTIONS: &str = "\
        url web_app login_url switch_inline_query switch_inline_query_current_chat \
        switch_inline_query_chosen_chat copy_text pay";
    if ACTIONS.split(' ').any(|action| button.get(action).is_some()) {
        return Ok(());
    }
    Err(Refusal::bad("Text buttons are unallowed in the inline keyboard"))
}
