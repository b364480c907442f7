import { memberRole } from '../../model/codes.ts';
import type { Principal } from '../context.ts';

/** Whether a member is a manager: an owner or an admin of the workspace. */
export function isManager({ role }: Pick<Principal, 'role'>): boolean {
  return role <= memberRole.admin;
}
