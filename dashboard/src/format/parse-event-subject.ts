import type { EventEnvelope } from '@bursar/server/src/console/contract/events.ts'

/** The object that an event is about, for the kinds of object that this dashboard knows. */
export type EventSubject =
  | { readonly kind: 'payment'; readonly id: string; readonly amountUsdc: string }
  | { readonly kind: 'deposit'; readonly wallet: string; readonly amountUsdc: string }
  | { readonly kind: 'grant'; readonly id: string; readonly agentId: string }
  | { readonly kind: 'webhook'; readonly id: string }

/** Reads the subject from the event's data. Null for unknown kinds. */
export function parseEventSubject({ data }: Pick<EventEnvelope, 'data'>): EventSubject | null {
  const payment = textsOf(data['payment'])
  if (payment['id'] !== undefined && payment['amount_usdc'] !== undefined) {
    return { kind: 'payment', id: payment['id'], amountUsdc: payment['amount_usdc'] }
  }
  const deposit = textsOf(data['deposit'])
  if (deposit['wallet'] !== undefined && deposit['amount_usdc'] !== undefined) {
    return { kind: 'deposit', wallet: deposit['wallet'], amountUsdc: deposit['amount_usdc'] }
  }
  const grant = textsOf(data['grant'])
  if (grant['id'] !== undefined && grant['agent_id'] !== undefined) {
    return { kind: 'grant', id: grant['id'], agentId: grant['agent_id'] }
  }
  const webhook = textsOf(data['webhook'])
  return webhook['id'] === undefined ? null : { kind: 'webhook', id: webhook['id'] }
}

function textsOf(value: unknown): Readonly<Record<string, string | undefined>> {
  if (typeof value !== 'object' || value === null) return {}
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}
