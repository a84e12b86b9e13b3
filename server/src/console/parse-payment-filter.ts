import type { PaymentFilter } from '../domain/reports/listing/payment-filter.ts'
import { parseAddress } from '../values/address.ts'
import { parseAgentId, type AgentId } from '../values/agent-id.ts'
import { isId, type IdKind } from '../values/ids.ts'
import { isStorable } from '../values/text.ts'
import { parseTimeOf } from './parse-body.ts'
import type { PaymentFilter as FilterQuery } from './contract/payments.ts'
import { invalidMember } from '../values/invalid-request.ts'

/** Parses the filter of a list of payments. Throws 400 that names the invalid parameter. */
export function parsePaymentFilter(query: FilterQuery): PaymentFilter {
  const { agent, wallet, status, kind, q, from, to } = query
  const address = wallet === undefined ? undefined : parseAddress(wallet)
  if (address === null) throw invalidMember('wallet', 'must be an EVM address')
  const search = q?.trim()
  if (search !== undefined && !isStorable(search))
    throw invalidMember('q', 'must not contain NUL characters or lone surrogates')
  return {
    agentId: parseAgent(agent) ?? undefined,
    wallet: address,
    status,
    kind,
    from: from === undefined ? undefined : parseTimeOf('from', from),
    to: to === undefined ? undefined : parseTimeOf('to', to),
    search: search === '' ? undefined : search,
  }
}

/** Parses the `agent` parameter of a list. Returns null if it is missing, which means all agents. */
export function parseAgent(text: string | undefined): AgentId | null {
  if (text === undefined) return null
  const id = parseAgentId(text)
  if (id === null) throw invalidMember('agent', 'must be the id of an agent')
  return id
}

/**
 * Parses the `before` parameter of a list, which is the id of the last entry of the previous page. Returns null for the
 * first page.
 */
export function parseNext(kind: IdKind, text: string | undefined): string | null {
  if (text === undefined) return null
  if (!isId(kind, text)) throw invalidMember('before', 'must be the value of next from the previous page')
  return text
}
