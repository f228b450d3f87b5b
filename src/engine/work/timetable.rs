//! The schedules of a conversation, as its tools see them: where they speak, whose they are, who may change them.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use selkie_channel_core::{ConversationId, PersonId, UnpromptedCost};

use crate::delivery::accounts::Accounts;
use crate::work::messages::public_place;
use crate::work::rights;
use selkie_domain::command_line;
use selkie_domain::facts::Trust;
use selkie_domain::ids::ScheduleId;
use selkie_domain::owners::Owners;
use selkie_domain::schedule::{Action, Maker, Terms, Wish};
use selkie_domain::taint::Taint;
use selkie_schedule::book::{Book, BookError, MAX_LISTED, RequestOrigin, ScheduleRequest};
use selkie_schedule::fixed::FixedSchedule;
use selkie_schedule::recurrence::Recurrence;
use selkie_schedule::zones::Zones;
use selkie_store::{Ledger, Location, ScheduleRow, Which};
use selkie_tools::ToolError;
use selkie_tools::ports::{Entry, EntryDoes, PostResult, ScheduleList, Timetable, When, Wisher};

/// The timetable over the book.
pub struct BookTimetable {
    /// Keeps schedules.
    pub book: Arc<Book>,
    pub(crate) accounts: Arc<Accounts>,
    /// Who owns the bot.
    pub owners: Owners,
    pub(crate) zones: Arc<Zones>,
    /// Knows where people have spoken.
    pub ledger: Arc<dyn Ledger>,
}

#[async_trait]
impl Timetable for BookTimetable {
    async fn add(&self, entry: Entry) -> Result<String, ToolError> {
        let here = self.speaks_in(&entry.conversation).await;
        let wanted = self.in_its_zone(self.wanted(entry, here)?).await?;
        let row = self.keep(wanted).await.map_err(told)?;
        self.kept(&row).await
    }

    fn fault(&self, entry: &Entry) -> Option<String> {
        let wanted = self.wanted(entry.clone(), self.usually_in(&entry.conversation));
        let read = wanted.and_then(|wanted| self.book.time(&wanted).map_err(told));
        read.err().map(|why| why.to_string())
    }

    async fn list(&self, conversation: &ConversationId) -> Result<ScheduleList, ToolError> {
        // At the command line the owner sees them all.
        let here = (!command_line::is_at(conversation)).then(|| conversation.clone());
        let which = Which { conversation: here, limit: MAX_LISTED, ..Which::default() };
        let rows = self.book.list(&which).await.map_err(told)?;
        let level = rows.iter().map(|row| level(&row.schedule.maker)).max().unwrap_or_default();
        let lines = rows.iter().map(|row| self.book.line(row)).collect();
        let more = match rows.len() < MAX_LISTED {
            true => 0,
            false => {
                let all = self.book.how_many(&which).await.map_err(told)?;
                all.saturating_sub(rows.len() as u64)
            }
        };
        Ok(ScheduleList { lines, more, level })
    }

    async fn is_reminder(&self, id: ScheduleId) -> Result<bool, ToolError> {
        let row = self.ledger.schedule_of(id).await;
        let row = row.map_err(|error| ToolError::Abort(error.to_string()))?;
        Ok(row.is_some_and(|row| matches!(row.schedule.action, Action::Remind { .. })))
    }

    async fn wish(
        &self,
        conversation: &ConversationId,
        by: &Wisher,
        id: ScheduleId,
        wish: Wish,
    ) -> Result<String, ToolError> {
        let here = (!command_line::is_at(conversation)).then_some(conversation);
        let person = self.person(by)?;
        let may = |row: &ScheduleRow| {
            let own = row.schedule.maker.person == person;
            match own || by.trust == Trust::Owner {
                true => Ok(()),
                false => Err(format!(
                    "schedule {id} is somebody else's: only they or an owner can change it"
                )),
            }
        };
        let asking = RequestOrigin { here, task: by.task };
        let row = self.book.wish(id, wish, asking, may).await.map_err(told)?;
        Ok(match wish {
            Wish::Remove => format!("Removed schedule {id} ({}).", row.schedule.name()),
            Wish::Pause => format!("Paused schedule {id} ({}).", row.schedule.name()),
            Wish::Resume => self.kept(&row).await?,
        })
    }
}

impl BookTimetable {
    /// Gives what names no zone the one of whoever wants it, and where.
    async fn in_its_zone(&self, wanted: ScheduleRequest) -> Result<ScheduleRequest, ToolError> {
        if wanted.zone.is_some() {
            return Ok(wanted);
        }
        let ScheduleRequest { location, maker, .. } = &wanted;
        let found = self.zones.of(&location.place, Some(&maker.person)).await;
        let zone = found.map_err(|error| ToolError::Abort(error.to_string()))?.zone;
        Ok(ScheduleRequest { zone: Some(zone.name().to_owned()), ..wanted })
    }

