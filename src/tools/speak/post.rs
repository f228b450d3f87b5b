//! Posts in public, now.

use async_trait::async_trait;
use schemars::JsonSchema;
use selkie_channel_core::{Body, Post, Posting};
use serde_json::Value;

use super::pictures;
use super::public::{accepted, asks, fault, preview, target};
use crate::basis::{Basis, Target};
use crate::paths::Roots;
use crate::ports::SayOutcome;
use crate::scope::Scope;
use crate::shown::Preview;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::tool::{Also, Class, OtherName, Recovery, ToolSpec};

/// What it is called by who does not know the channel's name of it.
const POST: OtherName = OtherName { called: "post", implies: None };

/// The tool; its name and its checks are a channel's.
pub(super) struct PostNow {
    pub(super) data: &'static Posting,
    pub(super) channel: &'static str,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema matters: the checks read what is there")]
struct Args {
    text: String,
    /// A thread: further posts, each answering the one before.
    thread: Option<Vec<String>>,
    /// A post's id or address.
    quote: Option<String>,
    /// A post's id or address.
    reply_to: Option<String>,
    /// Of the first post, 4 at most: paths, such as "file_cache_dir/cat.png".
    pictures: Option<Vec<String>>,
}

#[async_trait]
impl Handler for PostNow {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: self.data.now.description.to_owned(),
            group: self.channel,
            sources: &["S0"],
            doing: "posting",
            also: Also { names: &[POST], ..Also::default() },
            speaks: true,
            // Its effect is a row under the call's id: calling again finds the row.
            ..spec::<Args>(self.data.now.name, Class::Public, Recovery::CallAgain)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let post = accepted(self.data, &args)?;
        let pictures = pictures::kept(self.data, scope, &args).await?;
        let by = scope.reply.posted_by(self.data.to).await;
        let post = Post { pictures, by, ..post };
        let spoken = scope.reply.post(&scope.call, self.data.to, Body::Post(post)).await?;
        Ok(match spoken {
            SayOutcome::Sent(Some(id)) => Output::ok(format!("posted: {}", (self.data.url)(&id))),
            SayOutcome::Sent(None) => Output::ok("posted; its address is not known"),
            SayOutcome::Queued => Output::ok(
                "queued: it is stored, will be posted, and what becomes of it is told here; do not post it again",
            ),
            SayOutcome::Unclear => Output::ok(
                "unclear: it may or may not stand there, and it is not repeated; do not post it again",
            ),
            SayOutcome::Refused(why) => {
                Output { text: format!("refused: {why}"), is_error: true, ..Output::default() }
            }
        })
    }

    fn preview(&self, roots: &Roots, args: &Value) -> Option<Preview> {
        Some(preview("post in public, now", self.data, roots, args))
    }

    async fn target(&self, scope: &Scope, args: &Value) -> Result<Target, ToolError> {
        Ok(target(self.data, scope, accepted(self.data, args).is_err()).await)
    }

    fn basis(&self, scope: &Scope, args: &Value) -> Basis {
        pictures::basis(self.data, scope, args)
    }

    fn unseen(&self, args: &Value) -> Vec<String> {
        pictures::unseen(args)
    }

    fn asks(&self, _roots: &Roots, args: &Value) -> Option<String> {
        asks(self.data, args)
    }

    fn refuses(&self, scope: &Scope, args: &Value) -> Option<String> {
        fault(self.data, &scope.roots, args)
    }
}
