import { defineCommand } from 'citty';
import { type EventType, eventTypes, isEventType } from '../model/events.ts';
import { suggestionFor } from '../model/nearest.ts';
import { readClientToken } from '../server/process-environment.ts';
import { refuseWrongArguments, reportFailure, UsageError } from './failures.ts';

const listenArgs = {
  url: {
    type: 'string',
    valueHint: 'URL',
    default: 'http://127.0.0.1:4000',
    description: 'The server; its token is read from WORKGRAPH_TOKEN',
  },
  'forward-to': {
    type: 'string',
    valueHint: 'URL',
    required: true,
    description: 'The URL to forward to',
  },
  events: {
    type: 'string',
    valueHint: 'A,B,…',
    description: 'The types of events, separated by commas; all when omitted',
  },
  imports: {
    type: 'boolean',
    description: 'Forward what imports write, too, as webhooks with hasImports do',
  },
  state: {
    type: 'string',
    valueHint: 'FILE',
    default: '.workgraph-listen.json',
    description: 'The file that keeps the secret, and the position in the log to continue from',
  },
  json: { type: 'boolean', description: 'Print a JSON object for each message' },
} as const;

const listen = defineCommand({
  meta: {
    name: 'listen',
    description:
      'Forward changes to a program on this machine, signed as webhooks are; needs no public address',
  },
  args: listenArgs,
  run: async ({ args }) => {
    const stopping = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
    process.exitCode = await reportFailure(async () => {
      refuseWrongArguments(args, listenArgs);
      const token = readClientToken()?.trim() ?? '';
      // A header cannot hold other characters.
      if (!/^[\x21-\x7e]+$/.test(token))
        throw new UsageError('WORKGRAPH_TOKEN must hold an access token with the scope issues:read.');
      for (const url of [args.url, args['forward-to']]) {
        if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
          throw new UsageError(`${JSON.stringify(url)} is not an http or https URL.`);
      }
      const events = readEventTypes(args.events);
      // Loaded only now, because completion and help load this module, too.
      const { listenAndForward } = await import('./webhooks-listen.ts');
      await listenAndForward(
        {
          server: args.url,
          token,
          forwardTo: args['forward-to'],
          events,
          hasImports: args.imports ?? false,
          stateFile: args.state,
          isJson: args.json ?? false,
        },
        {
          stdout: (text) => process.stdout.write(text),
          stderr: (text) => process.stderr.write(text),
          signal: stopping.signal,
        },
      );
      return 0;
    });
  },
});

/** The types of events that a text names, separated by commas. Throws UsageError for those that do not exist. */
function readEventTypes(text: string | undefined): EventType[] {
  const types = text?.split(',').map((type) => type.trim()) ?? [];
  return types.map((type) => {
    if (isEventType(type)) return type;
    const listHint = '; GET /v1/meta/codes lists them.';
    throw new UsageError(
      `--events: ${JSON.stringify(type)} is not a type of event${suggestionFor(type, eventTypes) || listHint}`,
    );
  });
}

export const command = defineCommand({
  meta: { name: 'webhooks' },
  subCommands: { listen },
});
