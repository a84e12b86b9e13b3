// `npm run server`: starts the service from the files that `npm run build` made of it. If these are missing, or were made
// from other sources, it starts the sources.
import { findProgram } from '../sandbox/src/processes/programs.ts'

await import(findProgram('server').href)
