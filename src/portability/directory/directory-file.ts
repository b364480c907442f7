import { z } from 'zod';
import type { Row } from '../../db/tables/tables.ts';
import { codeTables } from '../../model/codes.ts';
import { Violations } from '../../resolvers/errors.ts';
import { isEmailAddress } from '../../model/email-address.ts';
import { isHttpUrl } from '../../model/http-url.ts';
import { maxInt32 } from '../../model/int32.ts';
import { limits } from '../../model/limits.ts';
import { emptyRule, httpUrlRule, lengthRule, storableRule } from '../../model/sentences.ts';
import { isLonger } from '../../model/text-rules.ts';

type CodeTable = Readonly<Record<string, number>>;

/** The code tables of the fields that name a code. */
const codeTableOf = new WeakMap<object, CodeTable>();

/** The fields of a kind of entry that are stored as they are, each in the column of its name. */
type StoredColumns<Table extends StoredTable> = {
  readonly [Column in keyof Row<Table>]?: z.ZodType<Row<Table>[Column] | undefined>;
};
type StoredTable =
  | 'member'
  | 'label'
  | 'status'
  | 'delivery'
  | 'repository'
  | 'team'
  | 'projectStatus'
  | 'project';

/** A text that the database can store: at most `max` characters, no NUL, no half of a surrogate pair. */
const text = (max: number, min: 0 | 1 = 0) =>
  z
    .string({ error: 'must be a text (quote it if it begins with # or looks like a number)' })
    .refine((value) => !value.includes('\0') && value.isWellFormed(), storableRule)
    .refine((value) => value.trim().length >= min, emptyRule)
    .refine((value) => !isLonger(value, max), lengthRule(max));

const name = text(limits.name, 1).transform((value) => value.trim());
const description = text(limits.description);
const color = text(limits.color);
const iconCss = text(limits.iconCss);
const slug = z
  .string({ error: 'must be a text' })
  .regex(/^[a-z0-9][a-z0-9-]{0,99}$/, 'must be 1 to 100 characters of a-z, 0-9 and -, not starting with -');
const url = text(limits.url, 1).refine(isHttpUrl, httpUrlRule);
const flag = z.boolean({ error: 'must be true or false' });
const position = z
  .int({ error: 'must be a whole number' })
  .min(0, 'must be 0 or more')
  .max(9_999, 'must be at most 9999');
const teamCode = z
  .string({ error: 'must be a text' })
  .transform((value) => value.toUpperCase())
  .refine((value) => /^[A-Z][A-Z0-9]{0,9}$/.test(value), 'must be a letter and up to 9 letters and digits');
const projectKey = z
  .string({ error: 'must be a text' })
  .transform((value) => value.toUpperCase())
  .refine(
    (value) => /^[A-Z][A-Z0-9-]{0,49}$/.test(value),
    'must be a letter and up to 49 letters, digits and -',
  );
const day = z.iso.date({ error: 'must be a calendar date, YYYY-MM-DD' });
const time = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })], {
    error: 'must be a date or a time with Z or an offset',
  })
  .transform((value) => new Date(value));

/** The creation and update times of a new row. An existing row keeps its own times. */
const times = { createdUtc: time.optional(), updatedUtc: time.optional() };

/** A member by e-mail address or display name. */
const person = text(limits.emailAddress, 1);

/**
 * The declarations of the fields that are stored as they are. Plans write them and exports show them without naming them again.
 */
export const storedFields = {
  member: {
    displayName: name,
    avatarUrl: url.nullable().optional(),
    role: oneOf(codeTables.memberRole).optional(),
    status: oneOf(codeTables.memberStatus).optional(),
    principalKind: oneOf({ user: 1, agent: 2, service: 3 }).optional(),
  },
  label: { name, description: description.optional(), color: color.optional() },
  status: {
    name,
    category: oneOf(codeTables.statusCategory),
    description: description.optional(),
    color: color.optional(),
    position: position.optional(),
  },
  delivery: {
    name: name.optional(),
    description: description.optional(),
    startsOn: day,
    endsOn: day,
    state: oneOf(codeTables.deliveryState).optional(),
  },
  repository: {
    provider: oneOf(codeTables.provider),
    externalRepositoryFullName: text(limits.repositoryName, 1),
    externalRepositoryName: name.optional(),
    externalRepositoryId: text(limits.name).optional(),
    externalRepositoryUrl: url.optional(),
    externalProjectId: text(limits.name).optional(),
    externalProjectName: text(limits.name).optional(),
    workspaceScmConnectionId: text(limits.name).optional(),
    defaultBranch: text(limits.name).optional(),
    isDefaultForAgents: flag.optional(),
  },
  team: {
    name: name.optional(),
    slug: slug.optional(),
    description: description.optional(),
    iconCss: iconCss.optional(),
    color: color.optional(),
    state: oneOf(codeTables.teamState).optional(),
    deliveriesEnabled: flag.optional(),
  },
  projectStatus: {
    name,
    state: oneOf(codeTables.projectState),
    description: description.optional(),
    color: color.optional(),
    position: position.optional(),
  },
  project: {
    name: name.optional(),
    summary: text(limits.summary).optional(),
    description: description.optional(),
    slug: slug.optional(),
    iconCss: iconCss.optional(),
    color: color.optional(),
    priority: oneOf(codeTables.priority).optional(),
    startUtc: time.nullable().optional(),
    targetUtc: time.nullable().optional(),
  },
} as const satisfies { readonly [Table in StoredTable]: StoredColumns<Table> };

