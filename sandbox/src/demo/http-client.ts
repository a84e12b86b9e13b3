/** A response of the service or of the control API. */
export interface Answer {
  /** Method, path and body of the request. */
  readonly asked: string
  readonly status: number
  readonly body: Body
}

/** JSON of unknown shape; members are read by name. */
export type Body = Readonly<Record<string, unknown>>

/** Longer than any call to the service takes. */
const ANSWER_MS_MAX = 20_000

export interface Client {
  get(path: string): Promise<Answer>
  post(path: string, body: object): Promise<Answer>
}

/** A JSON client for one origin, with an optional bearer key. */
export function createClient(origin: string, key?: string): Client {
  const request = async (method: string, path: string, body?: object): Promise<Answer> => {
    const response = await fetch(origin + path, {
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

/** The text at a path such as `payment.id`, or an empty string. */
export function textAt(body: Body, path: string): string {
  let value: unknown = body
  for (const name of path.split('.')) {
    value = typeof value === 'object' && value !== null ? (value as Body)[name] : undefined
  }
  return typeof value === 'string' ? value : ''
}
