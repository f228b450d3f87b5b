// The dialog of schedules: what is to come and when, what became of each time, and how a scheduled task differs from an
// asked one.

import { tell } from './bus.js';
import { loadClock } from './clock.js';
import { compareTable } from './compare.js';
import { $, h, clip, icon, plural, reconcile, toast } from './dom.js';
import { coalesce } from './net.js';
import { pill, setting } from './shape.js';
import { state, chatByKey, iconOf, titleOf } from './state.js';
import { daemon, loadTask, loadTasks } from './tasks.js';
import * as words from './words.js';

/** Times of one schedule that are shown. */
const TIMES = 12;

/** Schedules that are shown. */
const MAX = 100;

export function openLater() {
  if (!$('later').open) $('later').showModal();
  loadClock().catch(error => toast(error.message));
  loadLater();
}

/** Reads the schedules while somebody looks at them. */
export function loadLater() {
  if ($('later').open && state.world.daemon) read().catch(error => toast(error.message));
}

const read = coalesce(async () => {
  const rows = await daemon(`schedules?limit=${MAX}`);
  const times = await Promise.all(rows.map(row => daemon(`schedules/${row.id}/times?limit=${TIMES}`)));
  state.schedules = rows.map((row, i) => ({ ...row, times: times[i] }));
  await Promise.all([...state.beside].map(beside));
  $('later-more').hidden = rows.length < MAX;
  state.posts = await daemon('posts');
  render();
  posts();
});

/** The newest task of a schedule, and the newest one that somebody asked for in the same chat. */
async function beside(id) {
  const row = state.schedules.find(row => row.id === id), where = row && chatByKey(row.key);
  const own = row?.times.find(time => time.task != null)?.task;
  if (!where || own == null) return;
  await loadTasks(where.key);
  const scheduled = new Set(state.schedules.flatMap(row => row.times.map(time => time.task)));
  const asked = state.tasks.get(where.key)?.find(task => !scheduled.has(task.id))?.id;
  await Promise.all([own, asked].filter(id => id != null && !state.details.has(id)).map(loadTask));
  state.besides.set(id, { asked, own });
}

function render() {
  const list = $('later-list');
  if (!state.schedules.length) {
    return list.replaceChildren(h('p', { class: 'faint' }, 'Nothing is scheduled yet.'));
  }
  if (list.firstElementChild?.dataset.key === undefined) list.replaceChildren();
  const items = state.schedules.map(row => ({ ...row, open: state.beside.has(row.id), shown: state.besides.get(row.id) }));
  reconcile(list, items, row => row.id, article);
}

function article(row) {
  const where = chatByKey(row.key);
  const last = row.state === 'ended' && row.times[0];
  const done = last ? last.post?.state ?? last.state : row.state;
  return h('article', { class: 'schedule', 'data-id': row.id },
    h('h3', {}, h('span', { dir: 'auto' }, row.name), pillOf(done), h('small', {}, `no. ${row.id}, ${words.does(row.does)}`)),
    h('p', { class: 'where' }, row.when, where && [' · ', h('button', { type: 'button', class: 'link', onclick: () => { $('later').close(); tell('opened', where.id); } }, icon(iconOf(where)), `${titleOf(where)}, ${words.place(where)}`)],
      !where && ` · ${row.key}`, row.monthly > 1 && ` · ${plural(row.monthly, 'time')} in the next 30 days`),
    row.why && h('p', { class: 'why', dir: 'auto' }, row.why),
    h('div', { class: 'times' },
      row.next.length > 0 && h('div', {}, h('h4', {}, 'Next'), h('ol', { class: 'next' }, row.next.map(at => h('li', {}, words.moment(at, row.zone))))),
      row.times.length > 0 && h('div', {}, h('h4', {}, 'So far'), h('ol', { class: 'history' }, row.times.map(time)))),
    row.times.some(time => time.task != null) && where && h('button', { type: 'button', class: 'tool', 'aria-expanded': String(row.open), onclick: () => toggle(row.id) }, 'Its tools beside an asked task’s'),
    row.open && row.shown && besideTable(where, row.shown));
}

/** What became of one time; that it was said is another thing than that it ran, and a post stands for itself. */
function time(t) {
  const said = !t.post && t.delivered && words.delivery(t.delivered.standing), at = words.moment(t.at, t.zone);
  return h('li', {}, h('span', {}, t.times > 1 ? `${at}, ${plural(t.times, 'time')}` : at), t.post ? post(t.post) : pill(t.state),
    said && h('small', { title: said[1] }, said[0]), t.why && h('span', { class: 'faint', dir: 'auto' }, clip(t.why, 200)));
}

/** A state of a schedule, or of the post that it was. */
const pillOf = name => words.isOfPost(name) ? post({ state: name })[0] : pill(name);

/** How a post stands, with its address where it has one. */
function post({ state, why, url }) {
  const [name, title] = words.post(state);
  return [h('span', { class: `pill ${state}`, title }, name), url && h('a', { href: url, target: '_blank', rel: 'noopener noreferrer', title: url }, 'open'),
    why && h('span', { class: 'faint', dir: 'auto' }, clip(why, 200))];
}

/** Drafts, and what was posted or was not: what is scheduled stands above. */
function posts() {
  const rows = state.posts.filter(row => row.state === 'draft' || row.id.startsWith('p'));
  $('later-posts').hidden = !rows.length;
  $('later-posts').querySelector('ol').replaceChildren(...rows.map(row =>
    h('li', { 'data-id': row.id }, post(row), h('span', { dir: 'auto' }, clip(row.texts.join(' '), 120)),
      row.schedule != null && h('small', {}, `schedule ${row.schedule}`))));
}

function toggle(id) {
  if (!state.beside.delete(id)) state.beside.add(id);
  loadLater();
}

function besideTable(where, { asked, own }) {
  const column = (id, title) => ({ chat: where, title, shape: state.details.get(id)?.shape });
  const columns = [column(asked, 'asked'), column(own, 'on schedule')];
  return h('div', { class: 'beside' },
    h('div', { class: 'cmp-heads' }, columns.map(({ title, shape }) => h('article', {}, h('h3', {}, title),
      shape ? [setting(shape.setting), h('p', { class: 'cmp-count' }, h('b', {}, shape.there.length), ' tools, ', h('b', {}, shape.hidden.length), ' not here')]
        : h('p', { class: 'faint' }, 'nobody has asked anything here yet')))),
    compareTable(columns));
}
