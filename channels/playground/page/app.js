// The playground's page: chats, one conversation, and the shape the daemon gave its last task.
// Talks to the playground (same origin) and to the daemon's read API, and to nobody else.
// Foreign text only ever becomes text nodes: there is no innerHTML here.

const TRIES = ['note: buy milk', 'tell me my list', 'react with 👍', 'send me notes.txt', 'what can you do here?'];
const COMMANDS = [
  ['/help', 'what selkie is and does'], ['/tools', 'the tools of this conversation'],
  ['/status', 'what runs, what waits, what it cost'], ['/stop', 'end the running task'],
  ['/reset', 'begin anew: history is put away'], ['/id', 'this conversation and you, as ids'],
  ['/ask', 'ask in a group without a mention'], ['/start', 'hello'],
];
const CLASSES = ['read', 'note', 'reply', 'write', 'exec', 'network', 'message', 'agent', 'public'];
const TYPING_LASTS = 6000;

// ── small parts ─────────────────────────────────────────────────────────────────────────────────

const $ = id => document.getElementById(id);

/** Makes an element; `on…` keys listen, `null` and `false` children vanish. */
function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value == null || value === false) continue;
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? '' : value);
  }
  node.append(...children.flat(Infinity).filter(c => c != null && c !== false));
  return node;
}

function icon(name) {
  const ns = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(ns, 'svg');
  svg.setAttribute('aria-hidden', 'true');
  const use = document.createElementNS(ns, 'use');
  use.setAttribute('href', `#i-${name}`);
  svg.append(use);
  return svg;
}

/** Brings `parent` to hold one child per item; nodes whose item did not change stay as they are. */
function reconcile(parent, items, key, render) {
  const old = new Map([...parent.children].map(node => [node.dataset.key, node]));
  let before = parent.firstElementChild;
  for (const item of items) {
    const name = String(key(item)), mark = JSON.stringify(item);
    let node = old.get(name);
    old.delete(name);
    if (!node || node.mark !== mark) {
      const fresh = render(item);
      fresh.dataset.key = name;
      fresh.mark = mark;
      if (node) { if (before === node) before = fresh; node.replaceWith(fresh); }
      node = fresh;
    }
    if (before === node) before = node.nextElementSibling;
    else parent.insertBefore(node, before);
  }
  for (const node of old.values()) node.remove();
}

/** Runs `work` for a key now, or once more when it is asked for while it runs. */
function coalesce(work) {
  const running = new Map();
  return function run(key) {
    if (running.has(key)) { running.get(key).again = true; return running.get(key).done; }
    const slot = { again: false };
    slot.done = (async () => {
      try { do { slot.again = false; await work(key); } while (slot.again); }
      finally { running.delete(key); }
    })();
    running.set(key, slot);
    return slot.done;
  };
}

async function ask(url, options) {
  const response = await fetch(url, options);
  if (response.ok) return response.status === 204 ? null : response.json();
  const body = await response.json().catch(() => ({}));
  throw Object.assign(new Error(body.error ?? `${response.status} ${response.statusText}`), { status: response.status });
}

const post = (url, body) =>
  ask(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const time = at => { const d = new Date(typeof at === 'number' ? at * 1000 : at); return isNaN(d) ? '' : clock.format(d); };
const number = n => Number(n ?? 0).toLocaleString();
const plural = (n, word) => `${number(n)} ${word}${n === 1 ? '' : 's'}`;
const clip = (text, n) => text.length > n ? `${text.slice(0, n - 1)}…` : text;
const money = micro => micro ? `$${(micro / 1e6).toFixed(micro < 10000 ? 5 : 3)}` : 'no price';

function size(bytes) {
  if (bytes == null) return '';
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  let n = bytes, i = 0;
  while (n >= 1024 && i < 3) { n /= 1024; i += 1; }
  return `${i ? n.toFixed(1) : n} ${units[i]}`;
}

let toastTimer;
function toast(text) {
  $('toast').textContent = text;
  $('toast').hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { $('toast').hidden = true; }, 6000);
}

// ── what is known ───────────────────────────────────────────────────────────────────────────────

const state = {
  world: null, chat: null,
  messages: new Map(),   // chat id → messages
  unread: new Map(),     // chat id → how many
  typing: new Map(),     // chat id → timer
  drafts: new Map(),     // chat id → text
  replyTo: null, editing: null, pending: [], mention: true,
  known: new Set(),      // conversation keys the daemon knows
  tasks: new Map(),      // conversation key → task rows, newest first
  details: new Map(),    // task id → { task, shape }
  live: new Map(),       // task id → what the running step has come to
  picked: new Map(),     // conversation key → task id; absent: follow the newest
  compare: new Map(),    // chat id → { after, message }
  playground: true, daemon: 'wait', atBottom: true,
};

const chats = () => state.world?.chats ?? [];
const chat = () => chats().find(c => c.id === state.chat);
const chatByKey = key => chats().find(c => c.key === key);
const messages = id => state.messages.get(id) ?? [];
const isMine = (message, where) => String(message.from.id) === String(where.me?.id);
const botName = () => `@${state.world?.bot?.username ?? 'selkie_demo_bot'}`;
/** A private chat is called after the other one, as on any platform. */
const titleOf = where => where.kind === 'private' ? state.world.bot?.name ?? 'selkie' : where.title;
const needsMention = where => where.kind !== 'private';

// ── text with entities ──────────────────────────────────────────────────────────────────────────

