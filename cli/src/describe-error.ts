import {
  AbortedError,
  ApiError,
  AuthenticationError,
  BursarError,
  ConnectionError,
  IdempotencyMismatchError,
  TimeoutError,
} from 'bursar'
import type { Cli } from './cli.ts'
import { CliError, type CliErrorOptions } from './cli-error.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { cleanLine } from './output/clean-text.ts'
import { stoppedCode, stopSignal } from './signals.ts'

/** The exit code by error code, for errors whose type alone would give the wrong exit code. */
const EXIT_BY_CODE: Readonly<Record<string, ExitCode>> = {
  insufficient_scope: EXIT.signIn,
  api_key_required: EXIT.signIn,
  permission_not_found: EXIT.refused,
  price_too_high: EXIT.refused,
  payment_option_unsupported: EXIT.refused,
  payment_protocol_unknown: EXIT.refused,
  resource_redirected: EXIT.refused,
  challenge_already_paid: EXIT.refused,
}
const EXIT_BY_TYPE: Readonly<Record<string, ExitCode>> = {
  validation_failed: EXIT.usage,
  payload_too_large: EXIT.usage,
  unauthenticated: EXIT.signIn,
  forbidden: EXIT.refused,
}

/** What a command knows about its call, to say what to do after an error. */
export interface FailedCall {
  /** The command that repeats the call safely, with its idempotency key. Missing if the call does not pay. */
  readonly retry?: readonly string[]
}

/** Turns an error of the client into one of the command line. Every other error is returned unchanged. */
function describeError(error: unknown, cli: Cli, { retry }: FailedCall = {}): unknown {
  if (!(error instanceof BursarError)) return error
  // If the credential could not be refreshed, the request was not sent, and the cause of this error says more.
  const reason = findCliError(error)
  if (reason !== null) return reason
  const isUnknown = error.outcome === 'unknown'
  const exitCode = isUnknown && !(error instanceof TimeoutError) ? unknownExit(error) : exitOf(error)
  const next = nextAfter(error, cli, { isUnknown, exitCode, ...(retry === undefined ? {} : { retry }) })
  const options: CliErrorOptions = {
    exitCode,
    code: codeOf(error),
    details: 'details' in error ? error.details : undefined,
    requestId: error.requestId ?? undefined,
    hint: hintFor(error, { isUnknown, isSignIn: exitCode === EXIT.signIn }),
    next,
    answer: answerOf(error),
    cause: error,
  }
  return new CliError(cleanLine(error.message), options)
}

function isApiError(error: unknown): error is ApiError {
  return error instanceof ApiError
}

/** Runs a call, and turns the errors of the client into those of the command line. */
export async function callService<Result>(
  cli: Cli,
  call: () => Promise<Result>,
  failed: FailedCall = {},
): Promise<Result> {
  try {
    return await call()
  } catch (error) {
    throw describeError(error, cli, failed)
  }
}

function findCliError({ cause }: BursarError): CliError | null {
  return cause instanceof CliError ? cause : null
}

function unknownExit(error: BursarError): ExitCode {
  return error instanceof AbortedError && stopSignal.aborted ? stoppedCode() : EXIT.failure
}

function exitOf(error: BursarError): ExitCode {
  if (error instanceof TimeoutError) return EXIT.timeout
  if (error instanceof AbortedError) return stoppedCode()
  if (!isApiError(error)) return EXIT.failure
  return EXIT_BY_CODE[error.code ?? ''] ?? EXIT_BY_TYPE[error.type] ?? EXIT.failure
}

function codeOf(error: BursarError): string {
  if (error instanceof TimeoutError) return 'timeout'
  if (error instanceof AbortedError) return 'interrupted'
  if (error instanceof ConnectionError) return 'unreachable'
  if (error instanceof IdempotencyMismatchError) return 'idempotency_mismatch'
  return isApiError(error) ? (error.code ?? error.type) : 'internal'
}

function answerOf(error: BursarError): Readonly<Record<string, unknown>> {
  return {
    ...(error.idempotencyKey === null ? {} : { idempotency_key: error.idempotencyKey, outcome: error.outcome }),
    ...(error instanceof IdempotencyMismatchError ? { payment: error.payment } : {}),
  }
}

