import { defineCommand } from 'citty';
import { auditActs } from '../model/audit-acts.ts';
import { databaseCommand } from './environment.ts';

// The commands that need the database, without their implementations: a process that only forwards its arguments to a running
// server must not load those.

const workspace = {
  type: 'string',
  valueHint: 'NAME|ID',
  description: 'The workspace, by name or id; may be omitted if there is only one',
} as const;

export const seed = databaseCommand({
  name: 'seed',
  args: {
    from: {
      type: 'string',
      valueHint: 'DIRECTORY',
      description:
        'A directory with your own directory.yaml, issues.ndjson and attached files, instead of the demo',
    },
    json: { type: 'boolean', description: 'Print one object: the id of the workspace and the token' },
  },
  load: async () => (await import('./seed.ts')).runSeed,
});

export const token = defineCommand({
  meta: { name: 'token' },
  subCommands: {
    create: databaseCommand({
      name: 'token create',
      description: 'Create an access token; its secret is shown only once',
      args: {
        workspace,
        member: {
          type: 'string',
          valueHint: 'ADDRESS|NAME|ID',
          description: 'The member that it belongs to, by e-mail address, name or id; the owner by default',
        },
        name: {
          type: 'string',
          valueHint: 'NAME',
          default: 'command line',
          description: 'The name of the token',
        },
        scopes: {
          type: 'string',
          valueHint: 'A,B,…',
          description:
            'Its scopes, separated by commas; all by default, but workspace:admin only for an owner or admin',
        },
        expires: {
          type: 'string',
          valueHint: 'TIME|DAYS',
          description: 'When it expires: a time such as 2027-01-31T00:00:00Z, or days such as 30d',
        },
        json: { type: 'boolean', description: 'Print one object: id, token, scopes and so on' },
      },
      load: async () => (await import('./token.ts')).createToken,
    }),
    list: databaseCommand({
      name: 'token list',
      description: 'List the access tokens of a workspace, newest first',
      args: { workspace, json: { type: 'boolean', description: 'Print an array of objects' } },
      load: async () => (await import('./token.ts')).listTokens,
    }),
    revoke: databaseCommand({
      name: 'token revoke',
      description: 'Revoke an access token and all tokens that were created with it',
      args: {
        id: { type: 'positional', required: true, description: 'The id of the token: token_…' },
        json: { type: 'boolean', description: 'Print one object: id and revokedUtc' },
      },
      load: async () => (await import('./token.ts')).revokeToken,
    }),
  },
});

export const workspaces = defineCommand({
  meta: { name: 'workspace' },
  subCommands: {
    create: databaseCommand({
      name: 'workspace create',
      description: 'Create a workspace with an owner, and a token of the owner with all scopes',
      args: {
        name: {
          type: 'string',
          valueHint: 'NAME',
          required: true,
          description: 'The name of the workspace',
        },
        owner: {
          type: 'string',
          valueHint: 'NAME',
          default: 'Owner',
          description: 'The display name of the owner',
        },
        'owner-email': {
          type: 'string',
          valueHint: 'ADDRESS',
          description: 'The e-mail address of the owner',
        },
        json: { type: 'boolean', description: 'Print one object: id, name, token and the owner' },
      },
      load: async () => (await import('./workspace.ts')).runWorkspaceCreate,
    }),
    list: databaseCommand({
      name: 'workspace list',
      description: 'List the workspaces',
      args: { json: { type: 'boolean', description: 'Print an array of objects' } },
      load: async () => (await import('./workspace.ts')).listWorkspaces,
    }),
  },
});

export const importing = databaseCommand({
  name: 'import',
  hasNoTimeout: true,
  args: {
    file: { type: 'positional', required: true, description: 'The file to read; the directory of a backup' },
    from: {
      type: 'enum',
      options: ['beads', 'ndjson', 'backup'],
      required: true,
      description: 'The format of the file',
    },
    team: {
      type: 'string',
      description: 'The code of the team that gets the issues; required for beads',
      valueHint: 'CODE',
    },
    'create-team': {
      type: 'string',
      description: 'Create the team with this name if no team has the code',
      valueHint: 'NAME',
    },
    workspace,
    json: { type: 'boolean', description: 'Print the summary as one object' },
  },
  load: async () => (await import('./import.ts')).runImport,
});

