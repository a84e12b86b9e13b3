import type { PaymentFilter } from '../domain/reports/listing/payment-filter.ts'
import { parsePosition, type PaymentSort } from '../domain/reports/listing/payment-order.ts'
import { parseAddress, type Address } from '../values/address.ts'
import { parseAgentId, type AgentId } from '../values/agent-id.ts'
import { isId, type IdKind } from '../values/ids.ts'
import { AMOUNT_RULE, parseAmount, type MicroUsdc } from '../values/money.ts'
import { isStorable } from '../values/text.ts'
import { parseTimeOf } from './parse-body.ts'
import type { PaymentFilter as FilterQuery } from './contract/payments.ts'
import { invalidMember } from '../values/invalid-request.ts'

const NEXT_RULE = 'must be the value of next from the previous page'

/** The conditions that payments and rejected requests share. */
type SharedFilter = Omit<PaymentFilter, 'status' | 'failureCode' | 'kind'>
type SharedQuery = Omit<FilterQuery, 'status' | 'reason' | 'kind'>

/** Parses the filter of a list of payments. Throws 400 that names the invalid parameter. */
export function parsePaymentFilter(query: FilterQuery): PaymentFilter {
  const { status, reason, kind } = query
  return { ...parseSharedFilter(query), status, failureCode: reason, kind }
}

/** Parses the conditions that payments and rejected requests share. Throws 400 that names the invalid parameter. */
export function parseSharedFilter(query: SharedQuery): SharedFilter {
  const { agent, wallet, recipient, min, max, q, from, to } = query
  const search = q?.trim()
  if (search !== undefined && !isStorable(search))
    throw invalidMember('q', 'must not contain NUL characters or lone surrogates')
  return {
    agentId: parseAgent(agent) ?? undefined,
    wallet: parseFilterAddress('wallet', wallet),
    recipient: parseFilterAddress('recipient', recipient),
    minMicro: parseFilterAmount('min', min),
    maxMicro: parseFilterAmount('max', max),
    from: from === undefined ? undefined : parseTimeOf('from', from),
    to: to === undefined ? undefined : parseTimeOf('to', to),
    search: search === '' ? undefined : search,
  }
}

function parseFilterAddress(member: string, text: string | undefined): Address | undefined {
  const address = text === undefined ? undefined : parseAddress(text)
  if (address === null) throw invalidMember(member, 'must be an EVM address')
  return address
}

function parseFilterAmount(member: string, text: string | undefined): MicroUsdc | undefined {
  const amount = text === undefined ? undefined : parseAmount(text)
  if (amount === null) throw invalidMember(member, AMOUNT_RULE)
  return amount
}

/** Parses the `before` parameter of a list of payments, which is the `next` of the previous page. */
export function parsePaymentBefore(text: string | undefined, sort: PaymentSort): string | null {
  if (text === undefined) return null
  if (parsePosition(text, sort) === null) throw invalidMember('before', NEXT_RULE)
  return text
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
  if (!isId(kind, text)) throw invalidMember('before', NEXT_RULE)
  return text
}
