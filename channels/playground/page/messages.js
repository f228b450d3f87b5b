// The messages of the chats, and who types: read from the playground when something happened.

import { tell } from './bus.js';
import { ask, coalesce } from './net.js';
import { state, chats, isMine } from './state.js';

const TYPING_LASTS = 6000;

export const loadMessages = coalesce(async id => {
  const list = await ask(`/api/chats/${encodeURIComponent(id)}/messages`);
  const known = state.messages.get(id);
  state.messages.set(id, list);
  const where = chats().find(c => c.id === id);
  const fresh = known ? list.filter(m => !isMine(m, where) && !known.some(k => k.id === m.id)) : [];
  if (fresh.length) stopTyping(id);
  if (id !== state.chat && fresh.length) state.unread.set(id, (state.unread.get(id) ?? 0) + fresh.length);
  tell('messages', id, fresh.length > 0);
});

export function startTyping(id) {
  clearTimeout(state.typing.get(id));
  state.typing.set(id, setTimeout(() => stopTyping(id), TYPING_LASTS));
  tell('typing');
}

function stopTyping(id) {
  clearTimeout(state.typing.get(id));
  state.typing.delete(id);
  tell('typing');
}