/** Offsets are UTF-16 units, as JavaScript counts. Entities nest; a broken range is cut to fit. */
function rich(text, entities = []) {
  const sorted = entities
    .map(e => ({ ...e, end: Math.min(e.offset + e.length, text.length) }))
    .filter(e => e.offset >= 0 && e.end > e.offset)
    .sort((a, b) => a.offset - b.offset || b.end - a.end);
  let next = 0;
  const build = (from, to) => {
    const out = [];
    let at = from;
    while (next < sorted.length && sorted[next].offset < to) {
      const entity = sorted[next++];
      const start = Math.max(entity.offset, at), end = Math.min(entity.end, to);
      if (end <= start) continue;
      if (start > at) out.push(text.slice(at, start));
      out.push(dress(entity, text.slice(start, end), build(start, end)));
      at = end;
    }
    if (at < to) out.push(text.slice(at, to));
    return out;
  };
  return build(0, text.length);
}

function dress(entity, text, inner) {
  const plain = { bold: 'strong', italic: 'em', underline: 'u', strikethrough: 's', code: 'code',
    blockquote: 'blockquote', expandable_blockquote: 'blockquote' }[entity.type];
  if (plain) return h(plain, {}, inner);
  switch (entity.type) {
    case 'pre': return h('pre', { tabindex: 0, 'data-lang': entity.language }, h('code', {}, inner));
    case 'spoiler': return h('button', { type: 'button', class: 'spoiler', 'aria-label': 'Hidden text, press to read',
      onclick: e => { e.currentTarget.classList.add('open'); e.currentTarget.removeAttribute('aria-label'); } }, inner);
    case 'text_link': return link(entity.url, inner);
    case 'url': return link(/^[a-z]+:/i.test(text) ? text : `https://${text}`, inner);
    case 'email': return link(`mailto:${text}`, inner);
    case 'bot_command': return h('button', { type: 'button', class: 'command', onclick: () => fill(text) }, inner);
    case 'mention': case 'text_mention': case 'hashtag': case 'cashtag': return h('span', { class: 'mention' }, inner);
    default: return h('span', {}, inner);
  }
}

/** Only web and mail links are links; anything else (`javascript:`) stays text. */
function link(url, inner) {
  let parsed;
  try { parsed = new URL(url); } catch { return h('span', {}, inner); }
  if (!['http:', 'https:', 'mailto:'].includes(parsed.protocol)) return h('span', {}, inner);
  return h('a', { href: parsed.href, target: '_blank', rel: 'noopener noreferrer', title: parsed.href }, inner);
}

// ── chats ───────────────────────────────────────────────────────────────────────────────────────

function renderChats() {
  const rows = chats().map((c, i) => {
    const last = messages(c.id).at(-1);
    const who = !last ? '' : isMine(last, c) ? 'You: ' : c.kind === 'private' ? '' : `${last.from.name}: `;
    return { id: c.id, kind: c.kind, title: titleOf(c), n: i + 1, current: c.id === state.chat,
      unread: state.unread.get(c.id) ?? 0, at: last ? time(last.at) : '',
      said: last ? clip(who + (last.text || last.file?.caption || last.file?.name || '…'), 80) : `${c.platform} · ${c.kind}` };
  });
  reconcile($('chats'), rows, r => r.id, r => h('li', {},
    h('button', { type: 'button', class: 'chat', 'aria-current': r.current && 'true', 'aria-keyshortcuts': `Alt+${r.n}`, onclick: () => openChat(r.id) },
      h('span', { class: `badge ${r.kind}` }, icon(r.kind)),
      h('span', { class: 'chat-title', dir: 'auto' }, r.title),
      h('time', {}, r.at),
      h('span', { class: 'chat-said', dir: 'auto' }, r.said),
      r.unread > 0 && h('span', { class: 'dot' }, h('span', {}, r.unread), h('span', { class: 'sr' }, ' unread')))));
  const unread = [...state.unread.values()].reduce((a, b) => a + b, 0);
  document.title = unread ? `(${unread}) selkie playground` : 'selkie playground';
}

async function openChat(id) {
  if (state.chat) state.drafts.set(state.chat, $('text').value);
  Object.assign(state, { chat: id, replyTo: null, editing: null, pending: [], mention: true });
  state.unread.delete(id);
  history.replaceState(null, '', `#${encodeURIComponent(id)}`);
  $('text').value = state.drafts.get(id) ?? '';
  $('scroll').setAttribute('aria-busy', 'true');
  $('log').replaceChildren();
  showPane('talk');
  render();
  bottom();
  await Promise.allSettled([loadMessages(id), loadTasks(chat().key)]);
  bottom();
  $('scroll').removeAttribute('aria-busy');
  if (matchMedia('(pointer: fine)').matches) $('text').focus();
}

// ── the conversation ────────────────────────────────────────────────────────────────────────────

const loadMessages = coalesce(async id => {
  const list = await ask(`/api/chats/${encodeURIComponent(id)}/messages`);
  const known = state.messages.get(id);
  state.messages.set(id, list);
  const where = chats().find(c => c.id === id);
  const fresh = known ? list.filter(m => !isMine(m, where) && !known.some(k => k.id === m.id)) : [];
  if (fresh.length) stopTyping(id);
  if (id !== state.chat && fresh.length) state.unread.set(id, (state.unread.get(id) ?? 0) + fresh.length);
  renderChats();
  if (id === state.chat) renderLog(fresh.length > 0);
  renderCompare();
});

