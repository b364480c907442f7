import { html, nothing } from '../lit-html/lit-html.js';
import { count, date, plural } from './format.js';
import { avatar, dot, progress } from './elements.js';
import { queryPanel } from './query-panel.js';
import { startLivePage } from './live-page.js';
import { noTeamsYet } from './states.js';
import { query, subscription } from './boards-queries.js';

function page({ data: { workspace, teams }, measurements, variables, liveness }) {
  return html`<div class="with-query-panel">
    <div class="content">
      <header class="page-head">
        <div>
          <p class="eyebrow">${workspace.name}</p>
          <h1>Boards</h1>
        </div>
        ${liveness}
      </header>
      ${teams.nodes.length ? html`<ul class="teams">${teams.nodes.map(team)}</ul>` : noTeamsYet()}
    </div>
    ${queryPanel({ query, variables, measurements, subscription })}
  </div>`;
}

function team({ code, name, color, description, lead, open, active, deliveries }) {
  const [delivery] = deliveries.nodes;
  return html`<li class="sheet">
    <h2>${dot(color)}<a href="/board/${encodeURIComponent(code)}">${name}</a> <span class="team-code">${code}</span></h2>
    ${description ? html`<p class="about">${description}</p>` : nothing}
    <dl class="statistics">
      <div><dt>Open</dt><dd>${count(open.totalCount)}</dd></div>
      <div><dt>In progress</dt><dd>${count(active.totalCount)}</dd></div>
      ${lead ? html`<div class="team-lead"><dt>Lead</dt><dd>${avatar(lead, { named: true })}</dd></div>` : nothing}
    </dl>
    ${
      delivery
        ? html`<div class="delivery">
          <p><span>${delivery.name}</span><span>${plural(delivery.issueCount - delivery.closedIssueCount, 'issue')} to go until ${date(delivery.endsOn)}</span></p>
          ${progress(delivery.closedIssueCount, delivery.issueCount, `${delivery.name}: ${delivery.closedIssueCount} of ${delivery.issueCount} issues are done`)}
        </div>`
        : nothing
    }
  </li>`;
}

startLivePage({
  query,
  variables: () => ({}),
  view: page,
  liveContent: 'Issues',
  subscriptionOf: () => ({ query: subscription, variables: {} }),
});
