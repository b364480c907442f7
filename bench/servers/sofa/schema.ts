import SchemaBuilder from '@pothos/core';
import { GraphQLError } from 'graphql';
import { typeId } from '../type-id.ts';
import { type Row, rows } from '../plain/database.ts';
import type { Context } from '../plain/loaders.ts';
import { richText } from '../plain/rich-text.ts';

// sofa selects all fields of the type that a route returns, so the types have the form of the REST API.

const builder = new SchemaBuilder<{
  Context: Context;
  Scalars: { DateTime: { Input: never; Output: Date }; RichText: { Input: never; Output: unknown } };
}>({});
builder.scalarType('DateTime', { serialize: (value) => value.toISOString() });
builder.scalarType('RichText', { serialize: (value) => value });

const Comment = builder.objectRef<Row>('Comment').implement({
  fields: (t) => ({
    id: t.string({ resolve: (comment) => typeId('comment', comment['id']) }),
    parentCommentId: t.string({
      resolve: (comment) =>
        comment['parent_comment_id'] ? typeId('comment', comment['parent_comment_id']) : '',
    }),
    authorUserAccountId: t.string({
      resolve: (comment) => typeId('user', comment['author_user_account_id']),
    }),
    authorDisplayName: t.string({
      resolve: async (comment, _, { loaders }) =>
        (await loaders.member.load(comment['author_user_account_id']))['display_name'],
    }),
    authorAvatarUrl: t.string({
      resolve: async (comment, _, { loaders }) =>
        (await loaders.member.load(comment['author_user_account_id']))['avatar_url'] ?? '',
    }),
    parentAuthorDisplayName: t.string({
      resolve: async (comment, _, { loaders }) =>
        comment['parent_author_user_account_id']
          ? (await loaders.member.load(comment['parent_author_user_account_id']))['display_name']
          : '',
    }),
    body: t.field({ type: 'RichText', resolve: (comment) => richText(comment['body']) }),
    canManage: t.boolean({
      resolve: (comment, _, { caller }) =>
        caller.managesAll || comment['author_user_account_id'] === caller.userAccountId,
    }),
    isEdited: t.exposeBoolean('is_edited'),
    createdUtc: t.expose('created_utc', { type: 'DateTime' }),
    updatedUtc: t.expose('updated_utc', { type: 'DateTime' }),
  }),
});

interface Page {
  readonly results: Row[];
  readonly pageSize: number;
  readonly issueId: string;
}

const Pagination = builder.objectRef<Page>('Pagination').implement({
  fields: (t) => ({
    pageSize: t.exposeInt('pageSize'),
    cursor: t.string({ resolve: () => '' }),
    nextCursor: t.string({
      resolve: ({ results, pageSize }) =>
        results.length > pageSize ? String(results[pageSize - 1]?.['id']) : '',
    }),
    hasMore: t.boolean({ resolve: ({ results, pageSize }) => results.length > pageSize }),
    returnedCount: t.int({ resolve: ({ results, pageSize }) => Math.min(results.length, pageSize) }),
    totalCount: t.int({ resolve: ({ issueId }, _, { loaders }) => loaders.commentTotals.load(issueId) }),
  }),
});

const CommentPage = builder.objectRef<Page>('CommentPage').implement({
  fields: (t) => ({
    results: t.field({ type: [Comment], resolve: ({ results, pageSize }) => results.slice(0, pageSize) }),
    pagination: t.field({ type: Pagination, resolve: (page) => page }),
  }),
});

builder.queryType({
  fields: (t) => ({
    comments: t.field({
      type: CommentPage,
      args: { key: t.arg.string({ required: true }), page_size: t.arg.int({ required: true }) },
      resolve: async (_, { key, page_size: pageSize }, { caller, loaders }) => {
        if (!caller.scopes.has('issues:read')) throw new GraphQLError('The token lacks issues:read.');
        const [code, number] = key.toUpperCase().split('-');
        const [issue] = await rows(
          `select i.id from issue i join team t on t.workspace_id = $1 and t.id = i.team_id
           where i.workspace_id = $1 and t.code = $2 and i.number = $3 and i.deleted_utc is null`,
          [caller.workspaceId, code, number],
        );
        if (!issue)
          throw new GraphQLError('There is no such issue.', { extensions: { http: { status: 404 } } });
        const results = await loaders.commentsOfIssue({ first: pageSize + 1 }).load(issue['id']);
        return { results, pageSize, issueId: issue['id'] };
      },
    }),
  }),
});

export const schema = builder.toSchema();
