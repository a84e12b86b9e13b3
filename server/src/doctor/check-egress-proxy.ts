import type { Config } from '../config.ts'
import type { EgressProxy } from '../lib/outbound/egress-proxy.ts'
import { ProxyFailed } from '../lib/outbound/outbound-error.ts'
import type { Finding } from './finding.ts'

const HTTPS_PORT = 443
const ADVICE: Record<ProxyFailed['outcome'], string> = {
  unreachable: 'Check the host and port of HTTPS_PROXY, and that the proxy runs.',
  unauthorized: 'Check the user name and the password in HTTPS_PROXY.',
  rejected: 'Allow CONNECT to the enclave in the settings of the proxy, or add its host to NO_PROXY.',
}

/**
 * Checks that the proxy opens a tunnel to the enclave. The other checks send their requests through it too, so they fail
 * if it does not work. Reports nothing if there is no proxy.
 */
export async function checkEgressProxy(
  { egressProxy, enclave }: Config,
  proxy: EgressProxy | null,
): Promise<readonly Finding[]> {
  if (egressProxy === null || proxy === null) return []
  // The URL may contain credentials, so only its host is shown.
  const name = `HTTPS_PROXY (${new URL(egressProxy.url).host})`
  const { protocol, hostname, port } = new URL(enclave.apiUrl)
  const target = port === '' ? HTTPS_PORT : Number(port)
  if (protocol !== 'https:' || !proxy.isUsedFor(hostname, target)) {
    return [{ level: 'ok', name, observed: 'set, but not used for the enclave' }]
  }
  try {
    const tunnel = await proxy.openTunnel(hostname, target)
    tunnel.destroy()
    return [{ level: 'ok', name, observed: 'it opens a tunnel to the enclave' }]
  } catch (error) {
    if (!(error instanceof ProxyFailed)) throw error
    return [{ level: 'fail', name, observed: error.message, advice: ADVICE[error.outcome] }]
  }
}
