import { ranksPerCategory, statusCategory } from '../../model/codes.ts';

/** The category of a status. */
export function categoryOf(statusRank: number): number {
  return Math.floor(statusRank / ranksPerCategory);
}

export function isTerminal(statusRank: number): boolean {
  const category = categoryOf(statusRank);
  return category === statusCategory.completed || category === statusCategory.canceled;
}