    /// What a tool wants kept, in the book's words; `here`: where what is made here speaks.
    fn wanted(
        &self,
        entry: Entry,
        here: Result<ConversationId, ToolError>,
    ) -> Result<ScheduleRequest, ToolError> {
        let Entry { key, when, zone, does, by, taint, .. } = entry;
        // A model may write what it leaves open.
        let zone = zone.filter(|zone| !zone.trim().is_empty());
        let (person, trust) = (self.person(&by)?, by.trust);
        let maker = Maker { person, name: String::new(), trust, taint, is_cleared: true };
        let (when, recurrence) = match when {
            When::Expression(when) => (when, None),
            When::Recurring { time, recurrence } => {
                let recurrence = recurrence.parse::<Recurrence>();
                (time, Some(recurrence.map_err(|why| ToolError::tell(why.to_string()))?))
            }
        };
        let (asked, action) = match does {
            EntryDoes::Prompt(prompt) => {
                (here?, Action::Prompt { prompt, model: None, effort: None })
            }
            EntryDoes::Remind(markdown) => (here?, Action::Remind { markdown }),
            EntryDoes::Post(PostResult { to, post }) => {
                let to = self.public(to)?;
                // Where no owner can be reached nobody is told what becomes of it.
                let asked = here.unwrap_or_else(|_| to.clone());
                (asked, Action::Post { to, post })
            }
        };
        let (location, title, terms) = (self.location(&asked)?, String::new(), Terms::default());
        Ok(ScheduleRequest { key, location, title, when, recurrence, zone, action, maker, terms })
    }

    /// Finds the public conversation with this key.
    fn public(&self, key: &str) -> Result<ConversationId, ToolError> {
        let found = self.accounts.public(key);
        found.ok_or_else(|| ToolError::tell(format!("there is no account that posts to {key} now")))
    }

    /// Where a schedule that is made here speaks: at the command line nobody hears it later, so there it is where the
    /// first owner last spoke in private.
    pub async fn speaks_in(
        &self,
        conversation: &ConversationId,
    ) -> Result<ConversationId, ToolError> {
        if command_line::is_at(conversation)
            && let Some(owner) = self.owners.first()
        {
            let accounts: Vec<_> = self.accounts.ids().collect();
            let last = self.ledger.last_private(owner, &accounts).await;
            if let Some(last) = last.map_err(|error| ToolError::Abort(error.to_string()))? {
                return Ok(self.whole(last));
            }
        }
        self.usually_in(conversation)
    }

    /// The same without a look at what was said: the private conversation that is known by the owner's id.
    fn usually_in(&self, conversation: &ConversationId) -> Result<ConversationId, ToolError> {
        if !command_line::is_at(conversation) {
            return Ok(conversation.clone());
        }
        let private = self.owners.iter().find_map(|owner| self.accounts.private(owner));
        private.ok_or_else(|| {
            ToolError::tell(
                "nobody sits here when it comes due, and no owner can be reached: set `owners` and a channel \
                 in the config",
            )
        })
    }

    /// The chat that a thread is of.
    fn whole(&self, conversation: ConversationId) -> ConversationId {
        let Some(account) = self.accounts.of(&conversation) else { return conversation };
        let place = account.channel.address.place(&conversation);
        account.channel.address.parse(place.key()).unwrap_or(conversation)
    }

    /// Returns a conversation with the place that owns it.
    pub fn location(&self, conversation: &ConversationId) -> Result<Location, ToolError> {
        let gone = || ToolError::tell(format!("no channel speaks in {conversation} now"));
        let account = self.accounts.of(conversation).ok_or_else(gone)?;
        let place = account.channel.address.place(conversation);
        Ok(Location { conversation: conversation.clone(), place, title: String::new() })
    }

    /// Keeps the schedules of the config as they stand there now; what cannot be is logged, and the others are kept.
    pub async fn fix(&self, all: &[FixedSchedule]) -> Result<(), BookError> {
        let mut keys = Vec::new();
        for schedule in all {
            let Ok(fixed) = schedule.read(self.book.zone(), self.book.now()) else { continue };
            keys.push(fixed.key.clone());
            let (id, to) = (&schedule.id, fixed.to.clone());
            let kept = match (self.target(to.as_deref()).await, self.owners.first()) {
                (Ok(location), Some(owner)) => self.book.fix(fixed, location, owner.clone()).await,
                (Err(why), _) => Err(BookError::Refused(why)),
                (_, None) => Err(BookError::Refused("`owners` is empty".to_owned())),
            };
            match kept {
                Ok(Some(row)) => {
                    tracing::debug!(schedule = %row.id(), id, "it stands in the config")
                }
                Ok(None) => tracing::warn!(id, "a schedule of the config comes due no more"),
                Err(BookError::Refused(why)) => {
                    tracing::error!(id, why, "a schedule of the config cannot be kept");
                }
                Err(error @ BookError::Store(_)) => return Err(error),
            }
        }
        self.book.keep_only(&keys).await
    }

