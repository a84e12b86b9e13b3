import type { DetailsOption } from './problem-details.ts'

/**
 * Every error that the service sends: the HTTP status of each type (D6), and the sentence of each code (specification,
 * part 7). A function of the domain throws a `Problem`, and the HTTP server's error handler turns it into the response.
 */
export const PROBLEM_STATUS = {
  validation_failed: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  misdirected: 421,
  rate_limited: 429,
  internal: 500,
  bad_gateway: 502,
  unavailable: 503,
} as const

export type ProblemType = keyof typeof PROBLEM_STATUS

/**
 * Error codes, which are more specific than types. Each has its type and the sentence that the caller reads. The
 * sentences contain no personal data.
 */
export const PROBLEM_CODES = {
  amount_invalid: [
    'validation_failed',
    'An amount is not valid: it must be a positive decimal with at most 6 decimal places. details names the field.',
  ],
  address_invalid: [
    'validation_failed',
    'An address is not valid: it is malformed, or it is the zero address or the USDC contract. details names the field.',
  ],
  agent_cap_reached: [
    'validation_failed',
    "The workspace has reached its plan's limit of agents. Delete an agent, or ask the server operator for a larger plan.",
  ],
  wallet_cap_reached: [
    'validation_failed',
    "The workspace has reached its plan's limit of wallets. To create more, ask the server operator for a larger plan.",
  ],
  https_required: ['forbidden', 'This request and its credential were sent unencrypted. Use HTTPS.'],
  amount_too_large: [
    'forbidden',
    "The amount is over the grant's per-payment limit. Pay less, or ask the owner of the wallet for a grant with a higher limit.",
  ],
  daily_cap_exceeded: [
    'forbidden',
    "The payment would exceed the grant's 24-hour limit. details.remaining_24h_usdc can be paid now, and details.resets_at says when this amount will fit.",
  ],
  recipient_not_allowed: [
    'forbidden',
    "The recipient is not on the grant's list of allowed recipients. Check the address, or ask the owner of the wallet for a grant that allows it.",
  ],
  contract_not_allowed: [
    'forbidden',
    "The grant does not allow this server's USDC contract. Ask the owner of the wallet for a new grant.",
  ],
  permission_expired: ['forbidden', 'The grant has expired. Ask the owner of the wallet for a new grant.'],
  purchases_not_allowed: [
    'forbidden',
    'The grant does not allow purchases. Ask the owner of the wallet to replace it with a grant that does.',
  ],
  idempotency_key_in_header: [
    'validation_failed',
    'The idempotency key was sent as a header, where it has no effect. A retry could pay twice, so the request was rejected and nothing was paid. Send the key in the body as idempotency_key, or remove the header.',
  ],
  insufficient_balance: [
    'forbidden',
    'The wallet does not have enough USDC for this payment. Pay less, or send USDC to the wallet.',
  ],
  insufficient_gas: [
    'forbidden',
    "The wallet does not have enough of the chain's native coin to pay for gas. Send some of it to the wallet.",
  ],
  plan_cap_exceeded: [
    'forbidden',
    "The plan's monthly allowance of live payments is used up. Wait until next month, or ask the server operator for a larger plan.",
  ],
  storage_full: [
    'forbidden',
    'The workspace has no room to keep another response of a seller, so nothing was paid. Each response is kept for 24 hours. Retry later, or ask the server operator for a larger plan.',
  ],
  agent_not_found: [
    'not_found',
    'There is no agent with this id in this workspace and mode. Check the id, and whether the agent is in test or live mode.',
  ],
  has_active_grants: ['conflict', 'The agent still has grants that are not revoked. Revoke them first.'],
  wallet_not_found: [
    'not_found',
    'There is no wallet with this address in this workspace and mode. Check the address, and whether the wallet is in test or live mode.',
  ],
  permission_not_found: [
    'not_found',
    'The agent has no active grant on this wallet; details.reason says why. Ask the owner of the wallet to sign or resume a grant.',
  ],
  grant_exists: ['conflict', 'The agent already has a grant on this wallet. Replace it, or revoke it first.'],
  grant_limit_reached: ['conflict', 'The wallet has reached its limit of grants. Revoke another grant first.'],
  grant_not_pending: ['conflict', 'The grant is no longer waiting for a signature. Reload the page to see its status.'],
  grant_not_active: [
    'conflict',
    'Only an active grant can be suspended, resumed or replaced. Reload the page to see its status.',
  ],
  grant_not_suspended: ['conflict', 'The grant is not suspended, so there is nothing to resume. Reload the page.'],
  grant_revoked: ['conflict', 'The grant is revoked, and stays so. Create a new grant.'],
  signer_not_configured: [
    'conflict',
    'This service has no signer page, so owners cannot sign. Ask its operator to set SIGNER_URL.',
  ],
  evidence_not_ready: [
    'conflict',
    'There is no evidence of this payment yet. details.reason says what it waits for. Retry after the time in the Retry-After header.',
  ],
  evidence_unavailable: [
    'conflict',
    'There is no evidence of this payment for this credential, and there will be none. details.reason says why.',
  ],
  signing_request_expired: ['conflict', 'The signing request has expired and nothing was changed. Sign again.'],
  signing_request_stale: [
    'conflict',
    'Before you signed, the grants changed or a newer signing request was created. Your signature had no effect. Check the terms and sign again.',
  ],
  signer_change_under_way: [
    'conflict',
    "Another change to this wallet's grants is in progress, or its result is not known yet. Try again later.",
  ],
  signature_invalid: [
    'validation_failed',
    "The signature does not match this request. Sign it with the passkey of the wallet's owner.",
  ],
  key_not_rotatable: ['conflict', 'This API key was already rotated or revoked, or it is on hold. Create a new key.'],
  key_not_found: ['not_found', 'There is no API key with this id in this workspace. Reload the page to see the keys.'],
  key_held: [
    'forbidden',
    'This service was restored from a backup, and this API key is on hold. This request did nothing. Keep the key, and ask an owner of the workspace to confirm it on the page API keys of the dashboard. Then repeat the request, a payment with the same idempotency_key.',
  ],
  key_not_held: [
    'conflict',
    'One of these API keys no longer waits for a decision. Another owner may have decided meanwhile. Nothing was changed. Reload the page and check the keys.',
  ],
  own_keys_not_kept: [
    'forbidden',
    'You cannot keep your own API keys when you leave or become a viewer. Ask another admin or owner to rotate the keys first, or to make this change.',
  ],
  key_limit_reached: ['conflict', 'The workspace has reached its limit of API keys in this mode. Revoke one first.'],
  agent_not_authorized: [
    'forbidden',
    'This credential may only pay as its own agent. Send the id of that agent in agent_id; GET /v1/me returns it.',
  ],
  insufficient_scope: [
    'forbidden',
    'The credential does not have the scope that this request needs. Connect again and request this scope, or use an API key that has it.',
  ],
  api_key_required: [
    'forbidden',
    'This endpoint only accepts an API key without restrictions: no OAuth token, and no key that is bound to one agent or has fewer scopes.',
  ],
  cross_origin: ['forbidden', 'The request did not come from this site. Open the dashboard, and try again there.'],
  ceremony_expired: ['validation_failed', 'The passkey request has expired or was already used. Start again.'],
  sign_up_invited_only: [
    'forbidden',
    'You need an invitation to create an account here. Open the link in your invitation and sign up from there.',
  ],
  passkey_unknown: ['unauthenticated', 'No account uses this passkey. Try another passkey, or use a recovery code.'],
  passkey_invalid: ['unauthenticated', 'The passkey could not be verified. Try again.'],
  passkey_counter_went_back: [
    'unauthenticated',
    'This passkey was rejected because its signature counter went back, so somebody may have copied it. Use another passkey or a recovery code, and remove this passkey from your account.',
  ],
  wallet_passkey_counter_went_back: [
    'conflict',
    'Your signature was rejected because the signature counter of this wallet passkey went back, so somebody may have copied the passkey. Nothing was changed. Sign with another passkey that owns the wallet, and remove this one from the owners.',
  ],
  passkey_exists: ['conflict', 'This passkey is already registered. Sign in with it, or create another one.'],
  passkey_not_found: ['not_found', 'This passkey is not in your account. It may have been removed already.'],
  passkey_limit_reached: ['conflict', 'You have reached the limit of passkeys. Remove one first.'],
  passkey_owns_wallets: ['conflict', 'This passkey owns wallets. Remove it from the owners of each wallet first.'],
  owner_exists: ['conflict', 'This passkey already owns the wallet. Choose another one.'],
  owner_not_found: ['not_found', 'This passkey does not own the wallet. It may have been removed already.'],
  owner_limit_reached: ['conflict', 'The wallet has reached its limit of owner passkeys. Remove one first.'],
  last_wallet_owner: ['conflict', 'This is the only passkey that owns the wallet. Add another one first.'],
  owner_request_not_found: [
    'not_found',
    'There is no request with this id in this workspace. It may have expired. Start again on the page of the wallet.',
  ],
  last_passkey: ['conflict', 'This is your only passkey. Add another one first.'],
  session_not_found: ['not_found', 'This session does not exist or has already ended. Reload the page.'],
  recovery_code_invalid: [
    'unauthenticated',
    'The recovery code is not valid or was already used. Check it, or enter another one.',
  ],
  verification_required: [
    'forbidden',
    'This needs a proof that is at most ten minutes old. Confirm with your passkey that it is you.',
  ],
  role_insufficient: ['forbidden', 'Your role in this workspace does not allow this. Ask an owner or admin.'],
  last_owner: ['conflict', 'A workspace needs an owner. Make another member an owner first.'],
  member_not_found: [
    'not_found',
    'There is no member with this id in this workspace. The member may have left. Reload the page.',
  ],
  workspace_limit_reached: [
    'conflict',
    'You have reached the limit of workspaces that one person can belong to. Leave one first.',
  ],
  invitation_not_found: [
    'not_found',
    'This invitation does not exist, was already used or revoked, or has expired. Ask for a new one.',
  ],
  invitation_limit_reached: ['conflict', 'The workspace has reached its limit of open invitations. Revoke one first.'],
  authorization_request_not_found: [
    'not_found',
    'This authorization request does not exist or has expired. Go back to the application and connect again.',
  ],
  authorization_request_decided: [
    'conflict',
    'This authorization request was already answered. To connect again, go back to the application.',
  ],
  connection_not_found: [
    'not_found',
    'There is no connection with this id in this workspace. It may have been revoked. Reload the page.',
  ],
  webhook_not_found: [
    'not_found',
    'There is no webhook endpoint with this id in this workspace. It may have been deleted. Reload the page.',
  ],
  delivery_not_found: [
    'not_found',
    'There is no delivery with this id in this workspace. Reload the list of deliveries.',
  ],
  event_not_found: [
    'not_found',
    'There is no event with this id from the last 30 days in this workspace and mode. Older changes are in the ledger.',
  ],
  endpoint_disabled: ['conflict', 'The webhook endpoint is disabled. Enable it first.'],
  replays_pending: [
    'conflict',
    'Events that were resent to this webhook endpoint earlier are still waiting to be sent. Try again once they have been sent.',
  ],
  endpoint_limit_reached: [
    'conflict',
    'The workspace has reached its limit of webhook endpoints in this mode. Delete one first.',
  ],
  url_not_allowed: [
    'validation_failed',
    'Events cannot be sent to this url. It must be a public HTTPS address; details.reason says what is wrong.',
  ],
  withdrawal_not_found: [
    'not_found',
    'There is no withdrawal with this id to sign in this workspace. Start a new withdrawal.',
  ],
  recipient_not_found: ['not_found', 'This address has no name in this workspace and mode. Reload the page.'],
  recipient_limit_reached: [
    'conflict',
    'The workspace has reached its limit of named recipients in this mode. Remove one first.',
  ],
  view_limit_reached: [
    'conflict',
    'The workspace has reached its limit of saved views in this mode. Delete one first.',
  ],
  faucet_not_available: [
    'not_found',
    'This server has no faucet. Get test USDC from a public faucet. Live USDC must be bought.',
  ],
  resource_url_not_allowed: [
    'validation_failed',
    'The service does not send requests to this URL. It must be a public HTTPS address; details.reason says what is wrong. Nothing was paid.',
  ],
  resource_unreachable: [
    'bad_gateway',
    'The resource did not send a complete response when it was asked for its price. Nothing was paid, so you can retry.',
  ],
  resource_redirected: [
    'validation_failed',
    'The resource redirects to another URL. The request was not repeated there, because that would have changed it into a GET, or sent it to a server that you did not name. Nothing was paid. details.untrusted_location is that URL; to order there, send your request to it.',
  ],
  payment_protocol_unknown: [
    'validation_failed',
    'The resource asks for a payment, but in no protocol that the service knows (x402 version 1 and 2, MPP). Nothing was paid. details.untrusted_body is the beginning of its response.',
  ],
  payment_option_unsupported: [
    'validation_failed',
    'The resource offers no way to pay that the service supports. Nothing was paid. details.skipped lists what it offers, each with the reason.',
  ],
  price_too_high: [
    'validation_failed',
    'The price is above max_amount_usdc. Nothing was paid. If details.price_usdc is acceptable, retry with this maximum.',
  ],
  challenge_already_paid: [
    'conflict',
    'Another purchase already pays this very challenge of the seller. Ask the resource again to get a new one.',
  ],
  rate_limit_exceeded: ['rate_limited', 'Too many requests. Retry after the time in the Retry-After header.'],
  enclave_outcome_unknown: [
    'internal',
    'The enclave did not confirm the change, so it is not known whether the change was made. Check this in a few minutes, before you retry.',
  ],
  wallet_not_created: [
    'internal',
    'The enclave did not respond in time, so no wallet was added to the workspace. If the enclave created a wallet, it stays empty and unused. Create the wallet again.',
  ],
  enclave_refused: [
    'internal',
    "The enclave rejected the request. Nothing was changed. Ask the server operator: the server's log contains the reason.",
  ],
  enclave_record_differs: [
    'internal',
    "The enclave provider's record does not match what was signed. Nothing was changed here. Try again in a few minutes; the server's log names the difference.",
  ],
  workspace_moving: [
    'unavailable',
    'The workspace is being moved to other servers. This request did nothing. Retry after the time in the Retry-After header, a payment with the same idempotency_key.',
  ],
  workspace_moved: [
    'misdirected',
    'The workspace was moved to other servers, and this credential works there. This request did nothing. Ask the server operator for the new address; details.cell names the group of servers.',
  ],
  privy_call_failed: [
    'internal',
    'The call to the enclave failed. If you sent an idempotency_key, retry with the same one. If not, do not retry before you have checked whether the payment was created.',
  ],
} as const satisfies Record<string, readonly [ProblemType, string]>

