// The demo's clock: what it shows, and moving it on, one due time after the other. Platforms and daemon go by it.

import { tell } from './bus.js';
import { $, toast } from './dom.js';
import { ask, post } from './net.js';

let zone = null, ahead = 0, moving = false;

/** A move by more than this is told in the bar above, in ms. */
const NOTED = 60_000;

export async function loadClock() {
  const shown = await ask('/api/clock');
  zone = shown.zone;
  took(shown.now);
}

function took(now) {
  ahead = new Date(now) - Date.now();
  renderClock();
}

export function renderClock() {
  $('clock').hidden = !zone;
  if (!zone) return;
  const now = new Date(Date.now() + ahead), words = options => new Intl.DateTimeFormat('en-GB', { timeZone: zone, hourCycle: 'h23', ...options }).format(now);
  const day = { weekday: 'short', day: 'numeric', month: 'short' }, minute = { hour: '2-digit', minute: '2-digit' };
  $('clock-now').textContent = `${words({ ...day, year: 'numeric', ...minute })} (${zone})`;
  $('clock-ahead').hidden = ahead < NOTED;
  $('clock-ahead').textContent = words({ ...day, ...minute });
  for (const id of ['clock-to', 'clock-move', 'clock-next']) $(id).disabled = moving;
  $('clock-stop').hidden = !moving;
}

/** Every due time on the way is stopped at, until it is over or somebody has had enough. */
async function move(to) {
  if (moving) return;
  moving = true;
  renderClock();
  try {
    for (let step; moving && (!step || new Date(step.now) < new Date(step.until)); to = step.until) {
      step = await post('/api/clock', { to });
      took(step.now);
      tell('clock');
    }
  } catch (error) { toast(error.message); }
  moving = false;
  renderClock();
}

export function wireClock() {
  $('clock').addEventListener('submit', e => { e.preventDefault(); move($('clock-to').value.trim()); });
  $('clock-next').addEventListener('click', () => move('next'));
  $('clock-stop').addEventListener('click', () => { moving = false; });
  setInterval(() => { if ($('later').open) renderClock(); }, 1000);
}
