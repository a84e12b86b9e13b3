import { hash } from 'node:crypto'
import { gathered } from '../../db/gathered-query.ts'
import type { Transaction } from '../../db/transaction.ts'
import { hashSecret, isSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import { recordConnectionError } from '../connection-errors/record-connection-error.ts'
import type { Context } from '../context.ts'
import { countCodeFailure, findCode, lockConnectionOfCode, type CodeProof, type StoredCode } from './codes-store.ts'
import { CODE_FAILURES_MAX } from './limits.ts'
import { takeCodesAndIssue, type Exchange } from './issue-at-once-store.ts'
import { createTokens, issueAtOnce, toTokens } from './issue-tokens.ts'
import { revokeReplayed } from './revoke-replayed.ts'
import { CODE_REFUSED, RESOURCE_REFUSED, type TokenRefusal, type Tokens } from './tokens.ts'

/** The form of a PKCE verifier: 43 to 128 unreserved characters (RFC 7636, section 4.1). */
const CODE_VERIFIER_PATTERN = /^[A-Za-z0-9._~-]{43,128}$/
/** Used as the challenge of a malformed verifier. No stored code has an empty challenge. */
const NO_CHALLENGE = ''

/**
 * Exchanges that arrive together share a statement. A second use of a code has to come after the first one, so the two
 * never share a statement.
 */
const EXCHANGE_TOGETHER = gathered({
  isDurable: true,
  keyOf: ({ secretHash }: Exchange) => secretHash.toString('latin1'),
  queryOf: takeCodesAndIssue,
})

/**
 * Exchanges an authorization code for tokens, once (D38). A second exchange with all the right parameters revokes the
 * connection, because then two parties have the code. An exchange with a wrong client, redirect URI or verifier revokes
 * nothing, but the fifth such exchange ends the code. Takes one round trip to the database. If the exchange is
 * refused, it takes three more, to find the reason and to record it.
 */
export async function exchangeCode(
  ctx: Pick<Context, 'db' | 'deferredWrites' | 'clock' | 'cell'>,
  {
    code,
    clientId,
    redirectUri,
    codeVerifier,
    resource,
  }: { code: string; clientId: string; redirectUri: string; codeVerifier: string; resource: string | null },
): Promise<Tokens | TokenRefusal> {
  if (!isSecret(SECRET_PREFIXES.authorizationCode, code)) return CODE_REFUSED
  const codeHash = hashSecret(code)
  const proof: CodeProof = { clientId, redirectUri, codeChallenge: challengeOf(codeVerifier), resource }
  const now = ctx.clock.now()
  const created = createTokens(now, ctx.cell)
  const item = { secretHash: codeHash, ...proof, ...created.stored }
  const atOnce = await issueAtOnce(ctx, EXCHANGE_TOGETHER, item)
  if (atOnce !== null) return toTokens(created, atOnce, null)
  const outcome = await ctx.db.transaction(async (transaction) => {
    const [, [granted = null], stored] = await transaction.batch([
      lockConnectionOfCode(codeHash),
      takeCodesAndIssue([item]),
      findCode(codeHash, now),
    ])
    if (granted !== null) return toTokens(created, granted, null)
    return stored === null ? CODE_REFUSED : await refuse(transaction, { code: stored, codeHash, proof, now })
  })
  if (outcome.kind === 'refused') {
    const attempt = { kind: 'code', error: outcome.error, ...proof, failuresMax: CODE_FAILURES_MAX } as const
    await recordConnectionError(ctx, { hash: codeHash, attempt })
  }
  return outcome
}

function challengeOf(codeVerifier: string): string {
  return CODE_VERIFIER_PATTERN.test(codeVerifier) ? hash('sha256', codeVerifier, 'base64url') : NO_CHALLENGE
}

async function refuse(
  transaction: Transaction,
  { code, codeHash, proof, now }: { code: StoredCode; codeHash: Buffer; proof: CodeProof; now: Date },
): Promise<TokenRefusal> {
  if (!matchesProof(code, proof)) {
    await transaction.commit([countCodeFailure(codeHash)])
    return CODE_REFUSED
  }
  if (code.isTaken && !code.isRevoked) {
    await revokeReplayed(transaction, { connection: code, clientId: code.clientId, cause: 'code_replay', now })
  }
  return code.isLive ? RESOURCE_REFUSED : CODE_REFUSED
}

function matchesProof(code: StoredCode, proof: CodeProof): boolean {
  return (
    code.clientId === proof.clientId &&
    code.redirectUri === proof.redirectUri &&
    code.codeChallenge === proof.codeChallenge
  )
}
