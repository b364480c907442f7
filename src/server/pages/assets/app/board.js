import { html, nothing } from '../lit-html/lit-html.js';
import { repeat } from '../lit-html/directives/repeat.js';
import {
  choicesInAddress,
  onHistoryNavigation,
  subjectInAddress,
  withChoice,
  writeToAddress,
} from './address.js';
import { clearHighlightedTeam, filterInWords, filters, noMatch, refusedFilter } from './board-filters.js';
import { count, plural } from './format.js';
import { runQuery } from './graph.js';
import { focusOn } from './page.js';
import { avatar, dot, dueDate, labelChip, priorities, priorityIcon, statusIcon } from './elements.js';
import { queryPanel } from './query-panel.js';
import { startLivePage } from './live-page.js';
import { emptyText, notFound } from './states.js';
import { countsQuery, query, subscription } from './board-queries.js';

const team = subjectInAddress();

/** The choices of the filter, by their parameter names in the address. */
let choices = filterInAddress();
/** The board of the last read, with the changes since then. */
let current;
let announcement = '';

/** A priority may be in lower case, as it is in the REST API. Other parameters do not filter the board. */
function filterInAddress() {
  const { q, assignee, priority, label, project, canceled } = choicesInAddress();
  const all = { q, assignee, priority: priority?.toUpperCase(), label, project, canceled };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value));
}

function filterConditions({ q, assignee, label, project, priority }) {
  return {
    ...(q && { title: { contains: q } }),
    ...(assignee && { primaryAssigneeUserAccountId: { eq: assignee } }),
    ...(label && { labels: { some: { id: { eq: label } } } }),
    ...(project && { projectId: { eq: project } }),
    ...(priority && { priority: { eq: priority } }),
  };
}

function queryVariables() {
  const all = { team: { code: { eq: team } } };
  return {
    team,
    board: { ...all, ...filterConditions(choices) },
    all: { ...all, status: { isTerminal: { eq: false } } },
  };
}

const { restart, draw } = startLivePage({
  query,
  variables: queryVariables,
  view: page,
  subscriptionOf: ({ team }, { board }) => team && { query: subscription, variables: { board } },
  onAnswer: storeBoard,
  onEvent: ({ issues }) => applyChange(issues),
  remedy: () =>
    Object.keys(filterConditions(choices)).length > 0
      ? html`<button type="button" class="button" @click=${() => removeChoice()}>Clear the filter</button>`
      : undefined,
  explain: (error) => refusedFilter({ error, choices, removeChoice }),
});

