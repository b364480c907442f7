import { html, nothing } from '../lit-html/lit-html.js';
import { repeat } from '../lit-html/directives/repeat.js';
import { changedChoices, choicesInAddress, keepInAddress, onReturn, subjectInAddress } from './address.js';
import { filterInWords, filters, forgetMarked, noMatch, wrongFilter } from './board-filters.js';
import { count, plural } from './format.js';
import { ask } from './graph.js';
import { focusOn } from './page.js';
import { avatar, dot, dueDate, labelChip, prioritySign, ranks, statusSign } from './parts.js';
import { queryPanel } from './query-panel.js';
import { keepReading } from './reading.js';
import { empty, missing } from './states.js';
import { countsQuery, liveQuery, query } from './board-queries.js';

const team = subjectInAddress();

/** The conditions in the address, under the names that they have there. */
let chosen = conditionsInAddress();
/** The issues of the last read, with the changes since then. */
let shown;
let said = '';

/** A priority may be in lower case, as it is in other APIs. What else is in the address is no filter. */
function conditionsInAddress() {
  const { q, assignee, priority, label, project, canceled } = choicesInAddress();
  const all = { q, assignee, priority: priority?.toUpperCase(), label, project, canceled };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value));
}

function conditions({ q, assignee, label, project, priority }) {
  return {
    ...(q && { title: { contains: q } }),
    ...(assignee && { primaryAssigneeUserAccountId: { eq: assignee } }),
    ...(label && { labels: { some: { id: { eq: label } } } }),
    ...(project && { projectId: { eq: project } }),
    ...(priority && { priority: { eq: priority } }),
  };
}

function variablesOf() {
  const all = { team: { code: { eq: team } } };
  return {
    team,
    board: { ...all, ...conditions(chosen) },
    all: { ...all, status: { isTerminal: { eq: false } } },
  };
}

const { begin, draw } = keepReading({
  query,
  variables: variablesOf,
  view: page,
  live: ({ team }, { board }) => team && { query: liveQuery, variables: { board } },
  onReading: remember,
  onEvent: ({ issues }) => take(issues),
  remedy: () =>
    Object.keys(conditions(chosen)).length > 0
      ? html`<button type="button" class="button" @click=${() => correct()}>Clear the filter</button>`
      : undefined,
  explain: (error) => wrongFilter({ error, chosen, correct }),
});

function remember({ data, variables }) {
  const { open, closed } = data.team ?? {};
  if (!data.team) return;
  shown = {
    variables,
    issues: new Map([...open.nodes, ...closed.nodes].map((issue) => [issue.id, issue])),
    fresh: new Set(),
    /** The issues whose sub-issues have changed since. */
    parents: new Set(),
    counts: countsOf(data.byStatus),
    next: open.pageInfo,
    statuses: data.team.statuses,
  };
}

function countsOf(groups) {
  return new Map(groups.map(({ status, count }) => [status.id, count]));
}

/** Shows a change of an issue. */
function take({ kind, issueId, issue }) {
  const before = shown.issues.get(issueId);
  if (kind === 'LEFT' || !issue) shown.issues.delete(issueId);
  else shown.issues.set(issueId, issue);
  for (const parent of [before?.parentIssueId, issue?.parentIssueId])
    if (shown.issues.has(parent)) shown.parents.add(parent);
  const status = issue && shown.statuses.find(({ id }) => id === issue.statusId);
  if (issue) shown.fresh.add(issueId);
  if (before && kind === 'LEFT') said = `${before.key} has left the board`;
  else if (issue && before?.statusId !== issue.statusId)
    said = `${issue.key} ${issue.title}: ${status?.name ?? 'changed'}`;
  else if (issue) said = `${issue.key} has changed`;
  readCountsAfter(400);
}

/** Reads what only the server knows: the numbers of the columns, and how many sub-issues of a card are done. */
async function readCounts() {
  const board = shown;
  const parents = [...board.parents].slice(0, 50);
  for (const id of parents) board.parents.delete(id);
  const answer = await ask(countsQuery, { board: board.variables.board, parents }).catch(() => undefined);
  if (board !== shown) return;
  // The page would continue with old numbers, so everything is read again, as often as it takes.
  if (!answer) return begin();
  board.counts = countsOf(answer.data.issueStats);
  if (board.parents.size > 0) readCountsAfter(0);
  for (const { id, subIssuesSummary } of answer.data.parents.nodes) {
    const issue = board.issues.get(id);
    if (issue) board.issues.set(id, { ...issue, subIssuesSummary });
  }
  draw();
}

/** Returns a function that does the work once, `ms` after the last of several calls. */
function debounced(work) {
  let timer;
  return (ms) => {
    clearTimeout(timer);
    timer = setTimeout(() => void work(), ms);
  };
}

const beginAfter = debounced(begin);
const readCountsAfter = debounced(readCounts);

/** Reads the open issues that did not fit. */
async function more() {
  const board = shown;
  try {
    const { data } = await ask(query, { ...board.variables, after: board.next.endCursor, rest: false });
    for (const issue of data.team.open.nodes) board.issues.set(issue.id, issue);
    board.next = data.team.open.pageInfo;
    board.failure = undefined;
    // Another filter may have been chosen in the meantime.
    if (board !== shown) return;
    draw();
    focusOn(data.team.open.nodes[0]?.key);
  } catch (error) {
    board.failure = error;
    draw();
  }
}

function choose(name, value) {
  chosen = changedChoices(chosen, name, value);
  keepInAddress(chosen, { isStep: name !== 'q' });
  // The issues of all statuses have been read already.
  if (name !== 'canceled') beginAfter(name === 'q' ? 250 : 0);
  draw();
}

