import { send, type Answer } from './http-client.ts'

export interface JsonAnswer extends Answer {
  /** The JSON that came. A member that did not come is missing, whatever its type says. */
  readonly body: AnswerBody
}

/** The members of all answers, of the service and of the sandbox's control API. */
export interface AnswerBody {
  readonly agent: WireAgent
  readonly payment: WirePayment
  readonly error: WireError
  readonly workspace: { readonly slug: string; readonly keys: { readonly test: string; readonly live: string } }
  readonly key: { readonly id: string; readonly secret: string }
  readonly wallet: { readonly address: string }
  readonly grant: { readonly id: string; readonly status: string }
  readonly grace_until: string
  readonly block_number: number
  readonly now: string
  readonly location: string
}

export interface WireAgent {
  readonly id: string
  readonly status: string
  readonly active_signers: number
  readonly pending_signers: number
  readonly wallets: readonly Readonly<Record<string, unknown>>[]
}

export interface WirePayment {
  readonly id: string
  readonly status: string
  readonly tx_hash: string | null
  readonly amount_usdc: string
  readonly from: string
  readonly to: string
  readonly memo: string | null
  readonly idempotency_key: string | null
  readonly created_at: string
}

export interface WireError {
  readonly type: string
  readonly code?: string
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>>
}

/** One request, and the JSON of its answer. */
export async function call(
  base: string,
  method: string,
  path: string,
  { key, body }: { readonly key?: string; readonly body?: unknown } = {},
): Promise<JsonAnswer> {
  const answer = await send(base, { method, path, body, ...(key === undefined ? {} : { key }) })
  return { ...answer, body: (answer.text === '' ? {} : JSON.parse(answer.text)) as AnswerBody }
}
