import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { addSignerPage } from '../../../server/src/http/add-signer-page.ts'
import { openHttp } from '../../../server/src/http/open-http.ts'
import { createClock } from '../../../server/src/lib/clock.ts'
import { createLogger } from '../../../server/src/lib/logger.ts'
import { findFreePort } from '../free-port.ts'

const SIGNER_DIR = fileURLToPath(new URL('../../../signer/dist', import.meta.url))
const HOST = '127.0.0.1'

/** The signer page, and a page of another site that opens it. */
export interface SignerSite {
  readonly signerUrl: string
  readonly openerUrl: string
  close(): Promise<void>
}

/** A page whose functions open the signer page, send messages to it, and return its replies. */
const OPENER = `<!doctype html>
<html lang="en">
  <title>Opener</title>
  <script>
    let signer, resolve
    const replies = []
    addEventListener('message', ({ data, source }) => {
      if (source !== signer) return
      replies.push(data)
      resolve?.(data)
    })
    const next = () => new Promise((done) => { resolve = done })
    async function openSigner(url) {
      const ready = next()
      signer = open(url, 'signer', 'popup,width=480,height=720')
      return await ready
    }
    function post(message) { signer.postMessage(message, '*') }
    async function ask(message) {
      const reply = next()
      post(message)
      return await reply
    }
    function closeSigner() { signer.close() }
  </script>
</html>`

export async function openSignerSite(): Promise<SignerSite> {
  const [signerPort, openerPort] = [await findFreePort(), await findFreePort()]
  const signerUrl = `http://signer.localhost:${signerPort}`
  const deps = { clock: createClock(0), logger: createLogger('silent') }
  const http = openHttp({ production: false, trustedProxies: [] }, deps)
  await addSignerPage(http, { signerUrl, signerDir: { path: SIGNER_DIR, isRequired: true } })
  await http.listen({ host: HOST, port: signerPort })
  const opener = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(OPENER)
  })
  await new Promise<void>((resolve) => {
    opener.listen(openerPort, HOST, resolve)
  })
  return {
    signerUrl,
    openerUrl: `http://localhost:${openerPort}`,
    async close() {
      opener.closeAllConnections()
      await Promise.all([http.close(), new Promise((resolve) => opener.close(resolve))])
    },
  }
}