function renderLog(news = false) {
  const where = chat();
  const list = messages(where.id);
  const byId = new Map(list.map(m => [m.id, m]));
  const rows = list.map((m, i) => ({
    ...m, mine: isMine(m, where), quoted: byId.get(m.reply_to) ?? null,
    follows: i > 0 && list[i - 1].from.id === m.from.id && !m.reply_to,
    named: where.kind !== 'private' && !isMine(m, where),
  }));
  reconcile($('log'), rows, m => m.id, bubble);
  $('log-empty').hidden = list.length > 0;
  if (!list.length) $('log-empty').replaceChildren(
    h('p', { class: 'big' }, where.kind === 'private' ? 'Just you and selkie.' : 'Others read along here.'),
    h('p', {}, 'Say something, or try one of the lines below. On the side you see what this task may do, what it may not, and why.'));
  if (state.atBottom) bottom();
  else if (news) $('jump').hidden = false;
}

function bottom() {
  state.atBottom = true;
  $('scroll').scrollTop = $('scroll').scrollHeight;
  $('jump').hidden = true;
}

function watchScroll() {
  const s = $('scroll');
  if (!s.clientHeight) return; // hidden behind another tab
  state.atBottom = s.scrollHeight - s.scrollTop - s.clientHeight < 60;
  if (state.atBottom) $('jump').hidden = true;
}

function bubble(m) {
  if (m.service) return h('li', { class: 'service' }, Object.keys(m.service).join(', ').replaceAll('_', ' '));
  const kinds = ['msg', m.mine && 'mine', m.from.is_bot && 'bot', m.follows && 'follows'].filter(Boolean).join(' ');
  const reply = () => startReply(m.id);
  return h('li', { class: kinds, tabindex: -1, 'data-id': m.id, 'aria-label': `${m.mine ? 'You' : m.from.name}, ${time(m.at)}` },
    h('div', { class: 'bubble' },
      m.named && !m.follows && h('p', { class: 'from', dir: 'auto' }, m.from.name),
      // In a topic every message answers the topic's first one: that is no quote.
      m.reply_to && m.reply_to !== m.thread && h('button', { type: 'button', class: 'quote', onclick: () => seek(m.reply_to) },
        h('b', { dir: 'auto' }, m.quoted?.from.name ?? 'Earlier'),
        h('span', { dir: 'auto' }, clip(m.quoted ? m.quoted.text || m.quoted.file?.name || '…' : 'a message that is not here', 120))),
      m.file && attachment(m.file, m.entities),
      m.text && h('div', { class: 'text', dir: 'auto' }, rich(m.text, m.entities)),
      h('p', { class: 'meta' }, m.edited && h('span', {}, 'edited '), h('time', {}, time(m.at))),
      m.keyboard?.length > 0 && h('div', { class: 'keyboard' }, m.keyboard.flat().map(key => h('button', { type: 'button', class: 'tool', onclick: () => press(m.id, key) }, key.text))),
      m.reactions?.length > 0 && h('p', { class: 'reactions' }, tally(m.reactions).map(([emoji, by]) =>
        h('span', { title: by.join(', '), 'aria-label': `${emoji} by ${by.join(', ')}` }, emoji, by.length > 1 && ` ${by.length}`)))),
    h('div', { class: 'acts' },
      h('button', { type: 'button', tabindex: -1, 'aria-label': 'Reply', title: 'Reply (R)', onclick: reply }, icon('reply')),
      m.mine && m.text && h('button', { type: 'button', tabindex: -1, 'aria-label': 'Edit', title: 'Edit (E)', onclick: () => startEdit(m.id) }, icon('edit'))));
}

function press(id, key) {
  if (!key.callback_data) return;
  post(`/api/chats/${encodeURIComponent(state.chat)}/press`, { message_id: id, data: key.callback_data }).catch(error => toast(error.message));
}

function tally(reactions) {
  const by = new Map();
  for (const r of reactions) by.set(r.emoji, [...(by.get(r.emoji) ?? []), String(r.by?.name ?? r.by ?? '')]);
  return [...by];
}

function attachment(file, entities) {
  const caption = file.caption && h('div', { class: 'text', dir: 'auto' }, rich(file.caption, entities));
  if (file.kind === 'photo') {
    return h('figure', { class: 'photo' },
      h('a', { href: file.url, target: '_blank', rel: 'noopener', 'aria-label': `Open ${file.name || 'the picture'}` },
        h('img', { src: file.url, alt: file.caption || file.name || 'Picture', decoding: 'async' })), caption);
  }
  if (file.kind === 'voice') return h('div', {}, player(file), caption);
  return h('div', {},
    h('a', { class: 'file', href: file.url, download: file.name || 'file' },
      h('span', { class: 'file-icon' }, icon('file')),
      h('span', { class: 'file-name', dir: 'auto' }, file.name || 'file'),
      h('span', { class: 'file-size' }, `${size(file.size)} · download`)), caption);
}

