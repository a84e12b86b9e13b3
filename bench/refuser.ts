import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CONNECTIONS_WAITING_MAX } from '../server/src/http/limits.ts'

/** A minimal server that responds to every request with a 503. It shows how fast a 503 can be at best. */
const BODY = '{"error":{"type":"unavailable","message":"Too many requests."}}'

const server = createServer((_request, response) => {
  response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '1' }).end(BODY)
})
server.listen({ port: 0, host: '127.0.0.1', backlog: CONNECTIONS_WAITING_MAX }, () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
})
process.on('disconnect', () => process.exit(0))
