// Above the steps: what the conversation knows beyond its history. Whom it has met, what is to be done, what it remembers;
// each conversation as far as it may. One list at a time is open, and stays so from chat to chat.

import { tell } from './bus.js';
import { $, h, icon, number, plural } from './dom.js';
import { coalesce } from './net.js';
import { state, chat, chatByKey, iconOf, titleOf } from './state.js';
import { conversationsOf, daemonCounted, offline } from './tasks.js';
import * as words from './words.js';

/** Rows of a list that are shown. */
const MAX = 100;

/** The lists, in their order on the page. */
const LISTS = {
  contacts: { title: 'People', count: known => known.total, draw: contacts },
  todos: { title: 'Todos', count: ({ total, body }) => total + listed(body).length, draw: todos },
  memory: { title: 'Memory', count: known => known.total, draw: memory },
};

/** Reads what the chat that is shown knows, and draws it. */
export const loadKnown = coalesce(async () => {
  const where = chat();
  if (!where || !state.world.daemon || !where.hears) return renderKnown();
  const of = await conversationOf(where);
  if (!of) { state.knowledge.set(where.key, null); return renderKnown(); }
  const ask = name => daemonCounted(`conversations/${encodeURIComponent(of)}/${name}?limit=${MAX}`).catch(failed);
  const read = await Promise.all(Object.keys(LISTS).map(ask));
  state.knowledge.set(where.key, Object.fromEntries(Object.keys(LISTS).map((name, i) => [name, read[i]])));
  renderKnown();
});

export const lookAtKnown = () => loadKnown().catch(offline);

/** A file that cannot be read is one list's trouble; a daemon that is away is everybody's. */
function failed(error) {
  if (!error.status) throw error;
  return { error: error.message };
}

/** All conversations of a chat know the same: the chat's own where there is one. */
async function conversationOf(where) {
  const keys = await conversationsOf(where);
  return keys.includes(where.key) ? where.key : keys[0];
}

export function renderKnown() {
  const where = chat(), known = state.knowledge.get(where.key), open = state.knownOpen;
  $('known').hidden = !state.world.daemon || !where.hears;
  for (const [name, { count }] of Object.entries(LISTS)) {
    const button = $(`known-${name}`), n = known?.[name]?.error ? '!' : number(known?.[name] ? count(known[name]) : 0);
    button.setAttribute('aria-expanded', String(name === open));
    button.querySelector('b').textContent = n;
  }
  renderList(where, open, known);
}

function renderList(where, open, known) {
  const list = $('known-list'), of = `${where.key} ${open}`, mark = JSON.stringify([of, known === undefined, open && known]);
  list.hidden = !open;
  // What is the same stays as it is, and whoever reads it where they are.
  if (list.mark === mark) return;
  const top = list.dataset.of === of ? list.scrollTop : 0;
  list.mark = mark;
  list.dataset.of = of;
  list.setAttribute('aria-label', open ? LISTS[open].title : '');
  list.replaceChildren(...(open ? [body(where, open, known)].flat(Infinity).filter(Boolean) : []));
  list.scrollTop = top;
}

export function wireKnown() {
  for (const name of Object.keys(LISTS)) $(`known-${name}`).addEventListener('click', () => {
    state.knownOpen = state.knownOpen === name ? null : name;
    renderKnown();
    // People edit the files, and nothing tells the page.
    if (state.knownOpen) lookAtKnown();
  });
}

function body(where, name, known) {
  if (known === undefined) return h('p', { class: 'faint' }, 'Looking…');
  if (!known) return note('selkie has heard nothing here yet.', 'The first message that is meant for selkie brings up what it knows here.');
  const one = known[name];
  return one.error ? note('This cannot be read now.', one.error) : LISTS[name].draw(where, one);
}

/** What to do where a list is empty: the words to say are one press away. */
const empty = (title, words) => h('p', { class: 'known-note' }, h('b', {}, title), ' Say: ', h('button', { type: 'button', class: 'link', onclick: () => tell('draft', words) }, words));
const note = (title, text) => h('p', { class: 'known-note' }, h('b', {}, title), ' ', h('span', { dir: 'auto' }, text));
const whole = (all, own) => seesAll => h('p', { class: 'faint' }, seesAll ? all : own);
const rest = ({ total }, shown, where) => total > shown && h('p', { class: 'faint' }, `And ${number(total - shown)} more: `, h('code', {}, where));
const faults = rows => rows.map(row => h('p', { class: 'why', dir: 'auto' }, `Cannot be read: ${row}`));

const whoSees = whole('Only an owner reads here: everybody whom selkie knows.', 'Only people who have written here. This chat learns nothing about others.');

function contacts(where, one) {
  const { sees_all, contacts: rows } = one.body;
  if (!rows.length) return [note('Nobody is known here yet.', 'People are noted when they write to selkie: speak as somebody.'), faults(one.body.faults)];
  return [whoSees(sees_all), h('ul', { class: 'known-rows' }, rows.map(person)), rest(one, rows.length, sees_all ? 'selkie contacts list' : '/contacts NAME'), faults(one.body.faults)];
}

