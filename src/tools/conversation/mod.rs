//! The bot's own records: a thought, a plan, and the conversation's todo list.

pub mod plan_create;
mod think;
mod todo;
mod todo_read;
mod todo_write;

pub(super) use plan_create::PlanCreate;
pub(super) use think::Think;
pub(super) use todo_read::TodoRead;
pub(super) use todo_write::TodoWrite;
