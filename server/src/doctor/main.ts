import { readConfig } from '../config.ts'
import { createClock } from '../lib/clock.ts'
import { formatFinding } from './finding.ts'
import { runDoctor } from './run-doctor.ts'

process.exitCode = await runDoctor({
  readConfig: () => readConfig(),
  clock: createClock(),
  report: (finding) => process.stdout.write(formatFinding(finding)),
})
