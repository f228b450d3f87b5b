//! What a reload of the config puts in the place of what stood: for tasks that begin from now on. A task that runs goes on
//! with what it began with.

use crate::flow::Flow;
use crate::flow::parts::ByConfig;
use crate::work::runner::AgentRunner;
use crate::work::scope::Scopes;
use crate::work::workspace::Workspaces;
use selkie_domain::facts::Trust;
use selkie_store::StoreError;

impl Flow {
    /// Puts these in the place of those of before.
    ///
    /// # Errors
    /// When the store cannot be read: nothing is changed.
    pub async fn adopt(&self, new: ByConfig) -> Result<(), StoreError> {
        let paired = self.context.storage.ledger.paired().await?.into_iter();
        let paired = paired.filter(|one| one.trust == Trust::Owner);
        let mut owners = new.owners.clone();
        owners.extend(paired.map(|one| one.person).filter(|one| !new.owners.contains(one)));
        self.timetable.owners.put(&owners);
        self.named_owners.put(new.owners);
        self.skills.put(&new.skills);
        self.outbox.put_settings(new.settings.delivery());
        self.live.put(&new.settings);
        self.live.decision.put(new.decision);
        self.live.models.put(new.models);
        self.live.sees.put(new.sees);
        self.live.voice.put(new.voice);
        self.live.studio.put(new.studio);
        if let Some(summing) = &self.live.summing {
            summing.model.put(new.summing.model);
            summing.settings.put(new.summing.settings);
        }
        let before = self.live.workspaces.now();
        let workspaces = Workspaces {
            settings: new.settings.workspace.clone(),
            ours: new.ours,
            ..Workspaces::clone(&before)
        };
        if let Some(runner) = &self.live.runner {
            let before = AgentRunner::clone(&runner.now());
            runner.put(AgentRunner {
                agent: new.agent,
                heartbeat: new.heartbeat,
                scopes: Scopes { workspaces: workspaces.clone(), ..before.scopes },
                ..before
            });
        }
        self.live.workspaces.put(workspaces);
        self.timetable.book.put(new.settings.limits.schedules(), new.prices);
        self.fixed.put(new.schedules);
        self.ask_windows();
        Ok(())
    }

    /// Brings the schedules of the config, and the heartbeat's, to what it says now.
    ///
    /// # Errors
    /// When the store cannot be read or written: the next start does it.
    pub async fn keep_schedules(&self) -> Result<(), StoreError> {
        self.heartbeat.keep().await?;
        self.prepare_schedules().await?;
        self.timetable.book.bell().notify_one();
        Ok(())
    }
}
