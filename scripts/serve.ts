// `npm run server`: starts the service from the file that `npm run build` made of it. If there is none, or it was made
// from other sources, it starts the sources.
import { findProgram } from '../sandbox/src/processes/programs.ts'

await import(findProgram('server').href)