function storeBoard({ data, variables }) {
  const { open, closed } = data.team ?? {};
  if (!data.team) return;
  current = {
    variables,
    issues: new Map([...open.nodes, ...closed.nodes].map((issue) => [issue.id, issue])),
    changed: new Set(),
    /** The ids of the issues that events have changed. A page that is read later may still show them as they were before. */
    followed: new Set(),
    /** The ids of issues whose sub-issues have changed since their counts were read. */
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
function applyChange({ kind, issueId, issue }) {
  const before = current.issues.get(issueId);
  current.followed.add(issueId);
  if (kind === 'LEFT' || !issue) current.issues.delete(issueId);
  else current.issues.set(issueId, issue);
  for (const parent of [before?.parentIssueId, issue?.parentIssueId])
    if (current.issues.has(parent)) current.parents.add(parent);
  const status = issue && current.statuses.find(({ id }) => id === issue.statusId);
  if (issue) current.changed.add(issueId);
  if (before && kind === 'LEFT') announcement = `${before.key} has left the board`;
  else if (issue && before?.statusId !== issue.statusId)
    announcement = `${issue.key} ${issue.title}: ${status?.name ?? 'changed'}`;
  else if (issue) announcement = `${issue.key} has changed`;
  readCountsAfter(400);
}

/** Reads the counts, which only the server knows: of the issues in each column, and of the finished sub-issues of a card. */
async function readCounts() {
  const board = current;
  const parents = [...board.parents].slice(0, 50);
  for (const id of parents) board.parents.delete(id);
  const answer = await runQuery(countsQuery, { board: board.variables.board, parents }).catch(
    () => undefined,
  );
  if (board !== current) return;
  // The counts would stay wrong, so the whole page is read again, with retries.
  if (!answer) return restart();
  board.counts = countsOf(answer.data.issueStats);
  if (board.parents.size > 0) readCountsAfter(0);
  for (const { id, subIssuesSummary } of answer.data.parents.nodes) {
    const issue = board.issues.get(id);
    if (issue) board.issues.set(id, { ...issue, subIssuesSummary });
  }
  draw();
}

/** Returns a function that calls `work` once, `ms` after the last of several calls. */
function debounced(work) {
  let timer;
  return (ms) => {
    clearTimeout(timer);
    timer = setTimeout(() => void work(), ms);
  };
}

const restartAfter = debounced(restart);
const readCountsAfter = debounced(readCounts);

/** Reads the next page of open issues. */
async function readMore() {
  const board = current;
  try {
    const { data } = await runQuery(query, { ...board.variables, after: board.next.endCursor, rest: false });
    for (const issue of data.team.open.nodes)
      if (!board.followed.has(issue.id)) board.issues.set(issue.id, issue);
    board.next = data.team.open.pageInfo;
    board.failure = undefined;
    // Another filter may have been chosen in the meantime.
    if (board !== current) return;
    draw();
    focusOn(data.team.open.nodes[0]?.key);
  } catch (error) {
    board.failure = error;
    draw();
  }
}

function choose(name, value) {
  choices = withChoice(choices, name, value);
  writeToAddress(choices, { isNewEntry: name !== 'q' });
  // Canceled issues have been read already: the choice only shows or hides them.
  if (name !== 'canceled') restartAfter(name === 'q' ? 250 : 0);
  draw();
}

/** Clears all choices. */
function reset() {
  choices = {};
  writeToAddress(choices, { isNewEntry: true });
  restartAfter(0);
  draw();
  // The button that had the focus is gone.
  document.querySelector('.filters')?.focus();
}

/** Clears one choice, or all, after the server has refused the filter, and reads the board. */
async function removeChoice(name) {
  choices = name ? withChoice(choices, name, '') : {};
  // Back would only lead to the same refusal.
  writeToAddress(choices, { isNewEntry: false });
  await restart();
  document.querySelector('.filters')?.focus();
}

onHistoryNavigation(() => {
  choices = filterInAddress();
  restartAfter(0);
  draw();
});

function page({ data, measurements, variables, liveness }) {
  if (!data.team) {
    const link = html`<a href="/board">All boards</a>`;
    return notFound(`There is no team ${team}`, 'The address names a team by its code, such as WEB.', link);
  }
  const { statuses, name, code, color } = data.team;
  const { next, failure } = current;
  document.title = `${name} – workgraph`;
  const columns = statuses.filter(({ category }) => category !== 'CANCELED' || choices.canceled);
  const issues = [...current.issues.values()];
  const isEmpty = issues.length === 0;
  return html`<div class="with-query-panel">
    <div class="content">
      <header class="page-head">
        <div>
          <p class="eyebrow"><a href="/board">Boards</a> / ${code}</p>
          <h1>${dot(color)}${name}</h1>
        </div>
        ${liveness}
      </header>
      ${filters({ data, choices, issues, choose, reset, redraw: draw })} ${filterInWords({ data, choices, issues })}
      <p class="visually-hidden" aria-live="polite">${announcement}</p>
      ${isEmpty ? emptyText(Object.keys(filterConditions(choices)).length ? noMatch({ data, choices, choose }) : 'This team has no issues yet.') : nothing}
      <div class="columns" @keydown=${moveFocus} @focusin=${scrollToCard}>${columns.map(column)}</div>
      ${next.hasNextPage ? html`<p><button type="button" class="button" @click=${readMore}>Show more open issues</button></p>` : nothing}
      ${failure ? html`<p role="alert">They could not be read: ${failure.message}</p>` : nothing}
    </div>
    ${queryPanel({ query, variables, measurements, subscription })}
  </div>`;
}

function column(status) {
  const issues = [...current.issues.values()]
    .filter(({ statusId }) => statusId === status.id)
    .sort(status.isTerminal ? byUpdate : byPriority);
  const total = Math.max(current.counts.get(status.id) ?? 0, issues.length);
  return html`<section class="column" aria-label="${status.name}, ${plural(total, 'issue')}">
    <h2>${statusIcon(status)}${status.name} <span class="count">${count(total)}</span></h2>
    <ul>${repeat(
      issues,
      ({ id }) => id,
      (issue) => item(issue, status),
    )}</ul>
    ${total > issues.length ? html`<p class="small">${count(total - issues.length)} more, not shown</p>` : nothing}
  </section>`;
}

function byPriority(one, other) {
  return (
    priorities.indexOf(one.priority) - priorities.indexOf(other.priority) || (one.id < other.id ? -1 : 1)
  );
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
    <a class="card" href="/issues/${key}" data-key=${key} data-fresh=${current.changed.has(id)} @animationend=${() => current.changed.delete(id)}>
      <span class="top">${priorityIcon(priority)}<span class="key">${key}</span>${avatar(primaryAssignee)}</span>
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

/** Moves the focus with the arrow keys: up and down in a column, left and right to the next column that has cards. */
function moveFocus(event) {
  const step = arrows[event.key];
  const from = event.target.closest('.card');
  if (!step || !from) return;
  event.preventDefault();
  const columns = [...event.currentTarget.querySelectorAll('.column')]
    .map((each) => [...each.querySelectorAll('.card')])
    .filter((cards) => cards.length > 0);
  const [across, down] = step;
  const columnIndex = columns.findIndex((cards) => cards.includes(from));
  const cards = columns[columnIndex + across] ?? [];
  const row = columns[columnIndex].indexOf(from) + down;
  cards[across ? Math.min(row, cards.length - 1) : row]?.focus();
}

/** Browsers do not scroll to a card that is partly visible, but keyboard users need to see all of the focused card. */
function scrollToCard({ target }) {
  if (target.matches(':focus-visible')) target.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}

addEventListener('pageshow', ({ persisted }) => {
  if (!persisted) return;
  clearHighlightedTeam();
  draw();
});

document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.target.closest('input, select, textarea'))
    return;
  event.preventDefault();
  document.querySelector('input[type="search"]')?.focus();
});
