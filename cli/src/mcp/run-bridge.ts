import type { Readable } from 'node:stream'
import type { Fetch } from '../credentials/service-fetch.ts'
import { CliError } from '../cli-error.ts'
import { notOurs, readText } from '../credentials/foreign-response.ts'
import { EXIT } from '../exit-codes.ts'
import { cleanLine } from '../output/clean-text.ts'
import {
  agreedVersion,
  formatRpcError,
  isResponse,
  parseMessage,
  protocolHeaders,
  RPC_ERROR,
  type Message,
  type MessageId,
} from './message.ts'
import { readEvents } from './read-events.ts'
import { readLines } from './read-lines.ts'

/**
 * A line longer than this is rejected here, with an answer that names this limit. The service itself rejects a message
 * of more than 64 KiB.
 */
const LINE_BYTES_MAX = 256 * 1024
/** While this many requests wait for their responses, no further lines are read. */
const OPEN_REQUESTS_MAX = 32
/** This is long enough, because no call of a tool takes longer than 45 seconds. */
const REQUEST_TIMEOUT_MS = 60_000
const SERVER_ERROR_MIN = 500

export interface BridgeOptions {
  /** The address of the MCP server. */
  readonly url: string
  readonly fetch: Fetch
  readonly input: Readable
  /** Writes one line to the client. */
  readonly write: (line: string) => void
  /** Writes one line for people, to standard error. */
  readonly log: (line: string) => void
  readonly stop: AbortSignal
}

/**
 * Reads the messages of an MCP client from `input`, sends each message to the server as one request, and writes the
 * responses. Ends when the client has closed `input` and all its requests have their responses, or at `stop`.
 */
export async function runBridge(options: BridgeOptions): Promise<void> {
  const bridge = new Bridge(options)
  const { input, stop } = options
  const end = (): void => void input.destroy()
  stop.addEventListener('abort', end, { once: true })
  try {
    for await (const line of readLines(input, LINE_BYTES_MAX)) await bridge.accept(line)
  } catch (error) {
    if (!stop.aborted) throw error
  } finally {
    stop.removeEventListener('abort', end)
  }
  await bridge.finish()
}

/** The progress of one request. */
interface Progress {
  readonly canceled: AbortSignal
  /** Whether the client has got the response. */
  hasAnswer: boolean
}

class Bridge {
  readonly #options: BridgeOptions
  readonly #open = new Set<Promise<void>>()
  /** The requests that the client may cancel, by their ids. */
  readonly #cancels = new Map<MessageId, AbortController>()
  #agreed: string | null = null

  constructor(options: BridgeOptions) {
    this.#options = options
  }

