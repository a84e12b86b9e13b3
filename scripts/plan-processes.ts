import { readFileSync } from 'node:fs'
import { dirname, join, matchesGlob } from 'node:path'

/** Test files that run in one process, one after the other. So the process loads the service's sources only once. */
export interface TestProcess {
  readonly name: string
  readonly files: readonly string[]
  /** Whether it must run when all other processes have ended. */
  readonly isQuiet: boolean
}

/**
 * Tests of what happens within a tenth of a second, which fail if they wait longer than that for a processor. They run
 * when all other tests have ended.
 */
const QUIET = ['test/flows/parallel-clients.test.ts', 'server/src/lib/outbound/post-json.time.test.ts']

/**
 * Groups of test files. The files of a group run in one process. Most groups share a sandbox, which is opened there.
 * Browser tests also share the browser. The browser tests are in two groups that take about the same time, because a
 * single group would still be running long after all other tests have ended.
 *
 * The files run in the order of the patterns that match them. So a file that needs a sandbox without payments can be
 * the first, and a file that changes the clock, a process or a chain can be the last.
 */
const SHARING: readonly { readonly name: string; readonly files: readonly string[] }[] = [
  { name: 'quiet', files: QUIET },
  {
    name: 'test/browser-journeys',
    files: ['test/browser/{journeys-of-{money,owners},outages,pages-of-{developers,money,people}}.test.ts'],
  },
  {
    name: 'test/browser',
    files: [
      // These files need no sandbox.
      'test/browser/{inspection,signer-page,signer-takeover}.test.ts',
      'test/browser/!(consent-choices|passkeys|workspaces).test.ts',
      // These files share a second sandbox, and move its clock. A sandbox that starts late is idle for less time.
      'test/browser/*',
    ],
  },
  { name: 'test/conformance', files: ['test/conformance/*'] },
  {
    name: 'test/flows',
    files: [
      // The doctor must find that no payment was confirmed yet.
      'test/flows/doctor.test.ts',
      'test/flows/{model-mistakes,pay-and-confirm,provider-check,replace-grant,seller}.test.ts',
      'test/flows/{wallets-from-before,withdrawals}.test.ts',
      // Kills the server.
      'test/flows/client.test.ts',
      // Moves the time of a chain.
      'test/flows/purchases.test.ts',
    ],
  },
  {
    name: 'test/flows-clock',
    files: ['test/{chaos/tamper,flows/{first-wallet,refusals,two-processes}}.test.ts'],
  },
  { name: 'test/flows-blocks', files: ['test/flows/{deposits,reorganization}.test.ts'] },
  { name: 'test/flows-traces', files: ['test/flows/{connection-races,connection-secrets,secrets}.test.ts'] },
  { name: 'test/chaos-kill', files: ['test/chaos/{kill,kill-withdrawal}.test.ts'] },
  { name: 'test/chaos-faults', files: ['test/chaos/{faults,flood,lost-acceptance,wires}.test.ts'] },
  {
    name: 'sandbox/src-control-shared',
    files: [
      // These files compare the sandbox's clock with the real time, before others move it.
      'sandbox/src/control/control-api.test.ts',
      'sandbox/src/control/routes/webhooks.test.ts',
      'sandbox/src/control/{consent,owners,routes/seller}.test.ts',
    ],
  },
  // These files share no sandbox. They wait for blocks and for the time of leases, so they should not be the last ones.
  { name: 'server/src-jobs', files: ['server/src/jobs/*'] },
]
/**
 * Test files that start programs and wait for them. Files that share a process save time, because the process loads the
 * service's sources only once. However, each of these files takes a long time, so only a few share a process.
 */
