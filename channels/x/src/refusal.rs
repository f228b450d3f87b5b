//! What X's refusals mean, and what a person can do about them.

use selkie_channel_core::http::Refusal;

/// What a refusal asks of us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Too fast: wait.
    Limited,
    /// The same text stands there.
    Duplicate,
    /// The text is one that X does not take.
    Text,
    /// An app's bearer, which posts for nobody.
    AppOnly,
    /// The app may only read.
    ReadOnly,
    /// The login is not taken.
    Login,
    /// The account's plan or credits are used up.
    Credits,
    /// Anything else: it will never be taken.
    Other,
}

/// What X says of a text that it does not take.
const TEXTS: [&str; 3] = ["text is too long", "tweet text", "$.text"];

const DUPLICATE: &str = "X accepts the same text only once, and it is on the timeline or was recently: change the words to post it again";

const NO_TEXT: &str = "X does not take the text: ";

/// Whether an [`advice`] is of what the post says.
pub fn of_words(advice: &str) -> bool {
    advice == DUPLICATE || advice.starts_with(NO_TEXT)
}

const ANOTHER: &str = "it was approved for another account: ";

/// Says that a post was meant for the account `wanted`, and the login in `keys` is that of `found`.
pub fn of_another(wanted: &str, found: &str, keys: &str) -> String {
    format!("{ANOTHER}that with the id {wanted}, and the login ({keys}) is of the id {found} now")
}

/// Whether it says [`of_another`].
pub fn of_account(advice: &str) -> bool {
    advice.starts_with(ANOTHER)
}

/// Reads a refusal.
pub fn kind(refusal: &Refusal) -> Kind {
    let words = refusal.words.to_lowercase();
    match refusal.status {
        429 => Kind::Limited,
        401 => Kind::Login,
        402 => Kind::Credits,
        403 if words.contains("duplicate content") => Kind::Duplicate,
        400 | 403 if TEXTS.iter().any(|of_text| words.contains(of_text)) => Kind::Text,
        403 if words.contains("unsupported authentication") => Kind::AppOnly,
        403 if words.contains("oauth1 app permissions") || words.contains("oauth1-permissions") => {
            Kind::ReadOnly
        }
        403 if words.contains("credits") || words.contains("usage cap") => Kind::Credits,
        _ => Kind::Other,
    }
}

/// Says what happened and what to do; `keys` are the config's that prove who posts.
pub fn advice(refusal: &Refusal, keys: &str) -> String {
    let message = &refusal.words;
    match kind(refusal) {
        Kind::Duplicate => DUPLICATE.to_owned(),
        Kind::Text => format!("{NO_TEXT}{message}"),
        Kind::AppOnly => format!(
            "X accepts no post with an app's own bearer token ({message}): give a user's login instead of {keys}, \
             either x.consumer_key, x.consumer_secret, x.access_token and x.access_token_secret, or x.client_id and \
             x.refresh_token (scopes tweet.read, tweet.write, users.read, media.write, offline.access)"
        ),
        Kind::ReadOnly => format!(
            "the app may only read ({message}): set it to \"Read and write\" in X's developer console, create a new \
             access token there, and put it into x.access_token and x.access_token_secret"
        ),
        Kind::Login => format!(
            "X refuses the login ({message}): make a new one in X's developer console, put it into {keys}, and start \
             selkie again"
        ),
        Kind::Credits => format!(
            "X accepts no more posts on this plan ({message}): check the plan and its credits in X's developer console"
        ),
        Kind::Limited => format!("X limits the account ({message})"),
        Kind::Other => format!("X says {}: {message}", refusal.status),
    }
}

/// The same for a picture that X does not take.
pub fn advice_of_picture(refusal: &Refusal, keys: &str, name: &str) -> String {
    let message = &refusal.words;
    match kind(refusal) {
        Kind::Other if refusal.status == 403 => format!(
            "X does not let this login upload pictures ({message}): a login of OAuth 2.0 needs the scope media.write. \
             Authorize the app again with it and put what it gives into {keys}"
        ),
        Kind::Other => format!("X does not take the picture {name}: {message}"),
        _ => advice(refusal, keys),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(code: u16, text: &str) -> Refusal {
        Refusal { status: code, words: text.to_owned(), ..Refusal::default() }
    }

    #[test]
    fn xs_words_are_understood() {
        let rows = [
            (
                403,
                "Forbidden: You are not allowed to create a Tweet with duplicate content.",
                Kind::Duplicate,
            ),
            (
                403,
                "Unsupported Authentication: Authenticating with OAuth 2.0 Application-Only is forbidden for this endpoint.",
                Kind::AppOnly,
            ),
            (
                403,
                "Forbidden: Your client app is not configured with the appropriate oauth1 app permissions for this endpoint.",
                Kind::ReadOnly,
            ),
            (403, "Forbidden: Your Tweet text is too long.", Kind::Text),
            (403, "Forbidden: You are not permitted to perform this action.", Kind::Other),
            (402, "CreditsDepleted", Kind::Credits),
            (401, "Unauthorized", Kind::Login),
            (429, "Too Many Requests", Kind::Limited),
            (
                400,
                "Invalid Request: One or more parameters to your request was invalid.",
                Kind::Other,
            ),
        ];
        for (code, text, wanted) in rows {
            assert_eq!(kind(&refusal(code, text)), wanted, "{text}");
        }
    }

    #[test]
    fn what_is_refused_for_its_words_is_told_from_the_rest() {
        let duplicate = "You are not allowed to create a Tweet with duplicate content.";
        let long = "Your Tweet text is too long.";
        for (status, words, is) in [
            (403, duplicate, true),
            (403, long, true),
            (401, "Unauthorized", false),
            (402, "", false),
        ] {
            assert_eq!(of_words(&advice(&refusal(status, words), "")), is, "{words}");
        }
    }

    #[test]
    fn a_refusal_says_what_to_do() {
        let app = "Unsupported Authentication: Authenticating with OAuth 2.0 Application-Only is forbidden.";
        let advice = [refusal(403, app), refusal(401, "Unauthorized"), refusal(400, "no")]
            .map(|refusal| advice(&refusal, "x.bearer_token"));
        insta::assert_snapshot!(advice.join("\n"), @"
        X accepts no post with an app's own bearer token (Unsupported Authentication: Authenticating with OAuth 2.0 Application-Only is forbidden.): give a user's login instead of x.bearer_token, either x.consumer_key, x.consumer_secret, x.access_token and x.access_token_secret, or x.client_id and x.refresh_token (scopes tweet.read, tweet.write, users.read, media.write, offline.access)
        X refuses the login (Unauthorized): make a new one in X's developer console, put it into x.bearer_token, and start selkie again
        X says 400: no
        ");
    }
}
