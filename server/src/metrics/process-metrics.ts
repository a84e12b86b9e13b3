import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Counter, Gauge, type Registry } from '@prometheus-io/client'
import type { Clock } from '../lib/clock.ts'
import { VERSION } from '../lib/version.ts'

/** How often the delay of the event loop is measured. */
const DELAY_SAMPLE_MS = 20
const DELAY_QUANTILES = [50, 99, 100]
const NS_PER_SECOND = 1e9
const US_PER_SECOND = 1e6
const MS_PER_SECOND = 1_000

/**
 * Registers what the process itself uses. The names are those of the client library's own collectors, so that common
 * dashboards show them. The library's collectors are not used, because they cannot be stopped, and add a hundred series.
 */
export function addProcessMetrics(registry: Registry, { role, clock }: { role: string; clock: Clock }) {
  const registers = [registry]
  const build = new Gauge({
    name: 'bursar_build_info',
    help: 'The version, the version of Node.js and the role of this process; always 1',
    labelNames: ['version', 'node', 'role'],
    registers,
  })
  const started = new Gauge({
    name: 'process_start_time_seconds',
    help: 'When this process started',
    registers,
  })
  const cpu = new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Processor time of this process, user and system',
    registers,
  })
  const resident = new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Memory of this process',
    registers,
  })
  const heap = new Gauge({
    name: 'nodejs_heap_size_used_bytes',
    help: 'Memory that JavaScript objects use',
    registers,
  })
  const lag = new Gauge({
    name: 'bursar_event_loop_delay_seconds',
    help: 'How late the event loop was since the last scrape; the percentile 100 is the maximum',
    labelNames: ['percentile'],
    registers,
  })
  const delay = monitorEventLoopDelay({ resolution: DELAY_SAMPLE_MS })
  delay.enable()
  build.set({ version: VERSION, node: process.version, role }, 1)
  started.set(Math.round(clock.now().getTime() / MS_PER_SECOND))

  return {
    update(): void {
      const { user, system } = process.cpuUsage()
      cpu.reset()
      cpu.inc((user + system) / US_PER_SECOND)
      const { rss, heapUsed } = process.memoryUsage()
      resident.set(rss)
      heap.set(heapUsed)
      for (const percentile of DELAY_QUANTILES) {
        // Each sample contains the time between two measurements. Without a sample, the percentile is not a number.
        const seconds = delay.count === 0 ? 0 : delay.percentile(percentile) / NS_PER_SECOND
        lag.set({ percentile }, Math.max(0, seconds - DELAY_SAMPLE_MS / MS_PER_SECOND))
      }
      delay.reset()
    },
    close(): void {
      delay.disable()
    },
  }
}