function nextAfter(
  error: BursarError,
  cli: Cli,
  { isUnknown, exitCode, retry }: FailedCall & { readonly isUnknown: boolean; readonly exitCode: ExitCode },
): readonly string[] | null {
  if (isUnknown) return retry ?? null
  if (error instanceof IdempotencyMismatchError) {
    return error.payment === null ? null : cli.next('payments', 'get', error.payment.id)
  }
  if (exitCode === EXIT.signIn) return cli.next('doctor')
  if (isApiError(error) && error.code === 'agent_not_authorized') return cli.next('me')
  if (exitCode === EXIT.refused) return cli.next('wallets')
  if (exitCode === EXIT.usage) return null
  return retry ?? null
}

function hintFor(
  error: BursarError,
  { isUnknown, isSignIn }: { readonly isUnknown: boolean; readonly isSignIn: boolean },
): string | undefined {
  if (isUnknown) return 'The payment may have been made. Repeat it with the same key: that never pays twice.'
  if (error instanceof IdempotencyMismatchError) return 'One key is one payment. Use a new key for a new payment.'
  if (error instanceof ConnectionError) return 'Check the address, and whether the service runs.'
  if (error instanceof AuthenticationError) return 'Sign in again with `bursar login`, or check the key.'
  if (isSignIn) return 'Sign in again with `bursar login` and more scopes, or use another API key.'
  if (!isApiError(error)) return undefined
  if (error.code === 'permission_not_found') return GRANT_HINTS[error.details?.reason ?? '']
  if (error.code === 'evidence_not_ready' || error.code === 'evidence_unavailable') {
    const hint = EVIDENCE_HINTS[error.details?.reason ?? '']
    const retryAt = error.code === 'evidence_not_ready' ? (error.details?.retry_at ?? null) : null
    return hint === undefined || retryAt === null ? hint : cleanLine(`${hint} Try again after ${retryAt}.`)
  }
  return describeDetails(error.details)
}

/** What to do if there is no active grant, by the reason in the details. */
const GRANT_HINTS: Readonly<Record<string, string>> = {
  none: 'The agent has no grant on this wallet. The owner of the wallet can create one in the dashboard.',
  pending: 'The grant is not signed yet. The owner of the wallet can sign it in the dashboard.',
  suspended: 'The grant is suspended. The owner of the wallet can resume it in the dashboard.',
  revoked: 'The grant was revoked. The owner of the wallet can create a new one in the dashboard.',
}

/** Why there is no evidence of a payment, or not yet, by the reason in the details. */
const EVIDENCE_HINTS: Readonly<Record<string, string>> = {
  payment_pending: 'The payment is still pending. There is evidence when it is confirmed or has failed.',
  log_behind: 'The payment is being written to the transparency log. Try again in a few seconds.',
  signature_usable:
    'An owner signed only a few minutes ago. The evidence contains the signature, so there is none until nobody can use the signature any more.',
  not_logged: 'The payment was made before the service had a transparency log.',
  too_large: 'The owners of the wallet changed so often that the evidence would be too large.',
  names_other_agents:
    'An owner resumed the grant together with those of other agents. Use an API key that is bound to no agent.',
}

/** Turns the details of a refusal into a sentence, which says for example what amount is possible. */
function describeDetails(details: unknown): string | undefined {
  if (Array.isArray(details)) {
    const issues = details.flatMap((issue: unknown) =>
      typeof issue === 'object' && issue !== null && 'message' in issue ? [String(issue.message)] : [],
    )
    return issues.length === 0 ? undefined : cleanLine(issues.join(' '))
  }
  if (typeof details !== 'object' || details === null) return undefined
  const known = Object.entries(details).flatMap(([name, value]) => {
    const words = DETAIL_WORDS[name]
    return words === undefined || typeof value !== 'string' ? [] : [`${words} ${value}`]
  })
  const sentence = cleanLine(known.join(', '))
  return sentence === '' ? undefined : `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`
}

const DETAIL_WORDS: Readonly<Record<string, string>> = {
  requested: 'requested',
  max_per_tx_usdc: 'at most for each payment',
  daily_cap_usdc: 'limit in 24 hours',
  remaining_24h_usdc: 'remaining now',
  resets_at: 'possible from',
  balance_usdc: 'balance',
  pending_usdc: 'of which pending',
  expires_at: 'expired at',
  required_scope: 'required scope',
  reason: 'reason:',
  price_usdc: 'price',
  max_amount_usdc: 'your maximum',
}
