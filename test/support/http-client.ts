import assert from 'node:assert/strict'
import { request, type Agent, type IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import { PROBLEM_CODES, PROBLEM_STATUS, type ProblemType } from '../../server/src/values/problem.ts'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

export interface Call {
  readonly method?: string
  readonly path: string
  /** An API key or a token, sent as `Authorization: Bearer`. */
  readonly key?: string
  /** Headers as a list in which names and values alternate. So a header can be sent twice. */
  readonly headers?: readonly string[]
  /** Bytes and strings are sent unchanged, all other values as JSON. */
  readonly body?: unknown
  readonly type?: string | null
  /** The value of the `Host` header. By default, it is the host of the URL. */
  readonly host?: string
  /** Keeps connections open for later requests. By default, each request has a new connection. */
  readonly agent?: Agent
}

/** Sends one request. */
export async function send(
  url: string,
  { method, path, key, headers = [], body, type, host: namedHost, agent }: Call,
): Promise<Answer> {
  const payload = toPayload(body)
  const contentType = type === undefined ? 'application/json' : type
  const sent = [
    ...headers,
    ...(key === undefined ? [] : ['authorization', `Bearer ${key}`]),
    ...(payload === null || contentType === null ? [] : ['content-type', contentType]),
    ...(payload === null ? [] : ['content-length', String(payload.length)]),
  ]
  const { host, hostname, port } = new URL(url)
  return await new Promise((resolve, reject) => {
    const outgoing = request(
      {
        hostname,
        port,
        path,
        method: method ?? (payload === null ? 'GET' : 'POST'),
        headers: ['host', namedHost ?? host, ...sent],
        agent: agent ?? false,
      },
      (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('error', reject)
        incoming.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8')
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text })
        })
      },
    )
    outgoing.on('error', reject)
    outgoing.end(payload)
  })
}

/** Sends one request, and parses its response as JSON. */
export async function call(
  base: string,
  method: string,
  path: string,
  { key, body }: { readonly key?: string; readonly body?: unknown } = {},
): Promise<JsonAnswer> {
  const answer = await send(base, { method, path, body, ...(key === undefined ? {} : { key }) })
  return { ...answer, body: (answer.text === '' ? {} : JSON.parse(answer.text)) as AnswerBody }
}

/** Sends bytes unchanged, and reads the response until the server ends the connection. */
export async function sendRaw(url: string, bytes: string | Buffer): Promise<Answer> {
  const { hostname, port } = new URL(url)
  const text = await new Promise<string>((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect(Number(port), hostname)
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('error', (error) => (chunks.length === 0 ? reject(error) : undefined))
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('utf8')))
    socket.write(bytes)
  })
  const [head = '', ...body] = text.split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = lines.map((line) => [line.split(':', 1)[0]?.toLowerCase(), line.replace(/^[^:]*: */, '')])
  return { status: Number(statusLine.split(' ')[1]), headers: Object.fromEntries(headers), text: body.join('\r\n\r\n') }
}

export interface ErrorBody {
  readonly type: ProblemType
  readonly message: string
  readonly code?: keyof typeof PROBLEM_CODES
  readonly details?: unknown
}

/** Reads an error response, and checks what is the same in all errors (D4, D6). */
export function readError(answer: Answer): ErrorBody {
  const body = JSON.parse(answer.text) as { error: ErrorBody }
  const { error } = body
  assert.match(answer.headers['content-type'] ?? '', /^application\/json\b/)
  assert.equal(answer.headers['x-content-type-options'], 'nosniff')
  assert.match(String(answer.headers['request-id']), /^req_[0-9A-Z]{26}$/)
  assert.deepEqual(Object.keys(body), ['error'])
  for (const member of Object.keys(error)) assert.ok(['type', 'message', 'code', 'details'].includes(member), member)
  assert.equal(PROBLEM_STATUS[error.type], answer.status, answer.text)
  assert.ok(typeof error.message === 'string' && error.message.length > 10)
  if (error.code !== undefined) assert.equal(PROBLEM_CODES[error.code][0], error.type)
  assert.doesNotMatch(answer.text, /node_modules|\bat .+:\d+:\d+|\.ts\b|postgres|select |stack/i)
  return error
}

export function expectError(
  answer: Answer,
  { status, type, code }: { status?: number; type: ProblemType; code?: keyof typeof PROBLEM_CODES },
): ErrorBody {
  const error = readError(answer)
  assert.deepEqual([answer.status, error.type, error.code], [status ?? PROBLEM_STATUS[type], type, code], answer.text)
  return error
}

/** Checks the status of a response, and returns its JSON with the type that the caller expects. */
export function readBody<Body>(answer: Answer, status: number): Body {
  assert.equal(answer.status, status, answer.text)
  assert.match(answer.headers['content-type'] ?? '', /^application\/json\b/)
  assert.equal(answer.headers['x-content-type-options'], 'nosniff')
  assert.match(String(answer.headers['request-id']), /^req_[0-9A-Z]{26}$/)
  return JSON.parse(answer.text) as Body
}

function toPayload(body: unknown): Buffer | null {
  if (body === undefined) return null
  if (body instanceof Uint8Array) return Buffer.from(body)
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

export interface JsonAnswer extends Answer {
  /** The JSON of the response. The type lists all fields, but a field that was not sent is undefined. */
  readonly body: AnswerBody
}

/** All fields that a response of the service or of the sandbox's control API may have. */
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
  readonly kind: string
  readonly agent_id: string
  readonly grant_id: string
  readonly status: string
  readonly failure_code: string | null
  readonly tx_hash: string | null
  readonly amount_usdc: string
  readonly from: string
  readonly to: string
  readonly memo: string | null
  readonly idempotency_key: string | null
  readonly request_id: string | null
  readonly created_at: string
  readonly confirmed_at: string | null
}

export interface WireError {
  readonly type: string
  readonly code?: string
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>>
}
