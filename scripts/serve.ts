// `npm run server`: starts the built service, which is one file. If there is no build, or if it was made from other
// sources, starts the service from its sources.
import { findProgram } from '../sandbox/src/processes/programs.ts'

await import(findProgram('server').href)
