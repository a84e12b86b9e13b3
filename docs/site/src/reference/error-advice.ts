import type { ToolCode } from '../../../../server/src/mcp/tool-failure.ts'
import type { ProblemCode, ProblemType } from '../../../../server/src/values/problem.ts'

/** What to do about each error that has a code. The compiler reports a code that has no advice. */
export const CODE_ADVICE: Readonly<Record<ProblemCode, string>> = {
  amount_invalid:
    'Send the amount as a string of USDC, more than 0 and with at most 6 decimal places, such as `"1.25"`.',
  address_invalid: 'Check the address that `details` names. Ask for it again; do not change single characters.',
  agent_cap_reached: 'Delete agents that you no longer need, or ask the operator for a larger plan.',
  wallet_cap_reached: 'Use a wallet that you have, or ask the operator for a larger plan.',
  https_required: 'Use `https`. The credential was sent unencrypted, so replace it: rotate the key, or connect again.',
  amount_too_large:
    '`details.max_per_tx_usdc` is the most that one payment may be. Do not split the payment: the owner chose this limit. Ask the owner to replace the grant if the payment is right.',
  daily_cap_exceeded:
    '`details.remaining_24h_usdc` is what fits now, and `details.resets_at` is when this amount fits. Pay then, if it is still wanted. The same `idempotency_key` is free, because no payment was created under it.',
  recipient_not_allowed: 'Check the address. If it is right, ask the owner of the wallet to add it to the grant.',
  contract_not_allowed: 'Ask the owner of the wallet for a new grant. A retry cannot help.',
  permission_expired: 'Ask the owner of the wallet for a new grant. `details.expires_at` says when this one ended.',
  purchases_not_allowed: 'Ask the owner of the wallet to replace the grant with one that allows purchases.',
  idempotency_key_in_header: 'Send the key as the member `idempotency_key` of the body. Nothing was paid.',
  insufficient_balance: 'Send USDC to the wallet, then send the same request again.',
  insufficient_gas:
    "Send some of the chain's native coin to the wallet. Less USDC does not help. This error occurs only where wallets pay their own gas.",
  plan_cap_exceeded: 'Wait until next month, or ask the operator for a larger plan. Test payments do not count.',
  storage_full:
    'Send the same request again later: the responses of sellers are kept for 24 hours, and each one that is deleted makes room. `details` says how much is used. If this happens often, ask the operator for a larger plan.',
  agent_not_found:
    'Check the id, and that the credential has the mode (test or live) of the agent. `GET /v1/agents` lists the agents.',
  has_active_grants: 'Revoke the grants that `details.grants` lists, then delete the agent.',
  wallet_not_found:
    'Check the address, and that the credential has the mode (test or live) of the wallet. `GET /v1/wallets` lists the wallets.',
  permission_not_found:
    '`details.reason` says why: with `none` or `revoked`, ask the owner of the wallet to sign a grant for this agent; with `pending`, to sign the one that waits; with `suspended`, to resume it.',
  grant_exists: 'Replace the grant that exists, or revoke it first.',
  grant_limit_reached: 'Revoke a grant of this wallet that is no longer needed, or use another wallet.',
  grant_not_pending: 'Reload the page. The grant was signed, revoked or replaced in the meantime.',
  grant_not_active: 'Reload the page. Only an active grant can be suspended, resumed or replaced.',
  grant_not_suspended: 'Nothing: the grant already allows payments.',
  grant_revoked: 'Create a new grant. A revoked grant stays revoked.',
  evidence_not_ready:
    'Ask again after the time in `Retry-After`. `details.reason` says what is missing: the payment is pending, its part of the transparency log is not written yet, or a signature could still be used by somebody, which `details.retry_at` ends.',
  evidence_unavailable:
    'Nothing: there will be no evidence. `details.reason` says why: the payment was decided before the service had a transparency log (`not_logged`), the wallet had more than 190 changes of its owners (`too_large`), or the credential is of one agent and an owner resumed the grant together with those of other agents (`names_other_agents`; use a credential that is of no agent).',
  signer_not_configured: 'The operator sets `SIGNER_URL`. See [Host the signer page](../operate/signer-page.md).',
  signing_request_expired: 'Sign again. A signing request is valid for five minutes.',
  signing_request_stale: 'Reload the page, check the terms, and sign again.',
  signer_change_under_way: 'Wait until `details.retry_at`, then try again.',
  signature_invalid: "Sign again with a passkey that owns this wallet. The wallet's page lists its owners.",
  key_not_rotatable: 'Create a new key. This one was rotated or revoked before, or it is on hold after a restore.',
  key_not_found: 'Reload the list of keys. The key belongs to another workspace, or was deleted.',
  key_held:
    'Keep the key, and ask an owner of the workspace to confirm it on the page API keys of the dashboard. Then repeat the request, a payment with the same `idempotency_key`.',
  workspace_moving:
    'Send the same request again after the time in `Retry-After`, a payment with the same `idempotency_key`. A move takes seconds to minutes.',
  workspace_moved:
    'Ask the operator for the new address, and send the same request there, a payment with the same `idempotency_key`. The credential stays the same. `details.cell` names the servers that have the workspace now.',
  key_not_held: 'Dashboard only. Reload the page. Another owner has probably decided on these keys.',
  own_keys_not_kept:
    'Dashboard only. Ask another admin or owner to rotate your keys before you leave, or to remove you and keep them.',
  key_limit_reached: 'Revoke a key that is no longer used, then create the new one.',
  agent_not_authorized: 'Send the agent id that `GET /v1/me` returns for this credential.',
  insufficient_scope:
    'Use an API key with the scope, or connect again and request it. The header `WWW-Authenticate` names the scopes.',
  api_key_required: 'Use an API key without restrictions. An access token or a restricted key cannot do this.',
  cross_origin: 'Use the pages of the service itself. Another site sent this request.',
  ceremony_expired: 'Start again with your passkey. A request is valid for five minutes, and once.',
  sign_up_invited_only: 'Ask an owner or admin of a workspace for an invitation, and open its link.',
  passkey_unknown: 'Choose another passkey, or sign in with a recovery code.',
  passkey_invalid: 'Try again. If it fails again, use another passkey or a recovery code.',
  passkey_counter_went_back:
    'Somebody may use a copy of this passkey. Sign in with another passkey or a recovery code, remove this one, and look through the audit log.',
  wallet_passkey_counter_went_back:
    'Somebody may use a copy of this wallet passkey. Sign with another owner of the wallet, remove this passkey from the owners, and look through the audit log.',
  passkey_exists: 'Nothing: you can already sign in with this passkey.',
  passkey_not_found: 'Reload the page. The passkey was probably removed.',
  passkey_limit_reached: 'Remove a passkey that you no longer use.',
  passkey_owns_wallets: "Remove the passkey from the owners of each wallet first, on the wallets' pages.",
  owner_exists: 'Nothing: this passkey already owns the wallet.',
  owner_not_found: 'Reload the page. The owner was probably removed.',
  owner_limit_reached: "Remove one of the wallet's owners first.",
  last_wallet_owner:
    'Add another wallet passkey as an owner first. A wallet without an owner could never be used again.',
  owner_request_not_found: 'Reload the page. The request was done or canceled.',
  last_passkey: 'Add a second passkey first.',
  session_not_found: 'Nothing: the session has ended.',
  recovery_code_invalid: 'Check the code. Each code works once, so use the next one of your list.',
  verification_required: 'Confirm with your passkey. This action needs a proof from the last ten minutes.',
  role_insufficient: 'Ask an owner or admin of the workspace to do this, or to change your role.',
  last_owner: 'Make another member an owner first.',
  member_not_found: 'Reload the list of members. The person has probably left.',
  workspace_limit_reached: 'Leave a workspace that you no longer need.',
  invitation_not_found: 'Ask for a new invitation.',
  invitation_limit_reached: 'Revoke an open invitation first.',
  authorization_request_not_found: 'Go back to the application and connect again.',
  authorization_request_decided: 'Go back to the application. To decide anew, connect again from there.',
  connection_not_found: 'Reload the list of connections. The connection was probably revoked.',
  webhook_not_found: 'Reload the list of webhooks. The endpoint was probably deleted.',
  delivery_not_found: 'Reload the list of deliveries.',
  event_not_found: 'Events are kept for 30 days. Read the payment or the ledger instead.',
  endpoint_disabled: 'Enable the endpoint, then send the event again.',
  replays_pending: 'Wait until the events that were resent earlier have been sent.',
  endpoint_limit_reached: 'Delete an endpoint that is no longer used.',
  url_not_allowed: '`details.reason` says what is wrong. Use a public `https` URL.',
  withdrawal_not_found: 'Start a new withdrawal.',
  recipient_not_found: 'Nothing: this address has no name.',
  recipient_limit_reached: 'Remove the name of an address that is no longer used.',
  view_limit_reached: 'Delete a saved view that is no longer used.',
  faucet_not_available: "Send test USDC from a public faucet, such as Circle's faucet for Base Sepolia.",
  resource_url_not_allowed: 'Check the URL. `details.reason` says what is wrong with it.',
  resource_unreachable: 'Send the same request with the same `idempotency_key` later. Nothing was paid.',
  resource_redirected:
    'If you trust `details.untrusted_location`, send your request to that URL. The `idempotency_key` can be the same.',
  payment_protocol_unknown: 'This resource cannot be bought with Bursar. Look for another one.',
  payment_option_unsupported:
    'This resource cannot be bought with Bursar. `details.skipped` says why, for each of its offers.',
  price_too_high:
    'If the price is acceptable, send the same request with a higher `max_amount_usdc` and the same `idempotency_key`.',
  challenge_already_paid:
    'Only for MPP, whose challenges are used once: request the resource again, and sign its new challenge. Nothing was paid twice. With x402, the same offer can be signed under a second `idempotency_key`, and that is a second payment.',
  rate_limit_exceeded: 'Wait as many seconds as the header `Retry-After` says, then send the same request again.',
  enclave_outcome_unknown: 'Look a few minutes later whether the change was made, before you try again.',
  wallet_not_created: 'Create the wallet again.',
  enclave_refused: "Ask the operator. The service's log contains the reason, under the id in the header `Request-Id`.",
  enclave_record_differs:
    "Try again in a few minutes. If the error stays, the operator finds the difference in the service's log.",
  privy_call_failed:
    'The outcome is unknown. Send the same request with the same `idempotency_key` again: it never pays twice. Without a key, do not retry; read the payment that `details.payment_id` names.',
}

