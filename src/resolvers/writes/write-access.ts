import { memberRole } from '../../model/codes.ts';
import { type Context, type Principal, type SignedIn, signedIn } from '../context.ts';
import { raise } from '../errors.ts';

/** The context of somebody who may change issues; guests read and comment only. */
export function contributor(ctx: Context): SignedIn {
  const context = signedIn(ctx);
  if (context.principal.role === memberRole.guest) raise('forbidden', 'Guests read and comment only.');
  return context;
}

/** May the principal change or delete what this author wrote: the author, owners and admins may. */
export function mayManage(principal: Principal, authorUserAccountId: string): boolean {
  return principal.userAccountId === authorUserAccountId || principal.role <= memberRole.admin;
}
