//! What comes due by itself, put together.

use std::sync::Arc;

use crate::intake::firing::Firings;
use crate::intake::firing::notices::FiringNotices;
use crate::intake::heartbeat::Heartbeat;
use crate::intake::receive::Intake;
use crate::intake::ticker::Ticker;

use crate::flow::lives::Lives;
use crate::flow::rooms::Rooms;

/// What comes due, and what carries it out.
pub(super) struct Calendar {
    pub(super) heartbeat: Arc<Heartbeat>,
    pub(super) firings: Arc<Firings>,
    pub(super) ticker: Ticker,
}

impl Calendar {
    pub(super) fn build(rooms: &Rooms, live: &Lives, intake: &Arc<Intake>) -> Self {
        let context = &rooms.context;
        let outbox = &rooms.opened.outbox;
        let timetable = &rooms.timetable;
        let heartbeat = Arc::new(Heartbeat {
            context: context.clone(),
            outbox: Arc::clone(outbox),
            zone: timetable.book.zone(),
            timetable: Arc::clone(timetable),
            settings: live.heartbeat.clone(),
            state_dir: rooms.workspaces.state_dir.clone(),
        });
        let firings = Arc::new(Firings {
            context: context.clone(),
            outbox: Arc::clone(outbox),
            intake: Arc::clone(intake),
            rights: Arc::clone(&rooms.rights),
            book: Arc::clone(&timetable.book),
            heartbeat: Arc::clone(&heartbeat),
            notices: FiringNotices { context: context.clone(), outbox: Arc::clone(outbox) },
        });
        let ticker = Ticker {
            context: context.clone(),
            outbox: Arc::clone(outbox),
            firings: Arc::clone(&firings),
            bell: timetable.book.bell(),
        };
        Self { heartbeat, firings, ticker }
    }
}
