import { html, nothing } from '../lit-html/lit-html.js';
import { repeat } from '../lit-html/directives/repeat.js';
import { changedChoices, choicesInAddress } from './address.js';
import { count, plural, words } from './format.js';
import { ask } from './graph.js';
import { follow } from './live.js';
import { show } from './page.js';
import { avatar, dot, dueDate, labelChip, prioritySign, statusSign } from './parts.js';
import { queryPanel } from './query-panel.js';
import { empty, liveness, missing, problem } from './states.js';
import { countsQuery, liveQuery, query } from './board-queries.js';

const team = decodeURIComponent(location.pathname.split('/')[2]);
const ranks = ['URGENT', 'HIGH', 'MEDIUM', 'LOW', 'NONE'];

/** The conditions in the address, under the names that they have there. */
let chosen = choicesInAddress();
let shown;
let state = 'connecting';
let stop = () => undefined;
let said = '';

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

/** Reads the board, and then follows it from the moment that it was read. */
async function read() {
  stop();
  const variables = variablesOf();
  try {
    const { data, figures } = await ask(query, variables);
    // Another filter may have been chosen in the meantime.
    if (JSON.stringify(variables) !== JSON.stringify(variablesOf())) return;
    if (!data.team) {
      const link = html`<a href="/board">All boards</a>`;
      return show(
        missing(`There is no team ${team}`, 'The address names a team by its code, such as WEB.', link),
      );
    }
    document.title = `${data.team.name} – workgraph`;
    shown = {
      data,
      figures,
      variables,
      issues: new Map(),
      fresh: new Set(),
      counts: countsOf(data.byStatus),
      next: data.team.open.pageInfo,
    };
    for (const issue of [...data.team.open.nodes, ...data.team.closed.nodes])
      shown.issues.set(issue.id, issue);
    // Another reading with the same filter may have begun to follow meanwhile.
    stop();
    stop = follow({
      query: liveQuery,
      variables: { board: variables.board },
      after: data.workspace.changeCursor,
      onEvent: ({ issues }) => take(issues),
      onReset: read,
      onState: (now) => {
        state = now;
        draw();
      },
    });
    draw();
  } catch (error) {
    show(problem(error, read));
  }
}

function countsOf(groups) {
  return new Map(groups.map(({ status, count }) => [status.id, count]));
}

/** Shows what has happened to an issue. */
function take({ kind, issueId, issue }) {
  const before = shown.issues.get(issueId);
  if (kind === 'LEFT' || !issue) shown.issues.delete(issueId);
  else shown.issues.set(issueId, issue);
  const status = issue && shown.data.team.statuses.find(({ id }) => id === issue.statusId);
  if (issue) shown.fresh.add(issueId);
  if (before && kind === 'LEFT') said = `${before.key} has left the board`;
  else if (issue && before?.statusId !== issue.statusId)
    said = `${issue.key} ${issue.title}: ${status?.name ?? 'changed'}`;
  else if (issue) said = `${issue.key} has changed`;
  draw();
  readCountsAfter(400);
}

