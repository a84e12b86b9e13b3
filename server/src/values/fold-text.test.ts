import assert from 'node:assert/strict'
import { test } from 'node:test'
import { containsFolded, foldText } from './fold-text.ts'

test('a text is compared without its case and accents', () => {
  assert.deepEqual(['ZÜRICH', 'Zu\u0308rich', 'Straße', 'ΆΘΗΝΑ', 'Йод', '東京 7'].map(foldText), [
    'zurich',
    'zurich',
    'strasse',
    'αθηνα',
    'иод',
    '東京 7',
  ])
  assert.ok(containsFolded('Café Zürich', 'fe zur'))
  assert.ok(!containsFolded('Zurich', 'Zug'))
})
