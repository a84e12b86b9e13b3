import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { paymentSeries, readSeries } from './cases/reads.ts'
import { tokenSeries } from './cases/tokens.ts'
import { webhookSeries } from './cases/webhooks.ts'
import { measureOnce, type Series } from './measure.ts'
import { say } from './report.ts'
import { openWorld, type World } from './world.ts'

/**
 * `npm run bench:profile [-- reads|payments|tokens|webhooks]` shows where the service spends its processor time under
 * load. It prints the functions with the most self time, and writes a profile that a browser's developer tools (or
 * speedscope) show as a flame graph.
 */
const TARGETS = 2_000
const SECONDS = 8
const TOKENS = 4_000
const DELIVERIES = 6_000
const FUNCTIONS_SHOWN = 30
/** The names of the profile entries that stand for time in which no function ran. */
const IDLE = ['(idle)', '(program)', '(root)']
const FOLDER = fileURLToPath(new URL('./profiles/', import.meta.url))

const CASES: Readonly<Record<string, (world: World) => Promise<readonly Series[]>>> = {
  reads: (world) => readSeries(world, { seconds: SECONDS }),
  payments: (world) => paymentSeries(world, { seconds: SECONDS }),
  tokens: (world) => tokenSeries(world, { amount: TOKENS, withPeer: false }),
  webhooks: (world) => webhookSeries(world, { amount: DELIVERIES }),
}

/** The format of Node's `--cpu-prof`. */
interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

const name = process.argv[2] ?? 'payments'
const openSeries = Object.hasOwn(CASES, name) ? CASES[name] : undefined
if (openSeries === undefined)
  throw new Error(`there is no case \`${name}\`; there are ${Object.keys(CASES).join(', ')}`)
const raw = join(FOLDER, `${name}.raw`)
await rm(raw, { recursive: true, force: true })
await mkdir(raw, { recursive: true })
const world = await openWorld({ targets: TARGETS, flags: ['--cpu-prof', `--cpu-prof-dir=${raw}`] })
try {
  for (const one of await openSeries(world)) {
    if (one.kind !== 'ours') continue
    const { perSecond } = await measureOnce(world, one)
    say(`${one.name}: ${Math.round(perSecond)}/s while it was profiled`)
  }
} finally {
  await world.close() // the servers write their profiles when they stop
}
await summarize()

async function summarize(): Promise<void> {
  const profiles = await Promise.all(
    (await readdir(raw)).map(async (file) => {
      return { file, profile: JSON.parse(await readFile(join(raw, file), 'utf8')) as CpuProfile }
    }),
  )
  const busiest = profiles.toSorted((left, right) => busyOf(right.profile) - busyOf(left.profile))[0]
  if (busiest === undefined) throw new Error('the server wrote no profile')
  const times = timeByFunction(busiest.profile)
  const busy = busyOf(busiest.profile)
  say(`\nself time by function, of ${(busy / 1e6).toFixed(1)} s in which the process was not idle\n`)
  for (const [title, us] of [...times].toSorted(([, left], [, right]) => right - left).slice(0, FUNCTIONS_SHOWN)) {
    say(`${((us / busy) * 100).toFixed(1).padStart(5)} %  ${title}`)
  }
  const kept = join(FOLDER, `${name}.cpuprofile`)
  await rename(join(raw, busiest.file), kept)
  await rm(raw, { recursive: true })
  say(`\nflame graph: open bench/profiles/${name}.cpuprofile in the Performance panel of a browser's developer tools`)
}

/** Returns the self time of each function in microseconds, without the time in which nothing ran. */
function timeByFunction({ nodes, samples, timeDeltas }: CpuProfile): Map<string, number> {
  const titles = new Map(nodes.map(({ id, callFrame }) => [id, titleOf(callFrame)]))
  const times = new Map<string, number>()
  for (const [index, id] of samples.entries()) {
    const title = titles.get(id) ?? ''
    if (IDLE.includes(title)) continue
    times.set(title, (times.get(title) ?? 0) + (timeDeltas[index] ?? 0))
  }
  return times
}

function busyOf(profile: CpuProfile): number {
  return [...timeByFunction(profile).values()].reduce((sum, us) => sum + us, 0)
}

function titleOf({ functionName, url, lineNumber }: CpuProfile['nodes'][number]['callFrame']): string {
  if (url === '') return functionName === '' ? '(anonymous)' : functionName
  const file = url.replace(/^.*\/(?=(?:node_modules|server)\/)/, '')
  return `${functionName === '' ? '(anonymous)' : functionName}  ${file}:${lineNumber + 1}`
}
