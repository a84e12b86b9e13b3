import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { issueKey } from '../../server/src/domain/keys/issue-key.ts'
import { createApiKeySecret } from '../../server/src/values/api-key.ts'
import { createSecret, hashSecret, parseCell, SECRET_PREFIXES } from '../../server/src/values/secret.ts'
import { seed, type Seed } from '../support/context/seed.ts'
import { readRows } from '../support/database/read-rows.ts'
import { send, type Answer } from '../support/http-client.ts'
import { openTestService, paymentBody, type TestService } from '../support/service/test-service.ts'
import { isInstalled, readRouter, startNginx, type Proxy } from '../support/wires/recommended-proxy.ts'

/** The cells that the page names, and the address of each. */
const ADDRESSES = { eu1: '10.0.0.1:4100', eu2: '10.0.0.2:4100' } as const
const CELLS = Object.keys(ADDRESSES) as readonly (keyof typeof ADDRESSES)[]
const settings = await readRouter()

describe('the router of the page Growing', () => {
  test('finds the cell of every kind of secret that carries one', () => {
    const { accessToken, refreshToken, session } = SECRET_PREFIXES
    for (const name of ['eu1', 'eu2', 'EU2', 'us1']) {
      const cell = parseCell(name)
      const keys = (['test', 'live'] as const).map((mode) => createApiKeySecret(mode, cell))
      const tokens = [accessToken, refreshToken].map((prefix) => createSecret(prefix, cell))
      for (const secret of [...keys, ...tokens])
        for (const scheme of ['Bearer ', 'bearer ', 'BEARER  '])
          assert.equal(cellOf(scheme + secret), name === 'eu2' ? 'eu2' : 'eu1', scheme + secret)
    }
    const others = ['', 'Basic c3ZjX3Rlc3RfZXUy', `Bearer ${createSecret(session, parseCell('eu2'))}`]
    for (const other of others) assert.equal(cellOf(other), 'eu1', other)
  })
})

describe('nginx as the router', { skip: isInstalled('nginx') ? false : 'nginx is not installed' }, () => {
  const cells: TestService[] = []
  let router: Proxy
  before(async () => {
    cells.push(await openTestService(), await openTestService())
    const replaced = CELLS.reduce(
      (text, name, index) => text.replace(ADDRESSES[name], new URL(cells[index]?.url ?? '').host),
      settings,
    )
    router = await startNginx(replaced)
  })
  after(async () => {
    await router.close()
    for (const cell of cells) await cell.close()
  })

  test('sends a request to the cell that its key names, and from there to the cell that has the workspace now', async () => {
    const [first, second] = cells as [TestService, TestService]
    const [here, there] = [await seed(first.context), await seed(second.context)]
    assert.equal((await pay(here, await issueIn(first, here))).status, 201)
    assert.equal((await pay(there, await issueIn(second, there))).status, 201)
    // The workspace was in the first cell when this key was created.
    const key = createApiKeySecret('test', parseCell('eu1'))
    const change = 'update api_keys set secret_hash = $1 where secret_hash = $2'
    await readRows(second.context.db, change, [hashSecret(key), hashSecret(there.key)])
    assert.equal((await pay(there, key)).status, 401)
    await addMove(first, key, 'eu2')
    assert.equal((await pay(there, key)).status, 201)
    // nginx keeps a body of this size in a file.
    const large = await pay(there, key, { description: 'x'.repeat(50_000) })
    assert.deepEqual([large.status, large.text.includes('description')], [400, true], large.text)
  })

  test('does not send a request round in circles', async () => {
    const [first, second] = cells as [TestService, TestService]
    const key = createApiKeySecret('test', parseCell('eu1'))
    await addMove(first, key, 'eu2')
    await addMove(second, key, 'eu1')
    assert.equal((await read(key)).status, 421)
  })

  test('serves the other cells while one is away', async () => {
    const [first, second] = cells as [TestService, TestService]
    const here = await issueIn(first, await seed(first.context))
    const away = await issueIn(second, await seed(second.context))
    const readBoth = async () => [(await read(here)).status, (await read(away)).status]
    assert.deepEqual(await readBoth(), [200, 200])
    await second.service.stop()
    for (let repeat = 0; repeat < 3; repeat += 1) assert.deepEqual(await readBoth(), [200, 502])
  })

  /** Issues a key that carries the name of the cell. */
  async function issueIn(service: TestService, { workspace, mode }: Seed): Promise<string> {
    const cell = parseCell(CELLS[cells.indexOf(service)] ?? '')
    const { secret } = await issueKey(
      { ...service.context, cell },
      { workspaceId: workspace.id, mode, actor: OPERATOR },
    )
    return secret
  }

  async function pay(seeded: Seed, key: string, changes: Readonly<Record<string, unknown>> = {}): Promise<Answer> {
    return await send(url(), { path: '/v1/payments', key, body: paymentBody(seeded, changes) })
  }

  async function read(key: string): Promise<Answer> {
    return await send(url(), { path: '/v1/agents', key })
  }

  function url(): string {
    return `http://127.0.0.1:${router.port}`
  }
})

/** Returns the cell to which the settings send a request with this `Authorization` header. */
function cellOf(authorization: string): string {
  const [, rows = ''] = /^map \$http_authorization \$cell \{\n(.*?)^\}/ms.exec(settings) ?? []
  const patterns = [...rows.matchAll(/^ *"~(.+)" +(\w+);$/gm)]
  const [, fallback] = /^ *default +(\w+);$/m.exec(rows) ?? []
  assert.ok(patterns.length === CELLS.length - 1 && fallback !== undefined, rows)
  return patterns.find(([, pattern = '']) => new RegExp(pattern).test(authorization))?.[2] ?? fallback
}

/** Adds the rows with which a cell knows that the workspace of this key was moved. */
async function addMove({ context, clock }: TestService, key: string, cell: string): Promise<void> {
  const hash = hashSecret(key)
  const id = hash.toString('hex')
  await readRows(
    context.db,
    `insert into moves (id, workspace_id, slug, cell, state, started_at, ended_at)
      values ($1, $1, 'northwind', $2, 'moved', $3, $3)`,
    [id, cell, clock.now()],
  )
  await readRows(context.db, 'insert into moved_credentials (secret_hash, move_id) values ($1, $2)', [hash, id])
}
