import { request, type IncomingHttpHeaders } from 'node:http'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The JSON that came. A member that did not come is missing, whatever its type says. */
  readonly body: AnswerBody
}

/** The members of all answers, of the service and of the sandbox's control API. */
export interface AnswerBody {
  readonly agent: WireAgent
  readonly payment: WirePayment
  readonly wallets: readonly { readonly address: string }[]
  readonly error: {
    readonly type: string
    readonly code?: string
    readonly message: string
    readonly details?: Readonly<Record<string, unknown>>
  }
  readonly workspace: {
    readonly slug: string
    readonly plan: string
    readonly keys: { readonly test: string; readonly live: string }
  }
  readonly key: { readonly id: string; readonly secret: string }
  readonly wallet: { readonly address: string }
  readonly grant: { readonly id: string; readonly status: string }
  readonly grace_until: string
  readonly block_number: number
  readonly now: string
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

/** An attempt of a killed server's payment is waited for 20 s; nothing takes longer. */
const ANSWER_MS_MAX = 60_000

/** One request on a connection of its own, so that no connection to a server that was killed is used again. */
export async function call(
  base: string,
  method: string,
  path: string,
  { key, body, headers = {} }: { key?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const text = body === undefined ? undefined : JSON.stringify(body)
  return await new Promise((resolve, reject) => {
    const sent = request(new URL(path, base), {
      method,
      agent: false,
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(text === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }),
        ...headers,
      },
    })
    sent.once('error', reject)
    sent.once('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('error', reject)
      response.once('end', () => {
        const received = Buffer.concat(chunks).toString('utf8')
        const parsed = (received === '' ? {} : JSON.parse(received)) as AnswerBody
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: received, body: parsed })
      })
    })
    sent.end(text)
  })
}
