import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const CONTRACT = fileURLToPath(new URL('../../../openapi.json', import.meta.url))
/** The generators need an older version of TypeScript, so they are installed in this folder. */
const GENERATORS = fileURLToPath(new URL('node_modules/.bin/', import.meta.url))
const TSC = fileURLToPath(new URL('../../../node_modules/.bin/tsc', import.meta.url))

/** The generators' version of TypeScript still has the module resolution `node10`. */
const OLD_TSC = fileURLToPath(new URL('node_modules/.bin/tsc', import.meta.url))
const SDK = fileURLToPath(new URL('../../../sdk', import.meta.url))

/** Uses the client so that its types must be found: without them, each of these would be `any`. */
const SDK_CONSUMER = `import { Bursar, PaymentRefusedError, webhooks } from 'bursar'
const bursar = new Bursar({ baseUrl: 'https://bursar.example.com', apiKey: 'svc_test_1' })
export const status: Promise<'pending' | 'confirmed' | 'failed'> = bursar.payments.get('pay_1').then((payment) => payment.status)
// @ts-expect-error An amount is a string.
export const wrong: number = bursar.payments.get('pay_1').then((payment) => payment.amount_usdc)
export const event = webhooks.verify('', '', '').then(({ type }) => type)
export const isRefused = (error: unknown): boolean => error instanceof PaymentRefusedError
`

/** `openapi-typescript` checks the document with these rules before it generates anything. */
const LINT = `extends: [recommended]
apis:
  bursar@v1:
    root: ${CONTRACT}
    x-openapi-ts:
      output: ./fetch.ts
`

/**
 * Handles every error of a payment, and only those. It compiles only if the generated type of the errors is a closed
 * union whose errors all have `code`, even if it is never present, and if `details` has the type that belongs to the
 * code.
 */
const HANDLER = `
function handle(error: PaymentError): string {
  switch (error.code) {
    case undefined: return handleByType(error)
    case 'amount_invalid':
    case 'address_invalid': return error.details[0]?.message ?? ''
    case 'insufficient_scope': return error.details.required_scope
    case 'permission_expired': return error.details.expires_at
    case 'permission_not_found': return reasonOf(error.details.reason)
    case 'contract_not_allowed': return error.details.contract_allowlist.join()
    case 'recipient_not_allowed': return error.details.recipient_allowlist.join()
    case 'amount_too_large': return error.details.max_per_tx_usdc
    case 'daily_cap_exceeded': return error.details.resets_at ?? error.details.remaining_24h_usdc
    case 'plan_cap_exceeded': return String(error.details.allowance - error.details.used)
    case 'insufficient_balance': return error.details.balance_usdc
    case 'insufficient_gas': return error.details.needed
    case 'workspace_moved': return error.details.cell
    case 'privy_call_failed': return error.details?.payment_id ?? ''
    case 'idempotency_key_in_header':
    case 'https_required':
    case 'key_held':
    case 'workspace_moving':
    case 'agent_not_authorized':
    case 'agent_not_found':
    case 'wallet_not_found':
    case 'rate_limit_exceeded': return error.message
    default: return error satisfies never
  }
}

function handleByType(error: Extract<PaymentError, { code?: never }>): string {
  const code: undefined = error.code
  switch (error.type) {
    case 'validation_failed': return error.details?.[0]?.path ?? error.message
    case 'unauthenticated':
    case 'payload_too_large':
    case 'unsupported_media_type':
    case 'internal':
    case 'unavailable': return error.message + String(code)
    default: return error satisfies never
  }
}

function reasonOf(reason: 'none' | 'pending' | 'suspended' | 'revoked'): string {
  return reason
}

function subjectOf(event: AnyEvent): string {
  switch (event.type) {
    case 'payment.created':
    case 'payment.confirmed':
    case 'payment.failed': return event.data.payment.id
    case 'inbound.received': return event.data.deposit.id
    case 'permission.granted':
    case 'permission.revoked':
    case 'permission.suspended':
    case 'permission.resumed': return event.data.grant.id
    case 'webhook.test': return event.data.webhook.id
    default: return event satisfies never
  }
}

function adviceOf(refusal: Refusal): string {
  switch (refusal.code) {
    case 'daily_cap_exceeded': return refusal.details.resets_at ?? refusal.details.remaining_24h_usdc
    case 'amount_too_large': return refusal.details.max_per_tx_usdc
    case 'permission_expired': return refusal.details.expires_at
    case 'permission_not_found': return reasonOf(refusal.details.reason)
    case 'contract_not_allowed':
    case 'recipient_not_allowed': return refusal.details.requested
    case 'plan_cap_exceeded': return refusal.details.resets_at
    case 'insufficient_balance': return refusal.details.balance_usdc
    case 'insufficient_gas': return refusal.details.coin
    case 'agent_not_authorized':
    case 'agent_not_found':
    case 'wallet_not_found':
    case 'purchases_not_allowed': return refusal.message
    default: return refusal satisfies never
  }
}

export { adviceOf, handle, subjectOf }
`

