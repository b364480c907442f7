import { ranksPerCategory, statusCategory } from '../../model/codes.ts';

/** The category of a status. */
export function categoryOf(statusRank: number): number {
  return Math.floor(statusRank / ranksPerCategory);
}

export function isTerminal(statusRank: number): boolean {
  return isTerminalCategory(categoryOf(statusRank));
}

/** Whether issues in a status of this category are closed. */
export function isTerminalCategory(category: number): boolean {
  return category === statusCategory.completed || category === statusCategory.canceled;
}
