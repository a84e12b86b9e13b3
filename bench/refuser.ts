import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A minimal server that responds to every request with a 503. It shows how fast a 503 can be at best. */
const BODY = '{"error":{"type":"unavailable","message":"Too many requests."}}'

const server = createServer((_request, response) => {
  response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '1' }).end(BODY)
})
server.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
})
process.on('disconnect', () => process.exit(0))
