import type { ChildProcesses } from './child-processes.ts'

/** Checks that do not run the tests. They are independent of each other, so they run in parallel. */
const CHECKS: readonly { readonly name: string; readonly command: string; readonly args: readonly string[] }[] = [
  { name: 'format (prettier)', command: 'prettier', args: ['--check', '--log-level', 'warn', '.'] },
  { name: 'lint (oxlint)', command: 'oxlint', args: ['.'] },
  { name: 'types (tsc)', command: 'tsc', args: ['-p', '.'] },
  { name: 'types of the dashboard (tsc)', command: 'tsc', args: ['-p', 'dashboard'] },
  { name: 'dead code (knip)', command: 'knip', args: [] },
]

const MS_PER_SECOND = 1_000

/** Runs all checks, prints the result of each, and returns whether all have passed. */
export async function runStaticChecks(
  children: ChildProcesses,
  { root, env }: { root: string; env: NodeJS.ProcessEnv },
): Promise<boolean> {
  const results = await Promise.all(
    CHECKS.map(async ({ name, command, args }) => {
      const startedAt = performance.now()
      const { exitCode, output } = await children.run(command, args, { cwd: root, env, output: 'keep' })
      const seconds = ((performance.now() - startedAt) / MS_PER_SECOND).toFixed(1)
      const passed = exitCode === 0
      process.stdout.write(`${passed ? '✔' : '✖'} ${name} (${seconds} s)\n${passed ? '' : output}`)
      return passed
    }),
  )
  return results.every(Boolean)
}
