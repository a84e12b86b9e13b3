import { createApiKeySecret } from '../server/src/values/api-key.ts'
import { parseCell } from '../server/src/values/secret.ts'
import { readRouter, startNginx, type Proxy } from '../test/support/wires/recommended-proxy.ts'
import type { LoadFigures, LoadOrder } from './load.ts'
import { startProcess } from './processes.ts'
import { readClusterUs } from './processor-time.ts'
import { formatSpread, say } from './report.ts'

/**
 * `npm run bench:router [-- rounds]` sends requests through the router of the page _Growing_, and through an nginx that
 * only passes them on. The cells are nginx servers too, which respond at once.
 */
const [rounds = 7] = process.argv.slice(2).map(Number)
const SECONDS = 2
const CONNECTIONS = 50
/** A response of the size of an agent. */
const BODY = JSON.stringify({ id: 'x'.repeat(300) })
const BARE = 'a proxy for one service'

interface Round extends LoadFigures {
  readonly processorUs: number
}

const started: Proxy[] = []
const load = await startProcess('load.ts')
try {
  const movedKey = createApiKeySecret('live', parseCell('eu1'))
  const moved = `if ($http_authorization ~ ${movedKey}) { add_header Bursar-Cell eu2 always; return 421; }`
  const eu1 = await start(cellThat(moved))
  const eu2 = await start(cellThat(''))
  const page = await readRouter()
  const settings = page.replace('10.0.0.1:4100', addressOf(eu1)).replace('10.0.0.2:4100', addressOf(eu2))
  const router = await start(settings)
  const bare = await start(withoutRouting(settings))
  const keys = ['eu1', 'eu2'].map((cell) => createApiKeySecret('live', parseCell(cell)))
  const series = [
    { name: BARE, proxy: bare, key: keys[0] ?? '' },
    { name: 'the router, first cell', proxy: router, key: keys[0] ?? '' },
    { name: 'the router, second cell', proxy: router, key: keys[1] ?? '' },
    { name: 'the router, a moved workspace', proxy: router, key: movedKey },
  ]
  const measured = new Map<string, Round[]>(series.map(({ name }) => [name, []]))
  for (let round = 0; round <= rounds; round += 1) {
    for (const { name, proxy, key } of series) {
      const figures = await measure(proxy, key)
      // The first round is a warm-up.
      if (round > 0) measured.get(name)?.push(figures)
    }
  }
  report(measured)
} finally {
  await load.stop()
  for (const proxy of started) await proxy.close()
}

async function start(http: string): Promise<Proxy> {
  const proxy = await startNginx(http)
  started.push(proxy)
  return proxy
}

/** Returns the settings of a server that responds at once. `first` comes before its response. */
function cellThat(first: string): string {
  return `server {\nlocation / {\n${first}\nreturn 200 '${BODY}';\n}\n}`
}

function addressOf({ port }: Proxy): string {
  return `127.0.0.1:${port}`
}

/** Leaves the settings of a proxy that passes every request on to the first cell. */
function withoutRouting(settings: string): string {
  const bare = settings
    .replace(/^map [^}]*}\n/gm, '')
    .replace(/^ +proxy_intercept_errors.*\n|^ +error_page.*\n|^ +location @moved [^}]*}\n/gm, '')
    .replace('http://$cell', 'http://eu1')
  if (/\$cell|\$moved_to|@moved/.test(bare)) throw new Error(`the settings still route:\n${bare}`)
  return bare
}

async function measure(proxy: Proxy, key: string): Promise<Round> {
  const request = { method: 'GET', path: '/v1/agents/a', headers: { authorization: `Bearer ${key}` } } as const
  const requests = Array.from({ length: CONNECTIONS }, () => request)
  const order: LoadOrder = { url: `http://${addressOf(proxy)}`, connections: CONNECTIONS, seconds: SECONDS, requests }
  const before = await readClusterUs(proxy.pid)
  const figures = await load.ask<LoadFigures>([order])
  const after = await readClusterUs(proxy.pid)
  if (figures.failed > 0) throw new Error(`${figures.failed} requests failed (${figures.failure ?? 'no response'})`)
  return { ...figures, processorUs: ((after ?? Number.NaN) - (before ?? Number.NaN)) / figures.succeeded }
}

function report(measured: ReadonlyMap<string, readonly Round[]>): void {
  const bare = measured.get(BARE) ?? []
  for (const [name, figures] of measured) {
    const compare = (read: (round: Round) => number): string =>
      formatSpread(
        figures.map((round, index) => read(round) / read(bare[index] ?? round)),
        2,
      )
    const rate = `${formatSpread(
      figures.map(({ perSecond }) => perSecond),
      0,
    )} requests/s, ${compare(({ perSecond }) => perSecond)} of the proxy's`
    const cost = `${formatSpread(
      figures.map(({ processorUs }) => processorUs),
      0,
    )} µs of processor time each, ${compare(({ processorUs }) => processorUs)} of the proxy's`
    say(`${name}: ${rate}; ${cost}`)
  }
}
