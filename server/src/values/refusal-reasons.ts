/** Why a payment request was rejected, by its error code, in words that complete “Rejected:”. */
export const REFUSAL_REASONS = {
  agent_not_authorized: 'the credential may not pay as this agent',
  agent_not_found: 'unknown agent',
  wallet_not_found: 'unknown wallet',
  permission_not_found: 'no active grant',
  permission_expired: 'the grant has expired',
  purchases_not_allowed: 'the grant does not allow purchases',
  contract_not_allowed: 'USDC contract not allowed',
  recipient_not_allowed: 'recipient not allowed',
  amount_too_large: 'over the per-payment limit',
  daily_cap_exceeded: 'over the 24-hour limit',
  plan_cap_exceeded: 'the plan’s monthly payments are used up',
  insufficient_balance: 'not enough USDC in the wallet',
  storage_full: 'no room to keep the seller’s response',
  insufficient_gas: 'not enough native coin for gas in the wallet',
} as const satisfies Readonly<Record<string, string>>
