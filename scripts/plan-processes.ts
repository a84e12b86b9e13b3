import { readFileSync } from 'node:fs'
import { dirname, join, matchesGlob } from 'node:path'

/** Test files that run one after the other in one process, which loads the service's sources only once. */
export interface TestProcess {
  readonly name: string
  readonly files: readonly string[]
}

/** Test files that share a sandbox, which runs in their process. Browser tests also share the browser. */
const SHARING: readonly { readonly name: string; readonly files: string }[] = [
  { name: 'test/browser', files: 'test/browser/*' },
  { name: 'test/conformance', files: 'test/conformance/*' },
  { name: 'test/flows', files: 'test/flows/{pay-and-confirm,provider-check,replace-grant}.test.ts' },
]
/**
 * Tests that stop processes, move clocks, measure time or inspect their own process. Each of these files runs in its
 * own process.
 */
const ALONE = [
  'test/{chaos,flows,house}/**',
  'sandbox/src/*.test.ts',
  'sandbox/src/{chain,control,postgres,state}/**',
  'server/src/lib/outbound/**',
  'server/src/db/**',
  '**/*.sandbox.test.ts',
  '**/*-plans.test.ts',
  'scripts/**',
]
/** A hook at the top level of a file, which would run for the tests of every file in its process. */
const TOP_HOOK = /^(?:before|after|beforeEach|afterEach)\(/m
/** Small enough that no process is still running long after the others have ended. */
const FILES_MAX = 12
/** Slow tests start first. The others follow in the order of their paths. */
const FIRST = [
  'test/browser/**',
  'test/chaos/**',
  '**/*-plans.test.ts',
  'sandbox/src/**',
  'test/{flows,conformance}/**',
]

/** Distributes test files over processes. Returns these in the order in which they should start. */
export function planProcesses(root: string, files: readonly string[]): readonly TestProcess[] {
  const groups = Map.groupBy(files, (file) => groupOf(root, file))
  return [...groups].flatMap(([name, members]) => split(name, members)).toSorted((a, b) => rankOf(a) - rankOf(b))
}

/** Returns the folder whose files share processes, or the file itself if it runs alone. */
function groupOf(root: string, file: string): string {
  const sharing = SHARING.find(({ files }) => matchesGlob(file, files))
  if (sharing !== undefined) return sharing.name
  const runsAlone =
    ALONE.some((glob) => matchesGlob(file, glob)) || TOP_HOOK.test(readFileSync(join(root, file), 'utf8'))
  return runsAlone ? file : dirname(file).split('/').slice(0, 2).join('/')
}

/** Splits a group evenly over as many processes as it needs. */
function split(name: string, files: readonly string[]): TestProcess[] {
  const count = SHARING.some((sharing) => sharing.name === name) ? 1 : Math.ceil(files.length / FILES_MAX)
  const boundary = (index: number): number => Math.ceil((index * files.length) / count)
  return Array.from({ length: count }, (_, index) => ({
    name: count === 1 ? name : `${name}-${index + 1}-of-${count}`,
    files: files.slice(boundary(index), boundary(index + 1)),
  }))
}

function rankOf({ files: [file = ''] }: TestProcess): number {
  const rank = FIRST.findIndex((glob) => matchesGlob(file, glob))
  return rank === -1 ? FIRST.length : rank
}
