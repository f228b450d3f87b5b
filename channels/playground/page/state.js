// What the page knows.

import { platform } from './words.js';

export const state = {
  world: null, chat: null,
  messages: new Map(),   // chat id → messages
  unread: new Map(),     // chat id → how many
  typing: new Map(),     // chat id → timer
  drafts: new Map(),     // chat id → text
  speakers: new Map(),   // chat id → the name of who speaks; absent: the owner
  replyTo: null, editing: null, pending: [], mention: true,
  known: new Set(),      // conversation keys the daemon knows
  tasks: new Map(),      // conversation key → task rows, newest first
  details: new Map(),    // task id → { task, shape, approvals }
  approvals: [],            // calls that wait for somebody's approval, in all chats
  live: new Map(),       // task id → what the running step has come to
  picked: new Map(),     // conversation key → task id; absent: follow the newest
  compare: new Map(),    // chat id → { after, message }
  chosen: new Set(['telegram:private', 'telegram:group', 'slack:channel', 'line:group']), // chats that are compared
  busy: new Set(),       // chats that Compare could not ask: a question is open there
  knowledge: new Map(),  // conversation key → { contacts, todos, memory }: what it knows beyond its history
  knownOpen: null,       // which of them is open
  schedules: [],         // with their times, the next to come due first
  posts: [],             // drafts, scheduled, posted and not posted
  beside: new Set(),     // schedules whose tools stand beside an asked task's
  besides: new Map(),    // schedule id → { asked, own }: the two tasks
  playground: true, daemon: 'wait', atBottom: true,
};

export const chats = () => state.world?.chats ?? [];
export const chat = () => chats().find(c => c.id === state.chat);
/** A channel's threads are conversations of their own, below its key. */
export const belongs = (where, key) => key === where.key || (where.threads && key.startsWith(`${where.key}:`));
export const chatByKey = key => chats().find(c => belongs(c, key));
export const messages = id => state.messages.get(id) ?? [];
export const isMine = (message, where) => String(message.from.id) === String(where.me?.id);

export const iconOf = where => where.direct ? 'private' : { channel: 'topic', timeline: 'timeline' }[where.kind] ?? where.kind;

/** A private chat is called after the other one, as on any platform; one that is not the owner's says whose it is. */
/** Private chats are all with the bot: whose each is, and where the platform's name alone tells, say which is which. */
export const titleOf = where => !where.direct ? where.title : `${state.world.bot?.name ?? 'selkie'} · ${where.me.name}${where.platform === 'telegram' ? '' : ` (${platform(where.platform)})`}`;
export const needsMention = where => where.hears && !where.direct;
/** The people one can speak as: in a private chat there is nobody else. */
export const speakers = where => where.direct || !where.members.length ? [where.me.name] : where.members;
export const speaker = where => state.speakers.get(where.id) ?? where.me.name;
