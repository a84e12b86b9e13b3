import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** Runs a program of the project in the same way as `npm run`, until it exits. */
export async function runProgram(
  path: string,
  { args = [], env }: { args?: readonly string[]; env: Readonly<Record<string, string>> },
): Promise<{ exitCode: number | null; output: string }> {
  const child = spawn(process.execPath, ['scripts/run.mjs', path, ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
  const [exitCode] = (await once(child, 'close')) as [number | null]
  return { exitCode, output: Buffer.concat(chunks).toString('utf8') }
}
