import assert from 'node:assert/strict'
import { Writable, type Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { waitFor } from '../../../test/support/wait-for.ts'
import { parseTimeZone } from '../values/time-zone.ts'
import { csvHeaders, formatPeriod, openCsv, type CsvRow } from './csv.ts'

type Row = CsvRow<'a' | 'b'>

const HEAD = '\ufeffa,b\r\n'

describe('a file of CSV', () => {
  test('a line of names, then one a row, each with its end; what is missing is empty', async () => {
    assert.equal(await write([[{ a: '1', b: '2' }]]), `${HEAD}1,2\r\n`)
    assert.equal(await write([[{ b: '2' }], [{ a: null }, { a: 'x' }]]), `${HEAD},2\r\n,\r\nx,\r\n`)
    assert.equal(await write([]), HEAD)
  })

  const cells: readonly (readonly [text: string, cell: string])[] = [
    ['plain', 'plain'],
    ['a, b', '"a, b"'],
    ['say "hi"', '"say ""hi"""'],
    ['two\nlines', '"two\nlines"'],
    ['two\rlines', '"two\rlines"'],
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@sum', "'@sum"],
    ['\tx', `"'\tx"`],
    ['\rx', `"'\rx"`],
    ['=HYPERLINK("x","y")', `"'=HYPERLINK(""x"",""y"")"`],
    ['a=1', 'a=1'],
    ['a;=1+1;b', `"a;'=1+1;b"`],
    ['a; "@x"', `"a;' ""@x"""`],
    ['a\t-1', `"a\t'-1"`],
    ['two\n+1', `"two\n'+1"`],
    ['a, -1', '"a, -1"'],
    ['  =1', "'  =1"],
    ['＝1', "'＝1"],
    ['＋1', "'＋1"],
    ['－1', "'－1"],
    ['＠x', "'＠x"],
    ['a;b', '"a;b"'],
    ["it's 1-2", "it's 1-2"],
    [' é🍜 ', ' é🍜 '],
  ]
  for (const [text, cell] of cells) {
    test(`${JSON.stringify(text)} is written ${JSON.stringify(cell)}`, async () => {
      assert.equal(await write([[{ a: text, b: 'end' }]]), `${HEAD}${cell},end\r\n`)
    })
  }

  test('after the first rows, none are read before the client needs them', async () => {
    let pages = 0
    const source = await openCsv({
      columns: ['a'],
      next: async () => {
        pages += 1
        return pages > 4 ? null : [{ a: 'x' }]
      },
      checkEnd: allHere,
    })
    const taken: (() => void)[] = []
    const reader = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => void taken.push(done) })
    source.pipe(reader)
    for (const expected of [1, 2, 3, 4]) {
      await waitFor('a page', () => taken.length === 1)
      await settle()
      assert.equal(pages, expected)
      taken.shift()?.()
    }
    await waitFor('its end', () => reader.writableFinished)
  })

  test('if the first rows cannot be read, no stream is opened; if later ones cannot, it ends with an error', async () => {
    await assert.rejects(
      openCsv({ columns: ['a'], next: () => Promise.reject(new Error('lost')), checkEnd: allHere }),
      /lost/,
    )
    let pages = 0
    const source = await openCsv({
      columns: ['a'],
      next: async () => {
        pages += 1
        if (pages === 2) throw new Error('lost')
        return [{ a: 'x' }]
      },
      checkEnd: allHere,
    })
    await assert.rejects(read(source), /lost/)
  })

  test('if rows may be missing at the end, it ends with an error after the rows that were read', async () => {
    const rest = [[{ a: 'x' }], [{ a: 'y' }]]
    const source = await openCsv({
      columns: ['a'],
      next: async () => rest.shift() ?? null,
      checkEnd: () => Promise.reject(new Error('moved')),
    })
    await assert.rejects(read(source), /moved/)
    assert.deepEqual(rest, [])
  })

  test('the name of the file has no character that ends it', () => {
    const { 'Content-Disposition': name } = csvHeaders('acme', 'live', 'Europe/Berlin', 'a"b')
    assert.equal(name, 'attachment; filename="acme-live-Europe-Berlin-a-b.csv"')
  })

  test('a file says its days in its time zone', () => {
    const now = new Date('2026-11-27T09:00:00Z')
    const [utc, losAngeles] = ['UTC', 'America/Los_Angeles'].map(parseTimeZone)
    assert.ok(utc && losAngeles)
    const october = { from: new Date('2026-10-01T07:00:00Z'), to: new Date('2026-11-01T07:00:00Z'), now }
    assert.deepEqual(formatPeriod(losAngeles, october), ['2026-10-01', 'to', '2026-10-31', 'America/Los_Angeles'])
    assert.deepEqual(formatPeriod(utc, october), ['2026-10-01', 'to', '2026-11-01'])
    assert.deepEqual(formatPeriod(utc, { now }), ['until', '2026-11-27'])
    const future = { from: new Date('2026-11-01T00:00:00Z'), to: new Date('2027-01-01T00:00:00Z'), now }
    assert.deepEqual(formatPeriod(utc, future), ['2026-11-01', 'to', '2026-11-27'])
  })
})

async function allHere(): Promise<void> {}

async function write(pages: readonly (readonly Row[])[]): Promise<string> {
  const rest = [...pages]
  return await read(await openCsv({ columns: ['a', 'b'], next: async () => rest.shift() ?? null, checkEnd: allHere }))
}

/** Reads the text with its byte order mark, which decoders remove. */
async function read(source: Readable): Promise<string> {
  return (await buffer(source)).toString('utf8')
}

/** Lets all pending callbacks run. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
