import type { Answer } from '../support/app.ts';
import type { SharedApp } from '../support/shared-app.ts';

/** The body of a REST list. */
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

/** Reads all pages of a list by following `nextCursor`. */
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
