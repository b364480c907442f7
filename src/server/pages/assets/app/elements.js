import { html, nothing, svg } from '../lit-html/lit-html.js';
import { live } from '../lit-html/directives/live.js';
import { ago, date, exactly, initials, isoDay, words } from './format.js';

// Small elements, such as icons and avatars, that look the same on every page.

const validColor = (color) => (/^#[0-9a-f]{6}$/i.test(color ?? '') ? color : 'var(--line-strong)');

/** A dot in the color of a team, project or label. */
export function dot(color) {
  return html`<span class="dot" .style=${`background-color: ${validColor(color)}`}></span>`;
}

const statusShapes = {
  BACKLOG: svg`<circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" stroke-width="2" stroke-dasharray="2.2 2.5" />`,
  OPEN: svg`<circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" stroke-width="2" />`,
  ACTIVE: svg`<circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" stroke-width="2" /><path d="M8 4.5a3.5 3.5 0 0 1 0 7z" fill="currentColor" />`,
  COMPLETED: svg`<circle cx="8" cy="8" r="7" fill="currentColor" /><path d="m5 8.2 2.1 2.1L11 6" fill="none" stroke="var(--sheet)" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" />`,
  CANCELED: svg`<circle cx="8" cy="8" r="7" fill="currentColor" /><path d="m5.8 5.8 4.4 4.4m0-4.4-4.4 4.4" fill="none" stroke="var(--sheet)" stroke-width="1.8" stroke-linecap="round" />`,
};

/** The icon of a status: its shape is that of the category. */
export function statusIcon({ category, color }) {
  return html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true" .style=${`color: ${validColor(color)}`}>${statusShapes[category]}</svg>`;
}

/** The priorities, from the most urgent. */
export const priorities = ['URGENT', 'HIGH', 'MEDIUM', 'LOW', 'NONE'];

const barCounts = { NONE: 0, LOW: 1, MEDIUM: 2, HIGH: 3 };

/** The icon of a priority, with its name for screen readers. */
export function priorityIcon(priority) {
  const shape =
    priority === 'URGENT'
      ? svg`<rect x="1" y="1" width="14" height="14" rx="4" fill="var(--urgent)" /><path d="M8 4v5m0 2.6v.4" stroke="var(--sheet)" stroke-width="2" stroke-linecap="round" />`
      : [0, 1, 2].map(
          (index) =>
            svg`<rect x=${1.5 + index * 5} y=${9 - index * 3} width="3" height=${5 + index * 3} rx="1" fill="currentColor" opacity=${index < barCounts[priority] ? 1 : 0.25} />`,
        );
  const name = priority === 'NONE' ? 'No priority' : `${words(priority)} priority`;
  return html`<span class="priority" title=${name}><svg class="icon" viewBox="0 0 16 16" aria-hidden="true">${shape}</svg><span class="visually-hidden">${name}</span></span>`;
}

/** The initials of a member. Pictures of members are not shown, because they would be loaded from other servers. */
export function avatar(member, { named = false } = {}) {
  if (!member) return nothing;
  const { displayName } = member;
  const hue = [...displayName].reduce((sum, character) => sum + character.codePointAt(0), 0) % 6;
  const disc = html`<span class="avatar" data-hue=${hue} aria-hidden="true" title=${displayName}>${initials(displayName)}</span>`;
  return named
    ? html`<span class="member">${disc}<span>${displayName}</span></span>`
    : html`${disc}<span class="visually-hidden">${displayName}</span>`;
}

export function labelChip({ name, color }) {
  return html`<span class="chip">${dot(color)}${name}</span>`;
}

export function dueDate(day, isClosed) {
  if (!day) return nothing;
  const isLate = !isClosed && day < isoDay();
  return html`<span class="due" data-late=${isLate}><span class="visually-hidden">due </span>${date(day)}${isLate ? html`<span class="visually-hidden">, which has passed</span>` : nothing}</span>`;
}

/** A time relative to now, with the exact time as a tooltip. */
export function time(utc) {
  return html`<time datetime=${utc} title=${exactly(utc)}>${ago(utc)}</time>`;
}

export function progress(done, total, label) {
  return html`<progress max=${Math.max(total, 1)} .value=${done} aria-label=${label}></progress>`;
}

/**
 * A drop-down list. The user may have chosen another option since the page was drawn, so `live` compares with the element and
 * not with the previous value.
 */
export function choice({ name, value, options, isChosen = Boolean(value), choose }) {
  return html`<label class="field"><span class="visually-hidden">${name}</span>
    <select data-chosen=${isChosen} @change=${({ target }) => choose(target.value)}>
      ${options.map(([each, text]) => html`<option value=${each} .selected=${live(each === value)}>${text}</option>`)}
    </select>
  </label>`;
}

/** The fields of an object, as pairs of a name and a value, beside its content. Pairs without a value are omitted. */
export function fieldSheet(entries) {
  return html`<aside class="fields sheet" aria-label="Fields">
    <dl>${entries.filter(([, value]) => value).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
  </aside>`;
}
