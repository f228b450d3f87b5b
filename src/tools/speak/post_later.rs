//! Schedules a post in public: once, or again and again.

use async_trait::async_trait;
use schemars::JsonSchema;
use selkie_channel_core::Posting;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::pictures;
use super::public::{accepted, asks, fault, preview, target};
use crate::args::typed;
use crate::basis::{Basis, Target};
use crate::paths::Roots;
use crate::ports::{Entry, EntryDoes, PostResult, When};
use crate::scope::Scope;
use crate::shown::Preview;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::facts::Trigger;
use selkie_domain::tool::{Also, Class, OtherName, Recovery, ToolSpec};

/// Who asks for schedules.
const UNASKED: &str = "a task that nobody asked for cannot make schedules: tell people what you would schedule, and why";

/// What it is called by who does not know the channel's name of it.
const SCHEDULE_POST: OtherName = OtherName { called: "schedule_post", implies: None };

/// The tool; its name and its checks are a channel's.
pub(super) struct PostLater {
    pub(super) data: &'static Posting,
    pub(super) channel: &'static str,
}

#[derive(Deserialize, JsonSchema)]
struct Args {
    #[expect(dead_code, reason = "the checks read what is there")]
    text: String,
    /// RFC 3339 ("2026-12-24T18:00:00+01:00"), or HH:MM, tomorrow's when today's is past.
    time: String,
    /// Default: once. Weekly on that day, daily at that time, hourly at that minute.
    recurrence: Option<Recurrence>,
    /// IANA zone of HH:MM ("Europe/Berlin").
    timezone: Option<String>,
    /// A thread: further posts, each answering the one before.
    #[expect(dead_code, reason = "the checks read what is there")]
    thread: Option<Vec<String>>,
    /// A post's id or address.
    #[expect(dead_code, reason = "the checks read what is there")]
    quote: Option<String>,
    /// A post's id or address.
    #[expect(dead_code, reason = "the checks read what is there")]
    reply_to: Option<String>,
    /// Of the first post, 4 at most: paths, such as "file_cache_dir/cat.png".
    #[expect(dead_code, reason = "the checks read what is there")]
    pictures: Option<Vec<String>>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Recurrence {
    #[default]
    Once,
    Hourly,
    Daily,
    Weekly,
}

impl Recurrence {
    fn name(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Hourly => "hourly",
            Self::Daily => "daily",
            Self::Weekly => "weekly",
        }
    }
}

impl PostLater {
    /// Reads the call; everything that can be refused beforehand is.
    fn entry(&self, scope: &Scope, args: &Value) -> Result<Entry, ToolError> {
        let post = accepted(self.data, args)?;
        let Args { time, recurrence, timezone, .. } = typed(args.clone())?;
        if scope.trigger != Trigger::Asked {
            return Err(ToolError::tell(UNASKED));
        }
        let recurrence = recurrence.unwrap_or_default().name();
        // By hand no task makes calls: each is one of its own.
        let key = match scope.task.0 {
            0 => format!("hand:{}", scope.clock.now().timestamp_micros()),
            task => format!("call:{task}:{}", scope.call),
        };
        Ok(Entry {
            key,
            conversation: scope.conversation.clone(),
            when: When::Recurring { time, recurrence },
            zone: timezone,
            does: EntryDoes::Post(PostResult { to: self.data.to, post }),
            by: scope.wisher()?,
            taint: scope.taint,
        })
    }
}

#[async_trait]
impl Handler for PostLater {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: self.data.later.description.to_owned(),
            group: self.channel,
            sources: &["S0"],
            doing: "scheduling a post",
            also: Also { names: &[SCHEDULE_POST], ..Also::default() },
            // Kept under the call's id: calling again finds what is there.
            ..spec::<Args>(self.data.later.name, Class::Public, Recovery::CallAgain)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let mut entry = self.entry(scope, &args)?;
        if let EntryDoes::Post(posted) = &mut entry.does {
            posted.post.pictures = pictures::kept(self.data, scope, &args).await?;
            posted.post.by = scope.reply.posted_by(self.data.to).await;
        }
        let once = matches!(entry.when, When::Recurring { recurrence: "once", .. });
        let kept = scope.timetable.add(entry).await?;
        Ok(Output::ok(match once {
            true => kept,
            false => format!("{kept} Note: {}.", self.data.again),
        }))
    }

    fn preview(&self, roots: &Roots, args: &Value) -> Option<Preview> {
        Some(preview("schedule a post in public", self.data, roots, args))
    }

    async fn target(&self, scope: &Scope, args: &Value) -> Result<Target, ToolError> {
        let refused = match self.entry(scope, args) {
            Ok(entry) => scope.timetable.fault(&entry).is_some(),
            Err(_) => true,
        };
        Ok(target(self.data, scope, refused).await)
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
        if let Some(why) = fault(self.data, &scope.roots, args) {
            return Some(why);
        }
        let entry = match self.entry(scope, args) {
            Ok(entry) => entry,
            Err(why) => return Some(why.to_string()),
        };
        scope.timetable.fault(&entry)
    }
}
