import { statusCategory } from '../../model/codes.ts';

/** The category of a status: its rank is the category and its position in one number. */
export function categoryOf(statusRank: number): number {
  return Math.floor(statusRank / 10_000);
}

export function isTerminal(statusRank: number): boolean {
  const category = categoryOf(statusRank);
  return category === statusCategory.completed || category === statusCategory.canceled;
}
