import type { TimeZone } from '../values/time-zone.ts'
import type { RefusedRequest } from './contract/refusals.ts'
import type { CsvRow } from './csv.ts'

export const REFUSAL_COLUMNS = [
  ...(['id', 'created_at', 'code', 'message', 'agent_id', 'wallet', 'wallet_name', 'to', 'recipient_name'] as const),
  ...(['requested_usdc', 'currency', 'memo', 'resource', 'idempotency_key', 'credential', 'credential_id'] as const),
  ...(['details', 'time_zone'] as const),
]

/** Formats a rejected request for a file. `details` is the JSON of the error response. Nothing was paid. */
export function toRefusalRow(
  refusal: RefusedRequest,
  {
    zone,
    wallets,
    recipients,
  }: {
    readonly zone: TimeZone
    /** The names of wallets and recipients, by their addresses. */
    readonly wallets: ReadonlyMap<string, string>
    readonly recipients: ReadonlyMap<string, string>
  },
): CsvRow<(typeof REFUSAL_COLUMNS)[number]> {
  const { id, created_at: at, code, message, agent_id, wallet, to, amount_usdc, memo, idempotency_key } = refusal
  return {
    ...{ id, created_at: zone.format(new Date(at)), code, message, agent_id, wallet, to, memo, idempotency_key },
    ...{ wallet_name: wallets.get(wallet) ?? null, recipient_name: recipients.get(to) ?? null },
    ...{ requested_usdc: amount_usdc, currency: 'USDC', resource: refusal.resource_url },
    ...{ credential: refusal.credential?.name ?? null, credential_id: refusal.credential?.id ?? null },
    ...{ details: JSON.stringify(refusal.details), time_zone: zone.name },
  }
}
