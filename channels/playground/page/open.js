// Opening a chat: everything that is drawn for it.

import { renderChats } from './chats.js';
import { grow, renderComposer } from './composer.js';
import { $, h, quiet } from './dom.js';
import { renderApproval } from './approval.js';
import { lookAtKnown, renderKnown } from './known.js';
import { loadMessages } from './messages.js';
import { renderShape } from './shape.js';
import { speakers, speaker, state, chats, chat, titleOf } from './state.js';
import { bottom, renderLog, renderTyping } from './talk.js';
import { loadTasks } from './tasks.js';
import { lane, place } from './words.js';

export async function openChat(id) {
  quiet();
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
  await Promise.allSettled([loadMessages(id), loadTasks(chat().key), lookAtKnown()]);
  bottom();
  $('scroll').removeAttribute('aria-busy');
  if (matchMedia('(pointer: fine)').matches) $('text').focus();
}

function render() {
  const where = chat();
  $('model').textContent = state.world.model ?? '';
  $('talk-title').textContent = titleOf(where);
  const { text, title } = lane(where);
  $('talk-sub').replaceChildren(`${place(where)} · `, h('span', { title }, text));
  renderSpeakers(where);
  renderChats();
  renderLog();
  renderTyping();
  renderComposer();
  renderApproval();
  grow();
  renderKnown();
  renderShape();
}

/** In a group the person at this page plays all the people: who speaks decides what a task may do. */
function renderSpeakers(where) {
  const people = speakers(where);
  $('as').hidden = people.length < 2;
  $('as-who').replaceChildren(...people.map(name => h('option', { selected: name === speaker(where), value: name }, name === where.me.name ? `${name} (owner)` : name)));
}

export function showPane(name) {
  document.body.dataset.pane = name;
  for (const tab of document.querySelectorAll('.tabs button')) tab.setAttribute('aria-current', String(tab.dataset.pane === name));
}
