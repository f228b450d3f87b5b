// The conversation in the middle: bubbles, replies, reactions, typing.

import { startReply, startEdit } from './composer.js';
import { $, h, icon, reconcile, day, time, clip, toast } from './dom.js';
import { attachment } from './files.js';
import { asking } from './approval.js';
import { post } from './net.js';
import { offer, reactions } from './reactions.js';
import { rich } from './rich.js';
import { state, chat, messages, isMine, speaker } from './state.js';

export function renderLog(news = false) {
  const where = chat();
  const list = messages(where.id);
  const byId = new Map(list.map(m => [m.id, m])), asks = asking(where);
  const several = new Set(list.map(m => day(m.at))).size > 1;
  const isNew = i => day(list[i].at) !== (i > 0 ? day(list[i - 1].at) : several ? '' : day(list[0].at));
  const rows = list.flatMap((m, i) => [isNew(i) && { id: `day ${day(m.at)}`, day: day(m.at) }, {
    ...m, mine: isMine(m, where), edits: where.edits, reacts: where.reacts, who: speaker(where), quoted: byId.get(m.reply_to) ?? null,
    follows: i > 0 && list[i - 1].from.id === m.from.id && !m.reply_to && !isNew(i),
    asks: asks.has(String(m.id)), named: !where.direct && !isMine(m, where),
  }].filter(Boolean));
  reconcile($('log'), rows, m => m.id, bubble);
  $('log-empty').hidden = list.length > 0;
  if (!list.length) $('log-empty').replaceChildren(
    h('p', { class: 'big' }, where.direct ? 'Just you and selkie.' : 'Others read along here.'),
    h('p', {}, where.hears && ['Say something, or try one of the lines below. ', h('span', { class: 'wide' }, 'The column beside this one shows'), h('span', { class: 'narrow' }, '“Steps & tools” shows'), ' what selkie did, what it may do here, and why not more.']
      || 'selkie speaks here and does not listen. Let it post from a terminal: selkie say --state <the folder that selkie demo printed> --to x:main "tea is ready"'));
  if (state.atBottom) bottom();
  else if (news) $('jump').hidden = false;
}

export function bottom() {
  state.atBottom = true;
  $('scroll').scrollTop = $('scroll').scrollHeight;
  $('jump').hidden = true;
}

export function watchScroll() {
  const s = $('scroll');
  if (!s.clientHeight) return; // hidden behind another tab
  state.atBottom = s.scrollHeight - s.scrollTop - s.clientHeight < 60;
  if (state.atBottom) $('jump').hidden = true;
}

function bubble(m) {
  if (m.day) return h('li', { class: 'service day' }, h('span', {}, m.day));
  if (m.service) return h('li', { class: 'service' }, serviceWords(m));
  const kinds = ['msg', m.mine && 'mine', m.from.is_bot && 'bot', m.follows && 'follows', m.asks && 'asks'].filter(Boolean).join(' ');
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
      reactions(m, m.who)),
    h('div', { class: 'acts' },
      offer(m, m.who),
      h('button', { type: 'button', tabindex: -1, 'aria-label': 'Reply', title: 'Reply (R)', onclick: reply }, icon('reply')),
      m.mine && m.text && m.edits && h('button', { type: 'button', tabindex: -1, 'aria-label': 'Edit', title: 'Edit (E)', onclick: () => startEdit(m.id) }, icon('edit'))));
}

export function serviceWords(m) {
  const topic = m.service.forum_topic_created?.name;
  return topic ? `${m.from.name} opened the topic “${topic}”` : Object.keys(m.service).join(', ').replaceAll('_', ' ');
}

function press(id, key) {
  if (!key.callback_data) return;
  post(`/api/chats/${encodeURIComponent(state.chat)}/press`, { message_id: id, data: key.callback_data }).catch(error => toast(error.message));
}

function seek(id) {
  const node = $('log').querySelector(`[data-id="${CSS.escape(String(id))}"]`);
  if (!node) return;
  node.scrollIntoView({ block: 'center' });
  node.focus({ preventScroll: true });
  node.classList.add('found');
  node.addEventListener('animationend', () => node.classList.remove('found'), { once: true });
}

export function renderTyping() {
  const on = state.typing.has(state.chat);
  $('typing').classList.toggle('on', on);
  $('typing').replaceChildren(...(on ? [h('i'), h('i'), h('i'), h('span', {}, `${state.world.bot?.name ?? 'selkie'} is typing`)] : []));
}

export function logKey(e) {
  const node = e.target.closest('.msg');
  if (!node || e.target !== node) return;
  const all = [...$('log').querySelectorAll('.msg')], at = all.indexOf(node);
  const go = { ArrowUp: all[at - 1], ArrowDown: all[at + 1] ?? $('text'), Home: all[0], End: all.at(-1) }[e.key];
  if (go) { e.preventDefault(); go.focus(); }
  else if (e.key === 'r' || e.key === 'Enter') { e.preventDefault(); startReply(idOf(node)); }
  else if (e.key === '+') { e.preventDefault(); node.querySelector('.react')?.click(); }
  else if (e.key === 'e' && node.classList.contains('mine') && chat().edits) { e.preventDefault(); startEdit(idOf(node)); }
}

/** Platforms differ: a number here, a text there. */
const idOf = node => messages(state.chat).find(m => String(m.id) === node.dataset.id)?.id;
