import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { expectError, readBody, send, type Answer } from '../support/http-client.ts'

export interface Cookie {
  readonly value: string
  /** The cookie's attributes as the server sent them, in lower case and sorted. */
  readonly attributes: readonly string[]
}

/** The address at which the dashboard is served, and the origin that its pages have in a browser. */
interface Site {
  readonly url: string
  readonly config: { readonly authUrl: string }
}

/**
 * Stands in for a browser that shows the dashboard. It has its own cookies and IP address. It sends the headers that
 * show which page a request comes from.
 */
export class Browser {
  readonly cookies = new Map<string, string>()
  readonly #server: Site
  readonly #address: string

  constructor(server: Site, address = randomAddress()) {
    this.#server = server
    this.#address = address
  }

  async call(method: string, path: string, body?: unknown, headers?: readonly string[]): Promise<Answer> {
    const { url, config } = this.#server
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const own = ['origin', config.authUrl, 'sec-fetch-site', 'same-origin']
    const answer = await send(url, {
      host: new URL(config.authUrl).host,
      method,
      path,
      body,
      headers: [
        ...(headers ?? (method === 'GET' ? [] : own)),
        ...(cookie === '' ? [] : ['cookie', cookie]),
        ...['x-forwarded-for', this.#address, 'x-forwarded-proto', new URL(config.authUrl).protocol.slice(0, -1)],
      ],
    })
    for (const [name, { value }] of readCookies(answer)) {
      if (value === '') this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    assert.equal(answer.headers['cache-control'], 'no-store', `${method} ${path}`)
    return answer
  }

  async ask<Body>(method: string, path: string, body?: unknown, status = 200): Promise<Body> {
    return readBody<Body>(await this.call(method, path, body), status)
  }

  async refuse(
    method: string,
    path: string,
    expected: Parameters<typeof expectError>[1],
    body?: unknown,
  ): Promise<void> {
    expectError(await this.call(method, path, body), expected)
  }
}

/** Returns the cookies that a response sets. */
export function readCookies(answer: Answer): ReadonlyMap<string, Cookie> {
  const lines = answer.headers['set-cookie'] ?? []
  return new Map(
    lines.map((line) => {
      const [pair = '', ...attributes] = line.split('; ')
      const [name = '', value = ''] = pair.split('=')
      return [name, { value, attributes: attributes.map((attribute) => attribute.toLowerCase()).toSorted() }]
    }),
  )
}

function randomAddress(): string {
  return `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`
}
