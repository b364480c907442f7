const relativeFormat = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const numberFormat = new Intl.NumberFormat('en');
const dayFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const dayOfYearFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
const momentFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

const units = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** `1,234` */
export function count(number) {
  return numberFormat.format(number);
}

/** `1 issue`, `3 issues` */
export function plural(number, noun, nouns = `${noun}s`) {
  return `${count(number)} ${number === 1 ? noun : nouns}`;
}

/** `3 days ago` */
export function ago(utc) {
  const seconds = (Date.parse(utc) - Date.now()) / 1_000;
  const [name, length] = units.find(([, length]) => Math.abs(seconds) >= length) ?? [];
  return name ? relativeFormat.format(Math.round(seconds / length), name) : 'just now';
}

/** `24 Nov 2026, 10:05` */
export function exactly(utc) {
  return momentFormat.format(new Date(utc));
}

/** `24 Nov`; with the year, if it is not the current year. */
export function date(iso) {
  const at = new Date(`${iso.slice(0, 10)}T12:00:00`);
  return (at.getFullYear() === new Date().getFullYear() ? dayFormat : dayOfYearFormat).format(at);
}

/** `2.5 days`, `5 hours`; undefined for no value. */
export function duration(seconds) {
  if (seconds == null) return undefined;
  const [name, length] =
    seconds >= 86_400 ? ['day', 86_400] : seconds >= 3_600 ? ['hour', 3_600] : ['minute', 60];
  const value = Math.round((seconds / length) * 10) / 10;
  return plural(value >= 10 ? Math.round(value) : value, name);
}

/** `2026-11-24`, in the time zone of the reader. */
export function isoDay(at = new Date()) {
  const two = (number) => String(number).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** `URGENT` as `Urgent`, `AWAITING_INPUT` as `Awaiting input`. */
export function words(code) {
  const text = code.toLowerCase().replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The initials of a name, at most two. */
export function initials(name) {
  const parts = name.trim().split(/\s+/);
  const chosen = parts.length > 1 ? [parts[0], parts.at(-1)] : parts;
  return chosen.map((part) => [...part][0]?.toUpperCase() ?? '').join('');
}
