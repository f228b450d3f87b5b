// Plain words for what the daemon and the platforms call by short names; the short name stays as a tooltip.

const PLATFORMS = { telegram: 'Telegram', slack: 'Slack', line: 'LINE', x: 'X', cli: 'the command line' };
const KINDS = { private: 'private chat', dm: 'direct message', user: 'private chat', room: 'chat of several' };
const TRUST = { owner: 'the owner asks', allowed: 'somebody known asks', stranger: 'a stranger asks' };
const OCCASIONS = { scheduled: 'on a schedule', heartbeat: 'on its own', child: 'part of another task' };

const CLASSES = {
  read: ['read', 'reads files and settings'], note: ['take notes', 'keeps notes, asks and plans; changes nothing else'],
  reply: ['answer', 'speaks in this conversation'], write: ['write files', 'changes files'], exec: ['run programs', 'runs programs on this machine'],
  network: ['use the web', 'asks other computers'], message: ['write to others', 'speaks in other conversations'],
  agent: ['hand over', 'gives work to other tasks'], public: ['post in public', 'posts where everybody can read it'],
};
const STATES = {
  waiting: ['waiting', 'It waits until the previous task has ended'], running: ['running', 'The model is working'],
  parked: ['on hold', 'It waits for an answer, an approval, another task or a time, and then continues'], done: ['done', 'Ended with an answer'],
  active: ['active', 'It comes due at its times'], paused: ['paused', 'It waits until somebody resumes it'], ended: ['over', 'It has come due for the last time'],
  due: ['due', 'Its task waits'], ran: ['ran', 'It was carried out; beside it you see whether it was delivered'], skipped: ['passed over', 'It was not carried out; the reason is beside it'],
  failed: ['failed', 'Ended without what was asked; the reason is below'], stopped: ['stopped', 'Ended by /stop or /reset'],
};

const DOES = { message: 'says fixed words', reminder: 'reminds', prompt: 'asks the model', post: 'posts', heartbeat: 'looks by itself' };
const DELIVERIES = {
  open: ['being sent', 'The platform has not taken it yet'], delivered: ['delivered', 'The platform has given its receipt'], partly: ['partly delivered', 'Some of it did not arrive'],
  refused: ['refused', 'The platform did not take it'], unclear: ['unclear', 'Nobody can tell whether it arrived'], cancelled: ['taken back', 'It was not sent'], expired: ['too late', 'It was not sent in time'],
};
const POSTS = {
  draft: ['draft', 'It waits for approval'], posting: ['posting', 'The platform has not taken it yet'], posted: ['posted', 'The platform has given its receipt'],
  refused: ['refused', 'The platform did not take all of it'], unclear: ['unclear', 'Nobody can tell whether it was posted'],
  withdrawn: ['taken back', 'It was not posted'], expired: ['too late', 'It was not posted in time'],
};

const DECIDERS = { agent: 'its agent', call: 'named in the request', schedule: 'named by its schedule', place: 'places in the config', route: 'the config’s route' };
// Which model and which agent answered, how hard it thinks, and who decided that.
export const answers = task => {
  const { model_calls, facts } = task, pick = facts?.pick ?? {};
  const by = model_calls?.at(-1)?.by ?? pick.model ?? 'a model';
  const who = (decider, command) => decider === 'command' ? `/${command} here` : DECIDERS[decider ?? 'route'];
  return `answered by ${by} (${who(pick.model_by, 'model')})${pick.effort ? `, thinks ${pick.effort} (${who(pick.effort_by, 'think')})` : ''}${pick.agent ? `, as the agent ${pick.agent} (${who(pick.agent_by, 'agent')})` : ''}`;
};

export const SHAPE = 'selkie calls this the task’s shape: out of all tools those that the place, the person and the occasion allow, and the reasons for the others';
export const APPROVAL = 'selkie asks an owner in private, who approves one call, as shown, once';
const LANE = 'selkie calls this a lane: one conversation, in which one task runs at a time';
const TAINT = 'selkie calls this taint: while the model reads other people’s words (a quote, a file, a web page), it does nothing outward that a person did not type';

export const platform = name => PLATFORMS[name] ?? name;
export const place = where => `${platform(where.platform)} ${KINDS[where.kind] ?? where.kind}${where.guest ? ` of ${where.me.name}` : ''}`;
export const lane = where => ({ text: where.key, title: LANE });
export const state = name => STATES[name] ?? [name, ''];
export const does = name => DOES[name] ?? name;
export const delivery = name => DELIVERIES[name] ?? [name, ''];
export const isOfPost = name => Object.hasOwn(POSTS, name);
export const post = name => POSTS[name] ?? [name, ''];
export const moment = (at, zone) => `${at.slice(0, 10)} ${at.slice(11, at.slice(16, 19) === ':00' ? 16 : 19)} ${zone}`;
export const group = name => CLASSES[name] ?? [name, ''];

const LEVELS = {
  clean: ['', ''],
  derived: ['out of others’ words', 'selkie wrote it while it read other people’s words: found when it is looked up, never brought in unasked'],
  raw: ['others’ words', 'Other people’s words: found by searching, never brought up unasked'],
};
export const level = name => LEVELS[name] ?? [name, ''];

/** What a call would do, as it follows "wants selkie to". */
export const effect = (tool, head) => ({
  bash: head.replace(/^run a command/, 'run this command on your machine'), powershell: head.replace(/^run a command/, 'run this command on your machine'),
  twitter_post: 'post this in public, now', twitter_schedule: 'post this in public, later',
})[tool] ?? head;

const minute = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
/** A moment of some time ago or to come, in the browser’s zone. */
export const shortly = at => { const d = new Date(at); return isNaN(d) ? '' : minute.format(d); };

/** The parts of a setting (`telegram:group · allowed · asked · normal · other people's words`), each with what it means. */
export function setting(line) {
  const [at, trust, occasion, mode, ...others] = line.split(' · ');
  const [where, kind] = at.split(':');
  const parts = [[kind ? place({ platform: where, kind }) : platform(where), `Where: ${at}`], [TRUST[trust] ?? trust, `Who: ${trust}. It decides what a task may do`]];
  if (occasion !== 'asked') parts.push([OCCASIONS[occasion] ?? occasion, `Occasion: ${occasion}`]);
  if (mode !== 'normal') parts.push([mode === 'plan' ? 'planning: changes nothing' : mode, `Mode: ${mode}`]);
  return parts.concat(others.map(words => [words === 'other people\'s words' ? 'reads other people’s words' : words, TAINT]));
}
