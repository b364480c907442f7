import type { Random } from '../support/random.ts';
import type { RandomWrite } from './random-queries.ts';
import type { ModelObject, Model } from './model.ts';

/** Makes writes of every kind, based on the initial content of a workspace. Most succeed, some are refused. */
export class RandomWrites {
  readonly #model: Model;
  readonly #random: Random;

  constructor(model: Model, random: Random) {
    this.#model = model;
    this.#random = random;
  }

  /** One write, or two of different issues, since objects of one issue are distinguished by their time of creation. */
  writes(): RandomWrite[] {
    const issues = this.#random.sample(this.#model.all('Issue'), this.#random.chance(0.3) ? 2 : 1);
    return issues.map((issue) => this.#write(issue));
  }

  #write(issue: ModelObject): RandomWrite {
    const name = this.#random.weighted({
      issueCreate: 4,
      issueUpdate: 5,
      issueBatchUpdate: 1,
      issueDelete: 0.1,
      issueRestore: 0.2,
      issueSubscribe: 1,
      issueUnsubscribe: 1,
      commentCreate: 4,
      commentUpdate: 1,
      commentDelete: 0.3,
      issueLinkCreate: 1,
      issueLinkDelete: 0.3,
      agentMessageCreate: 1,
    });
    return { name, input: this.#input(name, issue) };
  }

  #input(name: string, issue: ModelObject): Record<string, unknown> {
    const key = this.#random.chance(0.05) ? 'ENG-0' : this.#random.pick([issue.key, issue.id]);
    const text = this.#text();
    switch (name) {
      case 'issueCreate':
        return { teamId: issue.teamId, title: text, ...this.#fields(issue) };
      case 'issueUpdate':
        return { key, ...this.#revision(issue), ...this.#fields(issue), priority: this.#priority() };
      case 'issueBatchUpdate':
        return { keys: [key, this.#random.pick(this.#model.all('Issue')).key], title: text };
      case 'commentCreate':
        return {
          issueKey: key,
          body: text,
          ...this.#maybe('parentCommentId', this.#on('Comment', issue)?.id),
        };
      case 'commentUpdate':
        return { ...this.#object('Comment', issue), body: text };
      case 'commentDelete':
        return this.#object('Comment', issue);
      case 'issueLinkCreate':
        return { issueKey: key, url: `https://example.com/${this.#random.integer(1, 5)}`, title: text };
      case 'issueLinkDelete':
        return this.#object('IssueLink', issue);
      case 'agentMessageCreate':
        return { issueKey: key, body: text };
      default:
        return { key };
    }
  }

  /** Random fields of an issue, which mostly refer to objects that fit its team. */
  #fields({ teamId }: ModelObject): Record<string, unknown> {
    const ofTeam = (typeName: string) => {
      const fits = (each: ModelObject) => each.teamId === teamId || each.teamId === null;
      const all = this.#model.all(typeName);
      return this.#random.chance(0.95) ? all.filter(fits) : all;
    };
    const members = this.#model.all('Member');
    const able = members.filter(({ status }) => status === 'ACTIVE' || status === 'INVITED');
    const people = (this.#random.chance(0.95) ? able : members).map(({ userAccountId }) => userAccountId);
    return {
      ...this.#maybe('description', this.#text()),
      ...this.#maybe('statusId', this.#random.find(ofTeam('IssueStatus'))?.id),
      ...this.#maybe('primaryAssigneeUserAccountId', this.#random.find([null, ...people])),
      ...this.#maybe('assigneeUserAccountIds', this.#random.sample(people, 2)),
      ...this.#maybe('projectId', this.#random.find(this.#model.all('Project'))?.id ?? null),
      ...this.#maybe('deliveryId', this.#random.find(ofTeam('Delivery'))?.id ?? null),
      ...this.#maybe('estimateValue', this.#random.chance(0.05) ? -1 : this.#random.pick([null, 0, 3, 8])),
      ...this.#maybe('dueDate', this.#random.pick([null, '2026-02-28'])),
      ...this.#maybe(
        'labelIds',
        this.#random
          .sample(
            ofTeam('Label').filter(({ isGroup }) => !isGroup),
            3,
          )
          .map(({ id }) => id),
      ),
      ...this.#maybe(
        'parentIssueId',
        this.#random.pick([null, this.#random.pick(this.#model.all('Issue')).id]),
      ),
      ...this.#maybe('roleAssignments', [{ role: 'Reviewer', userAccountId: this.#random.pick(people) }]),
    };
  }

  #maybe(name: string, value: unknown): Record<string, unknown> {
    return value !== undefined && this.#random.chance(0.3) ? { [name]: value } : {};
  }

  #revision({ revision }: ModelObject): Record<string, unknown> {
    return this.#random.chance(0.1) ? { expectedRevision: revision } : {};
  }

  #on(typeName: string, issue: ModelObject): ModelObject | undefined {
    return this.#random.find(this.#model.where(typeName, 'issueId', issue.id));
  }

  #object(typeName: string, issue: ModelObject): Record<string, unknown> {
    const one = this.#on(typeName, issue) ?? this.#random.pick(this.#model.all(typeName));
    return { id: one.id, ...this.#maybe('issueKey', issue.key) };
  }

  #priority(): string {
    return this.#random.pick(['NONE', 'URGENT', 'HIGH', 'MEDIUM', 'LOW']);
  }

  #text(): string {
    if (this.#random.chance(0.03)) return '';
    return this.#random.pick(['Plain', ' Spaces round it ', 'Two\nlines', '"Quotes" and \\', 'Ünïcödé 🦊']);
  }
}
