import { Agent, request } from 'node:http'

/** Connections are kept, so that a poll of the node does not open a connection each time. */
const AGENT = new Agent({ keepAlive: true })
const HEADERS = { 'content-type': 'application/json' }

/**
 * Posts JSON to a local node and returns the JSON of the response. Uses `node:http`, because an idle sandbox polls its
 * nodes, and `fetch` takes several times as much processor time.
 *
 * @throws Error if the node does not respond in time, or not with JSON.
 */
export async function postToNode(url: string, body: unknown, timeoutMs: number): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const sent = request(url, { method: 'POST', agent: AGENT, headers: HEADERS }, (response) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk))
    response.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')))
    response.on('error', reject)
  })
  const timer = setTimeout(() => sent.destroy(new Error(`the node did not respond within ${timeoutMs} ms`)), timeoutMs)
  sent.on('error', reject)
  sent.end(JSON.stringify(body))
  try {
    return JSON.parse(await promise)
  } finally {
    clearTimeout(timer)
  }
}
