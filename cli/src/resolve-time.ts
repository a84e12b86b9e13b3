import type { Cli } from './cli.ts'
import { callService } from './describe-error.ts'
import type { Service } from './open-service.ts'
import type { NamedTime } from './parse-values.ts'

/**
 * Returns the time that a caller named. "15 minutes ago" counts by the clock of the service: if this machine's clock
 * were ahead, entries would be missed. The clock of a sandbox may be moved far ahead.
 */
export async function resolveTime(cli: Cli, { bursar, options }: Service, named: NamedTime): Promise<Date> {
  if ('at' in named) return named.at
  const { server_time: now } = await callService(cli, () => bursar.me(options))
  return new Date(Date.parse(now) - named.agoMs)
}
