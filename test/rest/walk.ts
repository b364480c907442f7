import type { Answer } from '../support/app.ts';
import type { SharedApp } from '../support/shared-app.ts';

/** A list as REST answers with it. */
export interface ListBody {
  results: Record<string, unknown>[];
  pagination: {
    pageSize: number;
    cursor: string;
    nextCursor: string;
    hasMore: boolean;
    returnedCount: number;
    totalCount: number;
  };
}

/** All pages of a list, each asked for with the `nextCursor` of the one before. */
export async function walk(app: SharedApp, path: string): Promise<Answer<ListBody>[]> {
  const pages: Answer<ListBody>[] = [];
  let cursor = '';
  do {
    const joint = path.includes('?') ? '&' : '?';
    const page = await app.request<ListBody>('GET', `${path}${joint}cursor=${encodeURIComponent(cursor)}`);
    if (page.status !== 200) throw new Error(`${path}: ${page.status} ${JSON.stringify(page.body)}`);
    pages.push(page);
    cursor = page.body.pagination.nextCursor;
  } while (cursor !== '');
  return pages;
}
