//! Events to tasks, tasks to answers, answers to platforms.
