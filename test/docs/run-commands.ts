import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Block } from './read-blocks.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** How long the commands of one page may take. The machine may be busy. */
const PAGE_MS_MAX = 120_000
const SHELL = 'bash'
const STATUS = /^\[(?<kind>block|status) (?<value>.*)\]$/

/**
 * Runs the commands of a page in one shell, in their order, as a reader would in the project's folder. `environment` is
 * what `npm run -s sandbox:env` prints. Fails if a command fails, or if a request gets an error that the page does not
 * announce.
 */
export async function runCommands(
  blocks: readonly Block[],
  { folder, environment, variables }: RunOptions,
): Promise<void> {
  const tools = join(folder, 'tools')
  await mkdir(tools, { recursive: true })
  await writeTool(tools, 'npm', `test "$*" = 'run -s sandbox:env' && cat <<'END'\n${environment}END\n`)
  // Prints the status of each response, because curl exits with 0 even if the service responds with an error.
  await writeTool(tools, 'curl', `PATH=\${PATH#*:} exec curl -w '%{stderr}[status %{http_code}]\\n' "$@"\n`)
  await writeTool(tools, 'bursar', `exec '${process.execPath}' '${ROOT}/cli/bin/bursar.js' "$@"\n`)
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const script = ['set -euo pipefail', ...blocks.map(toScript)].join('\n')
  const child = spawn(SHELL, ['-c', script], {
    cwd: folder,
    env: {
      ...process.env,
      ...variables,
      TMPDIR: folder,
      XDG_CONFIG_HOME: folder,
      PATH: [tools, process.env['PATH']].join(delimiter),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const output: string[] = []
  const errors: string[] = []
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk.toString('utf8')))
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk.toString('utf8')))
  const timer = setTimeout(() => killGroup(child.pid), PAGE_MS_MAX)
  const [exitCode] = (await once(child, 'exit')) as [number | null]
  clearTimeout(timer)
  // If a page fails, it may leave programs running, such as a receiver of webhooks.
  killGroup(child.pid)
  await rm(tools, { recursive: true })
  const told = `${output.join('')}\n${errors.join('')}`
  assert.equal(exitCode, 0, `the commands failed:\n${told}`)
  checkStatuses(errors.join('').split('\n'), { blocks, told })
}

interface RunOptions {
  /** A folder for the files that the page writes. */
  readonly folder: string
  readonly environment: string
  readonly variables: Readonly<Record<string, string>>
}

function toScript({ language, code, file }: Block, index: number): string {
  const begin = `echo '[block ${index}]' >&2`
  if (language === 'bash' || language === 'sh') return `${begin}\n${code}`
  const name = file ?? `block-${index}.mts`
  const save = `${begin}\ncat > ${name} <<'END-OF-FILE'\n${code}END-OF-FILE`
  return file === null ? `${save}\n'${process.execPath}' ${name}` : save
}

function checkStatuses(lines: readonly string[], { blocks, told }: { blocks: readonly Block[]; told: string }): void {
  let block: Block | undefined
  const met = new Map<Block, Set<number>>()
  for (const line of lines) {
    const { kind, value } = STATUS.exec(line)?.groups ?? {}
    if (kind === 'block') block = blocks[Number(value)]
    const status = Number(value)
    if (kind !== 'status' || block === undefined || status < 400) continue
    assert.ok(block.errors.includes(status), `a request got ${status} in\n${block.code}\n${told}`)
    met.set(block, (met.get(block) ?? new Set()).add(status))
  }
  for (const announcing of blocks) {
    for (const status of announcing.errors) {
      assert.ok(met.get(announcing)?.has(status), `no request got ${status} in\n${announcing.code}\n${told}`)
    }
  }
}

async function writeTool(folder: string, name: string, text: string): Promise<void> {
  const file = join(folder, name)
  await writeFile(file, `#!/usr/bin/env ${SHELL}\n${text}`)
  await chmod(file, 0o755)
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // All programs have ended.
  }
}
