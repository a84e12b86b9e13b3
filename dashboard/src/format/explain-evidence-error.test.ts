import assert from 'node:assert/strict'
import { test } from 'node:test'
import { detailsOf } from '../../../server/src/values/problem-details.ts'
import { ApiError } from '../api/api-error.ts'
import { explainEvidenceError } from './explain-evidence-error.ts'

interface Described {
  readonly schema: {
    readonly properties: { readonly reason: { readonly anyOf: readonly { readonly const: string }[] } }
  }
}

test('every reason for which there is no evidence has a text of its own', () => {
  const reasons = ['evidence_not_ready', 'evidence_unavailable'].flatMap((code) => {
    const described = detailsOf(code) as unknown as Described
    return described.schema.properties.reason.anyOf.map((one) => one.const)
  })
  assert.equal(reasons.length, 6)
  const texts = reasons.map((reason) => explainEvidenceError(errorOf({ reason })))
  assert.equal(new Set(texts).size, reasons.length)
  assert.ok(!texts.includes('General.'))
})

test('the text says when to try again, if the server knows', () => {
  const text = explainEvidenceError(errorOf({ reason: 'signature_usable', retry_at: '2026-06-30T09:15:00.000Z' }))
  assert.match(text, /Try again after 30 Jun 2026, /)
  assert.equal(explainEvidenceError(errorOf({ reason: 'another' })), 'General.')
})

function errorOf(details: object): ApiError {
  return new ApiError(409, { type: 'conflict', code: 'evidence_not_ready', message: 'General.', details })
}
