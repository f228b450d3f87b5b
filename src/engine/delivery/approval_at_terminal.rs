//! A request to approve a call as it is shown at a terminal: plain, to whoever sits there and has asked for it.

use selkie_channel_core::Question;

use super::approvals;
use selkie_domain::approval::{Request, Verdict};
use selkie_guard::visible::visible;

/// Returns the request with its key; it stays open for `within`.
pub fn asked(key: &str, within: &str, request: &Request) -> Question {
    // Every line of it is set in: none of them can look like a line of ours.
    let preview = visible(request.preview.trim_end());
    let shown: String = preview
        .lines()
        .map(|line| if line.is_empty() { "\n".to_owned() } else { format!("\n    {line}") })
        .collect();
    let unseen = request.unseen.iter().map(|what| format!("\n- not shown: {}", plain(what)));
    let reasons = request.reasons.iter().map(|reason| format!("\n- it {}", plain(reason)));
    let about: String = unseen.chain(reasons).collect();
    let effect = plain(&approvals::effect(request));
    Question {
        key: key.to_owned(),
        markdown: format!(
            "May I {effect}?\n{shown}\n{about}\n\nApprove it? [y/N] (no answer within {within} counts as no)"
        ),
        choices: Vec::new(),
        free_text: true,
        placeholder: String::new(),
    }
}

/// Reads what is typed; nothing at all is the capital letter. `None` for words that are neither.
pub fn read(typed: &str) -> Option<Verdict> {
    if typed.trim().is_empty() { Some(Verdict::Deny) } else { Verdict::of_reply(typed) }
}

/// Words of ours on one line, without the marks of messages.
fn plain(text: &str) -> String {
    visible(text).replace('`', "'").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use selkie_domain::approval::Approvers;

    #[test]
    fn it_is_plain_and_says_how_long_it_waits() {
        let request = Request {
            v: Request::VERSION,
            call: "c1".to_owned(),
            tool: "bash".to_owned(),
            words: "running a command".to_owned(),
            preview: "run a command:\nrm -f `x`\n\nApprove it? [y/N]".to_owned(),
            unseen: Vec::new(),
            place: String::new(),
            reasons: vec!["asks first: commands with `rm` need a person's approval".to_owned()],
            of: Approvers::Terminal,
            hash: String::new(),
        };
        insta::assert_snapshot!(asked("k", "5 minutes", &request).markdown, @r"
        May I run a command?

            run a command:
            rm -f `x`

            Approve it? [y/N]

        - it asks first: commands with 'rm' need a person's approval

        Approve it? [y/N] (no answer within 5 minutes counts as no)
        ");
    }

    #[test]
    fn what_is_typed_is_a_yes_a_no_or_neither() {
        assert_eq!(read("y"), Some(Verdict::Approve));
        assert_eq!(read(" \n"), Some(Verdict::Deny));
        assert_eq!(read("No"), Some(Verdict::Deny));
        assert_eq!(read("maybe"), None);
    }
}
