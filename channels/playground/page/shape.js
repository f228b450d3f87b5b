// The column on the right: the shape of a task, its steps, calls, tokens.

import { $, h, time, number, plural, clip, money } from './dom.js';
import { waits } from './approval.js';
import { state, chat } from './state.js';
import { loadTask, shownTask, offline } from './tasks.js';
import { rove } from './toolbar.js';
import * as words from './words.js';

export const CLASSES = ['read', 'note', 'reply', 'write', 'exec', 'network', 'message', 'agent', 'public'];

export function renderShape() {
  const where = chat(), box = $('shape');
  if (!state.world.daemon) return box.replaceChildren(note('Steps and tools cannot be shown.', 'Set console.listen in selkie’s configuration: then what each task did and may do stands here.'));
  const rows = state.tasks.get(where.key) ?? [], id = shownTask(where.key);
  const known = state.details.get(id);
  if (state.daemon === 'down' && !known) return box.replaceChildren(note('selkie does not answer.', 'Its steps appear again as soon as it is back.'));
  if (!known) return box.replaceChildren(note('No task here yet.', 'Each message meant for selkie becomes a task. Here you see its steps, the tools it may use, those it may not, and why.'));
  const { task, shape, approvals, agents } = known;
  const open = new Set([...box.querySelectorAll('details[open]')].map(d => d.dataset.name));
  const shut = new Set([...box.querySelectorAll('details:not([open])')].map(d => d.dataset.name));
  const held = box.contains(document.activeElement) && document.activeElement.dataset.tool;
  const same = box.dataset.task === String(id), top = same ? box.parentElement.scrollTop : 0;
  box.dataset.task = id;
  box.replaceChildren(taskHead(task, approvals), stepsPart(task, approvals, agents), shapePart(shape), earlierPart(where.key, rows, id));
  for (const d of box.querySelectorAll('details')) {
    if (open.has(d.dataset.name)) d.open = true;
    if (shut.has(d.dataset.name)) d.open = false;
  }
  if (held) box.querySelector(`[data-tool="${CSS.escape(held)}"]`)?.focus({ preventScroll: true });
  box.parentElement.scrollTop = top;
}

const note = (title, text) => h('div', { class: 'empty' }, h('p', { class: 'big' }, title), h('p', {}, text));
export const pill = name => { const [word, title] = words.state(name); return h('span', { class: `pill ${name}`, title }, word); };

function taskHead(task, approvals) {
  const { usage } = task, open = approvals.filter(approval => approval.state === 'open');
  const took = task.ended_at ? new Date(task.ended_at) - new Date(task.created_at) : null;
  const facts = [
    [number(usage.calls), usage.calls === 1 ? 'model call' : 'model calls'],
    [number(usage.input + usage.output), usage.cached ? `tokens, ${number(usage.cached)} cached` : 'tokens'],
    [money(usage.micro_usd), 'cost'],
    [took == null ? '…' : took < 1000 ? `${took} ms` : `${(took / 1000).toFixed(1)} s`, 'from start to end'],
  ];
  return h('header', { class: 'task-head' },
    h('p', { class: 'task-id' }, `task ${task.id}`, pill(task.state), task.attempts > 1 && h('small', { title: 'An interrupted task starts again, and continues where it was' }, `begun ${task.attempts} times`)),
    h('p', { class: 'asked', dir: 'auto' }, task.asked || 'a message without words'),
    open.map(waits),
    usage.calls > 0 && h('p', { class: 'answers', dir: 'auto' }, words.answers(task)),
    task.why && h('p', { class: 'why', dir: 'auto' }, task.why),
    h('dl', { class: 'figures' }, facts.map(([n, what]) => h('div', {}, h('dd', {}, n), h('dt', {}, what)))));
}

function shapePart(shape) {
  const groups = CLASSES.map(name => [name, shape.there.filter(t => t.class === name)]).filter(([, tools]) => tools.length);
  return h('section', { class: 'part' },
    h('h3', {}, h('span', { class: 'term', title: words.SHAPE }, 'What this task may use'), h('small', {}, plural(shape.there.length, 'tool'))),
    setting(shape.setting),
    rove(h('div', { role: 'toolbar', 'aria-label': 'Tools, each with what it does' }, h('dl', { class: 'there' }, groups.map(([name, tools]) => h('div', {}, h('dt', { class: `c-${name}`, title: `${name}: ${words.group(name)[1]}` }, words.group(name)[0]), h('dd', {}, tools.map(chip))))))),
    shape.there.some(t => t.runtime) && h('p', { class: 'legend' }, h('span', { class: 'ring' }), 'comes with this chat; other platforms have their own'),
    shape.hidden.length > 0 && h('details', { 'data-name': 'hidden', open: true },
      h('summary', {}, 'What it may not use, and why', h('small', {}, plural(shape.hidden.length, 'tool'))),
      h('ul', { class: 'hidden-tools' }, shape.hidden.map(t => h('li', {},
        h('b', { class: `c-${t.class}` }, t.name), h('span', {}, t.reasons.map(r => h('span', { dir: 'auto' }, r))))))));
}

