import type { App } from '../support/app.ts';

/** Clients that write one after the other, each of its own kind, until they are stopped. */
export function writers(app: App, issueKey: string, token: string) {
  const stopping = new AbortController();
  const wrote = { comments: 0 };
  const again = async (write: () => Promise<void>) => {
    while (!stopping.signal.aborted) await write();
  };
  const begun = Promise.withResolvers<void>();
  const comments = again(async () => {
    const { status } = await app.request('POST', `/v1/issues/${issueKey}/comments`, {
      token,
      body: { body: 'x' },
    });
    if (status !== 201) throw new Error(`A comment was answered ${status}.`);
    wrote.comments += 1;
    if (wrote.comments === 3) begun.resolve();
  });
  const files = again(async () => {
    const announced = await app.graphql<{
      attachmentCreate: { uploadUrl: string; attachment: { id: string } };
    }>(
      `mutation { attachmentCreate(input: { issueKey: "${issueKey}", fileName: "a.bin", contentType: "", sizeBytes: 3 }) {
        uploadUrl attachment { id } } }`,
      {},
      { token },
    );
    const { uploadUrl = '', attachment } = announced.body.data?.attachmentCreate ?? {};
    await fetch(uploadUrl, { method: 'PUT', body: 'abc' });
    await app.graphql(
      `mutation { attachmentDelete(input: { id: "${attachment?.id}" }) { deletedId: id } }`,
      {},
      { token },
    );
  });
  const all = Promise.all([comments, files]);
  all.catch(() => begun.resolve());
  return {
    begun: begun.promise,
    stop: async () => {
      stopping.abort();
      await all;
      return wrote;
    },
  };
}
