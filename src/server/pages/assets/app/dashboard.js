import { html, nothing } from '../lit-html/lit-html.js';
import { repeat } from '../lit-html/directives/repeat.js';
import { choicesInAddress, onHistoryNavigation, withChoice, writeToAddress } from './address.js';
import { count, date, duration, isoDay, plural } from './format.js';
import { oldest, workload } from './dashboard-lists.js';
import { figure } from './figure.js';
import { choice, dot, progress } from './elements.js';
import { queryPanel } from './query-panel.js';
import { startLivePage } from './live-page.js';
import { emptyText, noTeamsYet, notFound } from './states.js';
import { query, subscription } from './dashboard-queries.js';

/** The ranges that can be choices, in days, with the length of a period that suits each. */
const ranges = [
  [30, 'DAY', '30 days'],
  [90, 'WEEK', '90 days'],
  [180, 'WEEK', '6 months'],
  [365, 'MONTH', '1 year'],
];
const periodNames = { DAY: 'day', WEEK: 'week', MONTH: 'month' };
const palette = ['--c1', '--c2', '--c3', '--c4', '--c5', '--c6', '--c7', '--c0'];

let choices = choicesInAddress();

function chosenRange() {
  return ranges.find(([days]) => String(days) === choices.range) ?? ranges[1];
}

function queryVariables() {
  const [days, every] = chosenRange();
  const daysAgo = (number) => isoDay(new Date(Date.now() - number * 86_400_000));
  return {
    team: choices.team?.toUpperCase() ?? null,
    from: daysAgo(days - 1),
    to: isoDay(),
    every,
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    deliveriesFrom: daysAgo(45),
    maxGroups: 100,
  };
}

function choose(name, value) {
  choices = withChoice(choices, name, value);
  writeToAddress(choices, { isNewEntry: true });
  void restart();
}

onHistoryNavigation(() => {
  choices = choicesInAddress();
  void restart();
});

function page({ data, measurements, variables, liveness }) {
  const { workspace, all, teams } = data;
  const team = variables.team ? teams.nodes[0] : undefined;
  if (variables.team && !team) {
    const link = html`<a href="/dashboard">All teams</a>`;
    return notFound(
      `There is no team ${variables.team}`,
      'The address names an active team by its code, such as WEB.',
      link,
    );
  }
  document.title = `${team?.name ?? 'Dashboard'} – workgraph`;
  const isEmpty = all.nodes.length === 0 && data.now.length === 0;
  return html`<div class="with-query-panel">
    <div class="content">
      <header class="page-head">
        <div>
          <p class="eyebrow">${workspace.name}</p>
          <h1>${team ? team.name : 'Dashboard'}</h1>
        </div>
        ${liveness}
      </header>
      ${isEmpty ? noTeamsYet() : charts(data, variables, team)}
    </div>
    ${queryPanel({ query, variables, measurements, subscription })}
  </div>`;
}

function charts(data, variables, team) {
  const period = periodNames[variables.every];
  const file = (name) => [name, variables.team ?? 'all', variables.from, variables.to].join('-');
  return html`${controls(data.all.nodes)} ${tiles(data, period)}
    <div class="figure-grid">
      ${throughput(data, { period, file, team })} ${createdAndClosed(data, { period, file })}
      ${cycleTime(data, { period, file })} ${flow(data, { period, file, team })}
    </div>
    ${deliveries(data, file)}
    <div class="figure-grid">${workload(data, variables, file)} ${oldest(data, file)}</div>`;
}

/** The form shows what the user has chosen at once, the charts only after their data has been read. A printed page has the range in words. */
function controls(teams) {
  const [days, , range] = chosenRange();
  const { team } = queryVariables();
  return html`<form class="filters" aria-label="What the dashboard shows" @submit=${(event) => event.preventDefault()}>
    ${choice({
      name: 'Team',
      value: team ?? '',
      options: [['', 'All teams'], ...teams.map(({ code, name }) => [code, name])],
      choose: (code) => choose('team', code),
    })}
    <fieldset class="segments">
      <legend class="visually-hidden">Time range</legend>
      ${ranges.map(
        ([number, , name]) =>
          html`<label><input type="radio" name="range" value=${number} .checked=${number === days} @change=${() => choose('range', String(number))} /><span>${name}</span></label>`,
      )}
    </fieldset>
    ${team ? html`<a class="text-button" href="/board/${encodeURIComponent(team)}">Board</a>` : nothing}
    </form>
    <p class="print-only">Time range: ${range}</p>`;
}

