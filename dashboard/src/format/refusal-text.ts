/** Why a request was refused, in a few words, by the code of its answer (D18). */
const REASONS: Readonly<Record<string, string>> = {
  agent_not_found: 'no such agent',
  wallet_not_found: 'no such wallet',
  permission_not_found: 'no active grant',
  permission_expired: 'the grant has expired',
  contract_not_allowed: 'contract not allowed',
  recipient_not_allowed: 'recipient not allowed',
  amount_too_large: 'more than the maximum at a time',
  daily_cap_exceeded: 'would exceed the cap over 24 hours',
  plan_cap_exceeded: 'the month’s allowance is used up',
  insufficient_balance: 'too little USDC in the wallet',
  insufficient_gas: 'too little coin in the wallet to pay for gas',
}

/** To follow “Refused:”. A code that is not known here is told by the answer's own sentence. */
export function formatReason(code: string, message: string): string {
  return REASONS[code] ?? message
}

/** The same, to stand alone. */
export function formatRefusal(code: string, message: string): string {
  const reason = formatReason(code, message)
  return reason.charAt(0).toUpperCase() + reason.slice(1)
}