function player(file) {
  const audio = new Audio();
  audio.preload = 'none';
  audio.src = file.url;
  const bar = h('input', { type: 'range', min: 0, max: 1000, value: 0, 'aria-label': 'Position' });
  const clockText = h('span', { class: 'file-size' }, size(file.size));
  const button = h('button', { type: 'button', class: 'play', 'aria-label': 'Play the voice message' }, icon('play'));
  const show = () => {
    button.replaceChildren(icon(audio.paused ? 'play' : 'pause'));
    button.setAttribute('aria-label', audio.paused ? 'Play the voice message' : 'Pause');
  };
  button.addEventListener('click', () => audio.paused
    ? audio.play().catch(() => { clockText.textContent = 'this browser cannot play it'; }) : audio.pause());
  audio.addEventListener('play', show);
  audio.addEventListener('pause', show);
  audio.addEventListener('timeupdate', () => {
    if (Number.isFinite(audio.duration)) bar.value = String(Math.round(audio.currentTime / audio.duration * 1000));
    const s = Math.floor(audio.currentTime);
    clockText.textContent = `${Math.floor(s / 60)}:${String(s % 60).padStart(2, '0')}`;
  });
  bar.addEventListener('input', () => { if (Number.isFinite(audio.duration)) audio.currentTime = bar.value / 1000 * audio.duration; });
  return h('div', { class: 'voice' }, button, bar, clockText,
    h('a', { href: file.url, download: file.name || 'voice.ogg', 'aria-label': 'Download the voice message', title: 'Download' }, icon('down')));
}

function seek(id) {
  const node = $('log').querySelector(`[data-id="${CSS.escape(String(id))}"]`);
  if (!node) return;
  node.scrollIntoView({ block: 'center' });
  node.focus({ preventScroll: true });
  node.classList.add('found');
  node.addEventListener('animationend', () => node.classList.remove('found'), { once: true });
}

function startTyping(id) {
  clearTimeout(state.typing.get(id));
  state.typing.set(id, setTimeout(() => stopTyping(id), TYPING_LASTS));
  renderTyping();
}

function stopTyping(id) {
  clearTimeout(state.typing.get(id));
  state.typing.delete(id);
  renderTyping();
}

function renderTyping() {
  const on = state.typing.has(state.chat);
  $('typing').classList.toggle('on', on);
  $('typing').replaceChildren(...(on ? [h('i'), h('i'), h('i'), h('span', {}, `${state.world.bot?.name ?? 'selkie'} is typing`)] : []));
}

// ── the composer ────────────────────────────────────────────────────────────────────────────────

function renderComposer() {
  const where = chat();
  $('mention').hidden = !needsMention(where);
  $('mention').textContent = botName();
  $('mention').setAttribute('aria-pressed', String(state.mention));
  $('mention').title = state.mention ? 'selkie is mentioned, so it answers' : 'selkie is not mentioned: it only reads along';
  $('tries').replaceChildren(...TRIES.map(text => h('button', { type: 'button', onclick: () => { state.editing = null; say(text); } }, text)));
  const about = messages(where.id).find(m => m.id === (state.editing ?? state.replyTo));
  $('reply-to').hidden = !about;
  if (about) $('reply-to').replaceChildren(icon(state.editing ? 'edit' : 'reply'),
    h('p', {}, h('b', { dir: 'auto' }, state.editing ? 'Edit your message' : `Reply to ${about.from.name}`),
      h('span', { dir: 'auto' }, clip(about.text || about.file?.name || '…', 120))),
    h('button', { type: 'button', class: 'tool icon', 'aria-label': 'Cancel', title: 'Cancel (Esc)', onclick: cancel }, icon('close')));
  $('pending').hidden = !state.pending.length;
  $('pending').replaceChildren(...state.pending.map(pendingFile));
}

function pendingFile(item) {
  const drop = () => { state.pending = state.pending.filter(p => p !== item); renderComposer(); };
  const swap = () => { item.kind = item.kind === 'photo' ? 'document' : 'photo'; renderComposer(); };
  return h('div', { class: 'pend' }, icon('file'), h('span', { dir: 'auto' }, item.file.name), h('small', {}, size(item.file.size)),
    item.file.type.startsWith('image/') && h('button', { type: 'button', onclick: swap, title: 'Send as a picture or as a file' }, `as ${item.kind === 'photo' ? 'picture' : 'file'}`),
    h('button', { type: 'button', 'aria-label': `Remove ${item.file.name}`, onclick: drop }, icon('close')));
}

function attach(files) {
  for (const file of files) {
    const kind = file.type.startsWith('image/') && !file.type.includes('svg') ? 'photo' : /audio\/(ogg|opus)/.test(file.type) ? 'voice' : 'document';
    state.pending.push({ file, kind });
  }
  renderComposer();
  $('text').focus();
}

function startReply(id) { Object.assign(state, { replyTo: id, editing: null }); renderComposer(); $('text').focus(); }

function startEdit(id) {
  Object.assign(state, { editing: id, replyTo: null });
  fill(messages(state.chat).find(m => m.id === id)?.text ?? '');
}

function cancel() {
  if (state.editing) fill('');
  Object.assign(state, { replyTo: null, editing: null });
  renderComposer();
  $('text').focus();
}

function fill(text) { $('text').value = text; grow(); renderComposer(); showHints(); $('text').focus(); }

function grow() {
  const text = $('text');
  text.style.height = 'auto';
  text.style.height = `${Math.min(text.scrollHeight, 180)}px`;
}

/** In groups selkie answers when it is meant: a mention, a command, or a reply to its message. */
function addressed(where, text, replyTo) {
  const toBot = messages(where.id).find(m => m.id === replyTo)?.from.is_bot;
  const asIs = !needsMention(where) || !text || text.startsWith('/') || toBot || text.includes(botName());
  return asIs ? text : `${botName()} ${text}`;
}

