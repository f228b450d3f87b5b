// What happened, told to the views that show it: a file that loads something need not know who draws it.
//
// opened(chat id): somebody wants to see a chat · messages(chat id, is news): a chat was read · said(): a message of ours
// stands · typing() · draft(text): words for the message field · tasks(key): tasks of a chat were read · approvals(): what is waiting for approval was read · clock(): the demo's
// clock was moved · learned(): somebody may be known, or something remembered, that was not before · went(): a task began, ended or was heard · wrote(): the model
// goes on with the task that is shown

const listeners = new Map();

export function on(what, listener) {
  listeners.set(what, [...(listeners.get(what) ?? []), listener]);
}

export function tell(what, ...about) {
  for (const listener of listeners.get(what) ?? []) listener(...about);
}
