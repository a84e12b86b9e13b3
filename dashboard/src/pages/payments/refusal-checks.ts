import type { Mode } from '@bursar/server/src/console/contract/fields.ts'

/**
 * The checks of a payment request, in their documented order. The request is rejected by the first check that fails.
 */
const CHECKS = [
  'storage_full',
  'agent_not_found',
  'wallet_not_found',
  'permission_not_found',
  'permission_expired',
  'purchases_not_allowed',
  'contract_not_allowed',
  'recipient_not_allowed',
  'amount_too_large',
  'daily_cap_exceeded',
  'plan_cap_exceeded',
  'insufficient_balance',
  'insufficient_gas',
] as const

export type CheckCode = (typeof CHECKS)[number]

export interface Check {
  readonly code: CheckCode
  readonly state: 'done' | 'failed' | 'skipped'
}

/**
 * Returns the checks and their results, or null if no check has this code. Three checks are not always listed. The
 * check of the plan is listed in live mode, because the plan limits only live payments. The check that the grant allows
 * purchases is listed for purchases. The checks of gas and of the room for
 * the response are listed if they failed. Otherwise they may not have run: the check of gas runs only if wallets pay for
 * gas themselves, and the room for the response is checked only for purchases, before everything else.
 */
export function listChecks(
  code: string,
  { mode, isPurchase }: { readonly mode: Mode; readonly isPurchase: boolean },
): readonly Check[] | null {
  const applies: Readonly<Partial<Record<CheckCode, boolean>>> = {
    plan_cap_exceeded: mode === 'live',
    purchases_not_allowed: isPurchase,
    insufficient_gas: code === 'insufficient_gas',
    storage_full: code === 'storage_full',
  }
  const checks = CHECKS.filter((check) => applies[check] ?? true)
  const failed = checks.findIndex((check) => check === code)
  if (failed === -1) return null
  return checks.map((check, index) => ({
    code: check,
    state: index < failed ? 'done' : index === failed ? 'failed' : 'skipped',
  }))
}

/** A text or number in the details of an error, as text. */
export function detailOf(details: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = details[name]
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' ? value : null
}

/** A list of texts in the details of an error. */
export function detailsOf(details: Readonly<Record<string, unknown>>, name: string): readonly string[] {
  const value = details[name]
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : []
}

/** Formats a rejected request as the error response that the agent received. */
export function formatErrorResponse(refusal: {
  readonly code: string
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
}): string {
  const { code, message, details } = refusal
  const error = {
    type: code.endsWith('_not_found') ? 'not_found' : 'forbidden',
    message,
    code,
    ...(Object.keys(details).length === 0 ? {} : { details }),
  }
  return JSON.stringify({ error }, null, 2)
}
