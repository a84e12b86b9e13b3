import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatBytes } from './format-bytes.ts'

test('bytes are formatted in the largest unit of which there is one', () => {
  const texts = [0, 1, 1_023, 1_024, 1_572_864, 134_217_728, 17_179_869_184].map(formatBytes)
  assert.deepEqual(texts, ['0 KiB', '0.1 KiB', '1 KiB', '1 KiB', '1.5 MiB', '128 MiB', '16 GiB'])
})
