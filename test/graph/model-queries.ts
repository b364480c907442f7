import { isInputObjectType, getNamedType, isLeafType } from 'graphql';
import { fold } from '../../src/model/fold.ts';
import { inputType, objectType } from './schema-walk.ts';
import type { ModelObject } from './model.ts';
import { codeIndex, compareBy } from './values.ts';

/** Filters and orders of the model, in plain JavaScript. They share no code with the SQL that they check. */
export type Filter = Readonly<Record<string, unknown>>;
export interface OrderBy {
  field: string;
  direction: 'ASC' | 'DESC';
}

type SortKey = (object: ModelObject) => string | number | null;
const text =
  (field: string): SortKey =>
  (object) =>
    object[field] === null ? null : fold(object[field] as string);
const plain =
  (field: string): SortKey =>
  (object) =>
    object[field] as string | number | null;

/** Priorities are ordered from urgent to none, not by code. */
const priorityIndex: SortKey = ({ priority }) =>
  ['URGENT', 'HIGH', 'MEDIUM', 'LOW', 'NONE'].indexOf(String(priority));

/** The values that each order of each type compares. Ties are ordered by id; nulls come last in both directions. */
export const sortKeys: Readonly<Record<string, Readonly<Record<string, SortKey>>>> = {
  AccessToken: { CREATED: plain('createdUtc') },
  ActivityEntry: { SORT_ORDER: plain('sortOrder') },
  AuditEntry: { OCCURRED: plain('occurredUtc') },
  Webhook: { CREATED: plain('createdUtc') },
  WebhookDelivery: { CREATED: plain('createdUtc') },
  AgentThreadMessage: { SORT_ORDER: plain('sortOrder') },
  Attachment: { CREATED: plain('uploadedUtc') },
  Comment: { CREATED: plain('createdUtc') },
  Delivery: { STARTS_ON: plain('startsOn'), NUMBER: plain('number'), NAME: text('name') },
  Issue: {
    CREATED: plain('createdUtc'),
    UPDATED: plain('updatedUtc'),
    NUMBER: plain('number'),
    PRIORITY: priorityIndex,
    DUE_DATE: plain('dueDate'),
    TITLE: text('title'),
    STATUS: ({ status }) => statusIndex(status as ModelObject),
    STARTED: plain('startedUtc'),
    LAST_ACTIVITY: plain('lastActivityUtc'),
  },
  IssueLink: { CREATED: plain('createdUtc') },
  Label: { NAME: text('name') },
  Member: {
    DISPLAY_NAME: text('displayName'),
    ROLE: ({ role }) => codeIndex('memberRole', role),
    STATUS: ({ status }) => codeIndex('memberStatus', status),
  },
  Project: {
    NAME: text('name'),
    PRIORITY: priorityIndex,
    LEAD: ({ lead }) => (lead ? text('displayName')(lead as ModelObject) : null),
    TARGET: plain('targetUtc'),
    STATUS: ({ status }) => Number((status as ModelObject).position),
  },
  ProjectLink: { CREATED: plain('createdUtc') },
  ProjectStatus: { POSITION: plain('position') },
  RepositoryContext: {
    REPOSITORY_NAME: text('externalRepositoryName'),
    PROVIDER: ({ provider }) => codeIndex('provider', provider),
    PROJECT_NAME: text('externalProjectName'),
    DEFAULT_BRANCH: text('defaultBranch'),
  },
  Team: {
    NAME: text('name'),
    CODE: plain('code'),
    MEMBER_COUNT: plain('memberCount'),
    ACTIVE_PROJECT_COUNT: plain('activeProjectCount'),
    STATE: ({ state }) => codeIndex('teamState', state),
  },
};

/** The default order of a list: that of its type, unless the list has its own. */
export function defaultOrder(typeName: string, coordinate?: string): OrderBy {
  const order = (coordinate !== undefined && ownOrders[coordinate]) || defaultOrders[typeName];
  if (!order) throw new Error(`The model does not know the order of ${typeName}.`);
  return order;
}

const ownOrders: Readonly<Record<string, OrderBy>> = {
  'Issue.subIssues': { field: 'CREATED', direction: 'ASC' },
};

const defaultOrders: Readonly<Record<string, OrderBy>> = {
  AccessToken: { field: 'CREATED', direction: 'DESC' },
  ActivityEntry: { field: 'SORT_ORDER', direction: 'ASC' },
  AuditEntry: { field: 'OCCURRED', direction: 'DESC' },
  Webhook: { field: 'CREATED', direction: 'ASC' },
  WebhookDelivery: { field: 'CREATED', direction: 'DESC' },
  AgentThreadMessage: { field: 'SORT_ORDER', direction: 'ASC' },
  Attachment: { field: 'CREATED', direction: 'ASC' },
  Comment: { field: 'CREATED', direction: 'ASC' },
  Delivery: { field: 'STARTS_ON', direction: 'ASC' },
  Issue: { field: 'CREATED', direction: 'DESC' },
  IssueLink: { field: 'CREATED', direction: 'ASC' },
  Label: { field: 'NAME', direction: 'ASC' },
  Member: { field: 'DISPLAY_NAME', direction: 'ASC' },
  Project: { field: 'NAME', direction: 'ASC' },
  ProjectLink: { field: 'CREATED', direction: 'ASC' },
  ProjectStatus: { field: 'POSITION', direction: 'ASC' },
  RepositoryContext: { field: 'REPOSITORY_NAME', direction: 'ASC' },
  Team: { field: 'NAME', direction: 'ASC' },
};

