const STREAM_TYPE = 'text/event-stream'
/** What the MCP package requires of a client of the earlier protocol versions: that it accepts both types. */
export const BOTH_TYPES = `application/json, ${STREAM_TYPE}`
/** A media range with the weight 0 is not accepted (RFC 9110, section 12.4.2). */
const WEIGHT_ZERO = /;\s*q=0(?:\.0*)?\s*$/i
const EVENT_DATA = /^data: (.*)$/m

/** In which of the two types of the protocol a client accepts responses. */
export interface AcceptedTypes {
  readonly json: boolean
  readonly stream: boolean
}

/**
 * Reads an `Accept` header. Without one, every type is accepted (RFC 9110, section 12.5.1). Such a client, and one that
 * accepts every type, gets JSON, because only a client of the protocol can read the stream.
 */
export function readAccepted(header = '*/*'): AcceptedTypes {
  const ranges = header.split(',').filter((range) => !WEIGHT_ZERO.test(range))
  const types = ranges.map((range) => range.split(';', 1)[0]?.trim().toLowerCase() ?? '')
  return {
    json: types.some((type) => ['application/json', 'application/*', '*/*'].includes(type)),
    stream: types.includes(STREAM_TYPE),
  }
}

/**
 * Returns the response to a message as JSON. To the earlier protocol versions, the MCP package responds with a stream of
 * one event, which contains the same JSON. There is only one event, because the server sends no notifications.
 */
export async function toJsonResponse(response: Response): Promise<Response> {
  if (response.headers.get('content-type')?.startsWith(STREAM_TYPE) !== true) return response
  const [, json] = EVENT_DATA.exec(await response.text()) ?? []
  if (json === undefined) throw new Error('The stream of the MCP package ended without an event.')
  const headers = new Headers(response.headers)
  headers.set('content-type', 'application/json')
  return new Response(json, { status: response.status, headers })
}
