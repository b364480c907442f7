import { html, nothing } from '../lit-html/lit-html.js';
import { repeat } from '../lit-html/directives/repeat.js';
import { subjectInAddress } from './address.js';
import { agentThread } from './thread.js';
import { attachmentList } from './attachments.js';
import { date, duration, plural, words } from './format.js';
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
import { links, plainText, richText, withoutBidiControls } from './text.js';
import { query, subscription } from './issue-queries.js';

const key = subjectInAddress();

function page({ data, measurements, variables, liveness }) {
  const { issue } = data;
  if (!issue) {
    const boards = html`<a href="/board">All boards</a>`;
    return notFound(
      `There is no issue ${key.toUpperCase()}`,
      'It may have been deleted, or be in a workspace that this token cannot access.',
      boards,
    );
  }
  document.title = `${issue.key} ${issue.title} – workgraph`;
  return html`<div class="with-query-panel">
    <div class="content">
      <header class="page-head">
        <div>
          <p class="eyebrow">
            <a href="/board/${issue.team.code}"><bdi>${issue.team.name}</bdi></a> /
            ${issue.parent ? html`<a href="/issues/${issue.parent.key}">${issue.parent.key} <bdi>${issue.parent.title}</bdi></a> / ` : nothing}${issue.key}
          </p>
          <h1><bdi>${issue.title}</bdi></h1>
        </div>
        ${liveness}
      </header>
      <div class="issue">
        <div class="main">
          <section class="description" aria-label="Description">
            ${issue.description.trim() ? plainText(issue.description) : emptyText('There is no description.')}
          </section>
          ${subIssues(issue)} ${links(issue)} ${attachments(issue)}
          ${issue.agentThread ? agentThread(issue.agentThread) : nothing} ${comments(issue)} ${activity(issue)}
        </div>
        ${fields(issue)}
      </div>
    </div>
    ${queryPanel({ query, variables, measurements, subscription })}
  </div>`;
}

function fields(issue) {
  const { status, priority, project, delivery, estimateValue, dueDate: due, labels, assignees } = issue;
  const entries = [
    ['Status', html`${statusIcon(status)} ${status.name}`],
    ['Priority', html`${priorityIcon(priority)} <span aria-hidden="true">${words(priority)}</span>`],
    [
      'Assignees',
      assignees.length
        ? assignees.map((member) => html`<div>${avatar(member, { named: true })}</div>`)
        : 'Nobody',
    ],
    ['Labels', labels.length && html`<span class="chips">${labels.map(labelChip)}</span>`],
    [
      'Project',
      project && html`${dot(project.color)} <a href="/projects/${project.key}">${project.name}</a>`,
    ],
    ['Delivery', delivery && html`${delivery.name}, ${date(delivery.startsOn)} to ${date(delivery.endsOn)}`],
    ['Due', due && dueDate(due, status.isTerminal)],
    ['Estimate', estimateValue == null ? undefined : plural(estimateValue, 'point')],
    ['Cycle time', duration(issue.cycleTimeSeconds)],
    ...issue.roleAssignments.map(({ role, displayName }) => [
      role.charAt(0).toUpperCase() + role.slice(1),
      avatar({ displayName }, { named: true }),
    ]),
    ['Reporter', avatar(issue.reporter, { named: true })],
    ['Created', time(issue.createdUtc)],
    ['Updated', time(issue.updatedUtc)],
    ['Closed', issue.closedUtc && time(issue.closedUtc)],
  ];
  return fieldSheet(entries);
}

function subIssues({ subIssues: { nodes }, subIssuesSummary: { total, completed } }) {
  if (!nodes.length) return nothing;
  const done = `${completed} of ${total} done`;
  return html`<section aria-labelledby="sub-issues">
    <h2 id="sub-issues">Sub-issues <span class="count">${done}</span></h2>
    ${progress(completed, total, `Sub-issues: ${done}`)}
    <ul class="rows">${repeat(
      nodes,
      ({ key }) => key,
      ({ key, title, priority, status, primaryAssignee }) => html`<li>
        ${statusIcon(status)}<a href="/issues/${key}"><span class="key">${key}</span> ${title}</a>
        <span class="visually-hidden">${status.name}</span>${priorityIcon(priority)}${avatar(primaryAssignee)}
      </li>`,
    )}</ul>
  </section>`;
}

function attachments({ attachments: { nodes } }) {
  if (!nodes.length) return nothing;
  return html`<section aria-labelledby="attachments"><h2 id="attachments">Attachments</h2>${attachmentList(nodes)}</section>`;
}

function comments({ comments: { nodes, totalCount } }) {
  const ids = new Set(nodes.map(({ id }) => id));
  const roots = nodes.filter(({ parentCommentId }) => !ids.has(parentCommentId));
  const older = totalCount - nodes.length;
  return html`<section aria-labelledby="comments">
    <h2 id="comments">Comments <span class="count">${totalCount}</span></h2>
    ${older > 0 ? html`<p class="small">${plural(older, 'older comment')} not shown</p>` : nothing}
    ${roots.length ? html`<ol class="comments-list">${replies(roots, nodes)}</ol>` : emptyText('Nobody has commented yet.')}
  </section>`;
}

function comment({ id, author, createdUtc, isEdited, body }, all) {
  const answers = all.filter(({ parentCommentId }) => parentCommentId === id);
  return html`<li>
    <p class="byline">${avatar(author, { named: true })} ${time(createdUtc)}${isEdited ? html` <span class="small">edited</span>` : nothing}</p>
    <div class="body">${richText(body)}</div>
    ${answers.length ? html`<ol class="comments-list">${replies(answers, all)}</ol>` : nothing}
  </li>`;
}

function replies(comments, all) {
  return repeat(
    comments,
    ({ id }) => id,
    (each) => comment(each, all),
  );
}

function activity({ activity: { nodes, totalCount } }) {
  const older = totalCount - nodes.length;
  return html`<section aria-labelledby="activity">
    <h2 id="activity">Activity</h2>
    ${totalCount ? nothing : emptyText('No activity is recorded.')}
    <ol class="activity">${nodes.toReversed().map(({ text, occurredUtc }) => html`<li><bdi>${withoutBidiControls(text)}</bdi> ${time(occurredUtc)}</li>`)}</ol>
    ${older > 0 ? html`<p class="small">${plural(older, 'older entry', 'older entries')} not shown</p>` : nothing}
  </section>`;
}

startLivePage({
  query,
  variables: () => ({ key }),
  view: page,
  subscriptionOf: ({ issue }) =>
    issue && {
      query: subscription,
      variables: { id: issue.id, ids: [issue.id, ...(issue.parent ? [issue.parent.id] : [])] },
    },
});
