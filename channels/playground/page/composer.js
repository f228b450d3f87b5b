// Writing: text, replies, edits, files, commands.

import { tell } from './bus.js';
import { $, h, icon, clip, reconcile, size, toast } from './dom.js';
import { loadMessages } from './messages.js';
import { ask, post } from './net.js';
import { rove } from './toolbar.js';
import { state, speaker, chat, messages, needsMention } from './state.js';

const TRIES = ['note: buy milk', 'tell me my list', 'react with 👍', null, 'remember that I like tea',
  'todo: bring milk', 'remind me in 20 minutes to go home',
  'write tide.txt: high 06:12, then send me tide.txt', 'what can you do here?'];
const COMMANDS = [
  ['/help', 'what selkie is and does'], ['/tools', 'the tools of this conversation'],
  ['/status', 'what runs, what waits, what it cost'], ['/stop', 'end the running task'],
  ['/contacts', 'whom selkie knows here'], ['/memory', 'what is remembered here, and how to take a line out'], ['/forget', 'take away everything of this chat, for good'],
  ['/reset', 'start over: the history is set aside'], ['/id', 'this conversation and you, as ids'],
  ['/ask', 'ask in a group without a mention'], ['/start', 'hello'],
];

export function renderComposer() {
  const where = chat();
  $('mention').hidden = !needsMention(where);
  $('mention').textContent = where.mention;
  $('attach').hidden = !where.files;
  $('tries').hidden = !where.hears;
  $('text').placeholder = where.hears ? 'Write a message' : 'Post by hand, as the account’s owner: selkie does not see it';
  $('mention').setAttribute('aria-pressed', String(state.mention));
  $('mention').title = state.mention ? 'selkie is mentioned, so it answers' : 'selkie is not mentioned: it only reads along';
  renderTries(where);
  const about = messages(where.id).find(m => m.id === (state.editing ?? state.replyTo));
  $('reply-to').hidden = !about;
  if (about) $('reply-to').replaceChildren(icon(state.editing ? 'edit' : 'reply'),
    h('p', {}, h('b', { dir: 'auto' }, state.editing ? 'Edit your message' : `Reply to ${about.from.name}`),
      h('span', { dir: 'auto' }, clip(about.text || about.file?.name || '…', 120))),
    h('button', { type: 'button', class: 'tool icon', 'aria-label': 'Cancel', title: 'Cancel (Esc)', onclick: cancel }, icon('close')));
  $('pending').hidden = !state.pending.length;
  $('pending').replaceChildren(...state.pending.map(pendingFile));
}

/** What can be tried here; in the middle what needs approval, where somebody may ask for it. */
function renderTries(where) {
  const tries = TRIES.map(text => text ? { text, label: text } : where.asks && { ...where.asks, label: `ask for approval${where.asks.by === where.me.name ? '' : ` as ${where.asks.by}`}` });
  reconcile($('tries'), tries.filter(Boolean), one => one.label, one => h('button', { type: 'button', class: one.by && 'asks', title: one.by && `${one.by} writes: ${one.text}`, onclick: () => {
    state.editing = null;
    say(one.text, one.by);
  } }, one.label));
  rove($('tries'));
}

function pendingFile(item) {
  const drop = () => { state.pending = state.pending.filter(p => p !== item); renderComposer(); };
  const swap = () => { item.kind = item.kind === 'photo' ? 'document' : 'photo'; renderComposer(); };
  return h('div', { class: 'pend' }, icon('file'), h('span', { dir: 'auto' }, item.file.name), h('small', {}, size(item.file.size)),
    item.file.type.startsWith('image/') && h('button', { type: 'button', onclick: swap, title: 'Send as a picture or as a file' }, `as ${item.kind === 'photo' ? 'picture' : 'file'}`),
    h('button', { type: 'button', 'aria-label': `Remove ${item.file.name}`, onclick: drop }, icon('close')));
}

export function attach(files) {
  for (const file of files) {
    const kind = file.type.startsWith('image/') && !file.type.includes('svg') ? 'photo' : /audio\/(ogg|opus)/.test(file.type) ? 'voice' : 'document';
    state.pending.push({ file, kind });
  }
  renderComposer();
  $('text').focus();
}

export function startReply(id) { Object.assign(state, { replyTo: id, editing: null }); renderComposer(); $('text').focus(); }

