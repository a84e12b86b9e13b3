import type { GrantTerms } from '../domain/grants/check-policy.ts'
import { parseAddress, type Address } from '../values/address.ts'
import { parseAmount, type MicroUsdc } from '../values/money.ts'
import { Problem, type ProblemCode } from '../values/problem.ts'
import type { GrantTerms as TermsBody } from './contract/grants.ts'
import { parseTime } from './parse-body.ts'

/** Parses the terms of a grant. Throws 400 that names the member: `amount_invalid`, `address_invalid`, or no code. */
export function parseTerms(body: TermsBody): GrantTerms {
  return {
    maxPerTxMicro: parseUsdc('max_per_tx_usdc', body.max_per_tx_usdc),
    dailyCapMicro: parseUsdc('daily_cap_usdc', body.daily_cap_usdc),
    recipientAllowlist: body.recipient_allowlist.map((text, index) =>
      parseEvmAddress(`recipient_allowlist.${index}`, text),
    ),
    expiresAt: body.expires_at === null ? null : parseTime('expires_at', body.expires_at),
  }
}

export function parseEvmAddress(path: string, text: string): Address {
  const address = parseAddress(text)
  if (address === null)
    throw invalidValue('address_invalid', path, 'is not an EVM address, or its capitals (checksum) do not match')
  return address
}

function parseUsdc(path: string, text: string): MicroUsdc {
  const amount = parseAmount(text)
  if (amount !== null) return amount
  throw invalidValue('amount_invalid', path, 'must be a positive decimal with at most 6 decimal places')
}

function invalidValue(code: ProblemCode, path: string, message: string): Problem {
  return new Problem('validation_failed', `${path} ${message}.`, { code, details: [{ path, message }] })
}