export type ProblemCode = keyof typeof PROBLEM_CODES

/** A reason to reject a request, as a value: one of these codes, with the details that the code has. */
export type Refusal<Code extends ProblemCode = ProblemCode> = Code extends ProblemCode
  ? { readonly code: Code } & DetailsOption<Code>
  : never

export interface ProblemOptions {
  readonly code?: ProblemCode
  readonly details?: unknown
  readonly cause?: unknown
  readonly retryAfterSeconds?: number
}

/** An error for the caller. Its message, code and details are sent; its cause stays inside the service. */
export class Problem extends Error {
  readonly type: ProblemType
  readonly code: ProblemCode | undefined
  readonly details: unknown
  readonly retryAfterSeconds: number | undefined

  constructor(type: ProblemType, message: string, options: ProblemOptions = {}) {
    super(message, { cause: options.cause })
    this.type = type
    this.code = options.code
    this.details = options.details
    this.retryAfterSeconds = options.retryAfterSeconds
  }

  get status(): number {
    return PROBLEM_STATUS[this.type]
  }
}

type OptionsOf<Code extends ProblemCode> = Omit<ProblemOptions, 'code' | 'details'> & DetailsOption<Code>

/**
 * Creates the error for a code, with the code's type and sentence. The details have the type that `problem-details.ts`
 * declares for the code.
 */
