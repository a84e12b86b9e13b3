/**
 * Every error that leaves the service: its types with their status (D6), its codes with their sentence (specification,
 * part 7). A refusal is a value of this kind; a door turns it into an answer.
 */
export const PROBLEM_STATUS = {
  validation_failed: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
} as const

export type ProblemType = keyof typeof PROBLEM_STATUS

/** Codes that narrow a type down. Messages hold no personal data. */
export const PROBLEM_CODES = {
  amount_invalid: ['validation_failed', 'amount_usdc must be a positive decimal with at most 6 decimal places.'],
  address_invalid: ['validation_failed', 'The address is not a valid EVM address to pay from or to.'],
  agent_cap_reached: ['validation_failed', "The plan's number of agents is reached."],
  wallet_cap_reached: ['validation_failed', "The plan's number of wallets is reached."],
  https_required: ['forbidden', 'Use HTTPS. This request, with its credential, travelled unencrypted.'],
  amount_too_large: ['forbidden', "The amount exceeds the grant's per-transaction maximum."],
  daily_cap_exceeded: ['forbidden', "The payment would exceed the grant's cap over 24 hours."],
  recipient_not_allowed: ['forbidden', "The recipient is not in the grant's allowlist."],
  contract_not_allowed: ['forbidden', "The USDC contract is not in the grant's allowlist."],
  permission_expired: ['forbidden', 'The grant has expired.'],
  idempotency_key_in_header: [
    'validation_failed',
    'The key belongs in the body, as idempotency_key. From the header alone it would be ignored, and a retry would pay twice: send the same key in the body, or leave the header out.',
  ],
  insufficient_balance: ['forbidden', 'The wallet holds too little USDC.'],
  insufficient_gas: ['forbidden', "The wallet holds too little of the chain's own coin to pay for gas."],
  plan_cap_exceeded: ['forbidden', "The plan's monthly allowance of sponsored transactions is used up."],
  agent_not_found: ['not_found', 'No agent has this id in this account and mode.'],
  has_active_grants: ['conflict', 'The agent has grants that are not revoked. Revoke them first.'],
  wallet_not_found: ['not_found', 'No wallet of this account and mode has this address.'],
  permission_not_found: ['not_found', 'The agent has no active grant on the wallet.'],
  grant_exists: ['conflict', 'The agent already has a grant on the wallet. Replace it, or revoke it first.'],
  grant_limit_reached: ['conflict', 'The wallet has as many grants as it can hold.'],
  grant_not_pending: ['conflict', 'The grant is not awaiting a signature.'],
  grant_not_active: ['conflict', 'The grant is not active.'],
  grant_revoked: ['conflict', 'The grant is revoked.'],
  signing_request_expired: ['conflict', 'The signing request has expired. Prepare it again and sign the new one.'],
  signing_request_stale: [
    'conflict',
    'What was signed is out of date: the grants changed, or it was prepared anew. Prepare it again and sign that.',
  ],
  signer_change_under_way: [
    'conflict',
    "Another change of the wallet's grants is under way, or its outcome is not known yet. Try again when it is over.",
  ],
  signature_invalid: ['validation_failed', "The signature is not the wallet owner's over this request."],
  key_not_rotatable: ['conflict', 'The key is revoked or was rotated already.'],
  key_not_found: ['not_found', 'The workspace has no such API key.'],
  key_limit_reached: ['conflict', 'The workspace has as many API keys as it can have in this mode. Revoke one first.'],
  agent_not_authorized: ['forbidden', 'The connection pays as its own agent, and the request names another one.'],
  insufficient_scope: ['forbidden', 'The token lacks the scope that this request needs.'],
  api_key_required: ['forbidden', 'This request needs an API key; an OAuth token does not do.'],
  cross_origin: ['forbidden', 'The request did not come from this site.'],
  ceremony_expired: ['validation_failed', 'This took too long, or was answered already. Start again.'],
  sign_up_invited_only: [
    'forbidden',
    'Accounts are by invitation here. Open the link of your invitation, and create your account from there.',
  ],
  passkey_unknown: ['unauthenticated', 'Nobody here has this passkey.'],
  passkey_invalid: ['unauthenticated', "The passkey's answer could not be verified."],
  passkey_exists: ['conflict', 'The passkey is registered already.'],
  passkey_not_found: ['not_found', 'You have no such passkey.'],
  passkey_limit_reached: ['conflict', 'You have as many passkeys as one person can have. Remove one first.'],
  last_passkey: ['conflict', 'It is your only passkey. Add another one first.'],
  session_not_found: ['not_found', 'You are not signed in there, or no longer.'],
  recovery_code_invalid: ['unauthenticated', 'The recovery code is not valid, or was used already.'],
  verification_required: ['forbidden', 'Confirm with your passkey that it is you.'],
  role_insufficient: ['forbidden', 'Your role in this workspace does not allow it.'],
  last_owner: ['conflict', 'A workspace needs an owner. Make somebody else an owner first.'],
  member_not_found: ['not_found', 'Nobody of this workspace has this id.'],
  workspace_limit_reached: ['conflict', 'You belong to as many workspaces as one person can.'],
  invitation_not_found: ['not_found', 'The invitation is not known, was used or taken back, or has expired.'],
  invitation_limit_reached: [
    'conflict',
    'The workspace has as many open invitations as it can have. Take one back first.',
  ],
  authorization_request_not_found: [
    'not_found',
    'The request of the application is not known, or has expired. Go back to the application and connect again.',
  ],
  authorization_request_decided: ['conflict', 'This request was answered already.'],
  connection_not_found: ['not_found', 'The workspace has no such connection.'],
  webhook_not_found: ['not_found', 'The workspace has no such webhook endpoint.'],
  delivery_not_found: ['not_found', 'The workspace has no such delivery.'],
  event_not_found: ['not_found', 'No event of the last 30 days has this id in this account and mode.'],
  endpoint_disabled: ['conflict', 'The webhook endpoint is disabled. Enable it first.'],
  replays_pending: [
    'conflict',
    'Earlier replays of this webhook endpoint are still queued. Wait until they have been sent, and replay then.',
  ],
  endpoint_limit_reached: ['conflict', 'The workspace has as many webhook endpoints as it can have in this mode.'],
  url_not_allowed: ['validation_failed', 'The url is not one that events can be sent to.'],
  recipient_not_found: ['not_found', 'The address has no label in this workspace and mode.'],
  recipient_limit_reached: ['conflict', 'The workspace has as many labeled recipients as it can have in this mode.'],
  faucet_not_available: [
    'not_found',
    'There is no faucet here: test USDC comes from elsewhere, and live USDC is bought.',
  ],
  rate_limit_exceeded: ['rate_limited', 'Too many requests.'],
  enclave_outcome_unknown: [
    'internal',
    'The enclave provider did not tell what came of it. Look again in a few minutes. Nothing is lost.',
  ],
  wallet_not_created: [
    'internal',
    'The enclave provider did not answer in time, so no wallet was added here. If the provider made one all the same, it is empty, and nobody was shown its address. Create the wallet again.',
  ],
  enclave_refused: ['internal', 'The enclave provider refused. Nothing was changed.'],
  enclave_record_differs: [
    'internal',
    "The enclave provider's record is not what was signed, or not yet. The grant was not changed here. Try again in a few minutes; the operator's log names the difference.",
  ],
  privy_call_failed: [
    'internal',
    "The enclave provider's call failed. Retry with the same idempotency_key; without one, do not retry.",
  ],
} as const satisfies Record<string, readonly [ProblemType, string]>

