import { fetchOnce } from '../lib/fetch-once.ts'

/** A response of the service or of the control API. */
export interface Answer {
  /** The method, path and body of the request. */
  readonly asked: string
  readonly status: number
  readonly body: Body
}

/** A JSON object whose members are not known in advance. They are read by name. */
export type Body = Readonly<Record<string, unknown>>

/** The time limit for a response. It is longer than any call to the service takes. */
const ANSWER_MS_MAX = 20_000

export interface Client {
  get(path: string): Promise<Answer>
  post(path: string, body: object): Promise<Answer>
}

/** Creates a JSON client for one origin. If there is a key, it is sent as a bearer token. */
export function createClient(origin: string, key?: string): Client {
  const request = async (method: string, path: string, body?: object): Promise<Answer> => {
    const response = await fetchOnce(origin + path, {
      method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    })
    const asked = [method, path, ...(body === undefined ? [] : [JSON.stringify(body)])].join(' ')
    return { asked, status: response.status, body: (await response.json()) as Body }
  }
  return {
    get: (path) => request('GET', path),
    post: (path, body) => request('POST', path, body),
  }
}

/** Returns the text at a path such as `payment.id`, or an empty string. */
export function textAt(body: Body, path: string): string {
  let value: unknown = body
  for (const name of path.split('.')) {
    value = typeof value === 'object' && value !== null ? (value as Body)[name] : undefined
  }
  return typeof value === 'string' ? value : ''
}
