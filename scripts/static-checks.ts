import type { ChildProcesses } from './child-processes.ts'

/** Without this option, several threads of `tsc` each check the types that their files share. */
const ONE_THREAD = ['--singleThreaded']

/** The checks that run without the tests. They do not depend on each other, so they run in parallel. */
const CHECKS: readonly { readonly name: string; readonly command: string; readonly args: readonly string[] }[] = [
  { name: 'format (oxfmt)', command: 'oxfmt', args: ['--check'] },
  { name: 'lint (oxlint)', command: 'oxlint', args: ['.'] },
  { name: 'types (tsc)', command: 'tsc', args: [...ONE_THREAD, '-p', '.'] },
  { name: 'types of the dashboard (tsc)', command: 'tsc', args: [...ONE_THREAD, '-p', 'dashboard'] },
  { name: 'types of the signer page (tsc)', command: 'tsc', args: [...ONE_THREAD, '-p', 'signer'] },
  { name: 'types of the client (tsc)', command: 'tsc', args: [...ONE_THREAD, '-p', 'sdk'] },
  { name: "types of the client's tests (tsc)", command: 'tsc', args: [...ONE_THREAD, '-p', 'sdk/tsconfig.test.json'] },
  { name: 'types of the command line (tsc)', command: 'tsc', args: [...ONE_THREAD, '-p', 'cli'] },
  { name: 'dead code (knip)', command: 'knip', args: [] },
]

/**
 * `tsc` and oxlint's types are Go programs. The checks already run side by side, so a program on several cores only
 * adds work. Collecting garbage less often saves another fifth of the time.
 */
const GO_SETTINGS = { GOMAXPROCS: '1', GOGC: '400' }
const MS_PER_SECOND = 1_000

/** Runs all checks, prints the result of each, and returns whether all have passed. */
export async function runStaticChecks(
  children: ChildProcesses,
  { root, env }: { root: string; env: NodeJS.ProcessEnv },
): Promise<boolean> {
  const checkEnv = { ...env, ...GO_SETTINGS }
  const results = await Promise.all(
    CHECKS.map(async ({ name, command, args }) => {
      const startedAt = performance.now()
      const { exitCode, output } = await children.run(command, args, { cwd: root, env: checkEnv, output: 'keep' })
      const seconds = ((performance.now() - startedAt) / MS_PER_SECOND).toFixed(1)
      const passed = exitCode === 0
      process.stdout.write(`${passed ? '✔' : '✖'} ${name} (${seconds} s)\n${passed ? '' : output}`)
      return passed
    }),
  )
  return results.every(Boolean)
}
