import { readFileSync } from 'node:fs'
import { dirname, join, matchesGlob } from 'node:path'

/** Files that run one after the other in one process, and so load the service's sources once. */
export interface TestProcess {
  readonly name: string
  readonly files: readonly string[]
}

/** Browser tests share one sandbox and one Chromium, which live in their process (`test/support/browser/stage.ts`). */
const WHOLE_FOLDERS = ['test/browser', 'sandbox/src/control']
/** They stop processes, move clocks, or measure their own process: each has a process of its own. */
const ALONE = [
  'test/{chaos,conformance,flows,house}/**',
  'sandbox/src/*.test.ts',
  'sandbox/src/{chain,postgres,state}/**',
  'server/src/lib/outbound/**',
  'server/src/db/**',
  '**/*.sandbox.test.ts',
  '**/*-plans.test.ts',
  'scripts/**',
]
/** A hook at the top of a file would run around the tests of all the files that share its process. */
const TOP_HOOK = /^(?:before|after|beforeEach|afterEach)\(/m
/** Few enough that no process is still at work long after the others have ended. */
const FILES_MAX = 12
/** What takes long begins first. The rest follows in the order of the paths. */
const FIRST = ['test/browser/', 'test/chaos/', '**/*-plans.test.ts', 'sandbox/src/', 'test/flows/', 'test/conformance/']

/** Distributes test files over processes, in the order in which these are to be started. */
export function planProcesses(root: string, files: readonly string[]): readonly TestProcess[] {
  const groups = Map.groupBy(files, (file) => groupOf(root, file))
  const processes = [...groups].flatMap(([name, members]) => {
    const size = WHOLE_FOLDERS.includes(name) ? members.length : FILES_MAX
    const count = Math.ceil(members.length / size)
    return Array.from({ length: count }, (_, index) => ({
      name: count === 1 ? name : `${name} (${index + 1} of ${count})`,
      files: members.slice(
        Math.ceil((index * members.length) / count),
        Math.ceil(((index + 1) * members.length) / count),
      ),
    }))
  })
  return processes.toSorted((one, other) => rankOf(one) - rankOf(other))
}

/** A folder whose files share processes, or the file itself when it runs alone. */
function groupOf(root: string, file: string): string {
  const folder = WHOLE_FOLDERS.find((name) => file.startsWith(`${name}/`))
  if (folder !== undefined) return folder
  const runsAlone =
    ALONE.some((glob) => matchesGlob(file, glob)) || TOP_HOOK.test(readFileSync(join(root, file), 'utf8'))
  return runsAlone ? file : dirname(file).split('/').slice(0, 2).join('/')
}

function rankOf({ files: [file = ''] }: TestProcess): number {
  const rank = FIRST.findIndex((prefix) => file.startsWith(prefix) || matchesGlob(file, prefix))
  return rank === -1 ? FIRST.length : rank
}
