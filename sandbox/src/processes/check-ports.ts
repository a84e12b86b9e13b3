import { createServer } from 'node:net'
import { LOOPBACK, type Addresses } from '../addresses.ts'

/** Thrown if another program uses one of the eight ports. */
export class PortInUse extends Error {
  override readonly name = 'PortInUse'
  constructor(port: number, what: string, cause?: unknown) {
    super(
      `Port ${port} (${what}) is in use: stop what listens there, or set BURSAR_PORT to the first of eight free ports.`,
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
  seller: 'seller',
}

/**
 * Throws `PortInUse` for the first port that is in use. Ports in `skip` are not checked, because a killed sandbox of
 * ours may still use them.
 */
export async function checkPorts(
  ports: Addresses['ports'],
  skip: ReadonlySet<keyof Addresses['ports']> = new Set(),
): Promise<void> {
  for (const [key, port] of Object.entries(ports) as [keyof Addresses['ports'], number][]) {
    if (!skip.has(key) && !(await isFree(port))) throw new PortInUse(port, PORT_NAMES[key])
  }
}

/** Converts an error to `PortInUse` if another program started to use one of the ports after they were checked. */
export function explainPort(error: unknown, ports: Addresses['ports']): unknown {
  if (error instanceof PortInUse) return error
  const text = error instanceof Error ? error.message : ''
  const found = (Object.entries(ports) as [keyof Addresses['ports'], number][]).find(([, port]) =>
    new RegExp(`\\bport ${port} is in use|EADDRINUSE\\D.*:${port}\\b`).test(text),
  )
  return found === undefined ? error : new PortInUse(found[1], PORT_NAMES[found[0]], error)
}

/**
 * Returns whether the port is free in both address families, because a client of `localhost` may try either one first.
 * If the machine does not have a family, the port counts as free there.
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
