// The same question in every chat, side by side.

import { addressed } from './composer.js';
import { $, h, icon, clip, toast } from './dom.js';
import { rich } from './rich.js';
import { rove } from './toolbar.js';
import { loadMessages } from './messages.js';
import { post } from './net.js';
import { CLASSES, pill, setting } from './shape.js';
import { state, iconOf, chats, messages, titleOf } from './state.js';
import { loadTasks, offline, openQuestions } from './tasks.js';
import { SHAPE, group, place, platform } from './words.js';

/** Messages of a long answer that are shown. */
const PARTS = 3;

export function openCompare() {
  if (!$('compare').open) $('compare').showModal();
  renderCompare();
  for (const c of chats()) loadTasks(c.key).catch(offline);
}

const chosen = () => chats().filter(c => state.chosen.has(c.id));

/** Which chats are compared: a button for each. */
function renderChoice() {
  $('compare-who').replaceChildren(...chats().map(c => h('button', { type: 'button', class: 'who', 'aria-pressed': String(state.chosen.has(c.id)),
    onclick: () => {
      if (!state.chosen.delete(c.id)) state.chosen.add(c.id);
      renderCompare();
      [...$('compare-who').children][chats().indexOf(c)].focus();
    } }, icon(iconOf(c)), place(c))));
  rove($('compare-who'));
}

export async function askEverywhere(text) {
  const hearing = chosen().filter(c => c.hears);
  // Where a question is open, these words would be its answer.
  const open = await Promise.all(hearing.map(c => openQuestions(c).catch(() => [])));
  state.busy = new Set(hearing.filter((c, i) => open[i].length).map(c => c.id));
  for (const c of hearing) state.compare.delete(c.id);
  const asked = hearing.filter(c => !state.busy.has(c.id));
  for (const c of asked) {
    state.compare.set(c.id, { after: state.tasks.get(c.key)?.[0]?.id ?? 0, message: null });
    state.picked.delete(c.key);
  }
  renderCompare();
  await Promise.all(asked.map(async c => {
    try {
      const { message_id } = await post(`/api/chats/${encodeURIComponent(c.id)}/say`, { text: addressed(c, text, null), reply_to: null, from: asker(c) });
      state.compare.get(c.id).message = message_id;
      await loadMessages(c.id);
    } catch (error) { toast(`${titleOf(c)}: ${error.message}`); }
  }));
  renderCompare();
}

/** One person asks everywhere: the columns differ by place alone. */
const asker = c => c.me.name;

/** What stands in one column: the newest task, not older than the question asked everywhere. */
function column(c) {
  const asked = state.compare.get(c.id), id = state.tasks.get(c.key)?.[0]?.id;
  const list = messages(c.id), at = asked?.message == null ? -1 : list.findIndex(m => m.id === asked.message);
  // As the platform shows it, not as the model wrote it.
  const said = m => m.from.is_bot && m.text && !m.keyboard?.length;
  const answers = asked ? list.slice(at < 0 ? list.length : at + 1).filter(said).slice(0, PARTS) : list.filter(said).slice(-1);
  // Where a question was open, these words answered it: its own task goes on, and there is no new one.
  const known = id > (asked?.after ?? 0) || (asked && answers.length) ? state.details.get(id) : undefined;
  return { chat: c, waiting: Boolean(asked) && !known, shape: known?.shape, task: known?.task, answers: known || asked ? answers : [] };
}

const BUSY = 'Not asked here: selkie is waiting for an answer in this chat, and would take this for it. Answer there first.';
const NOT_HEARD = 'selkie posts on X and does not listen: nothing written here becomes a task, so there are no tools to show.';

export function renderCompare() {
  if (!$('compare').open) return;
  $('compare-shape').title = SHAPE;
  renderChoice();
  const columns = chosen().map(column);
  const heads = h('div', { class: 'cmp-heads' }, columns.map(({ chat: c, waiting, shape, task, answers }) => h('article', {},
    h('h3', {}, icon(iconOf(c)), h('span', { dir: 'auto' }, titleOf(c)), h('small', {}, !c.hears ? platform(c.platform) : shape && !state.compare.has(c.id) ? 'the newest task' : `${asker(c)} asks`)),
    state.busy.has(c.id) && h('p', { class: 'busy' }, BUSY),
    shape ? setting(shape.setting) : h('p', { class: 'faint' }, !c.hears ? NOT_HEARD : waiting ? 'waiting for the task…' : 'no task yet: ask'),
    shape && h('p', { class: 'cmp-count' }, h('b', {}, shape.there.length), ' tools, ', h('b', {}, shape.hidden.length), ' not here ', task && pill(task.state)),
    answers.length > 0 && h('blockquote', { class: 'text', dir: 'auto' }, answers.map(m => h('div', {}, rich(clip(m.text, 500), m.entities)))))));
  const shapes = columns.map(c => c.shape);
  $('compare-body').replaceChildren(heads, ...(shapes.some(Boolean) ? [compareTable(columns)] : []));
}

/** Tools by rows, shapes by columns: what differs stands first. */
export function compareTable(columns) {
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
    h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'Tool'), columns.map(c => h('th', { scope: 'col' }, c.title ?? place(c.chat))))),
    h('tbody', {}, rows.map(([name, row]) => h('tr', { class: differs(row) && 'differs' },
      h('th', { scope: 'row', class: `c-${row.class}`, title: `${row.class}: ${group(row.class)[1]}` }, name),
      row.cells.map((cell, i) => h('td', {}, compareCell(cell, columns[i].shape, columns[i].chat.hears)))))));
}

function compareCell(cell, shape, hears) {
  if (!shape) return h('span', { class: 'faint' }, hears ? '…' : 'not heard');
  if (cell?.here) return h('span', { class: cell.runtime ? 'yes runtime' : 'yes', title: cell.runtime && 'Comes with this chat' }, 'yes');
  return h('span', { class: 'no' }, cell?.reasons?.join('; ') ?? 'this platform does not have it');
}
