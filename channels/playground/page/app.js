// The playground's page: wires the views together and starts.
// Foreign text only ever becomes text nodes: there is no innerHTML anywhere here.

import { on } from './bus.js';
import { renderChats } from './chats.js';
import { loadClock, wireClock } from './clock.js';
import { openCompare, askEverywhere, renderCompare } from './compare.js';
import { renderComposer, attach, cancel, fill, grow, say, showHints, hideHints, composerKey } from './composer.js';
import { $, quiet, toast } from './dom.js';
import { setPlayground } from './health.js';
import { renderApproval } from './approval.js';
import { lookAtKnown, wireKnown } from './known.js';
import { loadLater, openLater } from './later.js';
import { loadMessages, startTyping } from './messages.js';
import { ask, listen } from './net.js';
import { openChat, showPane } from './open.js';
import { renderShape } from './shape.js';
import { state, chats, chat } from './state.js';
import { renderLog, renderTyping, bottom, watchScroll, logKey } from './talk.js';
import { heardDaemon, lookAtStore, setDaemon } from './tasks.js';
import { wireToolbars } from './toolbar.js';

/** How often the daemon is asked whether its database is there, in ms: nothing tells the page. */
const LOOK = 3000;

function heardPlayground({ kind, chat: id, text }) {
  if (!chats().some(c => c.id === id)) return;
  if (kind === 'typing') startTyping(id);
  else if (kind === 'tap_answer') { if (text) toast(text); }
  else loadMessages(id).catch(() => {});
}

function toggleTheme() {
  const dark = document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = dark ? 'light' : 'dark';
  try { localStorage.setItem('theme', document.documentElement.dataset.theme); } catch { /* private windows may refuse: the choice lasts for this page */ }
}

function globalKey(e) {
  const open = $('compare').open || $('later').open;
  if (e.altKey && /^Digit[1-9]$/.test(e.code) && !open) {
    const target = chats()[Number(e.code.slice(5)) - 1];
    if (target) { e.preventDefault(); openChat(target.id); }
  } else if (e.altKey && e.code === 'KeyC' && !$('later').open) { e.preventDefault(); openCompare(); }
  else if (e.altKey && e.code === 'KeyS' && !$('compare').open) { e.preventDefault(); openLater(); }
  else if (e.key === '/' && !open && !e.target.closest('input, textarea')) { e.preventDefault(); showPane('talk'); $('text').focus(); }
  else if (e.key === 'Escape' && !open) { if ($('hints').hidden) cancel(); else hideHints(); }
}

/** Who draws what when something was read. */
function watch() {
  on('opened', openChat);
  on('learned', lookAtKnown);
  on('messages', (id, news) => { renderChats(); if (id === state.chat) renderLog(news); renderCompare(); });
  on('said', bottom);
  on('typing', renderTyping);
  on('draft', fill);
  on('wrote', renderShape);
  on('approvals', () => { renderChats(); renderLog(); renderApproval(); renderShape(); });
  on('tasks', key => { if (chat()?.key === key) renderShape(); renderCompare(); });
  on('went', loadLater);
  on('clock', loadLater);
}

