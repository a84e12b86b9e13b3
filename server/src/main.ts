import { ConfigError, readConfig } from './config.ts'
import { textOf } from './lib/operator-error.ts'
import { openService } from './service.ts'

/** How long the service may take to stop after its delay. After this time the process exits in any case. */
const STOP_MS_MAX = 20_000

try {
  const config = readConfig()
  const service = await openService(config)
  let stopping = false
  const stop = (reason: string): void => {
    if (stopping) {
      void service.stop()
      return
    }
    stopping = true
    service.logger.info({ reason }, 'stopping')
    setTimeout(() => process.exit(1), config.stopDelayMs + STOP_MS_MAX).unref()
    service.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        service.logger.error({ err: error }, 'the service could not stop cleanly')
        process.exit(1)
      },
    )
  }
  // A second signal ends the delay.
  process.on('SIGTERM', () => stop('SIGTERM'))
  process.on('SIGINT', () => stop('SIGINT'))
  // The sandbox starts the service as a child process, moves its clock, and waits until it is ready. If the sandbox
  // dies, the service stops.
  process.on('disconnect', () => stop('disconnect'))
  process.on('message', (message: { clockOffsetMs?: unknown }) => {
    if (typeof message.clockOffsetMs !== 'number' || service.production) return
    service.clock.setOffset(message.clockOffsetMs)
    process.send?.({ clockOffsetMs: message.clockOffsetMs })
  })
  process.send?.({ ready: true, ports: service.ports })
} catch (error) {
  const message = error instanceof ConfigError ? error.message : `The service could not start: ${textOf(error)}`
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
