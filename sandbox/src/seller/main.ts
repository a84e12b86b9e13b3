import { readConfig } from './config.ts'
import { openSeller } from './open-seller.ts'

/**
 * Runs the seller as its own process. When it is ready, it reports `{"ready":true,…}` to its parent process over IPC.
 * It stops cleanly at SIGTERM, at SIGINT, or when its parent exits. It confirms messages that move the sandbox's clock.
 * However, it does not move its own clock, because real sellers have clocks of their own.
 */
async function main(): Promise<void> {
  const seller = await openSeller(readConfig())
  let stopping = false
  const stop = (): void => {
    if (stopping) return
    stopping = true
    seller.close().then(
      () => process.exit(0),
      () => process.exit(1),
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  process.on('disconnect', stop)
  process.on('message', (message: unknown) => {
    if (typeof message === 'object' && message !== null && 'clockOffsetMs' in message) process.send?.(message)
  })
  process.send?.({ ready: true, port: seller.port })
}

main().catch((error: unknown) => {
  process.stderr.write(`seller: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
})
