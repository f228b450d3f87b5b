// Questions and event streams to the playground (same origin) and to the daemon's read API, and to nobody else.

/** Runs `work` for a key now, or once more when it is asked for while it runs. */
export function coalesce(work) {
  const running = new Map();
  return function run(key) {
    if (running.has(key)) { running.get(key).again = true; return running.get(key).done; }
    const slot = { again: false };
    slot.done = (async () => {
      try { do { slot.again = false; await work(key); } while (slot.again); }
      finally { running.delete(key); }
    })();
    running.set(key, slot);
    return slot.done;
  };
}

export async function ask(url, options) {
  const response = await answered(url, options);
  return response.status === 204 ? null : response.json();
}

/** The same, with how many there are of what a list cuts. */
export async function askCounted(url) {
  const response = await answered(url), count = name => Number(response.headers.get(name) ?? 0);
  return { body: await response.json(), total: count('x-total-count'), done: count('x-done-count') };
}

async function answered(url, options) {
  const response = await fetch(url, options);
  if (response.ok) return response;
  const body = await response.json().catch(() => ({}));
  throw Object.assign(new Error(body.error ?? `${response.status} ${response.statusText}`), { status: response.status });
}

export const post = (url, body) =>
  ask(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

/**
 * Listens as long as the page is looked at: reopens after errors, slower each time, and tells `up` when it is back.
 * A page that the browser keeps for its back button holds no stream: six of them would be all that a browser opens.
 */
export function listen(url, heard, up, down) {
  let wait = 500, source = null, later = null;
  const open = () => {
    source = new EventSource(url);
    source.onopen = () => { wait = 500; up(); };
    source.onmessage = e => heard(JSON.parse(e.data));
    source.onerror = () => { source.close(); down(); later = setTimeout(open, wait); wait = Math.min(wait * 2, 8000); };
  };
  addEventListener('pagehide', () => { clearTimeout(later); source.close(); });
  addEventListener('pageshow', e => { if (e.persisted) open(); });
  open();
}
