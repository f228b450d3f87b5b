//! The bot's own records: a thought, and the conversation's todo list.

mod think;
mod todo;
mod todo_read;
mod todo_write;

pub(super) use think::Think;
pub(super) use todo_read::TodoRead;
pub(super) use todo_write::TodoWrite;
