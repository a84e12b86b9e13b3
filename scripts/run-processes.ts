// Runs test processes: `node scripts/run-processes.ts <entry …>`, each entry a module that imports its test files, in
// the order given. Unlike `node --test`, which sorts them and gives a process the time of one test.
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    concurrency: { type: 'string' },
    'test-timeout': { type: 'string' },
    'process-timeout': { type: 'string' },
  },
})

// Until the end has told otherwise.
process.exitCode = 1
const events = run({
  files: positionals,
  concurrency: Number(values.concurrency),
  timeout: Number(values['process-timeout']),
  execArgv: [`--test-timeout=${values['test-timeout']}`],
})
events.on('test:summary', ({ file, success }) => {
  if (file === undefined) process.exitCode = success ? 0 : 1
})
events.compose(spec).pipe(process.stdout)
