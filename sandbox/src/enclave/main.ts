import { readConfig } from './config.ts'
import { STOP_TIMEOUT_MS } from './limits.ts'
import { openEnclave } from './open-enclave.ts'

/**
 * Runs the local enclave as its own process. When it is ready, it reports `{"ready":true,…}` on standard output, and to
 * its parent process over IPC. It stops cleanly at SIGTERM, at SIGINT, or when its parent exits. If the parent sends
 * the message `{ clockOffsetMs }`, this process moves its clock, and confirms this with the same message.
 */
async function main(): Promise<void> {
  const enclave = await openEnclave(readConfig())
  let stopping = false
  const stop = (): void => {
    if (stopping) return
    stopping = true
    setTimeout(() => process.exit(1), STOP_TIMEOUT_MS).unref()
    enclave.close().then(
      () => process.exit(0),
      () => process.exit(1),
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  if (process.send !== undefined) {
    process.on('disconnect', stop)
    process.on('message', (message: unknown) => {
      const offsetMs = readClockOffset(message)
      if (offsetMs === null) return
      enclave.setClockOffset(offsetMs)
      process.send?.({ clockOffsetMs: offsetMs })
    })
  }
  const ready = { ready: true, port: enclave.port, url: enclave.url }
  process.stdout.write(`${JSON.stringify(ready)}\n`)
  process.send?.(ready)
}

function readClockOffset(message: unknown): number | null {
  if (typeof message !== 'object' || message === null || !('clockOffsetMs' in message)) return null
  return Number.isSafeInteger(message.clockOffsetMs) ? Number(message.clockOffsetMs) : null
}

main().catch((error: unknown) => {
  process.stderr.write(`enclave: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
})