async function say(text) {
  const where = chat(), { replyTo, editing } = state;
  const url = `/api/chats/${encodeURIComponent(where.id)}`;
  const meant = state.mention ? addressed(where, text, replyTo) : text;
  try {
    if (editing && !text) return;
    if (editing) await post(`${url}/edit`, { message_id: editing, text });
    else if (state.pending.length) await upload(url, meant);
    else if (text) await post(`${url}/say`, { text: meant, reply_to: replyTo });
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
  bottom();
}

/** The caption goes with the first file. Files that were sent are taken off one by one. */
async function upload(url, caption) {
  for (let first = true; state.pending.length; first = false) {
    const [{ file, kind }] = state.pending;
    const query = new URLSearchParams({ name: file.name, caption: first ? caption : '', kind });
    await ask(`${url}/upload?${query}`, { method: 'POST', headers: { 'content-type': file.type || 'application/octet-stream' }, body: file });
    state.pending.shift();
  }
}

let hint = -1;
const hintsFor = text => /^\/\w*$/.test(text) ? COMMANDS.filter(([name]) => name.startsWith(text)) : [];

function showHints() {
  const found = hintsFor($('text').value);
  hint = found.length ? Math.min(Math.max(hint, 0), found.length - 1) : -1;
  $('hints').hidden = !found.length;
  $('hints').replaceChildren(...found.map(([name, what], i) => h('li', { role: 'option', id: `hint-${i}`, 'aria-selected': String(i === hint),
    onmousedown: e => { e.preventDefault(); take(name); } }, h('b', {}, name), h('span', {}, what))));
  if (hint >= 0) $('text').setAttribute('aria-activedescendant', `hint-${hint}`);
  else $('text').removeAttribute('aria-activedescendant');
}

function hideHints() { hint = -1; $('hints').hidden = true; $('text').removeAttribute('aria-activedescendant'); }
function take(name) { fill(name === '/ask' ? '/ask ' : name); hideHints(); }

function composerKey(e) {
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

function logKey(e) {
  const node = e.target.closest('.msg');
  if (!node || e.target !== node) return;
  const go = { ArrowUp: node.previousElementSibling, ArrowDown: node.nextElementSibling ?? $('text'), Home: $('log').firstElementChild, End: $('log').lastElementChild }[e.key];
  if (go) { e.preventDefault(); go.focus(); }
  else if (e.key === 'r' || e.key === 'Enter') { e.preventDefault(); startReply(Number(node.dataset.id)); }
  else if (e.key === 'e' && node.classList.contains('mine')) { e.preventDefault(); startEdit(Number(node.dataset.id)); }
}

// ── the daemon: tasks and shapes ────────────────────────────────────────────────────────────────

async function daemon(path) {
  return ask(`${state.world.daemon}/v1/${path}`);
}

/** The daemon knows a conversation from its first message on. */
async function isKnown(key) {
  if (!state.known.has(key)) state.known = new Set((await daemon('conversations?limit=500')).map(c => c.key));
  return state.known.has(key);
}

const loadTasks = coalesce(async key => {
  if (!state.world.daemon) return;
  const rows = await isKnown(key) ? await daemon(`conversations/${encodeURIComponent(key)}/tasks?limit=20`) : [];
  state.tasks.set(key, rows);
  const wanted = shownTask(key);
  if (wanted != null) await loadTask(wanted);
  if (chat()?.key === key) renderShape();
  renderCompare();
});

const loadTask = coalesce(async id => {
  const [task, shape] = await Promise.all([daemon(`tasks/${id}`), daemon(`tasks/${id}/shape`)]);
  state.details.set(id, { task, shape });
  if (task.state !== 'running') state.live.delete(id);
  if (shownTask(chat()?.key) === id) renderShape();
  renderCompare();
});

const shownTask = key => state.picked.get(key) ?? state.tasks.get(key)?.[0]?.id;

function renderShape() {
  const where = chat(), box = $('shape');
  if (!state.world.daemon) return box.replaceChildren(note('The daemon’s read API is off.', 'Start it with console.listen, and this side shows the shape of every task.'));
  const rows = state.tasks.get(where.key) ?? [], id = shownTask(where.key);
  const known = state.details.get(id);
  if (state.daemon === 'down' && !known) return box.replaceChildren(note('The daemon does not answer.', 'What it did shows again as soon as it is back.'));
  if (!known) return box.replaceChildren(note('No task here yet.', 'Each message that means selkie becomes a task, and each task gets its own shape of the one base registry.'));
  const { task, shape } = known;
  const open = new Set([...box.querySelectorAll('details[open]')].map(d => d.dataset.name));
  const shut = new Set([...box.querySelectorAll('details:not([open])')].map(d => d.dataset.name));
  const same = box.dataset.task === String(id), top = same ? box.parentElement.scrollTop : 0;
  box.dataset.task = id;
  box.replaceChildren(taskHead(task), shapePart(shape), stepsPart(task), earlierPart(where.key, rows, id));
  for (const d of box.querySelectorAll('details')) {
    if (open.has(d.dataset.name)) d.open = true;
    if (shut.has(d.dataset.name)) d.open = false;
  }
  box.parentElement.scrollTop = top;
}

const note = (title, text) => h('div', { class: 'empty' }, h('p', { class: 'big' }, title), h('p', {}, text));
const pill = name => h('span', { class: `pill ${name}` }, name);

function taskHead(task) {
  const { usage } = task;
  const took = task.ended_at ? new Date(task.ended_at) - new Date(task.created_at) : null;
  const facts = [
    [number(usage.calls), usage.calls === 1 ? 'model call' : 'model calls'],
    [number(usage.input + usage.output), usage.cached ? `tokens, ${number(usage.cached)} cached` : 'tokens'],
    [money(usage.micro_usd), 'cost'],
    [took == null ? '…' : took < 1000 ? `${took} ms` : `${(took / 1000).toFixed(1)} s`, 'from start to end'],
  ];
  return h('header', { class: 'task-head' },
    h('p', { class: 'task-id' }, `task ${task.id}`, pill(task.state), task.attempts > 1 && h('small', {}, `claimed ${task.attempts} times`)),
    h('p', { class: 'asked', dir: 'auto' }, task.asked || 'no words'),
    task.why && h('p', { class: 'why', dir: 'auto' }, task.why),
    h('dl', { class: 'figures' }, facts.map(([n, what]) => h('div', {}, h('dd', {}, n), h('dt', {}, what)))));
}

function shapePart(shape) {
  const groups = CLASSES.map(name => [name, shape.there.filter(t => t.class === name)]).filter(([, tools]) => tools.length);
  return h('section', { class: 'part' },
    h('h3', {}, 'Shape', h('small', {}, plural(shape.there.length, 'tool'))),
    setting(shape.setting),
    h('dl', { class: 'there' }, groups.map(([name, tools]) => h('div', {}, h('dt', { class: `c-${name}` }, name), h('dd', {}, tools.map(chip))))),
    shape.there.some(t => t.runtime) && h('p', { class: 'legend' }, h('span', { class: 'ring' }), 'runtime: added for this conversation, not in the base'),
    shape.hidden.length > 0 && h('details', { 'data-name': 'hidden', open: true },
      h('summary', {}, 'Not here', h('small', {}, plural(shape.hidden.length, 'tool'))),
      h('ul', { class: 'hidden-tools' }, shape.hidden.map(t => h('li', {},
        h('b', { class: `c-${t.class}` }, t.name), h('span', {}, t.reasons.map(r => h('span', { dir: 'auto' }, r))))))));
}

const setting = line => h('p', { class: 'setting' }, line.split(' · ').map(word => h('span', {}, word)));

function chip(tool) {
  return h('button', { type: 'button', class: tool.runtime ? 'chip runtime' : 'chip', title: tool.summary, 'aria-expanded': 'false',
    onclick: e => {
      const button = e.currentTarget, open = button.getAttribute('aria-expanded') === 'true';
      button.setAttribute('aria-expanded', String(!open));
      if (open) button.nextElementSibling.remove();
      else button.after(h('p', { class: 'summary' }, tool.summary, tool.runtime && h('em', {}, ' Runtime tool.')));
    } }, tool.name, tool.runtime && h('span', { class: 'sr' }, ' (runtime)'));
}

function stepsPart(task) {
  const answers = new Map(task.transcript.filter(i => i.item === 'answered').flatMap(i => i.answers).map(a => [a.call, a]));
  let step = 0;
  const rows = task.transcript.map(item => {
    switch (item.item) {
      case 'heard': return line('heard', item.speaker || 'heard', h('p', { dir: 'auto' }, item.text),
        item.quote && h('p', { class: 'faint', dir: 'auto' }, `quoting ${item.quote.speaker}: ${clip(item.quote.text, 160)}`), item.files?.map(f => h('p', { class: 'faint' }, f)));
      case 'asked': step += 1; return line('asked', `model call ${step}`, item.text && h('p', { dir: 'auto' }, item.text),
        item.calls.map(c => call(c.name, c.arguments, answers.get(c.id))));
      case 'said': step += 1; return line('said', `model call ${step}`, h('p', { dir: 'auto' }, item.text));
      case 'noted': return line('noted', 'note', h('p', { class: 'faint', dir: 'auto' }, item.text));
      default: return null;
    }
  });
  const live = state.live.get(task.id);
  if (task.state === 'running' && live?.step > step) rows.push(line('live', `model call ${live.step}`,
    live.text && h('p', { dir: 'auto' }, live.text), !live.text && !live.calls.length && h('p', { class: 'faint' }, 'thinking…'),
    live.calls.map(c => call(c.tool, c.arguments, c.answer))));
  return h('section', { class: 'part' }, h('h3', {}, 'Steps'), h('ol', { class: 'steps' }, rows));
}

const line = (kind, title, ...body) => h('li', { class: kind }, h('h4', {}, title), body);

function call(name, args, answer) {
  const written = typeof args === 'string' ? args : JSON.stringify(args, null, 1).replace(/\n\s*/g, ' ');
  return h('div', { class: answer?.is_error ? 'call bad' : 'call' },
    h('p', {}, h('b', {}, name), ' ', h('code', { dir: 'auto' }, clip(written, 600))),
    answer ? h('pre', { dir: 'auto', tabindex: answer.text.length > 300 ? 0 : null }, clip(answer.text, 4000)) : h('p', { class: 'faint' }, 'running…'));
}

function earlierPart(key, rows, shown) {
  return h('section', { class: 'part' }, h('h3', {}, 'Tasks here', h('small', {}, number(rows.length))),
    h('ul', { class: 'earlier' }, rows.map((row, i) => h('li', {}, h('button', { type: 'button', 'aria-current': row.id === shown && 'true',
      onclick: () => { if (i) state.picked.set(key, row.id); else state.picked.delete(key); renderShape(); loadTask(row.id).catch(offline); } },
      h('i', { class: `state ${row.state}`, title: row.state }), h('span', { dir: 'auto' }, row.asked || 'no words'), h('time', {}, time(row.created_at)), h('span', { class: 'sr' }, row.state))))));
}

// ── compare ─────────────────────────────────────────────────────────────────────────────────────

function openCompare() {
  if (!$('compare').open) $('compare').showModal();
  renderCompare();
  for (const c of chats()) loadTasks(c.key).catch(offline);
}

async function askEverywhere(text) {
  await Promise.all(chats().map(async c => {
    state.compare.set(c.id, { after: state.tasks.get(c.key)?.[0]?.id ?? 0, message: Infinity });
    state.picked.delete(c.key);
    try {
      const { message_id } = await post(`/api/chats/${encodeURIComponent(c.id)}/say`, { text: addressed(c, text, null), reply_to: null });
      state.compare.get(c.id).message = message_id;
      await loadMessages(c.id);
    } catch (error) { toast(`${titleOf(c)}: ${error.message}`); }
  }));
  renderCompare();
}

/** What stands in one column: the newest task, not older than the question asked everywhere. */
function column(c) {
  const asked = state.compare.get(c.id), id = state.tasks.get(c.key)?.[0]?.id;
  const known = id > (asked?.after ?? 0) ? state.details.get(id) : undefined;
  const answer = asked && messages(c.id).filter(m => m.id > asked.message && m.from.is_bot && m.text).at(-1)?.text;
  return { chat: c, waiting: Boolean(asked) && !known, shape: known?.shape, task: known?.task, answer: answer || known?.task.transcript.findLast(i => i.item === 'said')?.text };
}

function renderCompare() {
  if (!$('compare').open) return;
  const columns = chats().map(column);
  const heads = h('div', { class: 'cmp-heads' }, columns.map(({ chat: c, waiting, shape, task, answer }) => h('article', {},
    h('h3', {}, icon(c.kind), h('span', { dir: 'auto' }, titleOf(c))),
    shape ? setting(shape.setting) : h('p', { class: 'faint' }, waiting ? 'waiting for the task…' : 'no task yet: ask'),
    shape && h('p', { class: 'cmp-count' }, h('b', {}, shape.there.length), ' here, ', h('b', {}, shape.hidden.length), ' not ', task && pill(task.state)),
    answer && h('blockquote', { dir: 'auto' }, clip(answer, 500)))));
  const shapes = columns.map(c => c.shape);
  $('compare-body').replaceChildren(heads, ...(shapes.some(Boolean) ? [compareTable(columns)] : []));
}

function compareTable(columns) {
  const tools = new Map();
  columns.forEach(({ shape }, i) => {
    for (const t of shape?.there ?? []) slot(t)[i] = { here: true, runtime: t.runtime };
    for (const t of shape?.hidden ?? []) slot(t)[i] = { here: false, reasons: t.reasons };
  });
  function slot(t) {
    if (!tools.has(t.name)) tools.set(t.name, { class: t.class, cells: columns.map(() => null) });
    return tools.get(t.name).cells;
  }
  const differs = ({ cells }) => new Set(cells.map((c, i) => columns[i].shape ? Boolean(c?.here) : null).filter(c => c !== null)).size > 1;
  const rows = [...tools].sort(([a, x], [b, y]) => differs(y) - differs(x) || CLASSES.indexOf(x.class) - CLASSES.indexOf(y.class) || a.localeCompare(b));
  return h('table', { class: 'cmp' },
    h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'Tool'), columns.map(c => h('th', { scope: 'col' }, c.chat.kind)))),
    h('tbody', {}, rows.map(([name, row]) => h('tr', { class: differs(row) && 'differs' },
      h('th', { scope: 'row', class: `c-${row.class}` }, name),
      row.cells.map((cell, i) => h('td', {}, compareCell(cell, columns[i].shape)))))));
}