export type ProblemCode = keyof typeof PROBLEM_CODES

export interface Refusal {
  readonly code: ProblemCode
  readonly details?: Readonly<Record<string, unknown>>
}

export interface ProblemOptions {
  readonly code?: ProblemCode
  readonly details?: unknown
  readonly cause?: unknown
  readonly retryAfterSeconds?: number
}

/** An error that is meant for the caller: its message, code and details may leave the service; its cause may not. */
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

/** Makes the problem that a code stands for, with the code's own sentence. */
export function problem(code: ProblemCode, options: Omit<ProblemOptions, 'code'> = {}): Problem {
  const [type, message] = PROBLEM_CODES[code]
  return new Problem(type, message, { ...options, code })
}

/**
 * 500 `privy_call_failed` for a payment that is recorded and whose outcome is not known. It says in words whether a retry
 * is safe (D58), and names the payment, so that a caller without an idempotency key can ask for it.
 */
export function paymentCallFailed(
  { id, idempotencyKey }: { readonly id: string; readonly idempotencyKey: string | null },
  cause?: unknown,
): Problem {
  const advice =
    idempotencyKey === null
      ? `Without an idempotency_key a retry could pay twice. Do not retry; read the payment ${id}.`
      : 'Retry with the same idempotency_key: that never pays twice.'
  return new Problem('internal', `The enclave provider's call failed. ${advice}`, {
    code: 'privy_call_failed',
    cause,
    details: { payment_id: id },
  })
}