/** Orders statuses by category, then by position within the team. */
function statusIndex({ category, position }: ModelObject): number {
  return codeIndex('statusCategory', category) * 10_000 + Number(position);
}

/** Sorts objects in an order. */
export function ordered(
  typeName: string,
  objects: readonly ModelObject[],
  { field, direction }: OrderBy,
): ModelObject[] {
  const key = sortKeys[typeName]?.[field];
  if (!key) throw new Error(`The model does not know the order ${field} of ${typeName}.`);
  const sorted = objects.toSorted(compareBy(key, ({ id }) => String(id)));
  const inDirection = direction === 'ASC' ? sorted : sorted.toReversed();
  return [
    ...inDirection.filter((object) => key(object) !== null),
    ...inDirection.filter((object) => key(object) === null),
  ];
}

/** Whether an object matches a filter, which is an input of the named type. */
export function matches(inputName: string, filter: Filter, object: ModelObject): boolean {
  const fields = inputType(inputName).getFields();
  return Object.entries(filter).every(([name, value]) => {
    if (value === null || value === undefined) return true;
    if (name === 'and') return (value as Filter[]).every((each) => matches(inputName, each, object));
    if (name === 'or') return (value as Filter[]).some((each) => matches(inputName, each, object));
    if (name === 'not') return !matches(inputName, value as Filter, object);
    const type = fields[name] && getNamedType(fields[name].type);
    if (!isInputObjectType(type)) throw new Error(`${inputName} has no ${name}.`);
    return fieldMatches(type.name, value as Filter, object[name]);
  });
}

function fieldMatches(inputName: string, filter: Filter, value: unknown): boolean {
  if (inputName.endsWith('ListFilter')) {
    const rowFilter = inputName.replace('ListFilter', 'Filter');
    const { some, none } = filter as Record<'some' | 'none', Filter | undefined>;
    const any = (each: Filter) => (value as ModelObject[]).some((object) => matches(rowFilter, each, object));
    return (!some || any(some)) && (!none || !any(none));
  }
  if (inputType(inputName).getFields().and)
    return value !== null && matches(inputName, filter, value as ModelObject);
  return Object.entries(filter).every(
    ([comparator, operand]) =>
      operand === null || compares(comparator, inputName === 'StringFilter', value, operand),
  );
}

type Comparable = string | number | boolean | null;

function compares(comparator: string, isText: boolean, value: unknown, operand: unknown): boolean {
  const normalize = (each: unknown) => (isText && typeof each === 'string' ? fold(each) : each) as Comparable;
  const own = normalize(value);
  if (comparator === 'isNull') return (own === null) === operand;
  if (comparator === 'in') return (operand as unknown[]).some((each) => normalize(each) === own);
  if (comparator === 'nin') return !(operand as unknown[]).some((each) => normalize(each) === own);
  const other = normalize(operand);
  if (comparator === 'neq') return own !== other;
  if (own === null || other === null) return false;
  switch (comparator) {
    case 'eq':
      return own === other;
    case 'lt':
      return own < other;
    case 'lte':
      return own <= other;
    case 'gt':
      return own > other;
    case 'gte':
      return own >= other;
    case 'contains':
      return String(own).includes(String(other));
    case 'startsWith':
      return String(own).startsWith(String(other));
    default:
      throw new Error(`The model does not know the comparator ${comparator}.`);
  }
}

/** The fields of an object that `selectionOf` selects: its leaves, and the id or the leaves of the objects below it. */
export function projected(
  typeName: string,
  object: ModelObject,
  leave: readonly string[] = [],
): Record<string, unknown> {
  const fields = Object.values(objectType(typeName).getFields());
  return Object.fromEntries(
    fields
      .filter(({ name, args }) => args.length === 0 && !leave.includes(name))
      .map(({ name, type }) => {
        const below = getNamedType(type);
        if (!(name in object)) throw new Error(`The model does not know ${typeName}.${name}.`);
        return [name, isLeafType(below) ? object[name] : short(below.name, object[name])];
      }),
  );
}

function short(typeName: string, value: unknown): unknown {
  if (value === null) return null;
  if (Array.isArray(value)) return value.map((each) => short(typeName, each));
  const fields = objectType(typeName).getFields();
  const names = fields.id
    ? ['id']
    : Object.values(fields)
        .filter(({ type }) => isLeafType(getNamedType(type)))
        .map(({ name }) => name);
  return Object.fromEntries(names.map((name) => [name, (value as ModelObject)[name]]));
}