/** Reads the numbers of the columns again: only the server knows them for issues that are not on the page. */
async function readCounts() {
  const { board } = shown.variables;
  const answer = await ask(countsQuery, { board }).catch(() => undefined);
  if (!answer || board !== shown.variables.board) return;
  shown.counts = countsOf(answer.data.issueStats);
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

const readAfter = debounced(read);
const readCountsAfter = debounced(readCounts);

/** Reads the open issues that did not fit. */
async function more() {
  const board = shown;
  try {
    const { data } = await ask(query, { ...board.variables, after: board.next.endCursor, rest: false });
    // Another filter may have been chosen in the meantime.
    if (board !== shown) return;
    for (const issue of data.team.open.nodes) board.issues.set(issue.id, issue);
    board.next = data.team.open.pageInfo;
    board.failure = undefined;
  } catch (error) {
    board.failure = error;
  }
  if (board === shown) draw();
}

function choose(name, value) {
  chosen = changedChoices(chosen, name, value);
  readAfter(name === 'q' ? 250 : 0);
  draw();
}

function draw() {
  show(page());
}

function page() {
  const { data, figures, variables, next, failure } = shown;
  const { statuses, name, code, color } = data.team;
  const columns = statuses.filter(({ category }) => category !== 'CANCELED' || chosen.canceled);
  const isEmpty = shown.issues.size === 0;
  return html`<div class="beside">
    <div class="content">
      <header class="page-head">
        <div>
          <p class="eyebrow"><a href="/board">Boards</a> / ${code}</p>
          <h1>${dot(color)}${name}</h1>
        </div>
        ${liveness(state)}
      </header>
      ${filters()}
      <p class="unseen" aria-live="polite">${said}</p>
      ${isEmpty ? empty(Object.keys(conditions(chosen)).length ? 'No issue matches this filter.' : 'This team has no issues yet.') : nothing}
      <div class="columns" @keydown=${move}>${columns.map(column)}</div>
      ${next.hasNextPage ? html`<p><button type="button" class="button" @click=${more}>Show more open issues</button></p>` : nothing}
      ${failure ? html`<p role="alert">They could not be read: ${failure.message}</p>` : nothing}
    </div>
    ${queryPanel({ query, variables, figures, live: liveQuery })}
  </div>`;
}

function filters() {
  const { byAssignee, byLabel, byProject, teams } = shown.data;
  const options = {
    assignee: byAssignee
      .filter((group) => group.assignee)
      .map((group) => [group.assignee.userAccountId, group.assignee.displayName, group.count]),
    priority: ranks.map((rank) => [rank, words(rank)]),
    label: byLabel
      .filter((group) => group.label)
      .map((group) => [group.label.id, group.label.name, group.count]),
    project: byProject
      .filter((group) => group.project)
      .map((group) => [group.project.id, group.project.name, group.count]),
  };
  return html`<form class="filters" role="search" aria-label="Filter of the board" @submit=${(event) => event.preventDefault()}>
    <label class="field"><span class="unseen">Team</span>
      <select @change=${({ target }) => location.assign(`/board/${target.value}${location.search}`)}>
        ${teams.nodes.map((each) => html`<option value=${each.code} ?selected=${each.code === shown.data.team.code}>${each.name}</option>`)}
      </select>
    </label>
    <label class="field"><span class="unseen">Title</span>
      <input type="search" placeholder="Title contains …" .value=${chosen.q ?? ''} @input=${({ target }) => choose('q', target.value)} />
    </label>
    ${Object.entries(options).map(
      ([name, entries]) => html`<label class="field"><span class="unseen">${words(name)}</span>
        <select data-chosen=${Boolean(chosen[name])} @change=${({ target }) => choose(name, target.value)}>
          <option value="">Any ${name}</option>
          ${entries.map(([value, text, number]) => html`<option value=${value} ?selected=${chosen[name] === value}>${text}${number ? ` (${number})` : ''}</option>`)}
        </select>
      </label>`,
    )}
    <label class="check"><input type="checkbox" .checked=${Boolean(chosen.canceled)} @change=${({ target }) => choose('canceled', target.checked && '1')} /> Canceled</label>
    ${Object.keys(chosen).length ? html`<button type="button" class="plain" @click=${reset}>Clear</button>` : nothing}
  </form>`;
}

function reset() {
  chosen = {};
  history.replaceState(null, '', location.pathname);
  void read();
}

function column(status) {
  const issues = [...shown.issues.values()]
    .filter(({ statusId }) => statusId === status.id)
    .sort(status.isTerminal ? byUpdate : byPriority);
  const total = Math.max(shown.counts.get(status.id) ?? 0, issues.length);
  return html`<section class="column" aria-label="${status.name}, ${plural(total, 'issue')}">
    <h2>${statusSign(status)}${status.name} <span class="number">${count(total)}</span></h2>
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
        ${subIssuesSummary.total ? html`<span>${subIssuesSummary.completed}/${subIssuesSummary.total}<span class="unseen"> sub-issues done</span></span>` : nothing}
        ${commentCount ? html`<span class="comments">${commentCount}<span class="unseen"> comments</span></span>` : nothing}
        ${estimateValue == null ? nothing : html`<span class="estimate" title="Estimate">${estimateValue}<span class="unseen"> points</span></span>`}
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

document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.target.closest('input, select, textarea'))
    return;
  event.preventDefault();
  document.querySelector('input[type="search"]')?.focus();
});

await read();
