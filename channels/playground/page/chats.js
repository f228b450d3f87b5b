// The chats on the left.

import { tell } from './bus.js';
import { $, h, icon, reconcile, time, clip } from './dom.js';
import { askedIn } from './approval.js';
import { state, chats, messages, isMine, iconOf, titleOf } from './state.js';
import { serviceWords } from './talk.js';
import { place, platform } from './words.js';

export function renderChats() {
  const rows = chats().map((c, i) => {
    const last = messages(c.id).at(-1);
    const who = !last || last.service ? '' : isMine(last, c) ? 'You: ' : c.direct ? '' : `${last.from.name}: `;
    return { id: c.id, icon: iconOf(c), platform: platform(c.platform), title: titleOf(c), n: i + 1, current: c.id === state.chat,
      unread: state.unread.get(c.id) ?? 0, asks: askedIn(c).length, at: last ? time(last.at) : '',
      said: last ? clip(who + (last.service ? serviceWords(last) : last.text || last.file?.caption || last.file?.name || '…'), 80) : place(c) };
  });
  reconcile($('chats'), rows, r => r.id, r => h('li', {},
    h('button', { type: 'button', class: 'chat', 'aria-current': r.current && 'true', 'aria-keyshortcuts': `Alt+${r.n}`, onclick: () => tell('opened', r.id) },
      h('span', { class: `badge ${r.icon}` }, icon(r.icon)),
      h('span', { class: 'chat-line' }, h('span', { class: 'chat-title', dir: 'auto' }, r.title), r.at && h('time', { class: 'chat-at' }, r.at)),
      h('span', { class: 'chat-line' }, h('span', { class: 'chat-said' }, r.at && h('b', {}, r.platform), h('span', { dir: 'auto' }, r.said)),
      r.asks > 0 ? h('span', { class: 'dot', title: 'Somebody is asked for approval here' }, 'approval?')
        : r.unread > 0 && h('span', { class: 'dot' }, h('span', {}, r.unread), h('span', { class: 'sr' }, ' unread'))))));
  const unread = [...state.unread.values()].reduce((a, b) => a + b, 0);
  document.title = unread ? `(${unread}) selkie playground` : 'selkie playground';
}

