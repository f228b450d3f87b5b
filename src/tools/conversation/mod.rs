//! The bot's own records: a thought, a plan, the conversation's todo list; and what it asks people.

pub(crate) mod ask_user;
mod cron;
pub mod plan_create;
mod plan_enter;
mod plan_exit;
mod recall;
mod think;
pub mod todo;
mod todo_read;
mod todo_update;
mod todo_write;

pub(super) use ask_user::AskUser;
pub(super) use cron::Cron;
pub(super) use plan_create::PlanCreate;
pub(super) use plan_enter::PlanEnter;
pub(super) use plan_exit::PlanExit;
pub(super) use recall::Recall;
pub(super) use think::Think;
pub(super) use todo_read::TodoRead;
pub(super) use todo_update::TodoUpdate;
pub(super) use todo_write::TodoWrite;
