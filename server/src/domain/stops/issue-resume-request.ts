import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { listOwnerCredentials } from '../wallets/list-credentials.ts'
import { SIGNING_REQUEST_MS } from '../wallets/signing-fence.ts'
import type { SigningRequest } from '../wallets/signing-request.ts'
import { formatStatement } from './resume-statement.ts'
import { selectSuspended, walletOf } from './select-suspended.ts'

/** What to resume: of a stop, what one passkey can sign for. One grant can be signed for by any owner of its wallet. */
export type ResumeRequest = { readonly stopId: string; readonly credentialId: string } | { readonly grantId: string }

/**
 * Prepares the statement with which an owner resumes suspended grants. Nothing is stored: `resumeGrants` makes the same
 * statement again, and the signature has no effect if anything in it has changed.
 *
 * Errors: those of `selectSuspended`; 409 `signer_not_configured`.
 */
export async function issueResumeRequest(
  ctx: Pick<Context, 'db' | 'clock' | 'signer'>,
  { workspaceId, ...asked }: ResumeRequest & { workspaceId: string },
): Promise<SigningRequest> {
  if (ctx.signer === null) throw problem('signer_not_configured')
  const credentialId = 'stopId' in asked ? asked.credentialId : ''
  const { stop, grants } = await selectSuspended(ctx, { ...asked, workspaceId, credentialId })
  const owners = await listOwnerCredentials(ctx, walletOf(grants[0]))
  const expiresAt = new Date(ctx.clock.now().getTime() + SIGNING_REQUEST_MS)
  return {
    payload: formatStatement(grants, { workspaceId, stopId: stop?.id ?? null, expiresAt }),
    expiresAt,
    // Another passkey may own other wallets of the stop, and would have to sign another statement.
    credentials: stop === null ? owners : owners.filter(({ id }) => id === credentialId),
    before: null,
  }
}
