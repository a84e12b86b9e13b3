import type { Socket } from 'node:net'
import { PROXY_NAMES, startRecommendedProxy } from '../wires/recommended-proxy.ts'
import { startSourceAddresses } from '../wires/source-addresses.ts'

/** Where the tests reach a service: directly, or through a proxy. */
export interface Front {
  readonly url: string
  /**
   * The connections of clients to the proxy. Null if there is none. A proxy may receive a whole request before the
   * service gets it.
   */
  readonly clients: readonly Socket[] | null
  close(): Promise<void>
}

/**
 * Opens the way to the service at `url`. If `BURSAR_TEST_PROXY` is `nginx` or `haproxy`, requests go through that proxy,
 * with the settings that the documentation recommends (`npm run bench:proxies`).
 */
export async function openFront(url: string): Promise<Front> {
  const wanted = process.env['BURSAR_TEST_PROXY']
  if (wanted === undefined) return { url, clients: null, close: async () => undefined }
  const name = PROXY_NAMES.find((one) => one === wanted)
  if (name === undefined) throw new Error(`BURSAR_TEST_PROXY must be one of ${PROXY_NAMES.join(', ')}`)
  const proxy = await startRecommendedProxy(name, url)
  const addresses = await startSourceAddresses(proxy.port)
  return {
    url: `http://127.0.0.1:${addresses.port}`,
    clients: addresses.clients,
    async close() {
      await addresses.close()
      await proxy.close()
    },
  }
}