function person({ name, also, ids, last_interaction_at: last }) {
  return h('li', {},
    h('p', { class: 'known-line' }, h('b', { dir: 'auto' }, name), also.length > 0 && h('span', { class: 'faint' }, 'also ', also.map((other, i) => [i > 0 && ', ', h('bdi', {}, other)])),
      last && h('time', { class: 'faint', datetime: last, title: 'When they last wrote' }, words.shortly(last))),
    h('p', { class: 'known-ids' }, ids.map(id => h('code', { dir: 'ltr' }, id))));
}

const whatSees = whole('Only an owner reads here: all of TODO.md.', 'Only what belongs to this chat. The rest of TODO.md stays hidden here.');

/** What is open on the chat's own list. */
const listed = ({ list }) => list.filter(item => !item.is_done);

/** Two things that people mix up: what was noted in this chat, and the file that outlives it. */
function todos(where, one) {
  const { sees_all, open, done } = one.body, own = listed(one.body);
  const nothing = !open.length && empty(one.done ? 'Everything in it is done.' : 'What people want done in this chat, with its time and its people: nothing yet.', 'todo: bring milk');
  return [h('p', { class: 'known-sub' }, 'List of this chat', h('small', {}, 'note: … · /reset clears it')),
    own.length > 0 ? h('ul', { class: 'known-rows' }, own.map(item => h('li', {}, h('p', { class: 'known-line' }, h('span', { dir: 'auto' }, item.text))))) : empty('Nothing is noted here.', 'note: buy bread'),
    h('p', { class: 'known-sub' }, 'Todo file', h('small', {}, 'todo: … · TODO.md')),
    !nothing && whatSees(sees_all), nothing,
    open.length > 0 && h('ul', { class: 'known-rows' }, open.map(row => todo(where, row))), rest(one, open.length, 'TODO.md holds all'),
    one.done > 0 && h('p', { class: 'known-sub' }, `Done (${number(one.done)})`),
    done.length > 0 && h('ul', { class: 'known-rows done' }, done.map(row => todo(where, row))), faults(one.body.faults)];
}

function todo(where, { text, due, people, chat: key, chat_name: name, done_at: done }) {
  const there = key && key !== where.key && chatByKey(key);
  return h('li', {},
    h('p', { class: 'known-line' }, h('span', { dir: 'auto' }, text), due && h('time', { class: 'pill due', datetime: due.replace(' ', 'T'), title: 'When it comes due, by the clocks of its chat' }, due)),
    (people.length > 0 || key && key !== where.key || done) && h('p', { class: 'known-ids' },
      people.map(({ name, id }) => h('span', { class: 'who-is', title: id, dir: 'auto' }, name)),
      there ? h('button', { type: 'button', class: 'link', onclick: () => tell('opened', there.id) }, icon(iconOf(there)), titleOf(there)) : key && key !== where.key && (name ? h('span', { title: key, dir: 'auto' }, name) : h('code', { dir: 'ltr' }, key)),
      done && h('time', { class: 'faint', datetime: done }, words.shortly(done))));
}

function memory(where, one) {
  const { sees_all, lines } = one.body;
  if (!lines.length) return empty('Nothing is remembered here.', 'remember that I like tea');
  const files = new Map();
  for (const row of lines) files.set(row.path, [...(files.get(row.path) ?? []), row]);
  const names = new Map((state.knowledge.get(where.key)?.contacts.body?.contacts ?? []).flatMap(({ name, ids }) => ids.map(id => [id, name])));
  return [h('p', { class: 'faint' }, sees_all ? 'What was said with “remember”: this chat’s own, and what belongs to all private chats of owners.' : 'What was said with “remember” in this chat. No other chat knows it.'),
    rest(one, lines.length, 'selkie memory show'),
    [...files].map(([path, rows]) => [files.size > 1 && h('p', { class: 'known-sub' }, h('code', { dir: 'ltr' }, path)),
      h('ol', { class: 'known-rows' }, rows.map(row => remembered(where, row, names)))]),
    h('p', { class: 'faint' }, h('code', {}, '/memory forget N'), ' takes line N out, ', h('code', {}, '/forget'), ' everything.')];
}

function remembered(where, { number: n, text, section, author, level, trust, at }, names) {
  const [level_is, why] = words.level(level);
  return h('li', { value: n },
    h('p', { class: 'known-line' }, h('i', {}, n), h('span', { dir: 'auto' }, text),
      h('button', { type: 'button', class: 'link', title: `Writes /memory forget ${n} into the message field`, onclick: () => tell('draft', forget(where, n)) }, 'forget', h('span', { class: 'sr' }, ` line ${n}`))),
    h('p', { class: 'known-ids' }, level !== 'clean' && h('span', { class: `pill ${level}`, title: why }, level_is),
      section && section !== 'Notes' && h('span', { dir: 'auto' }, section),
      author ? h('span', { title: author, dir: 'auto' }, `${names.get(author) ?? author} (${trust})`) : h('span', {}, 'written by hand'),
      at && h('time', { datetime: at }, words.shortly(at))));
}

/** Slack keeps for itself what begins with a slash. */
const forget = (where, n) => where.platform === 'slack' ? `${where.mention} /memory forget ${n}` : `/memory forget ${n}`;