function tiles({ trend, now }, period) {
  const sum = (name) => trend.periods.reduce((total, period) => total + period[name], 0);
  const inCategory = (...names) =>
    now
      .filter(({ statusCategory }) => names.includes(statusCategory))
      .reduce((total, group) => total + group.count, 0);
  const medians = trend.periods.map(({ cycleTime }) => cycleTime.median).filter((value) => value != null);
  const middle = medians.toSorted((one, other) => one - other)[Math.floor(medians.length / 2)];
  const [created, closed] = [sum('created'), sum('closed')];
  const entries = [
    ['Closed', count(closed), `since ${date(trend.periods[0].startsOn)}`],
    [
      'Created',
      count(created),
      closed === created
        ? 'as many as closed'
        : closed > created
          ? `${count(closed - created)} fewer than closed`
          : `${count(created - closed)} more than closed`,
    ],
    ['In progress', count(inCategory('ACTIVE')), 'now'],
    ['Waiting', count(inCategory('OPEN', 'BACKLOG')), 'to do and backlog, now'],
    ['Cycle time', duration(middle) ?? '–', `median of a typical ${period}`],
  ];
  return html`<dl class="tiles">${entries.map(([name, value, note]) => html`<div class="sheet"><dt>${name}</dt><dd>${value}</dd><dd class="small">${note}</dd></div>`)}</dl>`;
}

function throughput({ trend, byTeam }, { period, file, team }) {
  const days = trend.periods.map(({ startsOn }) => startsOn);
  const groups = [...Map.groupBy(byTeam.periods, ({ team }) => team?.code).values()];
  const names = groups.map(([{ team }]) => team?.name ?? 'No team');
  // Each of the teams that closed the most issues has its own color; the others share one.
  const rows = groups.map((periods, index) => {
    const isAmbiguous = names.indexOf(names[index]) !== names.lastIndexOf(names[index]);
    const label = isAmbiguous ? `${names[index]} (${periods[0].team?.code})` : names[index];
    return { label, values: periods.map(({ closed }) => closed) };
  });
  const ranked = rows.toSorted((one, other) => total(other.values) - total(one.values));
  const top = ranked.slice(0, palette.length - 1);
  const named = total(top.flatMap(({ values }) => values));
  const others = days.map(
    (_, index) => trend.periods[index].closed - total(top.map(({ values }) => values[index] ?? 0)),
  );
  const series = [...top, ...(total(others) > 0 ? [{ label: 'Others', values: others }] : [])].map(
    (row, index) => ({ ...row, color: palette[index] }),
  );
  return figure({
    title: 'Throughput',
    about: `Issues closed each ${period}, up to now${team ? '' : ', by team'}.`,
    file: file('throughput'),
    chart: {
      label: `Bars: issues closed each ${period}, ${count(named + total(others))} in all`,
      kind: 'bars',
      days,
      series: series.length ? series : [{ label: 'Closed', values: days.map(() => 0), color: palette[0] }],
    },
    table: {
      columns: ['From', ...series.map(({ label }) => label)],
      rows: days.map((day, index) => [day, ...series.map(({ values }) => values[index])]),
    },
  });
}

function total(values) {
  return values.reduce((sum, value) => sum + value, 0);
}

function createdAndClosed({ trend }, { period, file }) {
  const days = trend.periods.map(({ startsOn }) => startsOn);
  const series = [
    { label: 'Created', color: '--c2', values: trend.periods.map(({ created }) => created), dash: [5, 4] },
    { label: 'Closed', color: '--c1', values: trend.periods.map(({ closed }) => closed) },
  ];
  return figure({
    title: 'Created against closed',
    about: `Issues each ${period}, up to now. Where more are created than closed, work piles up.`,
    file: file('created-closed'),
    chart: {
      label: `Lines: ${total(series[0].values)} issues created and ${total(series[1].values)} closed`,
      kind: 'lines',
      days,
      series,
    },
    table: {
      columns: ['From', 'Created', 'Started', 'Closed'],
      rows: trend.periods.map((each) => [each.startsOn, each.created, each.started, each.closed]),
    },
  });
}

