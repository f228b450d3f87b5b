//! Our secrets in what people wrote are hidden before anything is stored.

use selkie_channel_core::{Inbound, Redactor};

/// Hides our secrets in what people wrote: no row holds them, and no model is told.
pub(crate) fn hide(redactor: &Redactor, inbound: &mut Inbound) {
    let Inbound { title, text, command, quote, attachments, .. } = inbound;
    let args = command.as_mut().map(|command| &mut command.args);
    let quoted = quote.as_mut().map(|quote| &mut quote.text);
    let names = attachments.iter_mut().map(|attachment| &mut attachment.name);
    for written in [title, text].into_iter().chain(args).chain(quoted).chain(names) {
        *written = redactor.clean(written);
    }
}
