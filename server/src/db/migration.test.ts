import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { splitStatements } from './migration.ts'

describe('splitStatements', () => {
  for (const [what, sql, statements] of [
    ['each statement', 'select 1;\n\nselect 2;\n', ['select 1', 'select 2']],
    ['a statement without a semicolon at the end', 'select 1;select 2', ['select 1', 'select 2']],
    ['nothing of comments', '-- no transaction\n-- It; says\n/* why; */ select 1; -- end;', ['select 1']],
    ['a text as it is', `select 'it''s; -- /*';select 2`, [`select 'it''s; -- /*'`, 'select 2']],
    ['a name as it is', 'select "a;b"', ['select "a;b"']],
    ['a function as it is', 'do $$ begin; end $$;do $a$ $$;$$ $a$;', ['do $$ begin; end $$', 'do $a$ $$;$$ $a$']],
    ['a quotation mark in a comment', `select 1; -- the wallet's\nselect 2;`, ['select 1', 'select 2']],
  ] as const) {
    test(`it returns ${what}`, () => {
      assert.deepEqual(splitStatements(sql), statements)
    })
  }
})