function cycleTime({ trend }, { period, file }) {
  const inDays = (seconds) => (seconds == null ? null : Math.round(seconds / 8_640) / 10);
  const days = trend.periods.map(({ startsOn }) => startsOn);
  const series = [
    {
      label: 'Median',
      color: '--c1',
      values: trend.periods.map(({ cycleTime }) => inDays(cycleTime.median)),
    },
    {
      label: '85 of 100',
      color: '--c3',
      values: trend.periods.map(({ cycleTime }) => inDays(cycleTime.p85)),
      dash: [5, 4],
    },
  ];
  return figure({
    title: 'Cycle time',
    about: `From start to closing, of the issues closed each ${period}: half took at most the median, 85 of 100 at most the other.`,
    file: file('cycle-time'),
    chart: {
      label: 'Lines: the median and the 85th percentile of the cycle time, in days',
      kind: 'lines',
      days,
      series,
      format: (value) => `${value} d`,
    },
    table: {
      columns: ['From', 'Median (days)', 'p85 (days)'],
      rows: days.map((day, index) => [day, ...series.map(({ values }) => values[index])]),
    },
  });
}

function flow({ flow: { periods } }, { period, file }) {
  const closed = periods.map(({ completed, canceled }) => completed + canceled);
  // On an axis from 0, the other bands would be thin lines above years of closed issues.
  const floor = Math.floor(Math.min(...closed) * 0.9);
  const series = [
    { label: 'Closed', color: '--c1', values: closed },
    { label: 'In progress', color: '--c3', values: periods.map(({ active }) => active) },
    { label: 'To do', color: '--c2', values: periods.map(({ open }) => open) },
    { label: 'Backlog', color: '--c0', values: periods.map(({ backlog }) => backlog) },
  ];
  return figure({
    title: 'Cumulative flow',
    about: `Issues in each category at the end of each ${period}. A band that widens is where work waits.${floor > 0 ? ` The axis restarts at ${count(floor)}.` : ''}`,
    file: file('flow'),
    chart: {
      label: 'Stacked areas: closed, in progress, to do, backlog',
      kind: 'areas',
      days: periods.map(({ endsOn }) => endsOn),
      series,
      floor,
    },
    table: {
      columns: ['Until', 'Backlog', 'To do', 'In progress', 'Completed', 'Canceled'],
      rows: periods.map((each) => [
        each.endsOn,
        each.backlog,
        each.open,
        each.active,
        each.completed,
        each.canceled,
      ]),
    },
  });
}

function deliveries({ teams }, file) {
  const running = teams.nodes.flatMap((team) =>
    team.deliveries.nodes.map((delivery) => ({ team, delivery })),
  );
  return html`<h2 class="section-heading">Current ${running.length === 1 ? 'delivery' : 'deliveries'}</h2>
    ${teams.pageInfo.hasNextPage ? html`<p class="small">Those of the first ${teams.nodes.length} teams are shown. Choose a team to see its own.</p>` : nothing}
    ${
      running.length
        ? html`<div class="deliveries">${repeat(
            running,
            ({ team }) => team.code,
            (each) => burnup(each, file),
          )}</div>`
        : emptyText('No delivery is running.')
    }`;
}

function burnup({ team, delivery }, file) {
  const days = delivery.burnup.days.filter(({ onDate }) => onDate >= delivery.startsOn);
  const { name, startsOn, endsOn, issueCount, closedIssueCount } = delivery;
  const done = `${closedIssueCount} of ${plural(issueCount, 'issue')} done`;
  return figure({
    title: `${team.name}: ${name}`,
    about: html`${dot(team.color)} ${date(startsOn)} to ${date(endsOn)}, ${done}${progress(closedIssueCount, issueCount, `${name} of ${team.name}: ${done}`)}`,
    file: file(`burnup-${team.code}`),
    chart: {
      label: `Lines: of ${issueCount} issues, ${closedIssueCount} are done`,
      kind: 'lines',
      days: days.map(({ onDate }) => onDate),
      until: endsOn,
      series: [
        { label: 'Scope', color: '--c0', values: days.map(({ scope }) => scope), dash: [5, 4] },
        { label: 'Done', color: '--c1', values: days.map(({ done }) => done) },
      ],
    },
    table: {
      columns: ['Day', 'Scope', 'Started', 'Done'],
      rows: days.map((each) => [each.onDate, each.scope, each.started, each.done]),
    },
  });
}

const { restart } = startLivePage({
  query,
  variables: queryVariables,
  view: page,
  subscriptionOf: () => ({ query: subscription, variables: {} }),
});
