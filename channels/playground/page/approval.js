// An approval that a task waits for: where it was asked, which chat waits, and the strip that leads from one to the other.

import { tell } from './bus.js';
import { $, h, clip } from './dom.js';
import { state, belongs, chat, chats } from './state.js';
import { APPROVAL, place } from './words.js';

const platformOf = key => key.split(':')[0];

/** The chat in which somebody was asked. A platform may know a private chat by another id than its person's. */
export const chatOf = asked => chats().find(c => belongs(c, asked.key))
  ?? chats().find(c => c.direct && platformOf(c.key) === platformOf(asked.key));

/** What is asked for in a chat. */
export const askedIn = where => state.approvals.filter(approval => approval.asked.some(asked => chatOf(asked) === where));

/** The messages of a chat that ask for it. */
export const asking = where => new Set(state.approvals.flatMap(approval => approval.asked).filter(asked => chatOf(asked) === where).map(asked => asked.message));

/** What the tasks of a chat wait for. */
const waitedForIn = where => state.approvals.filter(approval => belongs(where, approval.key));

/** One call that waits: what it would do, and the way to where it was asked. */
export function waits(approval) {
  // Of several places the one that is nearest.
  const near = approval.asked.toSorted((a, b) => (platformOf(b.key) === platformOf(approval.key)) - (platformOf(a.key) === platformOf(approval.key)));
  const there = near.map(chatOf).find(Boolean);
  return h('p', { class: 'waits' },
    h('span', { class: 'term', title: APPROVAL }, 'waiting for approval'), ': ', h('b', {}, approval.tool), ' ',
    h('span', { dir: 'auto' }, `${clip(approval.preview.split('\n')[0].replace(/:$/, ''), 100)} …`), ' ',
    there && there !== chat() && h('button', { type: 'button', class: 'tool', onclick: () => tell('opened', there.id) }, `Answer in ${place(there)}`));
}

/** Over the message field: the owner is asked somewhere else. */
export function renderApproval() {
  const where = chat(), waiting = waitedForIn(where).filter(approval => !approval.asked.some(asked => chatOf(asked) === where));
  $('approval').hidden = !waiting.length;
  $('approval').replaceChildren(...waiting.map(approval => h('div', {}, h('p', {}, 'The owner has been asked for approval, in private.'), waits(approval))));
}
