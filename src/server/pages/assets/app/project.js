import { html, nothing } from '../lit-html/lit-html.js';
import { repeat } from '../lit-html/directives/repeat.js';
import { subjectInAddress } from './address.js';
import { count, date, isoDay, plural, words } from './format.js';
import { figure } from './figure.js';
import {
  avatar,
  dot,
  dueDate,
  fieldSheet,
  labelChip,
  priorityIcon,
  progress,
  statusIcon,
  time,
} from './elements.js';
import { queryPanel } from './query-panel.js';
import { startLivePage } from './live-page.js';
import { emptyText, notFound } from './states.js';
import { links, plainText } from './text.js';
import { query, subscription } from './project-queries.js';

const key = subjectInAddress();

function queryVariables() {
  const from = isoDay(new Date(Date.now() - 179 * 86_400_000));
  return { key, from, to: isoDay(), timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone };
}

function page({ data, measurements, variables, liveness }) {
  const { project } = data;
  if (!project) {
    const link = html`<a href="/dashboard">Dashboard</a>`;
    return notFound(
      `There is no project ${key.toUpperCase()}`,
      'The address names a project by its key, such as CHECKOUT.',
      link,
    );
  }
  document.title = `${project.name} – workgraph`;
  return html`<div class="with-query-panel">
    <div class="content">
      <header class="page-head">
        <div>
          <p class="eyebrow"><a href="/board/${project.team.code}">${project.team.name}</a> / ${project.key}</p>
          <h1>${dot(project.color)}<bdi>${project.name}</bdi></h1>
        </div>
        ${liveness}
      </header>
      <div class="issue">
        <div class="main">
          <section class="description" aria-label="Description">
            ${plainText(project.description.trim() || project.summary)}
          </section>
          ${burnup(project)} ${issues('Open', project.open)} ${issues('Closed', project.closed)} ${links(project)}
        </div>
        ${fields(project)}
      </div>
    </div>
    ${queryPanel({ query, variables, measurements, subscription })}
  </div>`;
}

function fields(project) {
  const { status, priority, progressPercent, lead, labels, startUtc, targetUtc } = project;
  const entries = [
    ['Status', html`${dot(status.color)} ${status.name}`],
    [
      'Progress',
      html`${progressPercent} % ${progress(progressPercent, 100, `${progressPercent} percent are done`)}`,
    ],
    ['Priority', html`${priorityIcon(priority)} <span aria-hidden="true">${words(priority)}</span>`],
    ['Lead', lead && avatar(lead, { named: true })],
    ['Start', startUtc && date(startUtc)],
    ['Target', targetUtc && dueDate(targetUtc.slice(0, 10), progressPercent === 100)],
    ['Labels', labels.nodes.length && html`<span class="chips">${labels.nodes.map(labelChip)}</span>`],
    ['Updated', time(project.updatedUtc)],
  ];
  return fieldSheet(entries);
}

function burnup({ key, burnup: { days } }) {
  const first = Math.max(
    0,
    days.findIndex(({ scope }) => scope > 0),
  );
  const shown = days.slice(first);
  if (!shown.some(({ scope }) => scope > 0)) return nothing;
  return figure({
    title: 'Burnup',
    about: 'How many issues there were, how many of them had been started or closed, and how many closed.',
    file: `burnup-${key}`,
    chart: {
      label: `Lines: ${shown.at(-1).done} of ${plural(shown.at(-1).scope, 'issue')} are done`,
      kind: 'steps',
      days: shown.map(({ onDate }) => onDate),
      series: [
        { label: 'Scope', color: '--c0', values: shown.map(({ scope }) => scope), dash: [5, 4] },
        {
          label: 'Started or done',
          color: '--c3',
          values: shown.map(({ started, done }) => started + done),
        },
        { label: 'Done', color: '--c1', values: shown.map(({ done }) => done) },
      ],
    },
    table: {
      columns: ['Day', 'Scope', 'Started', 'Done'],
      rows: shown.map((each) => [each.onDate, each.scope, each.started, each.done]),
    },
  });
}

function issues(title, { nodes, totalCount }) {
  const more = totalCount - nodes.length;
  return html`<section aria-label="${title} issues">
    <h2>${title} <span class="count">${count(totalCount)}</span></h2>
    ${
      nodes.length
        ? html`<ul class="rows">${repeat(
            nodes,
            ({ key }) => key,
            ({ key, title, priority, status, dueDate: due, primaryAssignee }) => html`<li>
            ${statusIcon(status)}<a href="/issues/${key}"><span class="key">${key}</span> ${title}</a>
            <span class="visually-hidden">${status.name}</span><span class="small">${dueDate(due, status.isTerminal)}</span>${priorityIcon(priority)}${avatar(primaryAssignee)}
          </li>`,
          )}</ul>`
        : emptyText(`Nothing is ${title.toLowerCase()}.`)
    }
    ${more > 0 ? html`<p class="small">${count(more)} more, not shown</p>` : nothing}
  </section>`;
}

startLivePage({
  query,
  variables: queryVariables,
  view: page,
  liveContent: 'Issues',
  subscriptionOf: ({ project }) => project && { query: subscription, variables: { id: project.id } },
});