export const setting = line => h('p', { class: 'setting', 'data-setting': line }, words.setting(line).map(([word, title]) => h('span', { title }, word)));

function chip(tool) {
  return h('button', { type: 'button', 'data-tool': tool.name, class: tool.runtime ? 'chip runtime' : 'chip', title: tool.summary, 'aria-expanded': 'false',
    onclick: e => {
      const button = e.currentTarget, open = button.getAttribute('aria-expanded') === 'true';
      button.setAttribute('aria-expanded', String(!open));
      if (open) button.nextElementSibling.remove();
      else button.after(h('p', { class: 'summary' }, tool.summary, tool.runtime && h('em', {}, ' It comes with this chat.')));
    } }, tool.name, tool.runtime && h('span', { class: 'sr' }, ' (comes with this chat)'));
}

/** The steps of a task, and below them those of its agents, each as far as it is. */
function stepsPart(task, approvals, agents = []) {
  const rows = steps(task, approvals);
  for (const agent of agents) rows.push(line('agent', `agent ${agent.name}`, pill(agent.task.state), h('ol', { class: 'steps' }, steps(agent.task, agent.approvals))));
  return h('section', { class: 'part' }, h('h3', {}, 'Steps'), h('ol', { class: 'steps' }, rows));
}

function steps(task, approvals) {
  const answers = new Map(task.transcript.filter(i => i.item === 'answered').flatMap(i => i.answers).map(a => [a.call, a]));
  let step = 0;
  const rows = task.transcript.map(item => {
    switch (item.item) {
      case 'heard': return line('heard', item.speaker || 'message', folded(item.text),
        item.quote && h('p', { class: 'faint', dir: 'auto' }, `quoting ${item.quote.speaker}: ${clip(item.quote.text, 160)}`), item.files?.map(f => h('p', { class: 'faint' }, f)));
      case 'asked': step += 1; return line('asked', `model call ${step}`, item.text && h('p', { dir: 'auto' }, item.text),
        item.calls.map(c => call(c.name, c.arguments, answers.get(c.id), approvals.findLast(approval => approval.call === c.id))));
      case 'said': step += 1; return line('said', `model call ${step}`, folded(item.text));
      case 'noted': return line('noted', 'note', h('p', { class: 'faint', dir: 'auto' }, item.text));
      default: return null;
    }
  });
  const live = state.live.get(task.id);
  if (task.state === 'running' && live?.step > step) rows.push(line('live', `model call ${live.step}`,
    live.text && h('p', { dir: 'auto' }, live.text), !live.text && !live.calls.length && h('p', { class: 'faint' }, 'thinking…'),
    live.calls.map(c => call(c.tool, c.arguments, c.answer))));
  return rows;
}

/** A long text shows its beginning; the conversation beside has it whole. */
function folded(text) {
  if (text.length < 320) return h('p', { dir: 'auto' }, text);
  return h('details', { class: 'fold', 'data-name': `fold ${text.slice(0, 40)}` }, h('summary', {}, h('span', { dir: 'auto' }, clip(text, 240))), h('p', { dir: 'auto' }, text));
}

const line = (kind, title, ...body) => h('li', { class: kind }, h('h4', {}, title), body);

/** What somebody's approval has come to, for the call that needed it. */
const STATES = { open: ['waiting for approval'], approved: ['approved'], consumed: ['approved', ', and made once'], denied: ['denied'], expired: ['nobody approved it in time'],
  lapsed: ['approved', ', but not begun in time'], withdrawn: ['withdrawn'], not_asked: ['nobody could be asked'] };

function approvalWords({ state, by }) {
  const [what, then = ''] = STATES[state];
  return `${what}${by ? ` by ${by}` : ''}${then}`;
}

function call(name, args, answer, approval) {
  const written = typeof args === 'string' ? args : JSON.stringify(args, null, 1).replace(/\n\s*/g, ' ');
  return h('div', { class: answer?.is_error ? 'call bad' : 'call' },
    h('p', {}, h('b', {}, name), ' ', h('code', { dir: 'auto' }, clip(written, 600))),
    approval && h('p', { class: `approval-is ${approval.state}`, title: words.APPROVAL }, approvalWords(approval)),
    answer ? h('pre', { dir: 'auto', tabindex: answer.text.length > 300 ? 0 : null }, clip(answer.text, 4000)) : approval?.state !== 'open' && h('p', { class: 'faint' }, 'running…'));
}

function earlierPart(key, rows, shown) {
  return h('section', { class: 'part' }, h('h3', {}, 'Tasks here', h('small', {}, number(rows.length))),
    h('ul', { class: 'earlier' }, rows.map((row, i) => h('li', {}, h('button', { type: 'button', 'aria-current': row.id === shown && 'true',
      onclick: () => { if (i) state.picked.set(key, row.id); else state.picked.delete(key); renderShape(); loadTask(row.id).catch(offline); } },
      h('i', { class: `state ${row.state}`, title: words.state(row.state)[0] }), h('span', { dir: 'auto' }, row.asked || 'a message without words'), h('time', {}, time(row.created_at)), h('span', { class: 'sr' }, words.state(row.state)[0]))))));
}
