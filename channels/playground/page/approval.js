// An approval that a task waits for: where it was asked, which chat waits, and the strip that leads from one to the other.

import { tell } from './bus.js';
import { $, h, clip } from './dom.js';
import { state, belongs, chat, chatByKey, chats } from './state.js';
import { APPROVAL, effect, place } from './words.js';

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

/** Characters of what would be written, sent or run that are shown at once. */
const WORDS = 300;

/** What a call would do, and the text that it would write, send or run: the last part of a preview. */
function parts(preview) {
  const [head, ...lines] = preview.split('\n');
  const at = head.endsWith(':') ? 0 : lines.indexOf('as follows:') + 1;
  return [head.replace(/:$/, ''), at || head.endsWith(':') ? lines.slice(at).join('\n').trimEnd() : ''];
}

/** One call that waits: what it would do, and the way to where it was asked. */
export function waits(approval) {
  // Of several places the one that is nearest.
  const near = approval.asked.toSorted((a, b) => (platformOf(b.key) === platformOf(approval.key)) - (platformOf(a.key) === platformOf(approval.key)));
  const there = near.map(chatOf).find(Boolean);
  const { tool, preview, reasons, requester } = approval, from = chatByKey(approval.key), [head, text] = parts(preview);
  return h('div', { class: 'waits' },
    h('p', { dir: 'auto' }, `${requester?.name ?? 'A schedule'}${from ? ` (${place(from)})` : ''} wants selkie to ${clip(effect(tool, head), 160)}${text ? ':' : '.'}`),
    text && h('blockquote', { dir: 'auto', tabindex: text.length > WORDS ? 0 : null }, clip(text, WORDS)),
    h('details', { 'data-name': `call ${approval.call}` }, h('summary', {}, h('span', { class: 'term', title: APPROVAL }, 'Waiting for approval'), ': the whole call'),
      h('pre', { dir: 'auto', tabindex: 0 }, preview), h('p', { class: 'faint' }, `The tool is ${tool}. `, reasons.map(reason => `It ${reason}. `))),
    there && there !== chat() && h('button', { type: 'button', class: 'tool', onclick: () => tell('opened', there.id) }, `Answer in ${place(there)}`));
}

/** Over the message field: the owner is asked somewhere else. */
export function renderApproval() {
  const where = chat(), waiting = waitedForIn(where).filter(approval => !approval.asked.some(asked => chatOf(asked) === where));
  $('approval').hidden = !waiting.length;
  $('approval').replaceChildren(...waiting.map(approval => h('div', {}, h('p', {}, 'The owner has been asked for approval, in private.'), waits(approval))));
}
