import { parseArgs } from 'node:util'
import { ConfigError, readDatabaseUrl } from '../config.ts'
import { RowsDiffer } from '../db/moved-rows.ts'
import { createClock } from '../lib/clock.ts'
import { parseCell } from '../values/secret.ts'
import { MoveRefused, withCell, withCells } from './cells.ts'
import { forgetMovedRows, moveWorkspace, undoMove } from './move-workspace.ts'

const USAGE = `npm run move-workspace -- <id or slug> (--cell <name> | --undo | --forget)

Moves a workspace from the cell of DATABASE_URL to the cell of TO_DATABASE_URL. If it is interrupted, run it again.
  --cell <name>  the CELL of the other cell
  --undo         put the workspace back, if it has not arrived in the other cell
  --forget       delete the copy that this cell keeps, a week after the move
`

/** What to do if the other cell does not accept the rows. */
const IN_NEITHER =
  'The workspace is in neither cell now, and its requests get 503. Put it back with --undo, or correct the other cell and run the command again.'

/** The arguments are not valid. The error's message says why. */
class UsageError extends Error {}

const print = (line: string): void => void process.stdout.write(`${line}\n`)

try {
  const { workspace, cell, action } = readArguments()
  const from = readDatabaseUrl()
  const clock = createClock()
  const request = { workspace, clock, print }
  if (action === 'forget') {
    await withCell(from, (client) => forgetMovedRows(client, request))
  } else {
    await withCells({ from, to: readDatabaseUrl('TO_DATABASE_URL') }, async (cells) => {
      await (cell === null ? undoMove(cells, request) : moveWorkspace(cells, { ...request, cell }))
    })
  }
} catch (error) {
  // Print only messages that we wrote. Messages of other errors might repeat what was sent.
  process.exitCode = 1
  if (error instanceof UsageError) print(`${error.message}\n\n${USAGE}`)
  else if (error instanceof ConfigError || error instanceof MoveRefused) print(error.message)
  else if (error instanceof RowsDiffer) print(`Not moved: ${error.message}. ${IN_NEITHER}`)
  else print(`Not finished (${nameOf(error)}). Nothing is lost. Run it again, or with --undo.`)
}

function readArguments() {
  const options = {
    cell: { type: 'string' },
    undo: { type: 'boolean', default: false },
    forget: { type: 'boolean', default: false },
  } as const
  const parsed = readParsed(() => parseArgs({ options, allowPositionals: true }))
  const [workspace, ...more] = parsed.positionals
  if (workspace === undefined || more.length > 0) throw new UsageError('Name one workspace, by its id or slug.')
  const { cell: name, undo, forget } = parsed.values
  if ([name !== undefined, undo, forget].filter(Boolean).length !== 1) {
    throw new UsageError('Give either --cell, --undo or --forget.')
  }
  if (name === undefined) return { workspace, cell: null, action: undo ? 'undo' : 'forget' } as const
  const cell = parseCell(name)
  if (cell === null) throw new UsageError('--cell must be three letters or digits, as in the setting CELL.')
  return { workspace, cell, action: 'move' } as const
}

/** Returns what `parse` returns. */
function readParsed<Parsed>(parse: () => Parsed): Parsed {
  try {
    return parse()
  } catch {
    throw new UsageError('Unknown argument.')
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown error'
}
