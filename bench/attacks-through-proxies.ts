import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { PROXY_NAMES } from '../test/support/wires/recommended-proxy.ts'

/**
 * `npm run bench:proxies [-- nginx|haproxy]` repeats the attacks of `test/shares` through each proxy, with the settings
 * that the documentation recommends: eight other people must be served before, during and after each attack. It exits
 * with code 1 if they are not, or if a proxy is not installed. Each proxy takes a few minutes.
 */
const TESTS = 'test/shares'

const wanted = process.argv.slice(2)
const unknown = wanted.find((name) => !PROXY_NAMES.some((known) => known === name))
if (unknown !== undefined) throw new Error(`the proxies are ${PROXY_NAMES.join(', ')}`)

const results: string[] = []
for (const name of PROXY_NAMES) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const passed = isInstalled(name) && (await attackThrough(name))
  if (!passed) process.exitCode = 1
  results.push(`${name}: ${passed ? 'the others were served during every attack' : 'see above'}`)
}
process.stdout.write(`${results.join('\n')}\n`)

function isInstalled(name: string): boolean {
  const { error } = spawnSync(name, ['-v'])
  if (error !== undefined) process.stdout.write(`${name} cannot be started: ${error.message}\n`)
  return error === undefined
}

/** Runs the tests through a proxy. Returns whether all have passed. */
async function attackThrough(name: string): Promise<boolean> {
  process.stdout.write(`\nThrough ${name}\n`)
  const runner = fileURLToPath(new URL('../scripts/test.ts', import.meta.url))
  const env = { ...process.env, BURSAR_TEST_PROXY: name }
  const child = spawn(process.execPath, [runner, TESTS], { stdio: 'inherit', env })
  const { promise, resolve } = Promise.withResolvers<boolean>()
  child.once('exit', (code) => resolve(code === 0))
  return await promise
}
