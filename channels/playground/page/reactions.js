// Reactions below a message: whose they are, and the row of emoji a person takes one from.

import { $, h, icon, toast } from './dom.js';
import { post } from './net.js';
import { state } from './state.js';

/** The emoji that stand there; pressing one joins in, or takes one's own back. */
export function reactions(m, who) {
  if (!m.reactions?.length) return null;
  return h('p', { class: 'reactions' }, tally(m.reactions).map(([emoji, by]) => h('button', { type: 'button', 'aria-pressed': String(by.includes(who)),
    title: by.join(', '), 'aria-label': `${emoji} by ${by.join(', ')}`, onclick: () => react(m.id, emoji, who) }, emoji, by.length > 1 && ` ${by.length}`)));
}

/** The button that offers them. */
export const offer = (m, who) => m.reacts.length > 0 && h('button', { type: 'button', tabindex: -1, class: 'react', 'aria-label': 'React',
  title: 'React (+): people see it, selkie does not answer', onclick: e => pick(e.currentTarget.closest('.msg'), m.id, m.reacts, who) }, icon('react'));

function pick(node, id, emoji, who) {
  const open = node.querySelector('.palette');
  for (const other of $('log').querySelectorAll('.palette')) other.remove();
  if (open) return node.focus();
  const close = () => { palette.remove(); node.focus(); };
  const palette = h('p', { class: 'palette', role: 'group', 'aria-label': 'React with',
    onkeydown: e => { if (e.key === 'Escape') { e.stopPropagation(); close(); } } },
  emoji.map(one => h('button', { type: 'button', onclick: () => { close(); react(id, one, who); } }, one)));
  node.querySelector('.bubble').append(palette);
  palette.firstElementChild.focus({ preventScroll: true });
  palette.scrollIntoView({ block: 'nearest' });
}

function react(id, emoji, from) {
  post(`/api/chats/${encodeURIComponent(state.chat)}/react`, { message_id: id, emoji, from }).catch(error => toast(error.message));
}

function tally(all) {
  const by = new Map();
  for (const r of all) by.set(r.emoji, [...(by.get(r.emoji) ?? []), String(r.by?.name ?? r.by ?? '')]);
  return [...by];
}