function compareCell(cell, shape) {
  if (!shape) return h('span', { class: 'faint' }, '…');
  if (cell?.here) return h('span', { class: cell.runtime ? 'yes runtime' : 'yes' }, cell.runtime ? 'runtime' : 'here');
  return h('span', { class: 'no' }, cell?.reasons?.join('; ') ?? 'not part of this channel');
}

// ── live ────────────────────────────────────────────────────────────────────────────────────────

/** Listens for ever: reopens after errors, slower each time, and tells `up` when it is back. */
function listen(url, heard, up, down) {
  let wait = 500;
  const open = () => {
    const source = new EventSource(url);
    source.onopen = () => { wait = 500; up(); };
    source.onmessage = e => heard(JSON.parse(e.data));
    source.onerror = () => { source.close(); down(); setTimeout(open, wait); wait = Math.min(wait * 2, 8000); };
  };
  open();
}

function heardPlayground({ kind, chat: id }) {
  if (!chats().some(c => c.id === id)) return;
  if (kind === 'typing') startTyping(id);
  else loadMessages(id).catch(() => {});
}

function heardDaemon(told) {
  if (told.happening === 'missed') { for (const c of chats()) loadTasks(c.key).catch(offline); return; }
  const key = told.key ?? told.conversation?.split('|').slice(1).join('|');
  if (told.task != null) heardTask(told);
  if (!key || !chatByKey(key)) return;
  if (told.happening === 'started') state.picked.delete(key);
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
  requestAnimationFrame(() => { drawing = false; renderShape(); });
}

