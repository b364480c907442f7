import { spawn } from 'node:child_process';
import { Client } from '../support/client.ts';
import { ms, quantile } from '../support/fault.ts';
import { onAllCores } from '../support/tools.ts';
import { type Figure, graphql, type Target } from './target.ts';

const burst = 200;
const repeats = 40;

/** Three operations of the benchmark; `n` becomes part of a name, so that each document is new to the server. */
const shapes = {
  W1: (n: string) => `query Dashboard${n} { teams(first: 10) { nodes { code name lead { displayName }
    projects(first: 5) { nodes { key name progressPercent } }
    issues(first: 20, orderBy: { field: UPDATED, direction: DESC }) { nodes { key${n}: key title priority dueDate
      status { name color } primaryAssignee { displayName avatarUrl } labels { name color }
      comments(first: 3) { nodes { bodyText author { displayName } } } } } } } }`,
  W2: (n: string) => `query Whole${n} { issues(first: 100) { nodes { id key${n}: key title description teamId
    team { name code iconCss color } reporter { displayName avatarUrl } statusId priority assigneeUserAccountIds labelIds
    status { id name description color category position isInitial isTerminal } project { id teamId name key iconCss color }
    delivery { id number name startsOn endsOn state issueCount closedIssueCount } assignees { userAccountId displayName }
    labels { id isGroup name color groupName } commentCount subIssueCount linkCount estimateValue dueDate
    createdUtc updatedUtc lastActivityUtc lastCommentUtc closedUtc isSubscribed } pageInfo { hasNextPage } } }`,
  W3: (n: string) => `query One${n} { issue(key: "WEB-1") { id key${n}: key title description priority dueDate
    createdUtc updatedUtc commentCount isSubscribed team { id code name } status { id name color category }
    project { id key name } primaryAssignee { userAccountId displayName } labels { id name color }
    comments(first: 20) { nodes { id bodyText isEdited createdUtc author { userAccountId displayName } }
      pageInfo { hasNextPage } } } }`,
};
const names = Object.keys(shapes) as (keyof typeof shapes)[];

/** Finding 7: many different documents at once on a busy machine, and what a new document costs. */
export async function newDocuments(target: Target): Promise<Figure[]> {
  return [await burstOfDocuments(target), ...(await costOfNewDocuments(target))];
}

async function burstOfDocuments(target: Target): Promise<Figure> {
  const [program, args] = onAllCores(process.execPath, ['-e', 'for (;;);']);
  const busy = [0, 1].map(() => spawn(program, args, { stdio: 'ignore' }));
  try {
    const answers = await Promise.all(
      Array.from({ length: burst }, (_, n) => {
        const shape = shapes[names[n % names.length] ?? 'W1'];
        return graphql(target, { query: shape(`Burst${n}`) });
      }),
    );
    const refused = answers.filter(({ status }) => status === 503).length;
    const good = answers.filter(({ status, body }) => status === 200 && body.startsWith('{"data"')).length;
    const longest = Math.max(...answers.map(({ ms: took }) => took));
    return {
      what: `7. ${burst} different documents at once beside two busy processes`,
      measured: `${good} answered, ${refused} × 503, the longest ${ms(longest)}`,
      holds: good === burst,
    };
  } finally {
    for (const process of busy) process.kill('SIGKILL');
  }
}

const bounds = { W1: 2, W2: 2, W3: 4 } as const;

/** Alternates cold and warm requests, so that the load of the machine affects both alike. */
async function costOfNewDocuments({ service, token }: Target): Promise<Figure[]> {
  const client = new Client(service.url, token);
  const timeOf = async (query: string) => {
    const { ms: took, body } = await client.send({ method: 'POST', path: '/graphql', body: { query } });
    if (!body.startsWith('{"data"')) throw new Error(body.slice(0, 500));
    return took;
  };
  const figures: Figure[] = [];
  for (const name of names) {
    const warm = shapes[name]('Warm');
    for (let n = 0; n < repeats; n++) await timeOf(warm);
    const [colds, warms]: [number[], number[]] = [[], []];
    for (let n = 0; n < repeats; n++) {
      colds.push(await timeOf(shapes[name](`Cold${n}`)));
      warms.push(await timeOf(warm));
    }
    const [cold, known] = [quantile(colds, 0.5), quantile(warms, 0.5)];
    figures.push({
      what: `7. ${name}, a new document against a known one`,
      measured: `${ms(cold)} against ${ms(known)}: ${(cold / known).toFixed(1)} times`,
      holds: cold <= bounds[name] * known,
    });
  }
  client.close();
  return figures;
}
