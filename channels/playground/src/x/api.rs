//! The calls of X's API, by path.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::keys::{OTHER_USER, USER};
use super::login::Caller;
use super::media::{self, Form};
use super::refusal::Refusal;
use super::{Server, post};

/// One call as it came.
pub(super) struct ApiCall<'a> {
    pub(super) is_post: bool,
    /// Below `/2`.
    pub(super) path: &'a [&'a str],
    pub(super) query: &'a [(String, String)],
    pub(super) body: &'a Value,
    /// A piece of a file.
    pub(super) form: Option<&'a Form>,
    pub(super) caller: Caller,
}

/// Names a call for faults and the log.
pub(super) fn name(is_post: bool, path: &[&str]) -> Option<&'static str> {
    Some(match (is_post, path) {
        (true, ["tweets"]) => "tweets",
        (true, ["oauth2", "token"]) => "token",
        (true, ["media", "upload", "initialize"]) => "upload",
        (true, ["media", "upload", _, "append"]) => "append",
        (true, ["media", "upload", _, "finalize"]) => "finalize",
        (false, ["media", "upload"]) => "upload_status",
        (false, ["users", "me"]) => "me",
        (false, ["users", _, "tweets"]) => "timeline",
        _ => return None,
    })
}

/// Carries a call out.
pub(super) fn run(server: &Server, asked: &ApiCall<'_>) -> Result<(u16, Value), Refusal> {
    let now = server.now();
    match (asked.is_post, asked.path) {
        (true, ["tweets"]) => {
            for_users(asked.caller)?;
            Ok((201, post::make(&mut server.world(), asked.body, now)?))
        }
        (_, ["media", "upload", rest @ ..]) => {
            may_upload(asked.caller)?;
            let mut world = server.world();
            let answer = match rest {
                ["initialize"] => media::begin(&mut world, asked.body, now)?,
                [id, "append"] => media::append(&mut world, id, asked.form)?,
                [id, ..] => media::end(&mut world, id)?,
                [] => media::status(&mut world, asked.query)?,
            };
            Ok((200, answer))
        }
        (false, ["users", "me"]) => {
            for_users(asked.caller)?;
            let me = match asked.caller {
                Caller::Another => {
                    json!({ "id": OTHER_USER, "name": "Other", "username": "other_demo" })
                }
                _ => json!({ "id": USER, "name": "Selkie", "username": "selkie_demo" }),
            };
            Ok((200, json!({ "data": me })))
        }
        (false, ["users", id, "tweets"]) => timeline(server, id, asked.query, now),
        _ => Err(Refusal::new(404, "Not Found", "Not Found")),
    }
}

fn for_users(caller: Caller) -> Result<(), Refusal> {
    if caller != Caller::App {
        return Ok(());
    }
    Err(Refusal::new(
        403,
        "Unsupported Authentication",
        "Authenticating with OAuth 2.0 Application-Only is forbidden for this endpoint.  Supported \
         authentication types are [OAuth 1.0a User Context, OAuth 2.0 User Context].",
    ))
}

fn may_upload(caller: Caller) -> Result<(), Refusal> {
    for_users(caller)?;
    if caller == Caller::User {
        return Ok(());
    }
    Err(Refusal::new(403, "Forbidden", "You are not permitted to perform this action."))
}

fn timeline(
    server: &Server,
    id: &str,
    query: &[(String, String)],
    now: DateTime<Utc>,
) -> Result<(u16, Value), Refusal> {
    let invalid = |says: String| Refusal::new(400, "Invalid Request", &says);
    let mut most = 10;
    let mut start = None;
    let mut fields = Vec::new();
    for (name, value) in query {
        match name.as_str() {
            "max_results" => {
                let number = value.parse().ok().filter(|n| (5..=100).contains(n));
                most = number.ok_or_else(|| {
                    invalid(format!(
                        "The `max_results` query parameter value [{value}] is not between 5 and 100"
                    ))
                })?;
            }
            "start_time" => {
                let time =
                    DateTime::parse_from_rfc3339(value).ok().filter(|_| !value.contains('.'));
                let time = time.map(|time| time.with_timezone(&Utc)).filter(|time| *time < now);
                start = Some(time.ok_or_else(|| {
                    invalid(format!(
                        "Invalid 'start_time':'{value}'. It must be a time before now."
                    ))
                })?);
            }
            "tweet.fields" => fields = value.split(',').collect(),
            other => {
                return Err(invalid(format!("The query parameter [{other}] is not one of [...]")));
            }
        }
    }
    if id != USER {
        return Err(Refusal::new(404, "Not Found Error", "Could not find that user."));
    }
    let world = server.world();
    let since = world.posts.iter().rev().filter(|post| start.is_none_or(|start| post.at >= start));
    let all: Vec<Value> = since.map(|post| post::shown(post, &fields)).collect();
    let mut meta = json!({ "result_count": all.len().min(most) });
    if all.len() > most {
        meta["next_token"] = json!("7140dibdnow9c7btw");
    }
    let page: Vec<Value> = all.into_iter().take(most).collect();
    Ok((
        200,
        if page.is_empty() {
            json!({ "meta": meta })
        } else {
            json!({ "data": page, "meta": meta })
        },
    ))
}