function offline(error) {
  // A refusal is an answer: only a daemon that cannot be reached is offline.
  if (error.status) toast(error.message);
  else setDaemon('down');
}

function setDaemon(now) {
  const was = state.daemon;
  state.daemon = now;
  renderHealth();
  if (now === 'up' && was !== 'up') for (const c of chats()) loadTasks(c.key).catch(() => {});
  else if (was !== now && state.chat) renderShape();
}

function renderHealth() {
  const daemonText = { up: 'daemon live', down: 'daemon offline', off: 'read API off', wait: 'connecting' }[state.daemon];
  $('pulse').className = `pulse ${state.playground ? state.daemon : 'down'}`;
  $('pulse').lastElementChild.textContent = state.playground ? daemonText : 'playground offline';
  const trouble = !state.playground ? 'The playground does not answer. If you stopped the demo, start it again: this page comes back by itself.'
    : state.daemon === 'down' ? 'The daemon does not answer. What you write is kept by the emulated platform and answered when it is back.' : '';
  $('banner').textContent = trouble;
  $('banner').hidden = !trouble;
}

// ── the whole ───────────────────────────────────────────────────────────────────────────────────

function render() {
  const where = chat();
  $('model').textContent = state.world.model ?? '';
  $('talk-title').textContent = titleOf(where);
  const members = where.members?.length ? ` · ${where.members.join(', ')}` : '';
  $('talk-sub').textContent = `${where.platform} ${where.kind} · ${where.key}${members}`;
  renderChats();
  renderLog();
  renderTyping();
  renderComposer();
  grow();
  renderShape();
}