/** What to do about errors without a code, which have only a type. */
export const TYPE_ADVICE: Readonly<Record<ProblemType, string>> = {
  validation_failed: 'Correct the members that `details` names. A retry of the same request fails again.',
  unauthenticated: 'Send a valid API key or access token: `Authorization: Bearer …`. It may be revoked or expired.',
  forbidden: 'This credential does not allow the request. Read the code.',
  not_found: 'Check the path and the id. A credential sees only its own workspace and mode.',
  conflict: 'Read the code: something already exists, or has changed in the meantime.',
  payload_too_large: 'Send a smaller body.',
  misdirected: 'Send the request to the servers that have the workspace now.',
  unsupported_media_type: 'Send JSON with the header `Content-Type: application/json`.',
  rate_limited: 'Wait as many seconds as the header `Retry-After` says, then send the same request again.',
  internal:
    'Send the same request with the same `idempotency_key` again. Tell the operator the id in the header `Request-Id`.',
  bad_gateway: 'Another server did not respond. Send the same request with the same `idempotency_key` later.',
  unavailable:
    'The service is overloaded or is stopping, or its database does not respond. Wait as many seconds as `Retry-After` says, then send the same request with the same `idempotency_key` again.',
}

/** What to do about the errors that only the MCP tools return. */
export const TOOL_ADVICE: Readonly<Record<ToolCode, string>> = {
  agent_id_required:
    'The API key is bound to no agent. Call the tool again with an `agent_id` from `details.agent_ids`.',
  wallet_required:
    'The agent can pay from several wallets. `next` lists them: call the tool again with one of them as `wallet`.',
  no_wallet:
    'The agent has no active grant on any wallet. `details.reason` says why, as for `permission_not_found`; it can also be `expired`.',
  purchase_id_used:
    'The `purchase_id` belongs to an earlier payment with other terms. Nothing was paid now. Use a new id for a new purchase.',
  similar_payment_exists:
    'A payment with the same terms and another `purchase_id` was made in the last ten minutes, or is still pending. If this is a further purchase, call the tool again and name the earlier payment in `in_addition_to`. Otherwise, stop.',
  timed_out:
    'The tool had no result in time. For a call that pays, the outcome is unknown: call the tool again with the same `purchase_id`, which never pays twice.',
}
