// Files in a message: documents, photos, voice.

import { $, h, icon, size } from './dom.js';
import { rich } from './rich.js';

export function attachment(file, entities) {
  const caption = file.caption && h('div', { class: 'text', dir: 'auto' }, rich(file.caption, entities));
  if (file.kind === 'photo') {
    return h('figure', { class: 'photo' },
      h('a', { href: file.url, target: '_blank', rel: 'noopener', 'aria-label': `Open ${file.name || 'the picture'}` },
        h('img', { src: file.url, alt: file.caption || file.name || 'Picture', decoding: 'async' })), caption);
  }
  if (file.kind === 'voice') return h('div', {}, player(file), caption);
  return h('div', {},
    h('a', { class: 'file', href: file.url, download: file.name || 'file' },
      h('span', { class: 'file-icon' }, icon('file')),
      h('span', { class: 'file-name', dir: 'auto' }, file.name || 'file'),
      h('span', { class: 'file-size' }, `${size(file.size)} · download`)), caption);
}

function player(file) {
  const audio = new Audio();
  audio.preload = 'none';
  audio.src = file.url;
  const bar = h('input', { type: 'range', min: 0, max: 1000, value: 0, 'aria-label': 'Position' });
  const clockText = h('span', { class: 'file-size' }, size(file.size));
  const button = h('button', { type: 'button', class: 'play', 'aria-label': 'Play the voice message' }, icon('play'));
  const show = () => {
    button.replaceChildren(icon(audio.paused ? 'play' : 'pause'));
    button.setAttribute('aria-label', audio.paused ? 'Play the voice message' : 'Pause');
  };
  button.addEventListener('click', () => audio.paused
    ? audio.play().catch(() => { clockText.textContent = 'this browser cannot play it'; }) : audio.pause());
  audio.addEventListener('play', show);
  audio.addEventListener('pause', show);
  audio.addEventListener('timeupdate', () => {
    if (Number.isFinite(audio.duration)) bar.value = String(Math.round(audio.currentTime / audio.duration * 1000));
    const s = Math.floor(audio.currentTime);
    clockText.textContent = `${Math.floor(s / 60)}:${String(s % 60).padStart(2, '0')}`;
  });
  bar.addEventListener('input', () => { if (Number.isFinite(audio.duration)) audio.currentTime = bar.value / 1000 * audio.duration; });
  return h('div', { class: 'voice' }, button, bar, clockText,
    h('a', { href: file.url, download: file.name || 'voice.ogg', 'aria-label': 'Download the voice message', title: 'Download' }, icon('down')));
}