const member = object({
  ...storedFields.member,
  emailAddress: text(limits.emailAddress, 1).refine(isEmailAddress, 'must be an e-mail address').optional(),
  ...times,
});

const plainLabel = object(storedFields.label);
/** A label, or a group of labels if it has `labels`. A text alone is the name of a label. */
const label = z.preprocess(
  named,
  object({ ...storedFields.label, labels: list(z.preprocess(named, plainLabel)).optional() }),
);

const status = object({ ...storedFields.status, isInitial: flag.optional() });

const delivery = object({
  number: z
    .int({ error: 'must be a whole number' })
    .min(1, 'must be 1 or more')
    .max(maxInt32, 'is too large'),
  ...storedFields.delivery,
  ...times,
});

const repository = object({ ...storedFields.repository, ...times });

const exportedTeam = {
  code: teamCode,
  ...storedFields.team,
  statuses: list(status).optional(),
  labels: list(label).optional(),
  deliveries: list(delivery).optional(),
  ...times,
};
const team = object({
  ...exportedTeam,
  lead: person.nullable().optional(),
  members: list(person).optional(),
  repositories: list(repository).optional(),
});

const projectStatus = object(storedFields.projectStatus);

const exportedProject = {
  key: projectKey,
  team: teamCode.optional(),
  ...storedFields.project,
  status: name.optional(),
  labels: list(name).optional(),
  ...times,
};
const project = object({
  ...exportedProject,
  lead: person.nullable().optional(),
  members: list(person).optional(),
  links: list(
    object({ url, title: name, createdBy: person.optional(), createdUtc: times.createdUtc }),
  ).optional(),
});

const agent = object({
  displayName: name,
  emailAddress: member.shape.emailAddress,
  avatarUrl: url.optional(),
  role: member.shape.role,
  status: member.shape.status,
  ...times,
});

const directoryFile = object({
  workspace: z.preprocess(named, object({ name, createdUtc: times.createdUtc })).optional(),
  members: list(member).optional(),
  agent: agent.optional(),
  agents: list(agent).optional(),
  labels: list(label).optional(),
  teams: list(team).optional(),
  projectStatuses: list(projectStatus).optional(),
  projects: list(project).optional(),
});

/** The directory data in the header of an export. It names no people, so an import gives nobody a role. */
const exportedDirectory = exportedObject({
  labels: list(label).optional(),
  teams: list(exportedObject(exportedTeam)).optional(),
  projectStatuses: list(projectStatus).optional(),
  projects: list(exportedObject(exportedProject)).optional(),
});

/** A validated directory file. Codes are numbers, and omitted fields are undefined. */
export type DirectoryFile = z.output<typeof directoryFile>;
export type MemberEntry = z.output<typeof member>;
export type LabelEntry = z.output<typeof label>;
export type TeamEntry = z.output<typeof team>;
export type ProjectEntry = z.output<typeof project>;
export type AgentEntry = z.output<typeof agent>;

/** The code table of a column that a field stores; undefined if the column stores no codes. */
export function codesOfColumn(table: string, column: string): CodeTable | undefined {
  const fields = Object.entries(storedFields).find(([name]) => name === table)?.[1] ?? {};
  const field = Object.entries<object>(fields).find(([name]) => name === column)?.[1];
  return field && codeTableOf.get(field instanceof z.ZodOptional ? field.unwrap() : field);
}

/** Validates the shape of a directory file; throws `validation_failed` with all violations, each with its path. */
export function parseDirectory(input: unknown): DirectoryFile {
  return parsed(directoryFile, input, 'file');
}

/** Validates the directory data of an export like `parseDirectory`. What an export does not have is refused by name. */
export function parseExportedDirectory(input: unknown): DirectoryFile {
  return parsed(exportedDirectory, input, 'directory');
}

function parsed(schema: z.ZodType<DirectoryFile>, input: unknown, whole: string): DirectoryFile {
  const { success, data, error } = schema.safeParse(input ?? {});
  if (success) return data;
  const violations = new Violations();
  for (const { path, message } of error.issues) violations.add(pathText(path) || whole, message);
  violations.throwIfAny();
  throw error;
}

/** An object with these keys only. The message about an unknown key lists the known ones. */
function object<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `has the unknown keys ${issue.keys.join(', ')}; it may have ${Object.keys(shape).join(', ')}`
        : `must have keys: ${Object.keys(shape).join(', ')}`,
  });
}

/** An object in an export with these keys only. */
function exportedObject<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const known = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `an import does not apply ${issue.keys.join(', ')}, only ${known}; use \`npx workgraph directory apply\``
        : `must have keys: ${known}`,
  });
}

function list<Item extends z.ZodType>(item: Item) {
  return z.array(item, { error: 'must be a list' });
}

/** A name in a code table, which is converted to its code. */
function oneOf<Table extends CodeTable>(table: Table) {
  const words = Object.keys(table);
  const field = z
    .string({ error: `must be one of ${words.join(', ')}` })
    .transform((word) => word.toLowerCase().replaceAll(/[-\s]/g, '_'))
    .refine((word) => Object.hasOwn(table, word), `must be one of ${words.join(', ')}`)
    .transform((word) => table[word] ?? 0);
  codeTableOf.set(field, table);
  return field;
}

function named(value: unknown): unknown {
  return typeof value === 'string' ? { name: value } : value;
}

function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((before, part) => {
    if (typeof part === 'number') return `${before}[${part}]`;
    return before === '' ? String(part) : `${before}.${String(part)}`;
  }, '');
}
