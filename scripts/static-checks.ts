import type { ChildProcesses, ChildResult } from './child-processes.ts'

/** Without this option, several threads of `tsc` each check the types that their files share. */
const ONE_THREAD = ['--singleThreaded']

interface Check {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
}

/** The checks that run without the tests. They do not depend on each other. The first ones take the longest. */
const CHECKS: readonly Check[] = [
  { name: 'lint (oxlint)', command: 'oxlint', args: ['.'] },
  { name: 'types (tsc)', command: 'tsc', args: [...ONE_THREAD, '-p', '.'] },
  { name: 'dead code (knip)', command: 'knip', args: [] },
  { name: 'types of the dashboard (tsc)', command: 'tsc', args: [...ONE_THREAD, '-p', 'dashboard'] },
  { name: 'types of the signer page (tsc)', command: 'tsc', args: [...ONE_THREAD, '-p', 'signer'] },
  { name: 'types of the client (tsc)', command: 'tsc', args: [...ONE_THREAD, '-p', 'sdk'] },
  { name: "types of the client's tests (tsc)", command: 'tsc', args: [...ONE_THREAD, '-p', 'sdk/tsconfig.test.json'] },
  { name: 'types of the command line (tsc)', command: 'tsc', args: [...ONE_THREAD, '-p', 'cli'] },
  { name: 'format (oxfmt)', command: 'oxfmt', args: ['--check'] },
]
/** How many checks run at once. Tests run beside them, and some of those measure time. */
const CHECKS_AT_ONCE = 2

/**
 * `tsc` and oxlint's types are Go programs. Checks and tests already run side by side, so a program on several cores
 * only adds work. They collect no garbage unless they reach the limit of memory, which saves more than a fifth of the
 * time.
 */
const GO_SETTINGS = { GOMAXPROCS: '1', GOGC: 'off', GOMEMLIMIT: '4GiB' }
const MS_PER_SECOND = 1_000

/**
 * Runs all checks, prints whether each has passed, and returns the names and outputs of those that failed. Checks that
 * are stopped count as failed, and nothing is printed for them.
 */
export async function runStaticChecks(
  children: ChildProcesses,
  { root, env }: { root: string; env: NodeJS.ProcessEnv },
): Promise<readonly string[]> {
  const checkEnv = { ...env, ...GO_SETTINGS }
  const waiting = [...CHECKS]
  const failures: string[] = []
  const runWaiting = async (): Promise<void> => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      const { exitCode, output } = await runCheck(children, check, { cwd: root, env: checkEnv })
      if (exitCode !== 0) failures.push(`✖ ${check.name}\n${output}`)
    }
  }
  await Promise.all(Array.from({ length: CHECKS_AT_ONCE }, runWaiting))
  return failures
}

/** Runs a check, and prints whether it has passed, unless it was stopped. */
async function runCheck(
  children: ChildProcesses,
  { name, command, args }: Check,
  place: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<ChildResult> {
  const startedAt = performance.now()
  const result = await children.run(command, args, { ...place, output: 'keep' })
  const seconds = ((performance.now() - startedAt) / MS_PER_SECOND).toFixed(1)
  if (!children.isStopped) process.stdout.write(`${result.exitCode === 0 ? '✔' : '✖'} ${name} (${seconds} s)\n`)
  return result
}
