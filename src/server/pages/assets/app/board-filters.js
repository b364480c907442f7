import { html, nothing } from '../lit-html/lit-html.js';
import { searchOf } from './address.js';
import { words } from './format.js';
import { choice, priorities } from './elements.js';

/**
 * The code of the team that is highlighted in the list but not opened yet. The list reports a change at each press of an
 * arrow key, so a change must not leave the page.
 */
let highlightedTeam;

/** The form that filters the board, and leads to the boards of other teams. */
export function filters({ data, choices, issues, choose, reset, redraw }) {
  const { code } = data.team;
  const highlight = (other) => {
    highlightedTeam = other;
    redraw();
  };
  return html`<form class="filters" role="search" tabindex="-1" aria-label="Filter of the board" @submit=${(event) => event.preventDefault()}>
    ${choice({
      name: 'Team',
      value: highlightedTeam ?? code,
      options: data.teams.nodes.map((each) => [each.code, each.name]),
      isChosen: false,
      choose: highlight,
    })}
    ${highlightedTeam && highlightedTeam !== code ? html`<a class="button" href=${boardPath(highlightedTeam, choices)}>Go</a>` : nothing}
    <label class="field"><span class="visually-hidden">Title</span>
      <input type="search" placeholder="Title contains …" .value=${choices.q ?? ''} @input=${({ target }) => choose('q', target.value)} />
    </label>
    ${Object.entries(optionsOf(data)).map(([name, options]) =>
      choice({
        name: words(name),
        value: choices[name] ?? '',
        options: [
          ['', `Any ${name}`],
          ...withChosenOption(options, choices[name], name, issues).map(withCount),
        ],
        choose: (value) => choose(name, value),
      }),
    )}
    <label class="check"><input type="checkbox" .checked=${Boolean(choices.canceled)} @change=${({ target }) => choose('canceled', target.checked && '1')} /> Canceled</label>
    ${Object.keys(choices).length ? html`<button type="button" class="text-button" @click=${reset}>Clear</button>` : nothing}
  </form>`;
}

/** The message for each choice that the server may refuse. */
const messages = {
  q: () => 'The text that titles are searched for is too long, or has a character that no title has.',
  assignee: (value) => `“${value}” is not the id of a member.`,
  priority: (value) => `There is no priority “${value}”.`,
  label: (value) => `“${value}” is not the id of a label.`,
  project: (value) => `“${value}” is not the id of a project.`,
};

/** The field of `IssueFilter` for each choice: the server names these fields in its refusals. */
const filterFields = {
  q: 'title',
  assignee: 'primaryAssigneeUserAccountId',
  label: 'labels',
  project: 'projectId',
};

/**
 * The title and body of the page if the server refuses the filter, with buttons that clear the refused choices; undefined if the
 * server refuses something else. The refusal of an unknown priority names no field.
 */
export function refusedFilter({ error, choices, removeChoice }) {
  const isRefused = (name) =>
    name === 'priority'
      ? error.code === 'GRAPHQL_VALIDATION_FAILED' && !priorities.includes(choices.priority)
      : error.fields.some((field) => field.split('.').includes(filterFields[name]));
  const wrong = Object.keys(choices).filter((name) => name in messages && isRefused(name));
  if (wrong.length === 0) return undefined;
  const hasOthers = Object.keys(choices).length > 1;
  const shortened = (text) => (text.length > 50 ? `${text.slice(0, 50)}…` : text);
  return {
    title: 'The filter in the address cannot be used',
    body: html`${wrong.map(
      (name) => html`<p>${messages[name](shortened(choices[name]))}</p>
        ${hasOthers ? html`<p><button type="button" class="button" @click=${() => removeChoice(name)}>${clearLabel(name)}</button></p>` : nothing}`,
    )}
      <p><button type="button" class="button" @click=${() => removeChoice()}>Clear the filter</button></p>`,
  };
}

const clearLabel = (name) => `Clear the ${name === 'q' ? 'title' : name}`;

/** The text if no issue matches. The chosen label, for example, may have been deleted since the address was written. */
export function noMatch({ data, choices, choose }) {
  const unknown = Object.entries(optionsOf(data))
    .filter(([name, options]) => choices[name] && !options.some(([value]) => value === choices[name]))
    .map(([name]) => name);
  const clear = (name) => {
    choose(name, '');
    document.querySelector('.filters').focus();
  };
  return html`No issue matches this filter.
    ${unknown.map(
      (name) =>
        html`<br />The ${name} that it names may not exist here.
          <button type="button" class="text-button" @click=${() => clear(name)}>${clearLabel(name)}</button>`,
    )}`;
}

/** Clears the highlighted team when the user has returned to the page. */
export function clearHighlightedTeam() {
  highlightedTeam = undefined;
}

/** The board of another team with the same choices, except those that only this team has. */
function boardPath(code, choices) {
  const others = Object.entries(choices).filter(([name]) => name !== 'project' && name !== 'label');
  return `/board/${encodeURIComponent(code)}${searchOf(others)}`;
}

/** The values that can be chosen, each with its name and, if it is known, the number of open issues. */
function optionsOf({ byAssignee, byLabel, byProject }) {
  return {
    assignee: byAssignee
      .filter(({ assignee }) => assignee)
      .map(({ assignee, count }) => [assignee.userAccountId, assignee.displayName, count]),
    priority: priorities.map((priority) => [priority, words(priority)]),
    label: byLabel.filter(({ label }) => label).map(({ label, count }) => [label.id, label.name, count]),
    project: byProject
      .filter(({ project }) => project)
      .map(({ project, count }) => [project.id, project.name, count]),
  };
}

const withCount = ([value, name, count]) => [value, count === undefined ? name : `${name} (${count})`];

/** The filter in words for a printed page, which has no form. */
export function filterInWords({ data, choices, issues }) {
  const selected = Object.entries(optionsOf(data))
    .filter(([name]) => choices[name])
    .map(([name, options]) => {
      const known = withChosenOption(options, choices[name], name, issues);
      return `${name} ${known.find(([value]) => value === choices[name])[1]}`;
    });
  const phrases = [
    ...(choices.q ? [`title contains “${choices.q}”`] : []),
    ...selected,
    ...(choices.canceled ? ['with canceled issues'] : []),
  ];
  return phrases.length ? html`<p class="print-only">Filter: ${phrases.join(', ')}</p>` : nothing;
}

/**
 * The options are those of open issues. The chosen option may occur only on closed issues; its name then comes from a
 * card that shows it, if there is one.
 */
function withChosenOption(options, value, name, issues) {
  if (!value || options.some(([each]) => each === value)) return options;
  const known = {
    assignee: issues
      .map(({ primaryAssignee }) => primaryAssignee)
      .find((each) => each?.userAccountId === value)?.displayName,
    label: issues.flatMap(({ labels }) => labels).find(({ id }) => id === value)?.name,
  };
  return [...options, [value, known[name] ?? `The chosen ${name}`]];
}