    /// Finds the conversation that `to` names, or the first owner's latest private one.
    pub async fn target(&self, to: Option<&str>) -> Result<Location, String> {
        let found = match to {
            Some(to) => self.accounts.parse(to).ok_or_else(|| {
                ToolError::tell(format!(
                    "{to:?} is not a conversation of a channel that is configured (takes what `selkie say --to` takes)"
                ))
            }),
            None => self.speaks_in(&command_line::conversation(Path::new("/"))).await,
        };
        let found = found.and_then(|conversation| self.location(&conversation));
        let location = found.map_err(|why| why.to_string())?;
        match self.accounts.of(&location.conversation) {
            Some(account) if !rights::may_be_told(&self.owners, &self.accounts, &location) => {
                let (owners, ledger) = (&self.owners, &*self.ledger);
                match rights::is_an_owners(owners, ledger, &location.conversation).await {
                    Ok(true) => Ok(location),
                    Ok(false) => Err(rights::not_listed(&account, &location)),
                    Err(error) => Err(error.to_string()),
                }
            }
            _ => Ok(location),
        }
    }

    /// Whoever works at this machine is its first owner.
    pub fn person(&self, by: &Wisher) -> Result<PersonId, ToolError> {
        if by.person != command_line::person() {
            return Ok(by.person.clone());
        }
        let nobody = || {
            ToolError::tell(
                "`owners` is empty in the config, and a schedule needs an owner: add an id there, or run `selkie pair`",
            )
        };
        self.owners.first().cloned().ok_or_else(nobody)
    }

    /// Keeps a schedule where the bot may speak unasked.
    pub async fn keep(&self, wanted: ScheduleRequest) -> Result<ScheduleRow, BookError> {
        self.may_keep(&wanted).await?;
        self.book.add(wanted).await
    }

    /// Whether a schedule could be kept, and the bot may speak there unasked.
    pub async fn may_keep(&self, wanted: &ScheduleRequest) -> Result<(), BookError> {
        let conversation = &wanted.location.conversation;
        let account = self.accounts.of(conversation);
        if let Some(tool) = account.and_then(|account| account.posts_by())
            && !matches!(wanted.action, Action::Post { .. })
        {
            return Err(BookError::Refused(public_place(conversation, tool)));
        }
        if let UnpromptedCost::Never(why) = self.unasked(conversation).await {
            return Err(BookError::Refused(why));
        }
        self.book.check(wanted)
    }

    /// Says what a schedule will come to in a month.
    pub async fn forecast(&self, row: &ScheduleRow) -> Result<String, BookError> {
        let paid = match self.unasked(&row.conversation).await {
            UnpromptedCost::Counted(each) => Some(each),
            _ => None,
        };
        self.book.forecast(row, paid).await
    }

    /// What it comes to that the bot speaks in a conversation where nobody has just spoken.
    async fn unasked(&self, conversation: &ConversationId) -> UnpromptedCost {
        match self.accounts.of(conversation) {
            Some(account) => account.unasked(conversation).await,
            None => UnpromptedCost::Free,
        }
    }

    async fn kept(&self, row: &ScheduleRow) -> Result<String, ToolError> {
        let ahead = self.book.outlook(row);
        let next = ahead.next.first().map_or("never", String::as_str);
        let forecast = self.forecast(row).await.map_err(told)?;
        let forecast =
            if forecast.is_empty() { forecast } else { format!(" Expected: {forecast}.") };
        let (id, when) = (row.id(), ahead.when);
        Ok(match &row.schedule.action {
            Action::Post { to, .. } => {
                let (to, state) = (to.key(), row.state.name());
                format!("Schedule {id} posts to {to}: {when}; next {next}; {state}.{forecast}")
            }
            _ => {
                let place = row.conversation.key();
                format!("Schedule {id} in {place}: {when}; next {next}.{forecast}")
            }
        })
    }
}

/// Whose words they are, to whoever reads them in a list.
fn level(maker: &Maker) -> Taint {
    if maker.trust == Trust::Owner { maker.taint } else { Taint::Raw }
}

fn told(error: BookError) -> ToolError {
    match error {
        BookError::Refused(why) => ToolError::Tell(why),
        BookError::Store(error) => ToolError::Abort(error.to_string()),
    }
}
