import { Registry } from '@prometheus-io/client'
import type { Context } from '../domain/context.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import type { Measurements } from '../lib/measurements.ts'
import { addBacklogMetrics } from './backlog-metrics.ts'
import { createMeasurements } from './create-measurements.ts'
import { addLimitMetrics } from './limit-metrics.ts'
import { addProcessMetrics } from './process-metrics.ts'
import { serveMetrics, type MetricsServer } from './serve-metrics.ts'

/** A scrape is at most this old. So whoever reads the metrics again and again causes few statements. */
const SCRAPE_AGE_MS_MAX = 1_000

export interface Metrics {
  /** Counts what the code of the service reports. */
  readonly measurements: Measurements
  /** Starts to serve the metrics. `gate` is the overload gate of the HTTP server. */
  listen(ctx: Context, gate: { readonly turnedAway: number }): Promise<MetricsServer>
}

/** Opens the metrics of a process (D75). Returns null if the configuration names no port for them. */
export function openMetrics(
  place: { readonly host: string; readonly port: number } | null,
  { role, clock, logger }: { role: string; clock: Clock; logger: Logger },
): Metrics | null {
  if (place === null) return null
  const registry = new Registry(Registry.OPENMETRICS_CONTENT_TYPE)
  const measurements = createMeasurements(registry, clock)

  return {
    measurements,
    async listen(ctx, gate) {
      const ofProcess = addProcessMetrics(registry, { role, clock })
      const updateLimits = addLimitMetrics(registry, ctx, gate)
      const readBacklog = addBacklogMetrics(registry, ctx)
      // The first read opens the connection and plans the statements, which takes longer than the read itself.
      void readBacklog()
      const render = async (): Promise<string> => {
        ofProcess.update()
        updateLimits()
        await readBacklog()
        return await registry.metrics()
      }
      let recent: Promise<string> | null = null
      const renderOnce = (): Promise<string> => {
        recent ??= render().finally(() => {
          setTimeout(() => {
            recent = null
          }, SCRAPE_AGE_MS_MAX).unref()
        })
        return recent
      }
      const server = await serveMetrics(place, { render: renderOnce, contentType: registry.contentType, logger })
      return {
        port: server.port,
        async close() {
          ofProcess.close()
          await server.close()
        },
      }
    },
  }
}