export function problem<Code extends ProblemCode>(
  code: Code,
  ...[options]: object extends OptionsOf<Code> ? [OptionsOf<Code>?] : [OptionsOf<Code>]
): Problem {
  const [type, message] = PROBLEM_CODES[code]
  return new Problem(type, message, { ...options, code })
}

/** A number of seconds in words: `1 second`. */
export function formatSeconds(seconds: number): string {
  return seconds === 1 ? '1 second' : `${seconds} seconds`
}

/** Creates the 429 for a caller over a rate limit. `http/send-problem.ts` sets its `Retry-After` header. */
export function tooManyRequests(retryAfterSeconds: number): Problem {
  return new Problem('rate_limited', `Too many requests. Retry in ${formatSeconds(retryAfterSeconds)}.`, {
    code: 'rate_limit_exceeded',
    retryAfterSeconds,
  })
}

/** Creates the error for a refusal, which a pure function has decided on. */
export function refusalProblem({ code, details }: Refusal): Problem {
  const [type, message] = PROBLEM_CODES[code]
  return new Problem(type, message, { code, details })
}

/** Returns the 403 `permission_expired` for a grant that expired at this time. */
export function grantExpired(expiresAt: Date): Problem {
  return problem('permission_expired', { details: { expires_at: expiresAt.toISOString() } })
}

/** So short that a single lost response costs little, and so long that an outage is not made worse by retries. */
const CALL_FAILED_RETRY_AFTER_SECONDS = 2

/**
 * Returns the 500 `privy_call_failed` for a payment that is recorded but whose outcome is unknown. The message says
 * whether a retry is safe. It contains the payment's id, so that a caller without an idempotency key can read the
 * payment (D58).
 */
export function paymentCallFailed(
  { id, idempotencyKey }: { readonly id: string; readonly idempotencyKey: string | null },
  cause?: unknown,
): Problem {
  const advice =
    idempotencyKey === null
      ? `Without an idempotency_key a retry could pay twice. Do not retry; read the payment ${id} instead.`
      : 'Retry with the same idempotency_key; it never pays twice.'
  return new Problem('internal', `The call to the enclave failed. ${advice}`, {
    code: 'privy_call_failed',
    cause,
    details: { payment_id: id },
    ...(idempotencyKey === null ? {} : { retryAfterSeconds: CALL_FAILED_RETRY_AFTER_SECONDS }),
  })
}
