import { defineCommand } from 'citty';
import { readClientToken } from '../server/process-environment.ts';
import { listenAndForward } from './webhooks-listen.ts';
import { reportFailure, UsageError } from './failures.ts';

const listen = defineCommand({
  meta: {
    name: 'listen',
    description:
      'Forward changes to a program on this machine, signed as webhooks are; needs no public address',
  },
  args: {
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
    state: {
      type: 'string',
      valueHint: 'FILE',
      default: '.workgraph-listen.json',
      description: 'The file that keeps the secret, and the position in the log to continue from',
    },
    json: { type: 'boolean', description: 'Print a JSON object for each message' },
  },
  run: async ({ args }) => {
    const stopping = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
    process.exitCode = await reportFailure(async () => {
      const token = readClientToken();
      if (!token)
        throw new UsageError('WORKGRAPH_TOKEN must hold an access token with the scope issues:read.');
      for (const url of [args.url, args['forward-to']]) {
        if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
          throw new UsageError(`${JSON.stringify(url)} is not an http or https URL.`);
      }
      await listenAndForward(
        {
          server: args.url,
          token,
          forwardTo: args['forward-to'],
          events: args.events?.split(',').map((type) => type.trim()) ?? [],
          stateFile: args.state,
          isJson: args.json ?? false,
        },
        { stdout: (text) => process.stdout.write(text), signal: stopping.signal },
      );
      return 0;
    });
  },
});

export const command = defineCommand({
  meta: { name: 'webhooks' },
  subCommands: { listen },
});
