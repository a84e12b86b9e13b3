import { refuseArguments } from '../config.ts'
import { startThrowAwaySandbox, type ThrowAwaySandbox } from '../throw-away-sandbox.ts'
import { buyResource } from './buy-resource.ts'
import { meetEveryLimit } from './meet-every-limit.ts'
import { payAndConfirm } from './pay-and-confirm.ts'
import { openDemo } from './demo-script.ts'

// `npm run demo` runs the whole demo in its own sandbox, and deletes this sandbox at the end.

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

async function main(): Promise<number> {
  refuseArguments()
  const stopping = new AbortController()
  const { signal } = stopping
  for (const name of STOP_SIGNALS) process.on(name, () => stopping.abort())
  print('Starting a separate sandbox in a temporary directory, on free ports. It holds no real money.')
  const sandbox = await startThrowAwaySandbox({
    signal,
    enclaveProfile: 'realistic',
    sellerStarts: 'with_sandbox',
    onProgress: (line) => print(`  ${line}`),
  })
  try {
    return await Promise.race([runDemo(sandbox), untilAborted(signal), untilDead(sandbox)])
  } finally {
    await sandbox.remove()
  }
}

async function runDemo({ facts }: ThrowAwaySandbox): Promise<number> {
  const demo = openDemo(facts)
  const granted = await payAndConfirm(demo)
  await buyResource(demo, granted)
  await meetEveryLimit(demo, granted)
  const faults = demo.faults()
  print(faults === 0 ? '\nEvery response was as expected.' : `\n${faults} responses were not as expected.`)
  return faults === 0 ? 0 : 1
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('The demo was stopped.')), { once: true })
  })
}

async function untilDead(sandbox: ThrowAwaySandbox): Promise<never> {
  throw new Error(await sandbox.died)
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

try {
  process.exit(await main())
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
}
