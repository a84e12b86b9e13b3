import { hash } from 'node:crypto'
import type { Address } from '../../values/address.ts'
import type { AgentId } from '../../values/agent-id.ts'
import type { Mode } from '../../values/mode.ts'
import type { MicroUsdc } from '../../values/money.ts'
import type { PaymentCredential } from '../payment-requests/payment-request.ts'

export const RESOURCE_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

export type ResourceMethod = (typeof RESOURCE_METHODS)[number]

/** An HTTP request, as an agent wants it to be sent. */
export interface AgentRequest {
  readonly url: string
  readonly method: ResourceMethod
  /** Names in lower case. Headers that an agent cannot set are left out (D69). */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | null
}

/** Who buys, from which wallet, and for how much at most. */
export interface PurchaseTerms extends PaymentCredential {
  readonly workspaceId: string
  readonly mode: Mode
  readonly agentId: AgentId
  readonly wallet: Address
  readonly maxAmountMicro: MicroUsdc
  readonly memo: string | null
  /** One idempotency key stands for one purchase (D64). */
  readonly idempotencyKey: string
}

/** These hashes are compared if an idempotency key is used again. The request itself may contain secrets. */
export interface RequestHashes {
  readonly url: string
  readonly method: string
  readonly headers: string
  readonly body: string
}

/** Returns a hash of each part of a request. Headers are compared by name, in any order. */
export function hashRequest({ url, method, headers, body }: AgentRequest): RequestHashes {
  const sorted = Object.entries(headers).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return {
    url: sha256(url),
    method,
    headers: sha256(JSON.stringify(sorted)),
    body: body === null ? '' : hash('sha256', body, 'base64'),
  }
}

/** Returns one hash of the whole request, for the purchase's row. */
export function combineHashes(hashes: RequestHashes): Buffer {
  return hash('sha256', JSON.stringify([hashes.url, hashes.method, hashes.headers, hashes.body]), 'buffer')
}

export function sha256(text: string): string {
  return hash('sha256', text, 'base64')
}
