import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { answerJson, startFakeServer, type FakeServer } from '../../../test/support/wires/fake-server.ts'
import { createLogger } from '../lib/logger.ts'
import { NOT_MEASURED, type Measurements } from '../lib/measurements.ts'
import { openTraces, type Traces } from './open-traces.ts'

const REQUEST = { id: 'req_1', method: 'GET', route: '/v1/me', status: 200, code: '', ms: 1 }

describe('openTraces', () => {
  test('a share of 0 records nothing, and a share of 1 everything', async (t) => {
    for (const [ratio, count] of [
      [0, 0],
      [1, 2],
    ] as const) {
      const names = await record(t, ratio, (measurements) => {
        const trace = measurements.startTrace(0)
        trace?.run(() => measurements.databaseUsed('statement', 'find_agents', 'ok', 1))
        measurements.requestEnded({ ...REQUEST, trace })
      })
      assert.equal(names.length, count)
    }
  })

  test('a round of a job is recorded if it failed or had a transaction, with its steps until it ended', async (t) => {
    const names = await record(t, 1, (measurements) => {
      const round = (name: string, outcome: 'ok' | 'failed', work: () => void): void => {
        const trace = measurements.startTrace(0)
        trace?.run(work)
        measurements.roundEnded(name, outcome, 1, trace)
        trace?.run(work)
      }
      round('idle', 'ok', () => measurements.nodeUsed('test', 0, 'ok', 1))
      round('broken', 'failed', () => measurements.nodeUsed('test', 0, 'failed', 1))
      round('busy', 'ok', () => measurements.databaseUsed('transaction', 'settle', 'ok', 1))
    })
    assert.deepEqual(names.toSorted(), ['chain test', 'database transaction', 'job broken', 'job busy'])
  })

  test('a stop does not wait until a collector that hangs has used up its time', async (t) => {
    const collector = await startFakeServer(() => undefined)
    t.after(() => collector.close())
    const faults: unknown[] = []
    const logger = createLogger('silent')
    logger.warn = (line: unknown) => faults.push(line)
    const traces = openCollected(collector, 1, logger)
    traces.measurements.requestEnded({ ...REQUEST, trace: traces.measurements.startTrace(0) })
    await traces.close()
    assert.deepEqual(faults, [])
  })
})

function openCollected({ url }: FakeServer, ratio: number, logger = createLogger('silent')): Traces {
  const settings = { endpoint: url, ratio, serviceName: 'bursar' }
  return openTraces(settings, { measurements: NOT_MEASURED, role: 'all', logger })
}

/** Returns the names of the spans that reached the collector. */
async function record(t: TestContext, ratio: number, work: (measurements: Measurements) => void): Promise<string[]> {
  const bodies: string[] = []
  const collector = await startFakeServer((_request, body, response) => {
    bodies.push(body)
    answerJson(response, {})
  })
  t.after(() => collector.close())
  const traces = openCollected(collector, ratio)
  work(traces.measurements)
  await traces.close()
  return bodies.flatMap((body) => [...body.matchAll(/"name":"([^"]+)","kind"/g)].map(([, name = '']) => name))
}
