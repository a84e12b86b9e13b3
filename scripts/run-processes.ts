// Runs test processes: `node scripts/run-processes.ts [options] <entry …>`. An entry is a module that runs its test
// files. Unlike `node --test`, this program keeps the order of the entries, and gives a process a longer time limit
// than a single test.
import { dirname } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { parseArgs } from 'node:util'
import { createPlaceMapper } from './map-places.ts'

/**
 * The largest size of a semi-space, a part of the young generation, in MiB. A test process creates many objects, and
 * with more room it collects garbage less often.
 */
const SEMI_SPACE_MIB = 32
const STOP_TRACKING = new URL('stop-tracking.mjs', import.meta.url).href

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    concurrency: { type: 'string' },
    'test-timeout': { type: 'string' },
    'process-timeout': { type: 'string' },
  },
})

// The run counts as failed until its summary says that it passed.
process.exitCode = 1
const events = run({
  files: positionals,
  concurrency: Number(values.concurrency),
  timeout: Number(values['process-timeout']),
  execArgv: [
    `--test-timeout=${values['test-timeout']}`,
    `--max-semi-space-size=${SEMI_SPACE_MIB}`,
    `--import=${STOP_TRACKING}`,
  ],
})
events.on('test:summary', ({ file, success }) => {
  if (file === undefined) process.exitCode = success ? 0 : 1
})
const [firstEntry = ''] = positionals
const mapPlaces = createPlaceMapper(dirname(firstEntry))
for await (const text of events.compose(spec)) process.stdout.write(mapPlaces(String(text)))