function showPane(name) {
  document.body.dataset.pane = name;
  for (const tab of document.querySelectorAll('.tabs button')) tab.setAttribute('aria-current', String(tab.dataset.pane === name));
}

function toggleTheme() {
  const dark = document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = dark ? 'light' : 'dark';
  try { localStorage.setItem('theme', document.documentElement.dataset.theme); } catch { /* private windows may refuse: the choice lasts for this page */ }
}

function globalKey(e) {
  const open = $('compare').open;
  if (e.altKey && /^Digit[1-9]$/.test(e.code) && !open) {
    const target = chats()[Number(e.code.slice(5)) - 1];
    if (target) { e.preventDefault(); openChat(target.id); }
  } else if (e.altKey && e.code === 'KeyC') { e.preventDefault(); openCompare(); }
  else if (e.key === '/' && !open && !e.target.closest('input, textarea')) { e.preventDefault(); showPane('talk'); $('text').focus(); }
  else if (e.key === 'Escape' && !open) { if ($('hints').hidden) cancel(); else hideHints(); }
}

function wire() {
  $('composer').addEventListener('submit', e => { e.preventDefault(); say($('text').value.trim()); });
  $('text').addEventListener('keydown', composerKey);
  $('text').addEventListener('input', () => { grow(); showHints(); });
  $('text').addEventListener('blur', hideHints);
  $('text').addEventListener('paste', e => { if (e.clipboardData.files.length) { e.preventDefault(); attach(e.clipboardData.files); } });
  $('mention').addEventListener('click', () => { state.mention = !state.mention; renderComposer(); $('text').focus(); });
  $('attach').addEventListener('click', () => $('file').click());
  $('file').addEventListener('change', e => { attach(e.target.files); e.target.value = ''; });
  $('log').addEventListener('keydown', logKey);
  $('jump').addEventListener('click', bottom);
  $('scroll').addEventListener('scroll', watchScroll);
  // A keyboard that opens, a picture that arrives, a tab that shows: who read the end still does.
  const room = new ResizeObserver(() => { if (state.atBottom) bottom(); });
  room.observe($('scroll'));
  room.observe($('log'));
  const talk = $('pane-talk');
  talk.addEventListener('dragover', e => { if (e.dataTransfer.types.includes('Files')) { e.preventDefault(); $('drop').hidden = false; } });
  talk.addEventListener('dragleave', e => { if (!talk.contains(e.relatedTarget)) $('drop').hidden = true; });
  talk.addEventListener('drop', e => { e.preventDefault(); $('drop').hidden = true; attach(e.dataTransfer.files); });
  for (const tab of document.querySelectorAll('.tabs button')) tab.addEventListener('click', () => showPane(tab.dataset.pane));
  $('theme').addEventListener('click', toggleTheme);
  $('compare-open').addEventListener('click', openCompare);
  $('compare-close').addEventListener('click', () => $('compare').close());
  $('compare-form').addEventListener('submit', e => { e.preventDefault(); askEverywhere($('compare-text').value.trim()); });
  document.addEventListener('keydown', globalKey);
}

async function world() {
  for (let wait = 500; ; wait = Math.min(wait * 2, 8000)) {
    try { return await ask('/api/world'); } catch { state.playground = false; renderHealth(); }
    await new Promise(resolve => setTimeout(resolve, wait));
  }
}

/** Both sides may have gone on without us: after a pause everything is read again. */
async function playgroundUp() {
  const back = !state.playground;
  state.playground = true;
  renderHealth();
  if (back) state.world = await world();
  for (const c of chats()) loadMessages(c.id).catch(() => {});
}

async function start() {
  try { const theme = localStorage.getItem('theme'); if (theme) document.documentElement.dataset.theme = theme; } catch { /* see toggleTheme */ }
  state.world = await world();
  state.playground = true;
  if (!chats().length) { $('banner').hidden = false; $('banner').textContent = 'This playground has no chats.'; return; }
  wire();
  const wanted = decodeURIComponent(location.hash.slice(1));
  await openChat((chats().find(c => c.id === wanted) ?? chats()[0]).id);
  listen('/api/events', heardPlayground, playgroundUp, () => { state.playground = false; renderHealth(); });
  if (state.world.daemon) listen(`${state.world.daemon}/v1/events`, heardDaemon, () => setDaemon('up'), () => setDaemon('down'));
  else setDaemon('off');
  document.documentElement.dataset.ready = 'true';
}

start();