  async accept(line: string | null): Promise<void> {
    const message = line === null ? null : parseMessage(line)
    if (line === null || message === null) {
      const [code, text] =
        line === null
          ? [RPC_ERROR.invalidRequest, `A message has at most ${LINE_BYTES_MAX} bytes.`]
          : [RPC_ERROR.parse, 'This line is not a JSON-RPC message. Each line must be one message.']
      this.#options.write(formatRpcError(null, code, text))
      return
    }
    if (message.method === 'notifications/cancelled') return this.#cancel(message)
    const work = this.#pass(line, message)
    const tracked: Promise<void> = work.finally(() => this.#open.delete(tracked))
    this.#open.add(tracked)
    // All later messages need a header with the version that `initialize` agrees on, so they wait for its response.
    if (message.method === 'initialize') await tracked
    if (this.#open.size >= OPEN_REQUESTS_MAX) await Promise.race(this.#open)
  }

  async finish(): Promise<void> {
    await Promise.all(this.#open)
  }

  /**
   * Ends the connection of the request, so that the server notices that nobody waits any more. This is enough: the
   * server keeps no other state of the request.
   */
  #cancel({ params }: Message): void {
    const id = params['requestId']
    if (typeof id === 'string' || typeof id === 'number') this.#cancels.get(id)?.abort()
  }

  async #pass(line: string, message: Message): Promise<void> {
    const { id } = message
    const canceled = new AbortController()
    const progress: Progress = { canceled: canceled.signal, hasAnswer: false }
    if (id !== null) this.#cancels.set(id, canceled)
    try {
      await this.#send(line, message, progress)
    } catch (error) {
      // A client that has canceled a request, or already has its response, expects no error.
      if (canceled.signal.aborted || progress.hasAnswer || this.#options.stop.aborted) return
      const { code, text } = describeFailure(error, message)
      this.#options.log(text)
      if (id !== null) this.#options.write(formatRpcError(id, code, text))
    } finally {
      if (id !== null && this.#cancels.get(id) === canceled) this.#cancels.delete(id)
    }
  }

  async #send(line: string, message: Message, progress: Progress): Promise<void> {
    const { url, fetch, stop } = this.#options
    const { canceled } = progress
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...protocolHeaders(message, this.#agreed),
      },
      body: line,
      signal: AbortSignal.any([canceled, stop, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
    })
    const write = (text: string): void => {
      if (canceled.aborted) return
      if (parseMessage(text) === null) throw new Error('The service sent something other than a JSON-RPC message.')
      // The server may spread a message over several lines, and the client needs it in one line. The message is not
      // parsed and formatted again, because that would change very large numbers in it.
      this.#options.write(text.replaceAll(/[\r\n]+/g, ' '))
      progress.hasAnswer ||= isResponse(text, message.id)
      if (message.method === 'initialize') this.#agreed ??= agreedVersion(text)
    }
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    if (isStream && response.body !== null) {
      for await (const text of readEvents(response.body)) write(text)
    } else {
      const text = await readText(response)
      // An error without the id of the request is not passed on. The client could not tell which request it is for, and
      // would continue to wait.
      if (message.id !== null && isResponse(text, message.id)) write(text)
      else if (!response.ok) throw rejected(response.status, { text, url })
      else if (message.id !== null && text !== '') throw notOurs(url)
    }
    if (!progress.hasAnswer && message.id !== null) throw new Error('The service sent no response.')
  }
}

/**
 * Returns the error for an answer that is no JSON-RPC message: the service rejected the request before it read the
 * message.
 */
function rejected(status: number, { text, url }: { text: string; url: string }): CliError {
  const message = readMessage(text)
  if (message === null) {
    return status >= SERVER_ERROR_MIN
      ? new CliError(`The service responded with the status ${status}.`, {
          exitCode: EXIT.failure,
          code: String(status),
        })
      : notOurs(url)
  }
  return new CliError(message, { exitCode: status === 401 ? EXIT.signIn : EXIT.failure, code: String(status) })
}

function readMessage(text: string): string | null {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown } }
    return typeof error?.message === 'string' ? cleanLine(error.message) : null
  } catch {
    return null
  }
}

function describeFailure(error: unknown, { method }: Message): { readonly code: number; readonly text: string } {
  if (error instanceof CliError) {
    const isSignIn = error.exitCode === EXIT.signIn
    const advice = isSignIn ? ' Sign in with `bursar login`, or set BURSAR_API_KEY.' : ''
    const hint = isSignIn || error.hint === undefined ? '' : ` ${error.hint}`
    return { code: isSignIn ? RPC_ERROR.unauthorized : RPC_ERROR.internal, text: error.message + hint + advice }
  }
  const isLate = error instanceof Error && error.name === 'TimeoutError'
  const what = isLate
    ? 'The service did not respond in time.'
    : 'The service cannot be reached, or its response was lost.'
  // The call may already have paid. If it is repeated with the same purchase id, it never pays twice.
  const advice = method === 'tools/call' ? ' If this call pays, repeat it with the same purchase_id.' : ''
  return { code: RPC_ERROR.internal, text: what + advice }
}
