import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createPrinter } from './printer.ts'

const answer = (status: number, body: Readonly<Record<string, unknown>>) =>
  Promise.resolve({ asked: 'GET /', status, body })

it('counts the unexpected responses', async (t) => {
  t.mock.method(process.stdout, 'write', () => true)
  const { step, faults } = createPrinter()
  const refusal = { error: { code: 'amount_too_large' } }
  await step('as expected', answer(403, refusal), { status: 403, code: 'amount_too_large' })
  assert.equal(faults(), 0)
  await step('another code', answer(403, refusal), { status: 403, code: 'daily_cap_exceeded' })
  await step('another status', answer(404, refusal), { status: 403, code: 'amount_too_large' })
  await step('another text', answer(200, { a: { b: 'x' } }), { status: 200, texts: { 'a.b': 'y' } })
  assert.equal(faults(), 3)
})