function wire() {
  $('composer').addEventListener('submit', e => { e.preventDefault(); say($('text').value.trim()); });
  $('text').addEventListener('keydown', composerKey);
  $('text').addEventListener('input', () => { grow(); showHints(); });
  $('text').addEventListener('blur', hideHints);
  $('text').addEventListener('paste', e => { if (e.clipboardData.files.length) { e.preventDefault(); attach(e.clipboardData.files); } });
  $('mention').addEventListener('click', () => { state.mention = !state.mention; renderComposer(); $('text').focus(); });
  $('as-who').addEventListener('change', e => { state.speakers.set(state.chat, e.target.value); renderLog(); $('text').focus(); });
  // A mouse without a wheel to the side comes to the end of the row, too.
  $('tries').addEventListener('wheel', e => { if (!e.deltaX) $('tries').scrollLeft += e.deltaY; }, { passive: true });
  $('attach').addEventListener('click', () => $('file').click());
  $('file').addEventListener('change', e => { attach(e.target.files); e.target.value = ''; });
  $('log').addEventListener('keydown', logKey);
  $('jump').addEventListener('click', bottom);
  $('scroll').addEventListener('scroll', watchScroll);
  // A keyboard that opens, a picture that arrives, a tab that shows: who read the end still does.
  const room = new ResizeObserver(() => { if (state.atBottom) bottom(); });
  room.observe($('scroll'));
  room.observe($('log'));
  const talk = $('pane-talk');
  talk.addEventListener('dragover', e => { if (e.dataTransfer.types.includes('Files')) { e.preventDefault(); $('drop').hidden = false; } });
  talk.addEventListener('dragleave', e => { if (!talk.contains(e.relatedTarget)) $('drop').hidden = true; });
  talk.addEventListener('drop', e => { e.preventDefault(); $('drop').hidden = true; attach(e.dataTransfer.files); });
  for (const tab of document.querySelectorAll('.tabs button')) tab.addEventListener('click', () => showPane(tab.dataset.pane));
  $('theme').addEventListener('click', toggleTheme);
  $('compare-open').addEventListener('click', openCompare);
  wireToolbars();
  document.addEventListener('pointerdown', quiet);
  document.addEventListener('keydown', e => { if (['Enter', 'Escape'].includes(e.key)) quiet(); });
  for (const dialog of document.querySelectorAll('dialog')) dialog.addEventListener('close', quiet);
  wireClock();
  wireKnown();
  $('later-open').addEventListener('click', openLater);
  $('later-close').addEventListener('click', () => $('later').close());
  $('compare-close').addEventListener('click', () => $('compare').close());
  $('compare-form').addEventListener('submit', e => { e.preventDefault(); askEverywhere($('compare-text').value.trim()); });
  document.addEventListener('keydown', globalKey);
}

async function world() {
  for (let wait = 500; ; wait = Math.min(wait * 2, 8000)) {
    try { return await ask('/api/world'); } catch { setPlayground(false); }
    await new Promise(resolve => setTimeout(resolve, wait));
  }
}

/** Both sides may have gone on without us: after a pause everything is read again. */
async function playgroundUp() {
  const back = !state.playground;
  setPlayground(true);
  const now = back ? await world() : state.world;
  // Another daemon listens elsewhere: nothing on this page is true any more.
  if (now.daemon !== state.world.daemon) { keepDraft(); return location.reload(); }
  for (const c of chats()) loadMessages(c.id).catch(() => {});
}

const DRAFT = 'draft';

/** What was being written outlives a reload that nobody asked for. */
function keepDraft() {
  try { sessionStorage.setItem(DRAFT, JSON.stringify({ chat: state.chat, text: $('text').value })); } catch { /* see toggleTheme */ }
}

function takeDraft() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(DRAFT));
    sessionStorage.removeItem(DRAFT);
    if (kept?.text) state.drafts.set(kept.chat, kept.text);
  } catch { /* see toggleTheme */ }
}

async function start() {
  try { const theme = localStorage.getItem('theme'); if (theme) document.documentElement.dataset.theme = theme; } catch { /* see toggleTheme */ }
  state.world = await world();
  setPlayground(true);
  if (!chats().length) { $('banner').hidden = false; $('banner').textContent = 'This playground has no chats.'; return; }
  watch();
  wire();
  takeDraft();
  loadClock().catch(() => {});
  const wanted = decodeURIComponent(location.hash.slice(1));
  await openChat((chats().find(c => c.id === wanted) ?? chats()[0]).id);
  listen('/api/events', heardPlayground, playgroundUp, () => setPlayground(false));
  if (state.world.daemon) listen(`${state.world.daemon}/v1/events`, heardDaemon, () => setDaemon('up'), () => setDaemon('down'));
  else setDaemon('off');
  setInterval(() => lookAtStore(), LOOK);
  document.documentElement.dataset.ready = 'true';
}

start();
