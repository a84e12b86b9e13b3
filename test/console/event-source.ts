import assert from 'node:assert/strict'
import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import { waitFor } from '../support/wait-for.ts'
import type { ConsoleServer } from '../support/service/console-server.ts'
import type { Browser } from './browser.ts'

export interface ServerEvent {
  readonly event: string
  readonly data: unknown
}

/** Stands in for a browser's `EventSource`. Unlike a browser, it does not reconnect. */
export class EventSource {
  readonly events: ServerEvent[] = []
  /** The whole text that the server has sent so far. */
  text = ''
  isEnded = false
  readonly #request: ClientRequest
  readonly incoming: IncomingMessage

  private constructor(outgoing: ClientRequest, incoming: IncomingMessage) {
    this.#request = outgoing
    this.incoming = incoming
    incoming.setEncoding('utf8')
    incoming.on('data', (text: string) => {
      this.text += text
      this.#readEvents()
    })
    incoming.on('close', () => {
      this.isEnded = true
    })
    incoming.on('error', () => undefined)
  }

  static async open(
    { url, host }: Pick<ConsoleServer, 'url' | 'host'>,
    path: string,
    browser: Browser,
  ): Promise<EventSource> {
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    return await new Promise((resolve, reject) => {
      const outgoing = request(`${url}${path}`, { agent: false, headers: { cookie, host } }, (incoming) =>
        resolve(new EventSource(outgoing, incoming)),
      )
      outgoing.on('error', reject)
      outgoing.end()
    })
  }

  get status(): number {
    return this.incoming.statusCode ?? 0
  }

  async waitFor(event: string, times = 1): Promise<void> {
    await waitFor(`${times} × ${event}`, () => this.events.filter((told) => told.event === event).length >= times)
  }

  /** Returns the events that were received since the last call. */
  take(): ServerEvent[] {
    return this.events.splice(0)
  }

  async waitForEnd(msMax?: number): Promise<void> {
    await waitFor('the end of the stream', () => this.isEnded, msMax)
  }

  close(): void {
    this.#request.destroy()
  }

  #readEvents(): void {
    const blocks = this.text.split('\n\n').slice(0, -1)
    const told = blocks.filter((block) => block.startsWith('event: '))
    this.events.push(
      ...told.slice(this.#told).map((block) => {
        const [event = '', data = ''] = block.split('\n')
        assert.match(data, /^data: /)
        return { event: event.slice('event: '.length), data: JSON.parse(data.slice('data: '.length)) as unknown }
      }),
    )
    this.#told = told.length
  }

  #told = 0
}
