import type { GrantTerms } from '../domain/grants/check-policy.ts'
import { parseAddress, type Address, ADDRESS_RULE } from '../values/address.ts'
import { parseAmount, type MicroUsdc, AMOUNT_RULE } from '../values/money.ts'
import type { GrantTerms as TermsBody } from './contract/grants.ts'
import { parseTimeOf } from './parse-body.ts'
import { invalidMember } from '../values/invalid-request.ts'

/**
 * Parses the terms of a grant. Throws 400 that names the invalid member. The error has the code `amount_invalid` or
 * `address_invalid`, or no code.
 */
export function parseTerms(body: TermsBody): GrantTerms {
  return {
    maxPerTxMicro: parseUsdc('max_per_tx_usdc', body.max_per_tx_usdc),
    dailyCapMicro: parseUsdc('daily_cap_usdc', body.daily_cap_usdc),
    recipientAllowlist: body.recipient_allowlist.map((text, index) =>
      parseEvmAddress(`recipient_allowlist.${index}`, text),
    ),
    expiresAt: body.expires_at === null ? null : parseTimeOf('expires_at', body.expires_at),
    x402: body.x402,
  }
}

export function parseEvmAddress(path: string, text: string): Address {
  const address = parseAddress(text)
  if (address === null) throw invalidMember(path, ADDRESS_RULE, 'address_invalid')
  return address
}

/** Throws 400 `amount_invalid` unless the text is a positive amount of at most 6 decimal places. */
export function parseUsdc(path: string, text: string): MicroUsdc {
  const amount = parseAmount(text)
  if (amount !== null) return amount
  throw invalidMember(path, AMOUNT_RULE, 'amount_invalid')
}