/** What the consumers import: the errors of `POST /v1/payments`, of its preview, and all events. */
const CONSUMERS: Readonly<Record<string, string>> = {
  'fetch-consumer.ts': `import type { components, operations, webhooks } from './fetch.ts'
type Responses = operations['createPayment']['responses']
type Failure = Exclude<keyof Responses, 201>
type PaymentError = Responses[Failure]['content']['application/json']['error']
type AnyEvent = components['schemas']['Event']
type Preview = operations['previewPayment']['responses'][200]['content']['application/json']['preview']
type Refusal = Extract<Preview, { allowed: false }>['error']
export type Delivered = webhooks['payment.confirmed']['post']['requestBody']['content']['application/json']['data']['payment']
export type Reset = Responses[201]['headers']['X-RateLimit-Reset'] & number
`,
  'hey-consumer.ts': `import type { CreatePaymentErrors, Event as AnyEvent, PaymentConfirmedEvent, PaymentPreview } from './hey/types.gen.ts'
type PaymentError = CreatePaymentErrors[keyof CreatePaymentErrors]['error']
type Refusal = Extract<PaymentPreview, { allowed: false }>['error']
export type Delivered = PaymentConfirmedEvent['data']['payment']
`,
}

const TSCONFIG = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    noImplicitReturns: true,
    noUnusedLocals: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    allowImportingTsExtensions: true,
    module: 'esnext',
    moduleResolution: 'bundler',
    target: 'es2023',
    types: [],
  },
  include: ['*.ts'],
}

describe('clients that are generated from openapi.json', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bursar-clients-'))
    await writeFile(join(folder, 'redocly.yaml'), LINT)
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG))
    for (const [name, imports] of Object.entries(CONSUMERS)) await writeFile(join(folder, name), imports + HANDLER)
  })
  after(() => rm(folder, { recursive: true }))

  test('openapi-typescript finds no fault in the document, and generates without a warning', async () => {
    const { stdout, stderr } = await runHere(join(GENERATORS, 'openapi-typescript'), '--redocly', 'redocly.yaml')
    assert.equal(
      stderr
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('🚀'))
        .join('\n'),
      '',
    )
    assert.equal(stdout.trim().split('\n').length <= 1, true, stdout)
  })

  test('@hey-api/openapi-ts generates without a warning', async () => {
    const output = await runHere(
      join(GENERATORS, 'openapi-ts'),
      '-i',
      CONTRACT,
      '-o',
      'hey',
      '-p',
      '@hey-api/typescript',
    )
    assert.doesNotMatch(output.stdout + output.stderr, /warn|error|invalid|unsupported|missing|⚠/i)
  })

  test('their types of errors and events are closed unions, in which the code or type decides the rest', async () => {
    await runHere(TSC, '-p', '.').catch((error: unknown) => assert.fail((error as { stdout: string }).stdout))
  })

  test('the package `bursar` has types for every module resolution of TypeScript, also the old one', async () => {
    // With this resolution, TypeScript does not read `exports` of package.json.
    for (const [module, moduleResolution] of [
      ['esnext', 'node10'],
      ['esnext', 'bundler'],
      ['nodenext', 'nodenext'],
    ] as const) {
      const project = join(folder, moduleResolution)
      await mkdir(join(project, 'node_modules'), { recursive: true })
      await symlink(SDK, join(project, 'node_modules', 'bursar'))
      await writeFile(join(project, 'package.json'), '{ "type": "module" }')
      await writeFile(join(project, 'main.ts'), SDK_CONSUMER)
      const compilerOptions = { strict: true, noEmit: true, module, moduleResolution, target: 'es2022', types: [] }
      await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['main.ts'] }))
      await runHere(OLD_TSC, '-p', moduleResolution).catch((error: unknown) =>
        assert.fail(`${moduleResolution}: ${(error as { stdout: string }).stdout}`),
      )
    }
  })

  async function runHere(program: string, ...args: string[]): Promise<{ stdout: string; stderr: string }> {
    // Runs the program with this version of Node. Otherwise an older version on the path could run it.
    return await run(process.execPath, [program, ...args], {
      cwd: folder,
      env: { ...process.env, NO_COLOR: '1', CI: '1' },
    })
  }
})