export const exporting = databaseCommand({
  name: 'export',
  hasNoTimeout: true,
  args: {
    to: {
      type: 'string',
      description:
        'Write everything but webhooks and the log of changes, files included, to this new directory',
      valueHint: 'DIRECTORY',
    },
    workspace,
    team: {
      type: 'string',
      description: 'The code of one team; all teams by default',
      valueHint: 'CODE',
    },
    files: {
      type: 'string',
      description: 'Write the attached files to this directory; by default attachments are omitted',
      valueHint: 'DIRECTORY',
    },
    deleted: { type: 'boolean', description: 'Export deleted issues, comments and links too' },
  },
  load: async () => (await import('./export.ts')).runExport,
});

export const distribute = databaseCommand({
  name: 'distribute',
  hasNoTimeout: true,
  args: { json: { type: 'boolean', description: 'Print one object: distributed, copied' } },
  load: async () => (await import('./distribute.ts')).runDistribute,
});

export const verify = databaseCommand({
  name: 'verify',
  hasNoTimeout: true,
  args: {
    workspace: {
      type: 'string',
      valueHint: 'NAME|ID',
      description: 'The only workspace to check, by name or id; all of them if it is omitted',
    },
    files: { type: 'boolean', description: 'Check the stored bytes of every attachment too' },
    limit: {
      type: 'string',
      valueHint: 'N',
      description: 'The maximum number of rows to print for one rule',
      default: '20',
    },
    json: { type: 'boolean', description: 'Print one object: rules, findings' },
  },
  load: async () => (await import('./verify.ts')).runVerify,
});

export const changes = defineCommand({
  meta: { name: 'changes' },
  subCommands: {
    reset: databaseCommand({
      name: 'changes reset',
      description:
        'Start the log of changes over, so that every reader reads its lists again: needed after running a version older than the log of changes',
      args: {
        workspace: {
          type: 'string',
          valueHint: 'NAME|ID',
          description: 'The workspace, by name or id; all of them if it is omitted',
        },
        json: { type: 'boolean', description: 'Print an array of objects: workspaceId, name' },
      },
      load: async () => (await import('./changes.ts')).runChangesReset,
    }),
  },
});

export const audit = databaseCommand({
  name: 'audit',
  args: {
    workspace,
    since: {
      type: 'string',
      valueHint: 'TIME|DAYS',
      description: 'The earliest time, such as 2027-01-31T00:00:00Z, or days ago, such as 7d',
    },
    actor: {
      type: 'string',
      valueHint: 'ADDRESS|NAME|ID',
      description: 'The actor: a member by e-mail address, name or id, or another actor by name',
    },
    act: {
      type: 'string',
      valueHint: 'ACTION',
      description: `The action: ${Object.keys(auditActs).join(', ')}`,
    },
    limit: {
      type: 'string',
      valueHint: 'N',
      default: '100',
      description: 'The maximum number of entries, up to 10000',
    },
    json: { type: 'boolean', description: 'Print an array of objects' },
  },
  load: async () => (await import('./audit.ts')).runAudit,
});

export const directory = defineCommand({
  meta: { name: 'directory' },
  subCommands: {
    apply: databaseCommand({
      name: 'directory apply',
      description:
        'Create and update a workspace, its members, teams, projects and what belongs to them from a YAML file',
      args: {
        file: {
          type: 'positional',
          required: true,
          description: 'The YAML file; docs/directory.md describes it',
        },
        workspace: {
          type: 'string',
          valueHint: 'NAME|ID',
          description: 'The workspace, by name or id; by default the one that the file names',
        },
        'dry-run': { type: 'boolean', description: 'Print what would change, and change nothing' },
        json: { type: 'boolean', description: 'Print one object: workspaceId, changes' },
      },
      load: async () => (await import('./directory.ts')).runDirectoryApply,
    }),
  },
});
