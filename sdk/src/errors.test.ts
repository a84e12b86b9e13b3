import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as exported from './main.ts'

interface ErrorClass {
  readonly name: string
  readonly prototype: Error
}

const CLASSES = Object.entries<unknown>(exported).filter((entry): entry is [string, ErrorClass] =>
  isErrorClass(entry[1]),
)

describe('the errors of the client', () => {
  test('are all exported', () => assert.ok(CLASSES.length >= 15))

  for (const [name, errorClass] of CLASSES) {
    test(`${name} has its own name, and no member that repeats it`, () => {
      const error = new exported.BursarError('It failed.', NO_CONTEXT)
      Object.setPrototypeOf(error, errorClass.prototype)
      assert.deepEqual([errorClass.name, error.name], [name, name])
      assert.equal(Object.hasOwn(error, 'name'), false)
    })
  }

  test('the stack of an error begins with its name and message', () => {
    const error = new exported.ConnectionError('It failed.', NO_CONTEXT)
    assert.match(error.stack ?? '', /^ConnectionError: It failed\.\n/)
  })
})

function isErrorClass(value: unknown): boolean {
  return typeof value === 'function' && value.prototype instanceof Error
}

const NO_CONTEXT = { requestId: null, idempotencyKey: null, outcome: null, attempts: 0 }
