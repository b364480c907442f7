import { html } from '../lit-html/lit-html.js';
import { repeat } from '../lit-html/directives/repeat.js';
import { ago, count } from './format.js';
import { figure } from './figure.js';
import { avatar, priorityIcon } from './elements.js';
import { emptyText } from './states.js';

/** The open issues of each member. The query returns at most `maxGroups` groups, each of a member and a category. */
export function workload({ workload: groups }, { maxGroups }, file) {
  const byMember = Map.groupBy(groups, ({ assignee }) => assignee?.userAccountId);
  const members = [...byMember.values()].map((memberGroups) => {
    const [{ assignee }] = memberGroups;
    const countIn = (category) =>
      memberGroups
        .filter(({ statusCategory }) => statusCategory === category)
        .reduce((total, group) => total + group.count, 0);
    return {
      name: assignee?.displayName ?? 'Nobody',
      assignee,
      active: countIn('ACTIVE'),
      open: countIn('OPEN'),
    };
  });
  const ranked = members
    .toSorted((one, other) => other.active - one.active || other.open - one.open)
    .slice(0, 10);
  const maxTotal = Math.max(1, ...ranked.map(({ active, open }) => active + open));
  const width = (value) => `width: ${(value / maxTotal) * 100}%`;
  return figure({
    title: 'Workload',
    about: `Who has how many issues in progress, and to do.${groups.length < maxGroups ? '' : ' There may be more members than are counted here.'}`,
    file: file('workload'),
    table: {
      columns: ['Member', 'In progress', 'To do'],
      rows: members.map(({ name, active, open }) => [name, active, open]),
    },
    content: ranked.length
      ? html`<table class="workload">
          <thead class="visually-hidden"><tr><th scope="col">Member</th><th scope="col">Share</th><th scope="col">In progress</th><th scope="col">To do</th></tr></thead>
          <tbody>${ranked.map(
            ({ name, assignee, active, open }) => html`<tr>
              <th scope="row">${assignee ? avatar(assignee, { named: true }) : name}</th>
              <td class="bars" aria-hidden="true"><i class="active" .style=${width(active)}></i><i .style=${width(open)}></i></td>
              <td><b>${count(active)}</b></td>
              <td>${count(open)}</td>
            </tr>`,
          )}</tbody>
        </table>`
      : emptyText('Nothing is in progress or to do.'),
  });
}

/** The issues that have been open longest. */
export function oldest({ oldest: { nodes } }, file) {
  return figure({
    title: 'Oldest open issues',
    about: 'What has been open longest. Close it, or say that it will not be done.',
    file: file('oldest'),
    table: {
      columns: ['Issue', 'Title', 'Status', 'Created', 'Assignee'],
      rows: nodes.map((issue) => [
        issue.key,
        issue.title,
        issue.status.name,
        issue.createdUtc,
        issue.primaryAssignee?.displayName,
      ]),
    },
    content: nodes.length
      ? html`<ul class="oldest">${repeat(
          nodes,
          ({ key }) => key,
          ({ key, title, priority, status, createdUtc, primaryAssignee }) => html`<li>
            ${priorityIcon(priority)}
            <a href="/issues/${key}"><span class="key">${key}</span> ${title}</a>
            <span class="small">${status.name}, ${ago(createdUtc)}</span>
            ${avatar(primaryAssignee)}
          </li>`,
        )}</ul>`
      : emptyText('Nothing is open.'),
  });
}