const SLOW: readonly { readonly name: string; readonly files: string }[] = [
  { name: 'test/flows-alone', files: 'test/flows/**' },
  { name: 'server/src-sandbox', files: '**/*.sandbox.test.ts' },
  { name: 'sandbox/src-control', files: 'sandbox/src/control/**' },
]
/** Test files that take long, stop processes or inspect their own process. Each of them runs in its own process. */
const ALONE = [
  'test/chaos/**',
  'test/house/house.test.ts',
  'sandbox/src/{main,start-sandbox}.test.ts',
  'sandbox/src/chain/usdc.test.ts',
  'sandbox/src/postgres/**',
  'server/src/db/migrate.busy.test.ts',
  '**/*-plans.test.ts',
]
/**
 * Matches a hook at the top level of a file that runs for each test. It would run for the tests of every file in its
 * process, so the file gets its own process. Other hooks at the top level run before the first test of the process and
 * after the last one.
 */
const TOP_HOOK = /^(?:beforeEach|afterEach)\(/m
/** One process runs at most this many files, so that it does not run long after the other processes have ended. */
const FILES_MAX = 48
const SLOW_FILES_MAX = 8
/**
 * The slow tests, which start first, and those that mostly wait. The others follow in the order of their paths. They
 * rarely wait, so both cores are used until the end.
 */
const FIRST = [
  'test/browser/**',
  'test/chaos/**',
  '**/*-plans.test.ts',
  'test/house/**',
  '{server/src/{jobs/*,enclave/privy/transactions.test.ts},test/webhooks/**}',
  'sandbox/src/**',
  'test/{flows,conformance,contract,docs}/**',
  // One long process, which should not be the last one.
  'test/console/**',
  '**/*.sandbox.test.ts',
  '{cli,sdk}/**',
  'test/api/**',
]

/** Distributes test files over processes. Returns the processes in the order in which they should start. */
export function planProcesses(root: string, files: readonly string[]): readonly TestProcess[] {
  const groups = Map.groupBy(files, (file) => groupOf(root, file))
  return [...groups]
    .flatMap(([name, members]) => split(name, putInOrder(name, members)))
    .toSorted((a, b) => rankOf(a) - rankOf(b))
}

/** Returns the name of the group or the folder whose files share processes, or the file itself if it runs alone. */
function groupOf(root: string, file: string): string {
  const sharing = SHARING.find(({ files }) => files.some((glob) => matchesGlob(file, glob)))
  if (sharing !== undefined) return sharing.name
  const runsAlone =
    ALONE.some((glob) => matchesGlob(file, glob)) || TOP_HOOK.test(readFileSync(join(root, file), 'utf8'))
  if (runsAlone) return file
  const slow = SLOW.find(({ files }) => matchesGlob(file, files))
  return slow?.name ?? dirname(file).split('/').slice(0, 2).join('/')
}

/** Sorts the files of a group by the patterns that match them. Files that match the same pattern keep their order. */
function putInOrder(name: string, files: readonly string[]): readonly string[] {
  const patterns = SHARING.find((sharing) => sharing.name === name)?.files ?? []
  const placeOf = (file: string): number => patterns.findIndex((glob) => matchesGlob(file, glob))
  return files.toSorted((a, b) => placeOf(a) - placeOf(b))
}

/** Splits a group evenly into as many processes as it needs. */
function split(name: string, files: readonly string[]): TestProcess[] {
  const filesMax = SLOW.some((slow) => slow.name === name) ? SLOW_FILES_MAX : FILES_MAX
  const count = SHARING.some((sharing) => sharing.name === name) ? 1 : Math.ceil(files.length / filesMax)
  const boundary = (index: number): number => Math.ceil((index * files.length) / count)
  return Array.from({ length: count }, (_, index) => ({
    name: count === 1 ? name : `${name}-${index + 1}-of-${count}`,
    files: files.slice(boundary(index), boundary(index + 1)),
    isQuiet: name === 'quiet',
  }))
}

function rankOf({ files: [file = ''] }: TestProcess): number {
  const rank = FIRST.findIndex((glob) => matchesGlob(file, glob))
  return rank === -1 ? FIRST.length : rank
}
