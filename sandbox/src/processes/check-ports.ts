import { createServer } from 'node:net'
import { LOOPBACK, type Addresses } from '../addresses.ts'

/** One of the seven ports is taken. */
export class PortInUse extends Error {
  override readonly name = 'PortInUse'
  constructor(port: number, what: string, cause?: unknown) {
    super(
      `Port ${port} (${what}) is in use: stop what listens there, or set BURSAR_PORT to the first of seven free ports.`,
      {
        cause,
      },
    )
  }
}

const LOOPBACK_V6 = '::1'

const PORT_NAMES: Readonly<Record<keyof Addresses['ports'], string>> = {
  api: 'REST API',
  auth: 'authorization server',
  control: 'control API',
  enclave: 'enclave',
  testChain: 'test chain',
  liveChain: 'live chain',
  postgres: 'PostgreSQL',
}

/**
 * Throws `PortInUse` for the first port that is taken. `skip` names ports that a killed sandbox of ours may still hold.
 */
export async function checkPorts(
  ports: Addresses['ports'],
  skip: ReadonlySet<keyof Addresses['ports']> = new Set(),
): Promise<void> {
  for (const [key, port] of Object.entries(ports) as [keyof Addresses['ports'], number][]) {
    if (!skip.has(key) && !(await isFree(port))) throw new PortInUse(port, PORT_NAMES[key])
  }
}

/** The same error for a port that was taken between the check and its use. */
export function explainPort(error: unknown, ports: Addresses['ports']): unknown {
  if (error instanceof PortInUse) return error
  const text = error instanceof Error ? error.message : ''
  const found = (Object.entries(ports) as [keyof Addresses['ports'], number][]).find(([, port]) =>
    new RegExp(`\\bport ${port} is in use|EADDRINUSE\\D.*:${port}\\b`).test(text),
  )
  return found === undefined ? error : new PortInUse(found[1], PORT_NAMES[found[0]], error)
}

/**
 * In both address families, because a client of `localhost` may try either first. A family that the machine does not
 * have counts as free.
 */
async function isFree(port: number): Promise<boolean> {
  const found = await Promise.all([isFreeOn(LOOPBACK, port), isFreeOn(LOOPBACK_V6, port)])
  return found.every((free) => free)
}

function isFreeOn(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'EADDRINUSE'))
    server.listen(port, host, () => server.close(() => resolve(true)))
  })
}
