// The daemon's tasks: read when something happened, followed live while they run.

import { tell } from './bus.js';
import { quiet, toast } from './dom.js';
import { renderHealth } from './health.js';
import { coalesce, ask, askCounted } from './net.js';
import { state, belongs, chats, chat, chatByKey } from './state.js';

/** How long the daemon may take to say whether its database is there, in ms. */
const TIMEOUT = 8000;

/** Asks the daemon's read API. */
export async function daemon(path, options) {
  return ask(`${state.world.daemon}/v1/${path}`, options);
}

/** The same, with how many there are of what a list cuts. */
export const daemonCounted = path => askCounted(`${state.world.daemon}/v1/${path}`);

/** The conversations of a chat that the daemon knows, which it does from their first message on. */
export async function conversationsOf(where) {
  const mine = () => [...state.known].filter(key => belongs(where, key));
  if (where.threads || !mine().length) state.known = new Set((await daemon('conversations?limit=500')).map(c => c.key));
  return mine();
}

export const loadTasks = coalesce(async key => {
  if (!state.world.daemon) return;
  const keys = await conversationsOf(chatByKey(key));
  const lists = await Promise.all(keys.map(k => daemon(`conversations/${encodeURIComponent(k)}/tasks?limit=20`)));
  const rows = lists.flat().sort((a, b) => b.id - a.id).slice(0, 20);
  state.tasks.set(key, rows);
  const wanted = shownTask(key);
  if (wanted != null) await loadTask(wanted);
  tell('tasks', key);
});

export const loadTask = coalesce(async id => {
  const [task, shape, approvals, agents] = await Promise.all(['', '/shape', '/approvals', '/agents'].map(what => daemon(`tasks/${id}${what}`)));
  state.details.set(id, { task, shape, approvals, agents });
  if (task.state !== 'running') state.live.delete(id);
  tell('tasks', shownTask(chat()?.key) === id ? chat().key : null);
});

/** The questions that are open in a chat: the next words of who is asked there may be their answers. */
export async function openQuestions(where) {
  if (!state.world.daemon) return [];
  const keys = await conversationsOf(where);
  return (await Promise.all(keys.map(k => daemon(`conversations/${encodeURIComponent(k)}/questions`)))).flat();
}

/** What waits for approval anywhere. A task that does not any more has gone on, or has ended without a word. */
const loadApprovals = coalesce(async () => {
  const before = state.approvals;
  state.approvals = await daemon('approvals');
  const settled = before.filter(approval => !state.approvals.some(still => still.task === approval.task));
  for (const key of new Set(settled.map(approval => chatByKey(approval.key)?.key).filter(Boolean))) loadTasks(key).catch(offline);
  if (before.length || state.approvals.length) tell('approvals');
});

export const shownTask = key => state.picked.get(key) ?? state.tasks.get(key)?.[0]?.id;

export function heardDaemon(told) {
  if (told.happening === 'missed') { for (const c of chats()) loadTasks(c.key).catch(offline); loadApprovals().catch(offline); tell('learned'); return; }
  const key = chatByKey(told.key ?? told.conversation?.split('|').slice(1).join('|') ?? '')?.key;
  if (told.task != null) heardTask(told);
  if (['heard', 'ended', 'delivered'].includes(told.happening)) tell('learned');
  if (['started', 'ended', 'delivered'].includes(told.happening)) { loadApprovals().catch(offline); tell('went'); }
  if (!key) return;
  const shown = shownTask(key);
  if (told.task != null && told.task !== shown && state.details.get(shown)?.task.state === 'parked') loadTask(shown).catch(offline);
  else if (told.happening === 'started') state.picked.delete(key);
  if (['started', 'ended'].includes(told.happening)) loadTasks(key).catch(offline);
  else if (told.task != null && state.details.has(told.task)) loadTask(told.task).catch(offline);
}

function heardTask(told) {
  const live = state.live.get(told.task) ?? { step: 0, text: '', calls: [] };
  if (told.happening === 'asked') Object.assign(live, { step: told.step, text: '', calls: [] });
  if (told.happening === 'wrote') live.text += told.text;
  if (told.happening === 'called') live.calls.push({ tool: told.tool, arguments: told.arguments });
  if (told.happening === 'answered') {
    const open = live.calls.find(c => c.tool === told.tool && !c.answer);
    if (open) open.answer = { text: told.text, is_error: told.is_error };
  }
  if (told.happening === 'ended') state.live.delete(told.task);
  else state.live.set(told.task, live);
  if (told.happening === 'wrote' && shownTask(chat()?.key) === told.task) soon();
}

let drawing = false;

function soon() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => { drawing = false; tell('wrote'); });
}

export function offline(error) {
  // A refusal is an answer: only a daemon that cannot be reached is offline.
  if (error.status === 503) lookAtStore();
  else if (error.status) toast(error.message);
  else setDaemon('down');
}

/** A daemon whose database is away answers, and can store nothing. */
export const lookAtStore = coalesce(async () => {
  if (!['up', 'stuck'].includes(state.daemon)) return;
  // One answer that never comes must not be the last that is asked for.
  const { healthy } = await daemon('status', { signal: AbortSignal.timeout(TIMEOUT) }).catch(error => ({ healthy: error.name === 'TimeoutError' ? false : undefined }));
  // Without an answer its stream tells that it is offline.
  if (healthy !== undefined && ['up', 'stuck'].includes(state.daemon)) setDaemon(healthy ? 'up' : 'stuck');
});

export function setDaemon(now) {
  const was = state.daemon;
  if (now === 'up' && was !== 'up') quiet();
  state.daemon = now;
  renderHealth();
  if (now === 'up' && was !== 'up') { for (const c of chats()) loadTasks(c.key).catch(() => {}); loadApprovals().catch(() => {}); tell('learned'); }
  else if (was !== now && state.chat) tell('tasks', chat().key);
}