export function startEdit(id) {
  Object.assign(state, { editing: id, replyTo: null });
  fill(messages(state.chat).find(m => m.id === id)?.text ?? '');
}

export function cancel() {
  if (state.editing) fill('');
  Object.assign(state, { replyTo: null, editing: null });
  renderComposer();
  $('text').focus();
}

export function fill(text) { $('text').value = text; grow(); renderComposer(); showHints(); $('text').focus(); }

export function grow() {
  const text = $('text');
  text.style.height = 'auto';
  text.style.height = `${Math.min(text.scrollHeight, 180)}px`;
}

/** In groups selkie answers when it is meant: a mention, a command, or a reply to its message. */
export function addressed(where, text, replyTo) {
  const toBot = messages(where.id).find(m => m.id === replyTo)?.from.is_bot;
  const asIs = !needsMention(where) || !text || text.startsWith('/') || toBot || text.includes(where.mention);
  return asIs ? text : `${where.mention} ${text}`;
}

/** Sends it as who speaks here, or as somebody else this once. */
export async function say(text, by) {
  const where = chat(), { replyTo, editing } = state, from = by ?? speaker(where);
  const url = `/api/chats/${encodeURIComponent(where.id)}`;
  const meant = state.mention ? addressed(where, text, replyTo) : text;
  try {
    if (editing && !text) return;
    if (editing) await post(`${url}/edit`, { message_id: editing, text });
    else if (state.pending.length) await upload(url, meant, from);
    else if (text) await post(`${url}/say`, { text: meant, reply_to: replyTo, from });
    else return;
  } catch (error) {
    toast(`Not sent: ${error.message}`);
    return;
  }
  if ($('text').value.trim() === text || editing) $('text').value = '';
  Object.assign(state, { replyTo: null, editing: null });
  hideHints();
  grow();
  renderComposer();
  await loadMessages(where.id);
  tell('said');
}

/** The caption goes with the first file. Files that were sent are taken off one by one. */
async function upload(url, caption, from) {
  for (let first = true; state.pending.length; first = false) {
    const [{ file, kind }] = state.pending;
    const query = new URLSearchParams({ name: file.name, caption: first ? caption : '', kind, from });
    await ask(`${url}/upload?${query}`, { method: 'POST', headers: { 'content-type': 'application/octet-stream' }, body: file });
    state.pending.shift();
  }
}

let hint = -1;

const hintsFor = text => /^\/\w*$/.test(text) ? COMMANDS.filter(([name]) => name.startsWith(text)) : [];

export function showHints() {
  const found = hintsFor($('text').value);
  hint = found.length ? Math.min(Math.max(hint, 0), found.length - 1) : -1;
  $('hints').hidden = !found.length;
  $('hints').replaceChildren(...found.map(([name, what], i) => h('li', { role: 'option', id: `hint-${i}`, 'aria-selected': String(i === hint),
    onmousedown: e => { e.preventDefault(); take(name); } }, h('b', {}, name), h('span', {}, what))));
  if (hint >= 0) $('text').setAttribute('aria-activedescendant', `hint-${hint}`);
  else $('text').removeAttribute('aria-activedescendant');
}

export function hideHints() { hint = -1; $('hints').hidden = true; $('text').removeAttribute('aria-activedescendant'); }

function take(name) { fill(name === '/ask' ? '/ask ' : name); hideHints(); }

export function composerKey(e) {
  if (e.isComposing) return;
  const found = $('hints').hidden ? [] : hintsFor($('text').value);
  if (found.length && (e.key === 'ArrowDown' || e.key === 'ArrowUp')) {
    e.preventDefault();
    hint = (hint + (e.key === 'ArrowDown' ? 1 : -1) + found.length) % found.length;
    showHints();
  } else if (found.length && e.key === 'Tab') { e.preventDefault(); take(found[hint][0]); }
  else if (found.length && e.key === 'Enter' && found[hint][0] !== $('text').value) { e.preventDefault(); take(found[hint][0]); }
  else if (e.key === 'Enter' && !e.shiftKey) { e.preventDefault(); say($('text').value.trim()); }
  else if (e.key === 'ArrowUp' && !$('text').value) { e.preventDefault(); $('log').lastElementChild?.focus(); }
}
