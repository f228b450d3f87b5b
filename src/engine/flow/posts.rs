//! What people ask of posts: looked up, tried again, withdrawn, changed.

use std::sync::Arc;

use crate::flow::Flow;
use crate::delivery::again::again;
use crate::delivery::messages::posts as messages;
use crate::delivery::posts::waits_for_login;
use selkie_domain::ids::{OutboundId, ScheduleId};
use selkie_domain::schedule::Action;
use selkie_schedule::book::{Amended, BookError};
use selkie_schedule::post_view::PostUrl;
use selkie_store::{PostRow, ScheduleRow};
use selkie_tools::ports::PostFiles;

impl Flow {
    /// Names the tools that post.
    pub fn posting_tools(&self) -> Vec<&'static str> {
        let posting = self.outbox.accounts.all().filter_map(|account| account.channel.posting);
        posting.flat_map(|postable| [postable.data.now.name, postable.data.later.name]).collect()
    }

    /// Returns what keeps the files of posts.
    pub fn post_files(&self) -> Arc<dyn PostFiles> {
        Arc::clone(&self.outbox.post_files) as _
    }

    /// Lists the newest posts.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn posts(&self, limit: usize) -> Result<Vec<PostRow>, BookError> {
        Ok(self.outbox.storage.ledger.posts(limit).await?)
    }

    /// Returns one.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn post_of(&self, outbound: OutboundId) -> Result<Option<PostRow>, BookError> {
        Ok(self.outbox.storage.ledger.post_of(outbound).await?)
    }

    /// Says why it waits, where it waits for an account that is not configured any more.
    pub fn post_waits(&self, row: &PostRow) -> Option<String> {
        waits_for_login(&self.outbox, row).then(|| messages::why_waits(&row.said))
    }

    /// Returns its texts.
    pub fn post_texts(&self, row: &PostRow) -> Vec<String> {
        messages::texts(&row.said)
    }

    /// Returns the names of its pictures.
    pub fn post_pictures(&self, row: &PostRow) -> Vec<String> {
        messages::pictures(&row.said)
    }

    /// Returns what finds the address of a post.
    pub fn post_urls(&self) -> PostUrl {
        let accounts = Arc::clone(&self.outbox.accounts);
        Arc::new(move |to, message| Some((accounts.of(to)?.channel.posting?.data.url)(message)))
    }

    /// Tries it once more.
    ///
    /// # Errors
    /// In words: it stands there, or nobody can tell.
    pub async fn post_again(&self, outbound: OutboundId) -> Result<(), BookError> {
        let outbox = Arc::clone(&self.outbox);
        let tried = async move { again(&outbox, outbound).await };
        self.outbox.runtime.to_the_end(tried).await
    }

    /// Withdraws what of it has not been posted; returns whether there was any.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn withdraw_post(&self, outbound: OutboundId) -> Result<bool, BookError> {
        Ok(self.outbox.storage.ledger.withdraw_post(outbound).await?)
    }

    /// Gives a scheduled post other words, or another time.
    ///
    /// # Errors
    /// In words: there is none, or it could never be posted so.
    pub async fn amend_post(
        &self,
        id: ScheduleId,
        amended: Amended,
    ) -> Result<ScheduleRow, BookError> {
        let row = self.timetable.book.get(id, None).await?;
        self.may_amend(&row, &amended)?;
        self.timetable.book.amend(id, amended).await
    }

    /// Whether what is written for a scheduled post could ever be posted.
    ///
    /// # Errors
    /// In words: its platform takes no such text, or the time is none.
    pub fn may_amend(&self, row: &ScheduleRow, amended: &Amended) -> Result<(), BookError> {
        if let (Action::Post { to, .. }, Some(texts)) = (&row.schedule.action, &amended.texts) {
            let account = self.outbox.accounts.of(to);
            let posting = account.and_then(|account| account.channel.posting);
            let fault = posting
                .and_then(|posting| texts.iter().find_map(|text| (posting.data.fault)(text)));
            if let Some(why) = fault {
                return Err(BookError::Refused(why));
            }
        }
        self.timetable.book.may_amend(row, amended)
    }
}