/** Forgets all choices. */
function reset() {
  chosen = {};
  keepInAddress(chosen, { isStep: true });
  beginAfter(0);
  draw();
  // The button that had the focus is gone.
  document.querySelector('.filters')?.focus();
}

/** Reads again without one choice, or without any, on a page that shows no board because of them. */
async function correct(name) {
  chosen = name ? changedChoices(chosen, name, '') : {};
  // Back would only lead to the same problem.
  keepInAddress(chosen, { isStep: false });
  await begin();
  document.querySelector('.filters')?.focus();
}

onReturn(() => {
  chosen = conditionsInAddress();
  beginAfter(0);
  draw();
});

function page({ data, figures, variables, sign }) {
  if (!data.team) {
    const link = html`<a href="/board">All boards</a>`;
    return missing(`There is no team ${team}`, 'The address names a team by its code, such as WEB.', link);
  }
  const { statuses, name, code, color } = data.team;
  const { next, failure } = shown;
  document.title = `${name} – workgraph`;
  const columns = statuses.filter(({ category }) => category !== 'CANCELED' || chosen.canceled);
  const issues = [...shown.issues.values()];
  const isEmpty = issues.length === 0;
  return html`<div class="with-query-panel">
    <div class="content">
      <header class="page-head">
        <div>
          <p class="eyebrow"><a href="/board">Boards</a> / ${code}</p>
          <h1>${dot(color)}${name}</h1>
        </div>
        ${sign}
      </header>
      ${filters({ data, chosen, issues, choose, reset, redraw: draw })} ${filterInWords({ data, chosen, issues })}
      <p class="visually-hidden" aria-live="polite">${said}</p>
      ${isEmpty ? empty(Object.keys(conditions(chosen)).length ? noMatch({ data, chosen, choose }) : 'This team has no issues yet.') : nothing}
      <div class="columns" @keydown=${move} @focusin=${reveal}>${columns.map(column)}</div>
      ${next.hasNextPage ? html`<p><button type="button" class="button" @click=${more}>Show more open issues</button></p>` : nothing}
      ${failure ? html`<p role="alert">They could not be read: ${failure.message}</p>` : nothing}
    </div>
    ${queryPanel({ query, variables, figures, live: liveQuery })}
  </div>`;
}

function column(status) {
  const issues = [...shown.issues.values()]
    .filter(({ statusId }) => statusId === status.id)
    .sort(status.isTerminal ? byUpdate : byPriority);
  const total = Math.max(shown.counts.get(status.id) ?? 0, issues.length);
  return html`<section class="column" aria-label="${status.name}, ${plural(total, 'issue')}">
    <h2>${statusSign(status)}${status.name} <span class="count">${count(total)}</span></h2>
    <ul>${repeat(
      issues,
      ({ id }) => id,
      (issue) => item(issue, status),
    )}</ul>
    ${total > issues.length ? html`<p class="small">${count(total - issues.length)} more, not shown</p>` : nothing}
  </section>`;
}

function byPriority(one, other) {
  return ranks.indexOf(one.priority) - ranks.indexOf(other.priority) || (one.id < other.id ? -1 : 1);
}

function byUpdate(one, other) {
  return one.updatedUtc < other.updatedUtc ? 1 : -1;
}

function item(issue, status) {
  const {
    id,
    key,
    title,
    priority,
    dueDate: due,
    estimateValue,
    commentCount,
    labels,
    primaryAssignee,
    subIssuesSummary,
  } = issue;
  return html`<li>
    <a class="card" href="/issues/${key}" data-key=${key} data-fresh=${shown.fresh.has(id)} @animationend=${() => shown.fresh.delete(id)}>
      <span class="top">${prioritySign(priority)}<span class="key">${key}</span>${avatar(primaryAssignee)}</span>
      <span class="name">${title}</span>
      ${labels.length ? html`<span class="chips">${labels.map(labelChip)}</span>` : nothing}
      <span class="facts">
        ${dueDate(due, status.isTerminal)}
        ${subIssuesSummary.total ? html`<span>${subIssuesSummary.completed}/${subIssuesSummary.total}<span class="visually-hidden"> sub-issues done</span></span>` : nothing}
        ${commentCount ? html`<span class="comments">${commentCount}<span class="visually-hidden"> comments</span></span>` : nothing}
        ${estimateValue == null ? nothing : html`<span class="estimate" title="Estimate">${estimateValue}<span class="visually-hidden"> points</span></span>`}
      </span>
    </a>
  </li>`;
}

const arrows = { ArrowDown: [0, 1], ArrowUp: [0, -1], ArrowRight: [1, 0], ArrowLeft: [-1, 0] };

/** Moves between cards with the arrow keys: up and down in a column, left and right to the next one with cards. */
function move(event) {
  const step = arrows[event.key];
  const from = event.target.closest('.card');
  if (!step || !from) return;
  event.preventDefault();
  const columns = [...event.currentTarget.querySelectorAll('.column')]
    .map((each) => [...each.querySelectorAll('.card')])
    .filter((cards) => cards.length > 0);
  const [across, down] = step;
  const place = columns.findIndex((cards) => cards.includes(from));
  const cards = columns[place + across] ?? [];
  const row = columns[place].indexOf(from) + down;
  cards[across ? Math.min(row, cards.length - 1) : row]?.focus();
}

/** Browsers do not scroll to a card that is partly in view, but a user of the keyboard needs to see all of the card in focus. */
function reveal({ target }) {
  if (target.matches(':focus-visible')) target.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}

addEventListener('pageshow', ({ persisted }) => {
  if (!persisted) return;
  forgetMarked();
  draw();
});

document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.target.closest('input, select, textarea'))
    return;
  event.preventDefault();
  document.querySelector('input[type="search"]')?.focus();
});
